import { formatKey } from "../../crm/keys.ts";
import type { Desired, DesiredStaff } from "../../engine/model/desired.ts";
import type { Block, BlockedRecord } from "../../engine/plan/records.ts";
import type { PlanOptions, Membership, Prepared } from "../../engine/plan/input.ts";
import type { Earlier, ResourcePlan } from "../../engine/model/resource.ts";
import type { StateChange } from "../../engine/model/state.ts";
import { isSameKey } from "../../engine/model/state-part.ts";
import { planAdditions } from "./additions.ts";
import { membershipsOf } from "./identity.ts";
import { planLeavers } from "./leavers.ts";
import { planEdits } from "./profile-edits.ts";
import { shownProfile } from "./profile.ts";

/**
 * Finds each person of a customer on the platform. Who is there is adopted, and edited (M2) if the CRM has changed; who
 * is not there is added (M1). `memberships` tells later resources who each person is.
 */
export function plan(given: Prepared, earlier: Earlier, options: PlanOptions): ResourcePlan {
  const unread = given.observed.unread?.people;
  if (unread !== undefined)
    return { records: "staff", operations: [], changes: [], blocks: peopleWaiting(given, unread) };
  const found = membershipsOf(given, options.settings, options);
  const edits = planEdits(given, options.settings, options);
  const { memberships, drafts } = planAdditions(given, found, earlier.rejectedPart, options);
  const added = earlier.make(drafts);
  const edited = earlier.make(edits.drafts);
  const rejected = edited.refused.filter(([, block]) => block.rejected === true);
  return {
    records: "staff",
    operations: [...added.operations, ...edited.operations],
    changes: [...edits.changes, ...given.staff.flatMap((staff) => adoption(given, staff, memberships))],
    blocks: [...memberships].flatMap(([key, one]): BlockedRecord[] =>
      one.kind === "blocked" ? [[key, one.block]] : [],
    ),
    memberships,
    notes: [...added.refused, ...rejected, ...edits.notes, ...edited.refused],
  };
}

/** Deletes accounts of people who left (M4), after all that they hold is planned. The reasons of that come first. */
export function planLast(given: Prepared, { people, make }: Earlier, options: PlanOptions): ResourcePlan {
  const { drafts, changes, blocks } = planLeavers(given, people, options);
  const { operations, refused } = make(drafts);
  return { records: "staff", operations, changes, blocks: [...blocks, ...refused] };
}

/** Everybody waits who is new or changed, or holds what may be removed: also people of another customer now. */
function peopleWaiting({ staff, known, ended = [] }: Prepared, block: Block): BlockedRecord[] {
  const own = new Set(staff.map(({ key }) => formatKey(key)));
  const removed = new Set(ended.map(({ number }) => number));
  const waiting = [
    ...staff.filter(({ pending, state }) => pending && state !== "quarantined").map(({ key }) => formatKey(key)),
    ...known.assignments
      .filter((item) => removed.has(item.assetNumber) || !own.has(formatKey(item.staff)))
      .map((item) => formatKey(item.staff)),
  ];
  return waiting.map((key) => [key, block]);
}

/** An account that M5 shows is adopted with what M5 shows of it: nobody has sent the rest. */
function adoption(
  given: Prepared,
  staff: Desired<DesiredStaff>,
  memberships: ReadonlyMap<string, Membership>,
): StateChange[] {
  const { customer, known, observed } = given;
  const membership = memberships.get(formatKey(staff.key));
  if (membership?.kind !== "member" || membership.origin === "linked" || known.link === undefined) return [];
  const { memberGlobalId, origin, insteadOf } = membership;
  const member = observed.members?.find(({ globalId }) => globalId === memberGlobalId);
  if (member === undefined) return [];
  const { enterpriseGlobalId } = known.link;
  const profile = shownProfile(given, staff.body, member);
  const linked = { staff: staff.key, customer, enterpriseGlobalId, memberGlobalId, origin, profile };
  const changes: StateChange[] = [{ type: "staff-linked", ...linked }];
  if (insteadOf === undefined) return changes;
  // The same person under another id: what they hold is theirs, and nothing is removed or granted for it.
  const held = known.assignments.filter(
    (item) => item.memberGlobalId === memberGlobalId && isSameKey(item.staff, insteadOf),
  );
  const passed = held.map(({ assetNumber, origin: from }): StateChange => {
    const of = { assetNumber, staff: staff.key, customer, memberGlobalId };
    return { type: "asset-granted", ...of, origin: from, operationId: null };
  });
  return [{ type: "staff-unlinked", staff: insteadOf, customer, operationId: null }, ...changes, ...passed];
}
