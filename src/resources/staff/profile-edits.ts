import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { wireLong } from "../../contract/member-center.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Desired, DesiredStaff } from "../../engine/model/desired.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import type { Block, BlockedRecord } from "../../engine/plan/blocks.ts";
import type { Observed, PlanInput } from "../../engine/plan/input.ts";
import { markerKey, type PrivateMarker } from "../../engine/model/references.ts";
import type { Known, StateChange } from "../../engine/model/state.ts";
import type { ObservedMember } from "../../platform/snapshot.ts";
import {
  isAccountOf,
  clearProfile,
  fieldNames,
  leftProfile,
  profileOf,
  shownFields,
  shownOtherwise,
  shownProfile,
  type ClearProfile,
} from "./profile.ts";
import type { ShownField, StaffLink, StaffProfile } from "./state.ts";

type Given = Pick<PlanInput, "customer" | "staff" | "privateValues" | "changedAccounts"> & {
  known: Pick<Known, "staffLinks" | "protectedMembers" | "enterpriseCode">;
  observed: Pick<Observed, "members">;
};
type Draft = DraftOperation<"edit-staff">;

interface Edits {
  drafts: Draft[];
  changes: StateChange[];
  /** Notes that do not stop the person's assets, such as a changed account name. */
  notes: BlockedRecord[];
}

interface Person {
  staff: Desired<DesiredStaff>;
  link: StaffLink;
  member: ObservedMember;
  wanted: StaffProfile;
}

interface Edit {
  draft?: Draft;
  change?: StateChange;
  note?: Block | undefined;
}

/**
 * Sends changes of existing accounts by M2, always with all known values of the person (A41). No call changes an
 * account name. One M5 checks what M2 set: a difference is reported, never sent again. Later changes by others on the
 * platform stay.
 */
export function planEdits(given: Given, settings: AssumptionSettings): Edits {
  const edits: Edits = { drafts: [], changes: [], notes: [] };
  const shown = (given.observed.members ?? []).filter(({ deleted }) => !deleted);
  const members = new Map(shown.map((member) => [member.globalId, member]));
  for (const staff of given.staff) {
    const key = formatKey(staff.key);
    const kept = given.known.staffLinks.get(key);
    if (kept === undefined || staff.state !== "current") continue;
    const member = members.get(kept.memberGlobalId);
    const link = toldAnew(given, { staff, link: kept, member }, settings);
    const wanted = profileOf(staff.body);
    const login = wanted.userName === link.profile.userName ? undefined : loginChanged;
    const own = member === undefined ? {} : planEdit(given, { staff, link, member, wanted }, settings);
    const note = [own.note, login].find((block) => block?.again) ?? login ?? own.note;
    if (note !== undefined) edits.notes.push([key, note]);
    if (own.draft !== undefined) edits.drafts.push(own.draft);
    if (own.change !== undefined) edits.changes.push(own.change);
    else if (link !== kept) edits.changes.push(agreed(given, staff, link.profile));
  }
  return edits;
}

/** After an erasure, a returning person is recognised by the account's present name. */
function toldAnew(
  given: Given,
  { staff, link, member }: Pick<Person, "staff" | "link"> & { member: ObservedMember | undefined },
  settings: AssumptionSettings,
): StaffLink {
  const isKnown = clear(given, loginOf(staff, link)) !== undefined;
  if (isKnown || link.login === undefined || member === undefined) return link;
  const login = clear(given, staff.body.userName);
  const code = { known: given.known.enterpriseCode, maxLength: settings.enterpriseCodeMaxLength };
  if (login === undefined || !isAccountOf(member, login, code)) return link;
  return { ...link, profile: shownProfile(given, staff.body, member), login: undefined };
}

const loginChanged: Block = {
  code: "staff.login-changed",
  reason:
    "the account name changed in the CRM, but no call can change it on the platform (M2 needs the old name and keeps " +
    "it)",
  again: false,
};

/** Plans an M2 for one account, or the reason why not. */
export function planEdit(given: Given, person: Person, settings: AssumptionSettings): Edit {
  const { staff, link, member, wanted } = person;
  const { unread, ...before } = link.profile;
  const dropped = droppedFields(before, wanted, settings);
  const cleared = dropped.filter((field) => (member[field] ?? "") === "");
  if (cleared.length > 0) {
    const profile = { ...link.profile, ...Object.fromEntries(cleared.map((field) => [field, null])) };
    return { change: agreed(given, staff, profile) };
  }
  const kept = Object.fromEntries(dropped.map((field) => [field, before[field]]));
  const after: StaffProfile = { ...wanted, userName: before.userName, ...kept };
  const changed = shownFields.filter((field) => before[field] !== after[field]);
  const note = dropped.length === 0 ? undefined : notCleared(dropped);
  if (changed.length > 0) {
    const left = changedOnPlatform(given, person);
    const stopped = whyNotSent(given, person, settings) ?? whyNotLeft(left, settings);
    if (stopped !== undefined) return { note: stopped };
    return { draft: edit(given, person, { before, after, changed, left, settings }), note };
  }
  if (unread === undefined) return { note };
  const otherwise = shownOtherwise(member, sentProfile(given, staff.body, unread, settings));
  if (otherwise.length > 0) return { note: shownDifferently(otherwise) };
  return { change: agreed(given, staff, before), note };
}

function agreed({ customer }: Given, { key: staff }: Person["staff"], profile: StaffProfile): StateChange {
  return { type: "staff-edited", staff, customer, profile };
}

/** Fields that others changed on the platform, if an earlier reading recorded a difference. */
function changedOnPlatform(given: Given, { staff, link, member }: Person): readonly ShownField[] {
  if (given.changedAccounts?.has(formatKey(staff.key)) !== true) return [];
  return shownOtherwise(member, leftProfile(given.privateValues, staff.body, link.profile));
}

/** M2 needs the name, and may clear fields that it does not contain. */
function whyNotLeft(left: readonly ShownField[], settings: AssumptionSettings): Block | undefined {
  const isLeftOut = settings.leftOutStaffFields === "kept" && !left.includes("name");
  if (left.every((field) => field === "departmentId") || isLeftOut) return undefined;
  return block(
    "staff.would-set-back",
    `M5 shows another ${named(left)} than was sent, and crm-sync does not set that back. The M2 for the ` +
      "changes of the CRM would overwrite it",
  );
}

/** Values missing in the CRM that M2 cannot or may not clear. A default department fills a missing one. */
function droppedFields(before: StaffProfile, wanted: StaffProfile, settings: AssumptionSettings): ShownField[] {
  return shownFields.filter((field) => {
    if (before[field] === null || wanted[field] !== null) return false;
    return field === "departmentId"
      ? settings.defaultDepartmentId === undefined
      : settings.clearedStaffFields === "omit";
  });
}

function notCleared(dropped: readonly ShownField[]): Block {
  const what = named(dropped);
  const reason =
    `the CRM no longer gives the person's ${what}, but the platform still shows it: ` +
    "M2 leaves out fields without a value in the CRM (A41)";
  return { code: "staff.not-cleared", reason, again: true };
}

function shownDifferently(otherwise: readonly ShownField[]): Block {
  const reason =
    `the service accepted M2, but M5 shows another ${named(otherwise)} than was sent. crm-sync does not send M2 a ` +
    "second time (A41)";
  return { code: "staff.shown-otherwise", reason, again: true };
}

function named(of: readonly ShownField[]): string {
  return of.map((field) => fieldNames[field]).join(" and ");
}

/** Sends nothing to an account that may be another person's, or whose values M2 may clear. */
function whyNotSent(given: Given, { staff, link, member }: Person, settings: AssumptionSettings): Block | undefined {
  const { protectedMembers, enterpriseCode } = given.known;
  if (protectedMembers.has(link.memberGlobalId))
    return block(
      "staff.protected",
      "the account was created together with the enterprise, and crm-sync does not change it",
    );
  const login = clear(given, loginOf(staff, link));
  if (login === undefined)
    return block("staff.erased", "the person's account name was erased, so crm-sync cannot recognise the account");
  const code = { known: enterpriseCode, maxLength: settings.enterpriseCodeMaxLength };
  if (!isAccountOf(member, login, code)) {
    return block(
      "staff.other-account",
      `M5 shows the member ${link.memberGlobalId} with another account name than the linked one, so crm-sync changes ` +
        "nothing there",
    );
  }
  if (settings.leftOutStaffFields === "kept") return undefined;
  const strange = (["remark", "mobile"] as const).filter(
    (field) => staff.body[field] === undefined && link.profile[field] === null && (member[field] ?? "") !== "",
  );
  if (strange.length === 0) return undefined;
  return block(
    "staff.would-clear",
    `M5 shows a ${named(strange)} of the person that the CRM never gave. It is not known whether M2 clears omitted ` +
      "fields (assumptions.leftOutStaffFields, A41)",
  );
}

function block(code: string, reason: string): Block {
  return { code, reason, again: true };
}

function loginOf(staff: Desired<DesiredStaff>, link: StaffLink): PrivateMarker {
  const { userName } = staff.body;
  return userName.commitment === link.profile.userName ? userName : (link.login ?? userName);
}

function clear({ privateValues }: Pick<Given, "privateValues">, marker: PrivateMarker): string | undefined {
  return privateValues.get(markerKey(marker));
}

function sentProfile(
  given: Given,
  body: DesiredStaff,
  sent: readonly ShownField[],
  settings: AssumptionSettings,
): ClearProfile {
  const own = clearProfile(given.privateValues, body);
  const all: ClearProfile = { ...own, departmentId: own.departmentId ?? settings.defaultDepartmentId };
  return Object.fromEntries(sent.map((field) => [field, all[field]]));
}

function departmentOf({ departmentId }: ObservedMember): string | undefined {
  return departmentId !== null && /^\d+$/u.test(departmentId) ? departmentId : undefined;
}

/** If nobody sets the department, M2 sends the one from M5, which M2 might otherwise clear (A41). */
function edit(
  { customer }: Given,
  { staff, link, member }: Person,
  of: {
    before: StaffProfile;
    after: StaffProfile;
    changed: readonly ShownField[];
    left?: readonly ShownField[];
    settings: AssumptionSettings;
  },
): Draft {
  const { before, after, changed, left = [], settings } = of;
  const { body } = staff;
  const wanted = left.includes("departmentId") ? undefined : (body.departmentId ?? settings.defaultDepartmentId);
  const departmentId = wanted ?? departmentOf(member);
  const text = (field: "remark" | "mobile"): PrivateMarker | "" | undefined => {
    if (left.includes(field)) return undefined;
    return body[field] ?? (settings.clearedStaffFields === "empty" && before[field] !== null ? "" : undefined);
  };
  return {
    kind: "edit-staff",
    customer,
    subject: `profile:${formatKey(staff.key)}`,
    records: [{ stream: "staff", ...staff.key }],
    target: { enterpriseGlobalId: { $ref: "enterpriseGlobalId" }, memberGlobalId: link.memberGlobalId },
    payload: {
      userName: loginOf(staff, link),
      departmentId: departmentId === undefined ? undefined : wireLong(departmentId),
      name: body.name,
      remark: text("remark"),
      passwordMobile: text("mobile"),
    },
    reason: `changed in the CRM: ${named(changed)}`,
    before,
    after,
  };
}
