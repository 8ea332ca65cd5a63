import { handedIn } from "../engine/registry.ts";
import type { Earlier } from "../engine/resource.ts";
import { firstBlocks } from "./block.ts";
import type { PlanOptions } from "./options.ts";
import type { Prepared } from "./prepared.ts";
import type { StandingRejections } from "./rejections.ts";
import { planStaff } from "./staff.ts";
import type { Part, Planned } from "./part.ts";

interface PeopleOptions extends PlanOptions {
  rejections: StandingRejections;
}

/** Who is added, and what is taken from and given to whom (A33). `before`: what this plan does for orders. */
export function planPeople(given: Prepared, before: Planned, options: PeopleOptions): Part {
  if (!concernsPeople(given)) return { operations: [], changes: [], blocks: new Map() };
  const { rejections } = options;
  const staff = planStaff(given, options.settings, options);
  const added = rejections.operations(staff.meant);
  const edited = rejections.operations(staff.edits);
  const { memberships } = staff;
  const earlier: Earlier = { ...before, memberships, make: (drafts) => rejections.operations(drafts) };
  const plans = handedIn().resources.map((resource) => resource.plan(given, earlier, options));
  return {
    operations: [...added.operations, ...edited.operations, ...plans.flatMap(({ operations }) => operations)],
    changes: [...staff.changes, ...plans.flatMap(({ changes }) => changes)],
    // Who a person is comes before what they hold, and that before what is only worth noting.
    blocks: new Map([
      ...edited.refused,
      ...staff.notes,
      ...edited.refused.filter(([, block]) => block.rejected === true),
      ...firstBlocks([...plans.flatMap(({ blocks }) => blocks), ...added.refused]),
      ...staff.blocks,
    ]),
  };
}

/** Whether anything of a customer's people is looked at: they were read, are new, or changed. */
function concernsPeople({ staff, known, observed }: Prepared): boolean {
  if (staff.length === 0 && known.assignments.length === 0) return false;
  return observed.members !== undefined || known.link === undefined || staff.some((person) => person.pending);
}
