import { limits } from "../contract/limits.ts";
import { wireLong } from "../contract/member-center.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { StateChange, StaffProfile } from "../operation/state.ts";
import type { Block } from "./block.ts";
import type { CustomerInput } from "./input.ts";
import type { ObservedMember } from "../platform/snapshot.ts";
import type { Desired, DesiredStaff } from "../operation/desired.ts";
import type { AddedPerson } from "../operation/add-staff.ts";
import type { Operation } from "../operation/operation.ts";
import type { PrivateMarker } from "../operation/references.ts";
import { markerKey } from "../operation/references.ts";
import { operation } from "../operation/new-operation.ts";
import { personHash } from "./rejections.ts";
import type { StandingRejections } from "./rejections.ts";

/** Who a staff record is on the platform, or becomes in this plan. */
export type Membership =
  | { kind: "member"; memberGlobalId: string; origin: "linked" | "adopted" }
  | { kind: "to-add" }
  | { kind: "blocked"; block: Block };

export interface StaffStage {
  memberships: ReadonlyMap<string, Membership>;
  operations: Operation[];
  changes: StateChange[];
  /** Blocks that concern a record without stopping its assets, such as a changed name. */
  notes: ReadonlyMap<string, Block>;
}

function clear(input: CustomerInput, value: PrivateMarker): string | undefined {
  return input.privateValues.get(markerKey(value));
}

/**
 * Finds each staff record on the platform: by its link, else by its account name, bare or with the enterprise code
 * (A28); two hits block. Whoever is not there is added, at most 100 in one M1.
 */
export function planStaff(
  input: CustomerInput,
  settings: AssumptionSettings,
  options: { canSeal: boolean; rejections: StandingRejections },
): StaffStage {
  const memberships = new Map<string, Membership>();
  const notes = new Map<string, Block>();
  const changes: StateChange[] = [];
  const enterpriseGlobalId = input.known.link?.enterpriseGlobalId;
  const members = (input.observed.members ?? []).filter((member) => !member.deleted);
  const unread = enterpriseGlobalId !== undefined && input.observed.members === undefined;
  const names = new Map<string, number>();
  for (const staff of input.staff) {
    if (staff.state !== "current") continue;
    const name = clear(input, staff.body.userName) ?? "";
    names.set(name, (names.get(name) ?? 0) + 1);
  }
  const unlinked: { staff: Desired<DesiredStaff>; found: Membership }[] = [];
  for (const staff of input.staff) {
    const key = formatKey(staff.key);
    const link = input.known.staffLinks.get(key);
    if (link !== undefined) {
      const shown = unread || members.some((member) => member.globalId === link.memberGlobalId);
      memberships.set(
        key,
        shown
          ? { kind: "member", memberGlobalId: link.memberGlobalId, origin: "linked" }
          : {
              kind: "blocked",
              block: {
                code: "staff.not-shown",
                reason: "the platform no longer shows this staff member; check whether somebody deleted the account",
                again: true,
              },
            },
      );
      const changed = staff.state === "current" ? changedProfile(link.profile, profileOf(staff.body)) : [];
      if (changed.length > 0) {
        notes.set(key, {
          code: "amendment.not-enabled",
          reason: `amendment not enabled: the staff member's ${changed.join(" and ")} changed in the CRM`,
          again: false,
        });
      }
      continue;
    }
    if (staff.state !== "current") continue;
    if (unread) {
      memberships.set(key, {
        kind: "blocked",
        block: { code: "staff.not-read", reason: "the staff list was not read", again: true },
      });
      continue;
    }
    const userName = clear(input, staff.body.userName);
    unlinked.push({ staff, found: identify(input, staff, userName, members, names, settings) });
  }
  const fits = new Map<string, number>();
  for (const { found } of unlinked) {
    if (found.kind === "member") fits.set(found.memberGlobalId, (fits.get(found.memberGlobalId) ?? 0) + 1);
  }
  const toAdd: Candidate[] = [];
  for (const { staff, found } of unlinked) {
    let membership = onlyOne(found, fits) ?? passwordLacking(found, staff, settings, options.canSeal) ?? found;
    if (membership.kind === "to-add") {
      const entry = newStaff(staff, settings);
      const refused = options.rejections.person(personHash(input.customer, staff.key, entry));
      if (refused !== undefined && "alone" in refused) membership = { kind: "blocked", block: refused.alone };
      else toAdd.push({ staff, entry, together: refused?.together });
    }
    memberships.set(formatKey(staff.key), membership);
    if (membership.kind === "member" && enterpriseGlobalId !== undefined) {
      changes.push({
        type: "staff-linked",
        staff: staff.key,
        customer: input.customer,
        enterpriseGlobalId,
        memberGlobalId: membership.memberGlobalId,
        origin: "adopted",
        profile: profileOf(staff.body),
      });
    }
  }
  return { memberships, operations: additions(input, toAdd), changes, notes };
}

/** Blocks a staff record whose account name, bare or with a code, leads to the same member as another record's. */
function onlyOne(found: Membership, fits: ReadonlyMap<string, number>): Membership | undefined {
  if (found.kind !== "member") return undefined;
  const hits = fits.get(found.memberGlobalId) ?? 0;
  if (hits <= 1) return undefined;
  return {
    kind: "blocked",
    block: {
      code: "staff.ambiguous",
      reason: `${hits} staff records fit the same staff member on the platform; one must be chosen by hand`,
      again: true,
    },
  };
}

function passwordLacking(
  found: Membership,
  staff: Desired<DesiredStaff>,
  settings: AssumptionSettings,
  canSeal: boolean,
): Membership | undefined {
  if (found.kind !== "to-add") return undefined;
  const block = passwordBlock(staff, settings, canSeal);
  return block === undefined ? undefined : { kind: "blocked", block };
}

function passwordBlock(
  staff: Desired<DesiredStaff>,
  settings: AssumptionSettings,
  canSeal: boolean,
): Block | undefined {
  if (!canSeal) {
    return {
      code: "staff.no-sealing-key",
      reason: "no sealing key is configured (ledger.sealKey), so no initial password can be kept",
      again: true,
    };
  }
  if (settings.passwordSource === "crm" && staff.body.password === undefined) {
    return {
      code: "staff.no-password",
      reason: "passwords come from the CRM (passwordSource), and it gives none for this person",
      again: true,
    };
  }
  return undefined;
}

function identify(
  input: CustomerInput,
  staff: Desired<DesiredStaff>,
  userName: string | undefined,
  members: readonly ObservedMember[],
  names: ReadonlyMap<string, number>,
  settings: AssumptionSettings,
): Membership {
  if (userName === undefined) {
    return {
      kind: "blocked",
      block: { code: "staff.erased", reason: "the person's private values were erased", again: false },
    };
  }
  if ((names.get(userName) ?? 0) > 1) {
    return {
      kind: "blocked",
      block: {
        code: "staff.same-account",
        reason: "two staff records of this customer have the same account name",
        again: true,
      },
    };
  }
  const name = clear(input, staff.body.name);
  const code = input.known.enterpriseCode;
  const hits = members.filter((member) => {
    if (member.userName === userName) return true;
    if (!member.userName.startsWith(userName)) return false;
    const suffix = member.userName.slice(userName.length);
    if (code !== undefined) return suffix === code;
    return suffix.length <= settings.enterpriseCodeMaxLength && member.name === name;
  });
  const [hit] = hits;
  if (hits.length > 1) {
    return {
      kind: "blocked",
      block: {
        code: "staff.ambiguous",
        reason: `${hits.length} staff members on the platform fit the account name; one must be chosen by hand`,
        again: true,
      },
    };
  }
  if (hit === undefined) {
    const stranger = members.some(
      (member) => member.name === name && member.userName.startsWith(userName) && isNobodys(input, member, names),
    );
    return stranger ? { kind: "blocked", block: otherEnding } : { kind: "to-add" };
  }
  if (input.known.protectedMembers.has(hit.globalId)) {
    return {
      kind: "blocked",
      block: {
        code: "staff.protected",
        reason:
          "the account with this name was made together with the enterprise and is left alone; give the person another account name",
        again: true,
      },
    };
  }
  const owner = [...input.known.staffLinks.values()].find((link) => link.memberGlobalId === hit.globalId);
  if (owner !== undefined) {
    return {
      kind: "blocked",
      block: {
        code: "staff.member-taken",
        reason: `the staff member with this account name is linked to ${formatKey(owner.key)}`,
        again: true,
      },
    };
  }
  return { kind: "member", memberGlobalId: hit.globalId, origin: "adopted" };
}

/**
 * Whoever has this person's name and an account name that begins like the one that would be sent may be that person: no
 * second account is made.
 */
const otherEnding: Block = {
  code: "staff.other-ending",
  reason:
    "the platform shows an account with this person's name and account name, and another ending than the enterprise code; it may be this person's, so none is added. Compare the account on the platform with the CRM, and give the person here or the account there another name",
  again: true,
};

/**
 * Whether a member is neither linked to a staff record, nor made with the enterprise, nor the account of another record
 * of this customer.
 */
function isNobodys(input: CustomerInput, member: ObservedMember, names: ReadonlyMap<string, number>): boolean {
  const { staffLinks, protectedMembers, enterpriseCode } = input.known;
  if (protectedMembers.has(member.globalId)) return false;
  if ([...staffLinks.values()].some((link) => link.memberGlobalId === member.globalId)) return false;
  if (names.has(member.userName)) return false;
  const bare = enterpriseCode === undefined ? undefined : withoutEnding(member.userName, enterpriseCode);
  return bare === undefined || !names.has(bare);
}

function withoutEnding(text: string, ending: string): string | undefined {
  return text.endsWith(ending) ? text.slice(0, text.length - ending.length) : undefined;
}

/** Somebody who is to be added; `together`: the M1 that was refused with this person and others in it. */
interface Candidate {
  staff: Desired<DesiredStaff>;
  entry: AddedPerson;
  together: string | undefined;
}

function additions(input: CustomerInput, toAdd: readonly Candidate[]): Operation[] {
  return batches(toAdd).map((batch) =>
    operation("add-staff", {
      customer: input.customer,
      subject: `staff-of:${formatKey(input.customer)}`,
      records: batch.map(({ staff }) => ({ stream: "staff", ...staff.key })),
      target: { enterpriseGlobalId: { $ref: "enterpriseGlobalId" } },
      payload: { userList: batch.map(({ entry }) => entry) },
      reason: `${batch.length} staff ${batch.length === 1 ? "member is" : "members are"} not on the platform yet`,
      before: null,
      after: batch.map(({ staff }) => ({ staff: formatKey(staff.key), ...profileOf(staff.body) })),
    }),
  );
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

/** What M1 is told of a person besides the password, as commitments. */
export function profileOf(body: DesiredStaff): StaffProfile {
  return {
    userName: body.userName.commitment,
    name: body.name.commitment,
    remark: body.remark?.commitment ?? null,
    mobile: body.mobile?.commitment ?? null,
    departmentId: body.departmentId ?? null,
  };
}

const profileNames: Record<keyof StaffProfile, string> = {
  userName: "account name",
  name: "name",
  remark: "note",
  mobile: "mobile number",
  departmentId: "department",
};

function changedProfile(before: StaffProfile, now: StaffProfile): string[] {
  const fields: (keyof StaffProfile)[] = ["userName", "name", "remark", "mobile", "departmentId"];
  return fields.filter((field) => before[field] !== now[field]).map((field) => profileNames[field]);
}
