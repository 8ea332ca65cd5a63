import type { Membership } from "../../engine/plan/part.ts";
import { limits } from "../../contract/limits.ts";
import { wireLong } from "../../contract/member-center.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Known, StateChange } from "../../engine/state.ts";
import { isSameKey } from "../../engine/state/same-key.ts";
import { missingRecord } from "../../engine/plan/block.ts";
import type { Block, BlockedRecord } from "../../engine/plan/block.ts";
import type { Observed } from "../../engine/plan/input.ts";
import type { PlanOptions } from "../../engine/plan/options.ts";
import { isGone } from "../../engine/plan/prepared.ts";
import type { Prepared } from "../../engine/plan/prepared.ts";
import type { Desired, DesiredStaff } from "../../engine/desired.ts";
import type { AddedPerson } from "./add-staff.ts";
import type { DraftOperation } from "../../engine/operation.ts";
import { planProfiles, profileOf, shownProfile } from "./staff-profile.ts";
import { membershipsOf } from "./staff-identity.ts";
import { partHash } from "../../engine/plan/rejections.ts";
import type { Earlier } from "../../engine/resource.ts";

/** What the staff stage looks at. */
type Given = Pick<Prepared, "customer" | "desiredCustomer" | "staff" | "privateValues" | "drift"> & {
  known: Pick<Known, "link" | "staffLinks" | "protectedMembers" | "enterpriseCode" | "assignments">;
  observed: Pick<Observed, "members">;
};

export interface StaffStage {
  memberships: ReadonlyMap<string, Membership>;
  meant: DraftOperation<"add-staff">[];
  edits: DraftOperation<"edit-staff">[];
  changes: StateChange[];
  /** Why somebody is nobody on the platform yet. */
  blocks: BlockedRecord[];
  /** Blocks that concern a record without stopping its assets, such as a changed name. */
  notes: ReadonlyMap<string, Block>;
}

type StaffOptions = Pick<PlanOptions, "canSeal" | "policies" | "repairs"> & Pick<Earlier, "rejectedPart">;

const lostReason = "the platform showed the account of each of them and shows it no more; another one is made";

/**
 * Finds each staff record on the platform, adopts who is there, edits who changed and adds who is not there, at most
 * 100 in one M1. Says in `memberships` who each of them is.
 */
export function planStaff(given: Given, settings: AssumptionSettings, options: StaffOptions): StaffStage {
  const { customer } = given;
  const { canSeal, rejectedPart } = options;
  const memberships = membershipsOf(given, settings, options);
  const profiles = planProfiles(given, settings, options);
  const changes: StateChange[] = [...profiles.changes];
  const toAdd: Candidate[] = [];
  for (const staff of given.staff) {
    const key = formatKey(staff.key);
    const membership = memberships.get(key);
    if (membership?.kind === "member") changes.push(...adoption(given, staff, membership));
    if (membership?.kind !== "to-add") continue;
    const entry = newStaff(staff, settings);
    const { alone, together } = rejectedPart("add-staff", partHash("add-staff", customer, staff.key, entry));
    const block =
      (isGone(given) ? customerGone : undefined) ??
      (staff.missing && missingRecord) ??
      passwordBlock(staff, settings, canSeal) ??
      alone;
    if (block !== undefined) memberships.set(key, { kind: "blocked", block });
    else toAdd.push({ staff, entry, together, lost: membership.lost === true });
  }
  const meant = [
    ...additions(
      customer,
      toAdd.filter(({ lost }) => lost !== true),
    ),
    ...additions(
      customer,
      toAdd.filter(({ lost }) => lost === true),
    ).map((addition) => ({ ...addition, reason: lostReason, policy: "drift.missing" as const })),
  ];
  return { memberships, meant, edits: profiles.meant, changes, blocks: blocksOf(memberships), notes: profiles.notes };
}

function blocksOf(memberships: StaffStage["memberships"]): BlockedRecord[] {
  return [...memberships].flatMap(([key, membership]): BlockedRecord[] =>
    membership.kind === "blocked" ? [[key, membership.block]] : [],
  );
}

const customerGone: Block = {
  code: "customer.gone",
  reason: "the customer of the person was deleted in the CRM, so crm-sync makes no account",
  again: false,
};

/** An account that M5 shows is adopted with what M5 shows of it: nobody has sent the rest. */
function adoption(
  given: Given,
  staff: Desired<DesiredStaff>,
  { memberGlobalId, origin, insteadOf }: Extract<Membership, { kind: "member" }>,
): StateChange[] {
  const { customer, known, observed } = given;
  if (origin === "linked" || known.link === undefined) return [];
  const member = observed.members?.find(({ globalId }) => globalId === memberGlobalId);
  if (member === undefined) return [];
  const { enterpriseGlobalId } = known.link;
  const profile = shownProfile(given, staff.body, member);
  const linked = { staff: staff.key, customer, enterpriseGlobalId, memberGlobalId, origin, profile };
  const changes: StateChange[] = [{ type: "staff-linked", ...linked }];
  if (insteadOf === undefined) return changes;
  // The same person under another id: what they hold is theirs, and nothing is taken away or given for it.
  const held = known.assignments.filter(
    (item) => item.memberGlobalId === memberGlobalId && isSameKey(item.staff, insteadOf),
  );
  const passed = held.map(({ assetNumber, origin: from }): StateChange => {
    const of = { assetNumber, staff: staff.key, customer, memberGlobalId };
    return { type: "asset-granted", ...of, origin: from, operationId: null };
  });
  return [{ type: "staff-unlinked", staff: insteadOf, customer, operationId: null }, ...changes, ...passed];
}

function passwordBlock(
  staff: Desired<DesiredStaff>,
  settings: AssumptionSettings,
  canSeal: boolean,
): Block | undefined {
  if (!canSeal) {
    return {
      code: "staff.no-sealing-key",
      reason: "the setting ledger.sealKey is missing, so crm-sync cannot keep an initial password",
      again: true,
    };
  }
  if (settings.passwordSource === "crm" && staff.body.password === undefined) {
    return {
      code: "staff.no-password",
      reason: "passwords come from the CRM (assumptions.passwordSource), but the CRM gives none for this person",
      again: true,
    };
  }
  return undefined;
}

/** The M1 of one person whose account is gone, or why there is none. */
export function addedAgain(
  customer: RecordKey,
  staff: Desired<DesiredStaff>,
  { settings, canSeal }: { settings: AssumptionSettings; canSeal: boolean },
): DraftOperation<"add-staff"> | Block {
  const block = passwordBlock(staff, settings, canSeal);
  if (block !== undefined) return block;
  const [meant] = additions(customer, [{ staff, entry: newStaff(staff, settings), together: undefined }]);
  return meant ?? customerGone;
}

/** Somebody who is to be added; `together`: the M1 that was refused with this person and others in it. */
interface Candidate {
  staff: Desired<DesiredStaff>;
  entry: AddedPerson;
  together: string | undefined;
  lost?: boolean;
}

function additions(customer: RecordKey, toAdd: readonly Candidate[]): StaffStage["meant"] {
  return batches(toAdd).map((batch) => ({
    kind: "add-staff",
    customer,
    subject: `staff-of:${formatKey(customer)}`,
    records: batch.map(({ staff }) => ({ stream: "staff", ...staff.key })),
    target: { enterpriseGlobalId: { $ref: "enterpriseGlobalId" } },
    payload: { userList: batch.map(({ entry }) => entry) },
    reason: `${batch.length} staff ${batch.length === 1 ? "member is" : "members are"} not on the platform yet`,
    before: null,
    after: batch.map(({ staff }) => ({ staff: formatKey(staff.key), ...profileOf(staff.body) })),
  }));
}

/**
 * At most 100 people in one M1. People who were refused together go in two halves, each a call of its own, until the
 * one at fault is alone; who was never refused is not put beside them.
 */
function batches(toAdd: readonly Candidate[]): (readonly Candidate[])[] {
  const groups = new Map<string | undefined, Candidate[]>();
  for (const candidate of toAdd) {
    const group = groups.get(candidate.together);
    if (group === undefined) groups.set(candidate.together, [candidate]);
    else group.push(candidate);
  }
  return [...groups].flatMap(([together, people]) => {
    const size = together === undefined ? limits.staffPerCall : Math.ceil(people.length / 2);
    const parts: (readonly Candidate[])[] = [];
    for (let start = 0; start < people.length; start += size) parts.push(people.slice(start, start + size));
    return parts;
  });
}

function newStaff(staff: Desired<DesiredStaff>, settings: AssumptionSettings): AddedPerson {
  const departmentId = staff.body.departmentId ?? settings.defaultDepartmentId;
  const password = settings.passwordSource === "crm" ? staff.body.password : initialPassword(formatKey(staff.key));
  return {
    userName: staff.body.userName,
    password,
    departmentId: departmentId === undefined ? undefined : wireLong(departmentId),
    name: staff.body.name,
    remark: staff.body.remark,
    passwordMobile: staff.body.mobile,
  };
}

/** A password that is generated when the payload is bound; `staff` is the record's key. */
export function initialPassword(staff: string): { $initialPassword: string } {
  return { $initialPassword: staff };
}
