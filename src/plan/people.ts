import { kindOf } from "../operation/registry.ts";
import { firstBlocks } from "./block.ts";
import { planGrants } from "./grants.ts";
import { holdersOf } from "./holders.ts";
import type { PlanOptions } from "./options.ts";
import type { Prepared } from "./prepared.ts";
import type { StandingRejections } from "./rejections.ts";
import { planRevokes } from "./revokes.ts";
import { allocate } from "./seat-allocation.ts";
import { weighRevokes } from "./seat-weight.ts";
import { planStaff } from "./staff.ts";
import type { Part, Planned } from "./part.ts";

interface PeopleOptions extends Pick<PlanOptions, "settings" | "canSeal" | "takingBlocked" | "policies" | "repairs"> {
  rejections: StandingRejections;
}

/** Who is added, and what is taken from and given to whom (A33). `orders`: what this plan does for them. */
export function planPeople(
  given: Prepared,
  { orders, endingNumbers }: Pick<Planned, "orders" | "endingNumbers">,
  options: PeopleOptions,
): Part {
  if (!concernsPeople(given)) return { operations: [], changes: [], blocks: new Map() };
  const { rejections } = options;
  const holders = holdersOf(given.observed.assets);
  const staff = planStaff(given, options.settings, options);
  const allocation = allocate(given, orders.operations, endingNumbers);
  const revokes = planRevokes(given, allocation, holders, options.takingBlocked);
  const taken = rejections.operations(weighRevokes(revokes.meant, given.observed, allocation.claims));
  const leaving = new Set(taken.operations.flatMap((operation) => kindOf(operation).freed(operation)));
  const grants = planGrants(given, allocation.claims, staff.memberships, {
    holders,
    leaving,
    policies: options.policies,
  });
  const made = rejections.operations([...staff.meant, ...grants.meant]);
  const edited = rejections.operations(staff.edits);
  const ofAssets = [allocation.blocks, revokes.blocks, taken.refused, grants.blocks, made.refused];
  return {
    operations: [...made.operations, ...edited.operations, ...taken.operations],
    changes: [...staff.changes, ...revokes.changes, ...grants.changes],
    // Who a person is comes before what they hold, and that before what is only worth noting.
    blocks: new Map([
      ...edited.refused,
      ...staff.notes,
      ...edited.refused.filter(([, block]) => block.rejected === true),
      ...firstBlocks(ofAssets.flat()),
      ...staff.blocks,
    ]),
  };
}

/** Whether anything of a customer's people is looked at: they were read, are new, or changed. */
function concernsPeople({ staff, known, observed }: Prepared): boolean {
  if (staff.length === 0 && known.assignments.length === 0) return false;
  return observed.members !== undefined || known.link === undefined || staff.some((person) => person.pending);
}
