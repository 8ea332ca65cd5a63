import type { Membership, CustomerInput } from "../../engine/plan/input.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Desired, DesiredStaff } from "../../engine/model/desired.ts";
import { type PrivateMarker, markerKey } from "../../engine/model/references.ts";
import type { ObservedMember } from "../../platform/snapshot.ts";
import type { Known } from "../../engine/model/state.ts";

interface Given extends Pick<CustomerInput, "staff" | "privateValues"> {
  known: Pick<Known, "link" | "staffLinks" | "protectedMembers" | "enterpriseCode" | "assignments">;
  observed: { readonly members: readonly ObservedMember[] | undefined };
}

/** `names`: how often the CRM gives each account name. */
interface Members {
  shown: readonly ObservedMember[];
  names: ReadonlyMap<string, number>;
}

/**
 * Finds each person's account by link, otherwise by account name, bare or with the enterprise code (A28). Two hits
 * block.
 */
export function membershipsOf(given: Given, settings: AssumptionSettings): ReadonlyMap<string, Membership> {
  const { link: enterprise, staffLinks } = given.known;
  const shown = (given.observed.members ?? []).filter((member) => !member.deleted);
  const isUnread = enterprise !== undefined && given.observed.members === undefined;
  const shownIds = new Set(shown.map(({ globalId }) => globalId));
  const members: Members = { shown, names: accountNames(given) };
  const memberships = new Map<string, Membership>();
  const identified = new Map<string, Membership>();
  for (const staff of given.staff) {
    const key = formatKey(staff.key);
    const memberGlobalId = staffLinks.get(key)?.memberGlobalId;
    if (memberGlobalId === undefined) {
      if (staff.state !== "current") continue;
      if (isUnread) memberships.set(key, notRead);
      else identified.set(key, identify(given, staff, members, settings));
    } else if (isUnread || shownIds.has(memberGlobalId))
      memberships.set(key, { kind: "member", memberGlobalId, origin: "linked" });
    else memberships.set(key, notShown);
  }
  const ids = [...identified.values()].flatMap((found) => (found.kind === "member" ? [found.memberGlobalId] : []));
  const fits = Map.groupBy(ids, (id) => id);
  return new Map([...memberships, ...[...identified].map(([key, found]) => [key, onlyOne(found, fits)] as const)]);
}

function accountNames(given: Given): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const staff of given.staff) {
    if (staff.state !== "current") continue;
    const name = clear(given, staff.body.userName) ?? "";
    names.set(name, (names.get(name) ?? 0) + 1);
  }
  return names;
}

function clear(given: Pick<Given, "privateValues">, value: PrivateMarker): string | undefined {
  return given.privateValues.get(markerKey(value));
}

function blocked(code: string, reason: string, again = true): Membership {
  return { kind: "blocked", block: { code, reason, again } };
}

const notRead = blocked("staff.not-read", "crm-sync did not read the staff list of the platform");

const notShown = blocked(
  "staff.not-shown",
  "the platform no longer shows this staff member; check whether somebody deleted the account",
);

function onlyOne(found: Membership, fits: ReadonlyMap<string, readonly string[]>): Membership {
  const hits = found.kind === "member" ? (fits.get(found.memberGlobalId)?.length ?? 0) : 0;
  if (hits <= 1) return found;
  return blocked(
    "staff.ambiguous",
    `${hits} staff records fit the same staff member on the platform; a person must choose one`,
  );
}

function identify(
  given: Given,
  staff: Desired<DesiredStaff>,
  members: Members,
  settings: AssumptionSettings,
): Membership {
  const userName = clear(given, staff.body.userName);
  if (userName === undefined) return blocked("staff.erased", "the person's private values were erased", false);
  if ((members.names.get(userName) ?? 0) > 1) {
    return blocked("staff.same-account", "two staff records of this customer have the same account name");
  }
  const name = clear(given, staff.body.name);
  const code = given.known.enterpriseCode;
  const hits = members.shown.filter((member) => {
    if (member.userName === userName) return true;
    if (!member.userName.startsWith(userName)) return false;
    const suffix = member.userName.slice(userName.length);
    if (code !== undefined) return suffix === code;
    return suffix.length <= settings.enterpriseCodeMaxLength && member.name === name;
  });
  const [hit] = hits;
  if (hits.length > 1) {
    return blocked(
      "staff.ambiguous",
      `${hits.length} staff members on the platform fit the account name; a person must choose one`,
    );
  }
  if (hit !== undefined) return adopted(given, hit);
  const stranger = members.shown.some(
    (member) => member.name === name && member.userName.startsWith(userName) && isNobodys(given, member, members.names),
  );
  return stranger ? otherEnding : { kind: "to-add" };
}

/** If the linked record is deleted in the CRM, the person has a new id there and keeps the account. */
function adopted({ known, staff }: Pick<Given, "known" | "staff">, hit: ObservedMember): Membership {
  if (known.protectedMembers.has(hit.globalId)) {
    return blocked(
      "staff.protected",
      "the account with this name was created together with the enterprise, and crm-sync does not change it",
    );
  }
  const owner = [...known.staffLinks.values()].find((link) => link.memberGlobalId === hit.globalId);
  const member = { kind: "member", memberGlobalId: hit.globalId, origin: "adopted" } as const;
  if (owner === undefined) return member;
  const key = formatKey(owner.key);
  if (staff.some((person) => formatKey(person.key) === key && person.state === "absent"))
    return { ...member, insteadOf: owner.key };
  return blocked("staff.member-taken", `the account with this account name is linked to ${key} already`);
}

/** An account with the same name and a similar account name may belong to this person: no second account is made. */
const otherEnding = blocked(
  "staff.other-ending",
  "the platform (M5) shows an account with this person's name and account name, but with another ending than the " +
    "enterprise code. The account may belong to this person, so crm-sync adds no second account",
);

/** Not linked, not created with the enterprise, and not the account of another record. */
function isNobodys(
  { known }: Pick<Given, "known">,
  member: ObservedMember,
  names: ReadonlyMap<string, number>,
): boolean {
  const { staffLinks, protectedMembers, enterpriseCode } = known;
  if (protectedMembers.has(member.globalId)) return false;
  if ([...staffLinks.values()].some((link) => link.memberGlobalId === member.globalId)) return false;
  if (names.has(member.userName)) return false;
  const bare = enterpriseCode === undefined ? undefined : withoutEnding(member.userName, enterpriseCode);
  return bare === undefined || !names.has(bare);
}

function withoutEnding(text: string, ending: string): string | undefined {
  return text.endsWith(ending) ? text.slice(0, text.length - ending.length) : undefined;
}
