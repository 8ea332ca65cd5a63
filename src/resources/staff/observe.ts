import { handedIn } from "../../engine/registry.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Desired, DesiredStaff } from "../../engine/desired.ts";
import { markerKey } from "../../engine/references.ts";
import type { ObservedAsset, ObservedMember } from "../../platform/snapshot.ts";
import type { LoadedCustomer } from "../../engine/plan/input.ts";
import { addRead, nothingRead } from "../../engine/plan/read-back.ts";
import type { ReadBack } from "../../engine/plan/read-back.ts";
import { isAccountOf } from "./account-name.ts";
import { clearProfile, fieldNames, isMasked, profileOf, shownFields, shownOtherwise } from "./profile.ts";

/** M5, and M6 with E8, of the enterprise. */
interface ShownPeople {
  members: readonly ObservedMember[];
  assets: readonly ObservedAsset[];
}

/** What M5 and M6 show of a person whose account or assets somebody changed manually. */
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

/** The one account that M5 shows under the person's account name and may be this person's, or why there is none. */
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

/** The account is linked with the person, or counts as agreed with the CRM. */
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
