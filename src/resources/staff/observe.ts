import { canonicalJson, toJson } from "../../base/canonical-json.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Desired, DesiredStaff } from "../../engine/model/desired.ts";
import { markerKey } from "../../engine/model/references.ts";
import { handedIn } from "../../engine/model/registry.ts";
import type { StateChange } from "../../engine/model/state.ts";
import type { ObservedAsset, ObservedMember } from "../../platform/snapshot.ts";
import type { LoadedCustomer } from "../../engine/plan/input.ts";
import { addRead, nothingRead, type ReadBack } from "../../engine/plan/blocks.ts";
import {
  commonSuffix,
  isAccountOf,
  clearProfile,
  fieldNames,
  isMasked,
  profileOf,
  shownFields,
  shownOtherwise,
  shownProfile,
} from "./profile.ts";
import { membershipsOf } from "./identity.ts";
import {
  isWanted,
  notRead,
  waitNote,
  whyNot,
  type Comparison,
  type CustomerCase,
  type Judgement,
  type ShownItem,
  type StaffCase,
} from "../../report/reconciliation/case.ts";

interface ShownPeople {
  members: readonly ObservedMember[];
  assets: readonly ObservedAsset[];
}

export function readBackStaff(
  loaded: LoadedCustomer,
  staff: Desired<DesiredStaff>,
  shown: ShownPeople,
  settings: AssumptionSettings,
): ReadBack {
  const member = memberOf(loaded, staff, shown, settings);
  if (typeof member === "string") return { ...nothingRead(), otherwise: [member] };
  const read = readProfile(loaded, staff, member);
  for (const { adopt } of handedIn().resources)
    if (adopt !== undefined) addRead(read, adopt(loaded, { person: staff, member, assets: shown.assets }));
  return read;
}

function memberOf(
  { known, privateValues }: LoadedCustomer,
  staff: Desired<DesiredStaff>,
  { members }: ShownPeople,
  settings: AssumptionSettings,
): ObservedMember | string {
  const login = privateValues.get(markerKey(staff.body.userName));
  if (login === undefined) return "the person's account name was erased from the ledger, so nobody can be told apart";
  const code = { known: known.enterpriseCode, maxLength: settings.enterpriseCodeMaxLength };
  const key = formatKey(staff.key);
  const own = known.staffLinks.get(key)?.memberGlobalId;
  const others = new Set([...known.staffLinks].flatMap(([name, item]) => (name === key ? [] : [item.memberGlobalId])));
  const fitting = members.filter((item) => !item.deleted && isAccountOf(item, login, code));
  const free = fitting.filter(({ globalId }) => !others.has(globalId) && !known.protectedMembers.has(globalId));
  const [only] = free.some(({ globalId }) => globalId === own) ? free.filter(({ globalId }) => globalId === own) : free;
  if (only === undefined) return "M5 shows no account under the person's account name that could be this person's";
  if (free.length > 1 && only.globalId !== own)
    return `M5 shows ${free.length} accounts that fit the person's account name`;
  return only;
}

function readProfile(
  { customer, known, privateValues }: LoadedCustomer,
  { key: staff, body }: Desired<DesiredStaff>,
  member: ObservedMember,
): ReadBack {
  const { globalId: memberGlobalId } = member;
  const read: ReadBack = { ...nothingRead(), seen: [`the account ${memberGlobalId}`] };
  const wanted = clearProfile(privateValues, body);
  const otherwise = new Set(shownOtherwise(member, wanted));
  for (const field of shownFields) {
    const name = fieldNames[field];
    if (otherwise.has(field)) read.otherwise.push(`M5 shows another ${name} than the CRM has`);
    else if (wanted[field] === undefined && field === "departmentId") continue;
    else if (wanted[field] === undefined || isMasked(member[field])) read.unseen.push(name);
    else read.seen.push(name);
  }
  const profile = profileOf(body);
  const before = known.staffLinks.get(formatKey(staff));
  const isSame = before?.memberGlobalId === memberGlobalId && before.profile.userName === profile.userName;
  const enterpriseGlobalId = known.link?.enterpriseGlobalId ?? "";
  read.changes.push(
    isSame
      ? { type: "staff-edited", staff, customer, profile }
      : { type: "staff-linked", staff, customer, enterpriseGlobalId, memberGlobalId, origin: "adopted", profile },
  );
  return read;
}

/** Adopts everybody in M5 for a rebuild, with their assets. Values that differ from the CRM count as not sent yet. */
export function adoptedPeople(loaded: LoadedCustomer, shown: ShownPeople, settings: AssumptionSettings): StateChange[] {
  const { members, assets } = shown;
  const { customer, known } = loaded;
  if (known.link === undefined) return [];
  const { enterpriseGlobalId } = known.link;
  const memberships = membershipsOf({ ...loaded, observed: { members } }, settings);
  const people = loaded.staff.flatMap((person): StateChange[] => {
    const { key: staff, body, state } = person;
    const is = memberships.get(formatKey(staff));
    const member = is?.kind === "member" ? members.find(({ globalId }) => globalId === is.memberGlobalId) : undefined;
    if (member === undefined || state !== "current") return [];
    const { globalId: memberGlobalId } = member;
    const profile = shownProfile(loaded, body, member);
    const before = known.staffLinks.get(formatKey(staff))?.profile;
    const own: StateChange =
      before === undefined
        ? { type: "staff-linked", staff, customer, enterpriseGlobalId, memberGlobalId, origin: "adopted", profile }
        : { type: "staff-edited", staff, customer, profile };
    const held = handedIn().resources.flatMap(({ adopt }) => adopt?.(loaded, { person, member, assets }).changes ?? []);
    return canonicalJson(toJson(before ?? null)) === canonicalJson(toJson(profile)) ? held : [own, ...held];
  });
  const code = known.enterpriseCode === undefined ? enterpriseCodeOf(loaded, members) : undefined;
  return code === undefined ? people : [{ type: "enterprise-code", enterpriseGlobalId, code }, ...people];
}

/** The ending of the shown account names, if there is exactly one (A29). */
function enterpriseCodeOf(
  { staff, privateValues }: Pick<LoadedCustomer, "staff" | "privateValues">,
  members: readonly ObservedMember[],
): string | undefined {
  const logins = staff.flatMap((person) => privateValues.get(markerKey(person.body.userName)) ?? []);
  const shown = members.flatMap(({ userName, deleted }) =>
    !deleted && logins.some((login) => userName.startsWith(login)) ? [userName] : [],
  );
  const ending = commonSuffix(logins, shown, undefined);
  return ending === "" ? undefined : ending;
}

export function compare(item: CustomerCase): Comparison[] {
  return item.staff.flatMap((staff): Comparison[] => {
    const { key, crm, member } = staff;
    const base = { level: "staff" as const, staff: key, inCrm: isWanted(staff) };
    if (member === null)
      return base.inCrm ? [{ ...base, verdict: "missing", sent: false, shown: null, details: [whyNot(crm)] }] : [];
    const { memberGlobalId, at } = member;
    const seen = item.shown.members.get(memberGlobalId);
    const seenAt = seen?.seenAt ?? item.read?.seenAt ?? null;
    const judged = judge(item, staff, seen);
    return judged === undefined ? [] : [{ ...base, sent: true, memberGlobalId, at, seenAt, ...judged }];
  });
}

/** Undefined: gone, as the CRM wants. */
function judge(item: CustomerCase, staff: StaffCase, seen: ShownItem | undefined): Judgement | undefined {
  const notes = waitNote(staff.crm);
  if (seen === undefined && item.read?.complete !== true)
    return { verdict: "not-observable", shown: null, details: [notRead(item)] };
  if (seen === undefined || seen.body["deleted"] === true) {
    if (!isWanted(staff)) return undefined;
    const details = ["M5 does not show the member", ...notes];
    return { verdict: "missing", shown: false, details, finding: "not-shown" };
  }
  if (!isWanted(staff))
    return { verdict: "extra", shown: true, details: ["the CRM no longer has this person; the account stays"] };
  const otherwise = changedFields(seen);
  if (otherwise.length === 0) return { verdict: "matched", shown: true, details: notes };
  const details = [`M5 shows another ${otherwise.join(" and ")} than was sent`, ...notes];
  return { verdict: "different", shown: true, details, finding: "differs" };
}

function changedFields({ body: { otherwise } }: ShownItem): string[] {
  return Array.isArray(otherwise) ? otherwise.filter((field) => typeof field === "string") : [];
}
