import { formatKey } from "../../crm/keys.ts";
import type { Desired, DesiredStaff } from "../../engine/model/desired.ts";
import { type Block, type BlockedRecord, missingRecord } from "../../engine/plan/blocks.ts";
import { type PlanOptions, type Membership, type PlanInput, isGone } from "../../engine/plan/input.ts";
import type { Earlier, ResourcePlan } from "../../engine/model/resource.ts";
import { type StateChange, isSameKey } from "../../engine/model/state.ts";
import { membershipsOf } from "./identity.ts";
import { planLeavers } from "./leavers.ts";
import { planEdits } from "./profile-edits.ts";
import { shownProfile, profileOf } from "./profile.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { limits } from "../../contract/limits.ts";
import { wireLong } from "../../contract/member-center.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import { partHash } from "../../engine/plan/rejections.ts";
import type { AddedPerson } from "./add-staff.ts";

/** Adopts people that M5 shows, edits them (M2) if the CRM changed, and adds the others (M1). */
export function plan(given: PlanInput, earlier: Earlier, options: PlanOptions): ResourcePlan {
  const unread = given.observed.unread?.people;
  if (unread !== undefined)
    return { records: "staff", operations: [], changes: [], blocks: peopleWaiting(given, unread) };
  const found = membershipsOf(given, options.settings);
  const edits = planEdits(given, options.settings);
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

/** M4, after everything that these people hold is planned. */
export function planLast(given: PlanInput, { people, make }: Earlier, options: PlanOptions): ResourcePlan {
  const { drafts, changes, blocks } = planLeavers(given, people, options);
  const { operations, refused } = make(drafts);
  return { records: "staff", operations, changes, blocks: [...blocks, ...refused] };
}

/** New or changed people wait, also people whose assets may be removed, even if they moved. */
function peopleWaiting({ staff, known, ended = [] }: PlanInput, block: Block): BlockedRecord[] {
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

/** Adopts an account with the values that M5 shows: the others were never sent. */
function adoption(
  given: PlanInput,
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
  // The same person under a new id keeps the assets: nothing is removed or assigned.
  const held = known.assignments.filter(
    (item) => item.memberGlobalId === memberGlobalId && isSameKey(item.staff, insteadOf),
  );
  const passed = held.map(({ assetNumber, origin: from }): StateChange => {
    const of = { assetNumber, staff: staff.key, customer, memberGlobalId };
    return { type: "asset-granted", ...of, origin: from, operationId: null };
  });
  return [{ type: "staff-unlinked", staff: insteadOf, customer, operationId: null }, ...changes, ...passed];
}

type Addition = DraftOperation<"add-staff">;

interface Candidate {
  staff: Desired<DesiredStaff>;
  entry: AddedPerson;
  together: string | undefined;
}

/** At most 100 people per M1. People who cannot be added are blocked in `memberships`. */
export function planAdditions(
  given: PlanInput,
  found: ReadonlyMap<string, Membership>,
  rejectedPart: Earlier["rejectedPart"],
  { settings, canSeal }: Pick<PlanOptions, "settings" | "canSeal">,
): { memberships: ReadonlyMap<string, Membership>; drafts: Addition[] } {
  const { customer } = given;
  const memberships = new Map(found);
  const candidates: Candidate[] = [];
  for (const staff of given.staff) {
    const key = formatKey(staff.key);
    const membership = found.get(key);
    if (membership?.kind !== "to-add") continue;
    const entry = newPerson(staff, settings);
    const { alone, together } = rejectedPart("add-staff", partHash("add-staff", customer, staff.key, entry));
    const block =
      (isGone(given) ? customerGone : undefined) ??
      (staff.missing && missingRecord) ??
      passwordBlock(staff, settings, canSeal) ??
      alone;
    if (block !== undefined) memberships.set(key, { kind: "blocked", block });
    else candidates.push({ staff, entry, together });
  }
  return { memberships, drafts: batches(candidates).map((batch) => addition(customer, batch)) };
}

export function addedAgain(
  customer: RecordKey,
  staff: Desired<DesiredStaff>,
  { settings, canSeal }: Pick<PlanOptions, "settings" | "canSeal">,
): Addition | Block {
  const entry = newPerson(staff, settings);
  return passwordBlock(staff, settings, canSeal) ?? addition(customer, [{ staff, entry }]);
}

const customerGone: Block = {
  code: "customer.gone",
  reason: "the customer of the person was deleted in the CRM, so crm-sync makes no account",
  again: false,
};

function passwordBlock(
  staff: Desired<DesiredStaff>,
  settings: AssumptionSettings,
  canSeal: boolean,
): Block | undefined {
  if (!canSeal) {
    const reason = "the setting ledger.sealKey is missing, so crm-sync cannot keep an initial password";
    return { code: "staff.no-sealing-key", reason, again: true };
  }
  if (settings.passwordSource === "crm" && staff.body.password === undefined) {
    const reason = "passwords come from the CRM (assumptions.passwordSource), but the CRM gives none for this person";
    return { code: "staff.no-password", reason, again: true };
  }
  return undefined;
}

/** Rejected people are sent again in two halves until the one at fault is alone. Nobody else joins their calls. */
function batches(candidates: readonly Candidate[]): (readonly Candidate[])[] {
  return [...Map.groupBy(candidates, ({ together }) => together)].flatMap(([together, people]) => {
    const size = together === undefined ? limits.staffPerCall : Math.ceil(people.length / 2);
    const parts: (readonly Candidate[])[] = [];
    for (let start = 0; start < people.length; start += size) parts.push(people.slice(start, start + size));
    return parts;
  });
}

function addition(customer: RecordKey, batch: readonly Pick<Candidate, "staff" | "entry">[]): Addition {
  return {
    kind: "add-staff",
    customer,
    subject: `staff-of:${formatKey(customer)}`,
    records: batch.map(({ staff }) => ({ stream: "staff", ...staff.key })),
    target: { enterpriseGlobalId: { $ref: "enterpriseGlobalId" } },
    payload: { userList: batch.map(({ entry }) => entry) },
    reason: `${batch.length} staff ${batch.length === 1 ? "member is" : "members are"} not on the platform yet`,
    before: null,
    after: batch.map(({ staff }) => ({ staff: formatKey(staff.key), ...profileOf(staff.body) })),
  };
}

function newPerson({ key, body }: Desired<DesiredStaff>, settings: AssumptionSettings): AddedPerson {
  const departmentId = body.departmentId ?? settings.defaultDepartmentId;
  return {
    userName: body.userName,
    password: settings.passwordSource === "crm" ? body.password : initialPassword(formatKey(key)),
    departmentId: departmentId === undefined ? undefined : wireLong(departmentId),
    name: body.name,
    remark: body.remark,
    passwordMobile: body.mobile,
  };
}

/** Replaced by a generated password when the payload is bound. `staff`: the record's key. */
export function initialPassword(staff: string): { $initialPassword: string } {
  return { $initialPassword: staff };
}
