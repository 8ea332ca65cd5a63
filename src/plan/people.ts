import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { Operation } from "../operation/operation.ts";
import { kindOf } from "../operation/registry.ts";
import type { StateChange } from "../operation/state.ts";
import type { Block } from "./block.ts";
import { firstBlocks } from "./block.ts";
import { planGrants } from "./grants.ts";
import { holdersOf } from "./holders.ts";
import type { Prepared } from "./prepared.ts";
import type { StandingRejections } from "./rejections.ts";
import { planRevokes } from "./revokes.ts";
import { allocate } from "./seat-allocation.ts";
import { planStaff } from "./staff.ts";

/** What is done for the people of a customer: who is added, and what is taken from and given to whom. */
export interface PeoplePlan {
  operations: Operation[];
  changes: StateChange[];
  /** Why something of a person is not done, by staff key; of people who belong elsewhere now too. */
  blocks: ReadonlyMap<string, Block>;
}

interface PeopleOptions {
  settings: AssumptionSettings;
  canSeal: boolean;
  revokesBlocked: Block | undefined;
  rejections: StandingRejections;
}

/** Plans staff, then revokes, then grants (A33). `placed` are the orders that this plan places. */
export function planPeople(given: Prepared, placed: readonly Operation[], options: PeopleOptions): PeoplePlan {
  if (!concernsPeople(given)) return { operations: [], changes: [], blocks: new Map() };
  const { rejections } = options;
  const holders = holdersOf(given.observed.assets);
  const staff = planStaff(given, options.settings, options);
  const allocation = allocate(given, placed);
  const revokes = planRevokes(given, allocation, holders, options.revokesBlocked);
  const taken = rejections.operations(revokes.meant);
  const leaving = new Set(taken.operations.flatMap((operation) => kindOf(operation).freed(operation)));
  const grants = planGrants(given, allocation.claims, staff.memberships, { holders, leaving });
  const made = rejections.operations([...staff.meant, ...grants.meant]);
  const ofAssets = [allocation.blocks, revokes.blocks, taken.refused, grants.blocks, made.refused];
  return {
    operations: [...made.operations, ...taken.operations],
    changes: [...staff.changes, ...revokes.changes, ...grants.changes],
    // Who a person is comes before what they hold, and that before what is only worth noting.
    blocks: new Map([...staff.notes, ...firstBlocks(ofAssets.flat()), ...staff.blocks]),
  };
}

/** Whether anything of a customer's people is looked at: they were read, are new, or changed. */
function concernsPeople({ staff, known, observed }: Prepared): boolean {
  if (staff.length === 0 && known.assignments.length === 0) return false;
  return observed.members !== undefined || known.link === undefined || staff.some((person) => person.pending);
}
