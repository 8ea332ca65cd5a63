import type { StateChange } from "../model/state.ts";

/** A reading of a person's manual work for a record. Nothing of it counts if anything differs. */
export interface ReadBack {
  changes: StateChange[];
  /** Descriptions of parts that are as the CRM wants them, without private values. */
  seen: string[];
  unseen: string[];
  otherwise: string[];
}

export function nothingRead(): ReadBack {
  return { changes: [], seen: [], unseen: [], otherwise: [] };
}

export function addRead(read: ReadBack, more: ReadBack): void {
  read.changes.push(...more.changes);
  read.seen.push(...more.seen);
  read.unseen.push(...more.unseen);
  read.otherwise.push(...more.otherwise);
}
