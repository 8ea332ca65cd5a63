import type { Operation } from "../operation.ts";
import type { StateChange } from "../state.ts";
import type { Block, BlockedRecord } from "./block.ts";
import type { RecordKey } from "../../crm/model.ts";

/** Who a staff record is on the platform, or becomes in this plan. */
export type Membership =
  | { kind: "member"; memberGlobalId: string; origin: "linked" | "adopted"; insteadOf?: RecordKey }
  /** `lost`: the account that was linked is gone, and `drift.missing` lets another one be made. */
  | { kind: "to-add"; lost?: true }
  | { kind: "blocked"; block: Block };

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
