import type { StateChange } from "../model/state.ts";

/** What a reading says of what a person did for a record. Nothing of it counts where anything is otherwise. */
export interface ReadBack {
  /** What is known by it, where it counts. */
  changes: StateChange[];
  /** What the platform shows as the CRM says, in words without private values. */
  seen: string[];
  /** What no reading shows. */
  unseen: string[];
  /** What the platform shows otherwise. */
  otherwise: string[];
}

export function nothingRead(): ReadBack {
  return { changes: [], seen: [], unseen: [], otherwise: [] };
}

/** Adds what another resource reads of the same record. */
export function addRead(read: ReadBack, more: ReadBack): void {
  read.changes.push(...more.changes);
  read.seen.push(...more.seen);
  read.unseen.push(...more.unseen);
  read.otherwise.push(...more.otherwise);
}
