import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { Desired, DesiredStaff } from "../operation/desired.ts";
import type { PrivateMarker } from "../operation/references.ts";
import { markerKey } from "../operation/references.ts";
import type { ObservedMember } from "../platform/snapshot.ts";
import type { Block } from "./block.ts";
import type { CustomerInput } from "./input.ts";

/** Who a staff record is on the platform, or becomes in this plan. */
export type Membership =
  | { kind: "member"; memberGlobalId: string; origin: "linked" | "adopted" }
  | { kind: "to-add" }
  | { kind: "blocked"; block: Block };

/** The members that M5 shows, and how often the CRM gives each account name. */
export interface Members {
  shown: readonly ObservedMember[];
  names: ReadonlyMap<string, number>;
}

export function clear(input: CustomerInput, value: PrivateMarker): string | undefined {
  return input.privateValues.get(markerKey(value));
}

export function blocked(code: string, reason: string, again = true): Membership {
  return { kind: "blocked", block: { code, reason, again } };
}

/** Finds one unlinked staff record among the members, by its account name, bare or with the enterprise code (A28). */
export function identify(
  input: CustomerInput,
  staff: Desired<DesiredStaff>,
  members: Members,
  settings: AssumptionSettings,
): Membership {
  const userName = clear(input, staff.body.userName);
  if (userName === undefined) return blocked("staff.erased", "the person's private values were erased", false);
  if ((members.names.get(userName) ?? 0) > 1) {
    return blocked("staff.same-account", "two staff records of this customer have the same account name");
  }
  const name = clear(input, staff.body.name);
  const code = input.known.enterpriseCode;
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
      `${hits.length} staff members on the platform fit the account name; one must be chosen by hand`,
    );
  }
  if (hit !== undefined) return adoptable(input, hit);
  const stranger = members.shown.some(
    (member) => member.name === name && member.userName.startsWith(userName) && isNobodys(input, member, members.names),
  );
  return stranger ? { kind: "blocked", block: otherEnding } : { kind: "to-add" };
}

/** Whether the member with a person's account name may be that person. */
function adoptable({ known }: CustomerInput, hit: ObservedMember): Membership {
  if (known.protectedMembers.has(hit.globalId)) {
    return blocked(
      "staff.protected",
      "the account with this name was made together with the enterprise and is left alone; " +
        "give the person another account name",
    );
  }
  const owner = [...known.staffLinks.values()].find((link) => link.memberGlobalId === hit.globalId);
  if (owner !== undefined) {
    return blocked(
      "staff.member-taken",
      `the staff member with this account name is linked to ${formatKey(owner.key)}`,
    );
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
    "the platform shows an account with this person's name and account name, and another ending than " +
    "the enterprise code; it may be this person's, so none is added. Compare the account on the " +
    "platform with the CRM, and give the person here or the account there another name",
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
