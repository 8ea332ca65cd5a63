import { limits } from "../contract/limits.ts";
import { wireLong } from "../contract/member-center.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { StaffLink, StaffProfile } from "../operation/state/staff-links.ts";
import type { StateChange } from "../operation/state.ts";
import type { Block } from "./block.ts";
import type { CustomerInput } from "./input.ts";
import type { Desired, DesiredStaff } from "../operation/desired.ts";
import type { AddedPerson } from "../operation/add-staff.ts";
import type { Operation } from "../operation/operation.ts";
import { operation } from "../operation/new-operation.ts";
import { blocked, clear, identify } from "./staff-identity.ts";
import type { Members, Membership } from "./staff-identity.ts";
import { personHash } from "./rejections.ts";
import type { StandingRejections } from "./rejections.ts";

export interface StaffStage {
  memberships: ReadonlyMap<string, Membership>;
  operations: Operation[];
  changes: StateChange[];
  /** Blocks that concern a record without stopping its assets, such as a changed name. */
  notes: ReadonlyMap<string, Block>;
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
  const stage = { memberships: new Map<string, Membership>(), notes: new Map<string, Block>() };
  const enterpriseGlobalId = input.known.link?.enterpriseGlobalId;
  const shown = (input.observed.members ?? []).filter((member) => !member.deleted);
  const unread = enterpriseGlobalId !== undefined && input.observed.members === undefined;
  const members: Members = { shown, names: accountNames(input) };
  const unlinked: Found[] = [];
  for (const staff of input.staff) {
    const key = formatKey(staff.key);
    const link = input.known.staffLinks.get(key);
    if (link !== undefined) {
      const isShown = unread || shown.some((member) => member.globalId === link.memberGlobalId);
      stage.memberships.set(key, isShown ? linkedMember(link) : notShown);
      const note = changeNote(link, staff);
      if (note !== undefined) stage.notes.set(key, note);
    } else if (staff.state === "current" && unread) {
      stage.memberships.set(key, blocked("staff.not-read", "the staff list was not read"));
    } else if (staff.state === "current") {
      unlinked.push({ staff, found: identify(input, staff, members, settings) });
    }
  }
  return { ...stage, ...planUnlinked(input, settings, options, unlinked, stage.memberships) };
}

/** A staff record that no link leads to the platform, and whom its account name leads to. */
interface Found {
  staff: Desired<DesiredStaff>;
  found: Membership;
}

function accountNames(input: CustomerInput): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const staff of input.staff) {
    if (staff.state !== "current") continue;
    const name = clear(input, staff.body.userName) ?? "";
    names.set(name, (names.get(name) ?? 0) + 1);
  }
  return names;
}

const notShown = blocked(
  "staff.not-shown",
  "the platform no longer shows this staff member; check whether somebody deleted the account",
);

function linkedMember({ memberGlobalId }: StaffLink): Membership {
  return { kind: "member", memberGlobalId, origin: "linked" };
}

function changeNote(link: StaffLink, staff: Desired<DesiredStaff>): Block | undefined {
  const changed = staff.state === "current" ? changedProfile(link.profile, profileOf(staff.body)) : [];
  if (changed.length === 0) return undefined;
  return {
    code: "amendment.not-enabled",
    reason: `amendment not enabled: the staff member's ${changed.join(" and ")} changed in the CRM`,
    again: false,
  };
}

/** Adopts who is there and adds who is not; says in `memberships` who each of them is. */
function planUnlinked(
  input: CustomerInput,
  settings: AssumptionSettings,
  options: { canSeal: boolean; rejections: StandingRejections },
  unlinked: readonly Found[],
  memberships: Map<string, Membership>,
): Pick<StaffStage, "operations" | "changes"> {
  const changes: StateChange[] = [];
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
    const adopted = adoption(input, staff, membership);
    if (adopted !== undefined) changes.push(adopted);
  }
  return { operations: additions(input, toAdd), changes };
}

function adoption(
  { customer, known }: CustomerInput,
  staff: Desired<DesiredStaff>,
  membership: Membership,
): StateChange | undefined {
  if (membership.kind !== "member" || known.link === undefined) return undefined;
  return {
    type: "staff-linked",
    staff: staff.key,
    customer,
    enterpriseGlobalId: known.link.enterpriseGlobalId,
    memberGlobalId: membership.memberGlobalId,
    origin: "adopted",
    profile: profileOf(staff.body),
  };
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
