import { formatKey } from "../../crm/keys.ts";
import type { Earlier, ResourcePlan } from "../../engine/resource.ts";
import type { Block, BlockedRecord } from "../../engine/plan/block.ts";
import type { PlanOptions } from "../../engine/plan/options.ts";
import type { Prepared } from "../../engine/plan/prepared.ts";
import { planLeavers } from "./leavers.ts";
import { planStaff } from "./staff.ts";

/** Finds, adopts, adds and edits the people of a customer. */
export function plan(given: Prepared, earlier: Earlier, options: PlanOptions): ResourcePlan {
  const block = given.observed.unread?.people;
  if (block !== undefined) return { ...nothing, blocks: peopleWaiting(given, block) };
  if (!concernsPeople(given)) return nothing;
  const staff = planStaff(given, options.settings, { ...options, rejectedPart: earlier.rejectedPart });
  const added = earlier.make(staff.meant);
  const edited = earlier.make(staff.edits);
  const isRejected = ([, { rejected }]: BlockedRecord): boolean => rejected === true;
  return {
    records: "staff",
    operations: [...added.operations, ...edited.operations],
    changes: staff.changes,
    blocks: staff.blocks,
    memberships: staff.memberships,
    notes: [...added.refused, ...edited.refused.filter(isRejected), ...staff.notes, ...edited.refused],
  };
}

/** Deletes accounts of people who left, after what they hold is planned. What is said of that comes first. */
export function planLast(given: Prepared, { people, make }: Earlier, options: PlanOptions): ResourcePlan {
  const { meant, changes, blocks } = planLeavers(given, people, options);
  const { operations, refused } = make(meant);
  return { records: "staff", operations, changes, blocks: [...blocks, ...refused] };
}

const nothing: ResourcePlan = { records: "staff", operations: [], changes: [], blocks: [] };

/** Everybody of whom something may be to be done waits; who belongs elsewhere now is the matter of the customer. */
function peopleWaiting({ staff, known, ended = [] }: Prepared, block: Block): BlockedRecord[] {
  const own = new Set(staff.map(({ key }) => formatKey(key)));
  const over = new Set(ended.map(({ number }) => number));
  const waiting = [
    ...staff.filter(({ pending, state }) => pending && state !== "quarantined").map(({ key }) => formatKey(key)),
    ...known.assignments
      .filter((item) => over.has(item.assetNumber) || !own.has(formatKey(item.staff)))
      .map((item) => formatKey(item.staff)),
  ];
  return waiting.map((key) => [key, block]);
}

/** Whether anything of a customer's people is looked at: they were read, are new, or changed. */
function concernsPeople({ staff, known, observed }: Prepared): boolean {
  if (staff.length === 0 && known.assignments.length === 0) return false;
  return observed.members !== undefined || known.link === undefined || staff.some((person) => person.pending);
}
