import { typeOf } from "../registry.ts";
import type { DesiredCustomer, DesiredStaff } from "../desired.ts";
import type { DraftOperation } from "../operation.ts";
import type { PrivateMarker } from "../references.ts";
import type { OperationName } from "../resource.ts";
import type { Need, RecordReference } from "../shape.ts";
import type { Stored } from "../stored-operation.ts";
import type { Block } from "./block.ts";
import type { PlanOptions } from "./options.ts";
import type { Prepared } from "./prepared.ts";

/** An operation that a run carried out. `updatedAt`: when that was known. */
export type DoneOperation<K extends OperationName = OperationName> = Stored<K> & { id: string; updatedAt: string };

/** How an asset was given last: by which operation, and by which it was taken since; null: by none of ours. */
export interface LastGiven {
  givenBy: string | null;
  takenBy: string | null;
  /** It was not taken since. */
  isHeld: boolean;
}

/** What the ledger knows beside what every plan is made from. A resource adds its own by `declare module`. */
export interface UndoFacts {
  /** Every form that is kept, newest first; of people by their key. */
  customerForms: readonly DesiredCustomer[];
  staffForms: ReadonlyMap<string, readonly DesiredStaff[]>;
  /** Since when each person has the account that they have now. */
  linkedSince: ReadonlyMap<string, string>;
  /** How each asset number that the run gave or took was given last. */
  lastGiven: ReadonlyMap<string, LastGiven>;
  /** The operation that was carried out last on each subject. */
  newestOn: ReadonlyMap<string, string>;
  /** Whether the value behind a marker is there still. */
  isKept(marker: PrivateMarker): boolean;
}

/** What taking an operation back comes to now. `lacks`: what it does not bring back. */
export type Undoes =
  | { is: "meant"; meant: DraftOperation[]; lacks?: string | undefined }
  /** The same operations take it back that take back this one. */
  | { is: "with"; of: string }
  | { is: "nothing-left" }
  | { is: "waits"; block: Block }
  | { is: "impossible"; why: string };

/** What the rules look at. */
export interface Undoing {
  run: string;
  given: Prepared;
  /** All that the run carried out for the customer, newest first. */
  rows: readonly DoneOperation[];
  facts: UndoFacts;
  options: PlanOptions;
  /** Asset numbers that the same plan takes from people. */
  freed: ReadonlySet<string>;
  /** The first of the operations that are taken back together under a name. */
  firstOf(name: string, id: string): string;
  /** What is taken from a person by the same plan. */
  revokesOf(staff: RecordReference): Need[];
}

/** Why what a later operation did again is not taken back with an earlier one that did the same. */
export const newerSince: Extract<Undoes, { is: "impossible" }> = {
  is: "impossible",
  why: "something newer was sent since; take that back first",
};

/** Whether another operation was carried out on the same subject since. */
export function isNewest({ id, operation }: DoneOperation, { facts }: Pick<Undoing, "facts">): boolean {
  return (facts.newestOn.get(operation.subject) ?? id) === id;
}

export type UndoRule<K extends OperationName> = (row: DoneOperation<K>, of: Undoing) => Undoes;

/** What no operation takes back. */
export function impossible(kind: OperationName): Extract<Undoes, { is: "impossible" }> {
  const { reversal } = typeOf({ kind });
  return { is: "impossible", why: reversal.how === "impossible" ? reversal.why : "no call takes it back" };
}
