import type { Operation } from "../operation/operation.ts";
import type { StateChange } from "../operation/state.ts";
import type { Block, BlockedRecord } from "./block.ts";
import type { Membership } from "./staff-identity.ts";

/** What planning orders, or planning people, came to. */
export interface Part {
  operations: Operation[];
  changes: StateChange[];
  /** Why something of a record is not done, by its key; of people who belong elsewhere now too. */
  blocks: ReadonlyMap<string, Block>;
}

/** What the stages after the enterprise make: what is done for orders, and what is done for people. */
export interface Planned {
  orders: Part;
  people: Part;
  /** The member of each person that was looked at, by key. */
  memberships: ReadonlyMap<string, Membership>;
  /** What is worth noting of people of whom nothing else is said; the first of each counts. */
  notes: readonly BlockedRecord[];
  /** Asset numbers that are to go whole: who holds one keeps it until then, and nobody is given one. */
  endingNumbers: ReadonlySet<string>;
}
