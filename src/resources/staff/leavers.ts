import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { DraftOperation } from "../../engine/operation.ts";
import type { Policies, PolicyName } from "../../engine/policy.ts";
import { policyOf } from "../../engine/policy.ts";
import { markerKey } from "../../engine/references.ts";
import { kindOf } from "../../engine/registry.ts";
import type { Need } from "../../engine/shape.ts";
import { isAccountOf } from "./shown-profile.ts";
import type { StateChange } from "../../engine/state.ts";
import type { StaffLink } from "./state.ts";
import { noWeight } from "../../engine/taking.ts";
import type { ObservedMember } from "../../platform/snapshot.ts";
import type { Block, BlockedRecord } from "../../engine/plan/block.ts";
import { holdersNotRead } from "../../engine/plan/holders.ts";
import type { LoadedCustomer } from "../../engine/plan/input.ts";
import type { PlanOptions } from "../../engine/plan/options.ts";
import type { Part } from "../../engine/plan/part.ts";
import { consider } from "../../engine/plan/policy.ts";
import type { Prepared } from "../../engine/plan/prepared.ts";
import { quarantineBlock } from "../../engine/plan/quarantine-block.ts";

/** What the leavers stage looks at. */
type Given = Pick<
  Prepared,
  "customer" | "staff" | "known" | "observed" | "privateValues" | "quarantinedInScope" | "sourceWithStrayRecord"
>;

export interface LeaversStage {
  meant: DraftOperation<"delete-staff">[];
  /** Accounts that somebody else deleted. */
  changes: StateChange[];
  blocks: BlockedRecord[];
}

/** Why a person's account is not wanted any more. */
type Leaving = Extract<PolicyName, "staff.left" | "staff.moved">;

/**
 * Plans whose account is deleted (M4): of people who are gone from the CRM, or belong to another customer now, where
 * crm-sync made the account and the policy says so. Last of all, and only where what is held is taken away by the same
 * plan, M5 and M6 show nothing else with the member, no lock is lent to it (M5, M8), and no other record of the
 * customer has its account name. `people`: what this plan does for the customer's people.
 */
export function planLeavers(
  given: Given,
  people: Pick<Part, "operations" | "changes">,
  { settings, policies, takingBlocked }: Pick<PlanOptions, "settings" | "policies" | "takingBlocked">,
): LeaversStage {
  const { operations: revokes } = people;
  const stage: LeaversStage = { meant: [], changes: [], blocks: [] };
  const adopted = new Set(
    people.changes.flatMap((change) => (change.type === "staff-linked" ? [change.memberGlobalId] : [])),
  );
  for (const { link, why } of leavingOf(given)) {
    // The account is another record's with this plan.
    if (adopted.has(link.memberGlobalId)) continue;
    const key = formatKey(link.key);
    const said = consider(policies, why, `${reasonOf[why]}; the account stays`);
    if (said === "nothing") continue;
    const ours = given.known.assignments.filter((item) => item.memberGlobalId === link.memberGlobalId);
    if (said !== "act") {
      // What is still to be taken away is what the record waits for.
      if (ours.length === 0) stage.blocks.push([key, said]);
      continue;
    }
    const { members, assets } = given.observed;
    if (members === undefined || assets === undefined) continue;
    const member = members.find((item) => item.globalId === link.memberGlobalId && !item.deleted);
    const first = revokes.filter(({ records }) => records.some((record) => formatKey(record) === key));
    const freed = new Set(first.flatMap((operation) => kindOf(operation).freed(operation)));
    // Why it is not taken away is said of the person already.
    if (ours.some((item) => !freed.has(item.assetNumber))) continue;
    if (member === undefined && ours.length > 0) continue;
    if (member === undefined) {
      stage.changes.push({ type: "staff-unlinked", staff: link.key, customer: given.customer, operationId: null });
      continue;
    }
    const unread = given.observed.unread?.seats;
    const stopped =
      takingBlocked ?? quarantineBlock(given) ?? unread ?? whyKept(given, { link, member, freed }, settings);
    const needs = first.map(({ stage, subject }) => ({ stage, subject }));
    if (stopped === undefined) stage.meant.push({ ...deletion(given, link, member, why), needs });
    else stage.blocks.push([key, stopped]);
  }
  return stage;
}

const reasonOf: Record<Leaving, string> = {
  "staff.left": "the person is gone from the CRM",
  "staff.moved": "the person belongs to another customer in the CRM now",
};

/** The accounts that crm-sync made and the CRM does not want here any more, and why; in the order of their links. */
function leavingOf({ staff, known }: Pick<LoadedCustomer, "staff" | "known">): { link: StaffLink; why: Leaving }[] {
  const people = new Map(staff.map((person) => [formatKey(person.key), person]));
  return [...known.staffLinks].flatMap(([key, link]) => {
    const person = people.get(key);
    const isOurs = link.origin === "created" && !known.protectedMembers.has(link.memberGlobalId);
    if (!isOurs || (person !== undefined && person.state !== "absent")) return [];
    return [{ link, why: person === undefined ? "staff.moved" : "staff.left" }];
  });
}

/** Whether any account may be deleted at all. */
export function deletesAccounts(policies: Policies): boolean {
  return acts(policies, "staff.left") || acts(policies, "staff.moved");
}

function acts(policies: Policies, why: Leaving): boolean {
  const word = policyOf(policies, why);
  return word !== "ignore" && word !== "report";
}

/** Whether people who moved away have to be looked at on the platform: nobody of the customer's own need be pending. */
export function movedMatter(loaded: Pick<LoadedCustomer, "staff" | "known">, policies: Policies): boolean {
  if (!acts(policies, "staff.moved")) return false;
  return leavingOf(loaded).some(({ why }) => why === "staff.moved");
}

/**
 * The M4 of an account that crm-sync made and that is given up by hand, or why it stays. `freed`: numbers that the same
 * plan takes from it, by operations on `needs`.
 */
export function accountGivenUp(
  given: Given,
  link: StaffLink,
  { freed, needs, reason }: { freed: ReadonlySet<string>; needs: Need[]; reason: string },
  { settings, takingBlocked }: Pick<PlanOptions, "settings" | "takingBlocked">,
): DraftOperation<"delete-staff"> | Block | "gone" {
  const { members, assets } = given.observed;
  if (members === undefined || assets === undefined) return holdersNotRead;
  if (link.origin !== "created" || given.known.protectedMembers.has(link.memberGlobalId))
    return kept(
      "staff.other-account",
      "crm-sync did not create the account, or the account belongs to the enterprise itself",
    );
  const member = members.find((item) => item.globalId === link.memberGlobalId && !item.deleted);
  if (member === undefined) return "gone";
  // The account is no other record's, though it is still this one's.
  const own = formatKey(link.key);
  const staff = given.staff.map((one) => (formatKey(one.key) === own ? { ...one, state: "absent" as const } : one));
  const why = whyKept({ ...given, staff }, { link, member, freed }, settings);
  const stopped = takingBlocked ?? quarantineBlock(given) ?? why;
  return stopped ?? { ...deletion(given, link, member, "staff.left"), reason, needs };
}

/** Why an account is left alone although nobody in the CRM wants it. */
function whyKept(
  given: Given,
  { link, member, freed }: { link: StaffLink; member: ObservedMember; freed: ReadonlySet<string> },
  settings: AssumptionSettings,
): Block | undefined {
  const { observed, known } = given;
  const shown = [
    ...member.assetNums,
    ...(observed.assets ?? []).flatMap(({ holder, assetNum }) => (holder === member.globalId ? [assetNum] : [])),
  ];
  const held = new Set(shown.filter((number) => !freed.has(number)));
  if (held.size > 0)
    return kept(
      "staff.still-holds",
      `the account holds the asset numbers ${[...held].sort().join(", ")}, which crm-sync did not assign`,
    );
  const lock = member.borrows ?? observed.loans?.find((loan) => loan.lent && loan.borrower === member.globalId)?.lock;
  if (lock !== undefined)
    return kept("staff.still-borrows", `the lock ${lock} is lent to this account, and crm-sync cannot return a lock`);
  const code = { known: known.enterpriseCode, maxLength: settings.enterpriseCodeMaxLength };
  const person = given.staff.find((one) => formatKey(one.key) === formatKey(link.key));
  const marker = link.login ?? person?.body.userName;
  const login = marker === undefined ? undefined : given.privateValues.get(markerKey(marker));
  // Of somebody who moved the account name is with the other customer: the id alone says whose it is.
  if (login !== undefined && !isAccountOf(member, login, code))
    return kept(
      "staff.other-account",
      `M5 shows the member ${link.memberGlobalId} with another account name than the linked one`,
    );
  const user = userOf(given, member, code);
  return user === undefined
    ? undefined
    : kept(
        "staff.still-used",
        `the account is kept, because ${formatKey(user)} still uses it: it has the same account name, or is linked with it`,
      );
}

/** A record of the customer that is not gone and that the account is or may be of. */
function userOf(
  { staff, known, privateValues }: Given,
  member: ObservedMember,
  code: Parameters<typeof isAccountOf>[2],
): RecordKey | undefined {
  return staff.find(({ key, state, body }) => {
    if (state === "absent") return false;
    if (known.staffLinks.get(formatKey(key))?.memberGlobalId === member.globalId) return true;
    const login = privateValues.get(markerKey(body.userName));
    return login !== undefined && isAccountOf(member, login, code);
  })?.key;
}

function kept(code: string, why: string): Block {
  return { code, reason: `the account is no longer needed, but crm-sync does not delete it: ${why}`, again: true };
}

function deletion(
  { customer }: Given,
  { key: staff, memberGlobalId }: StaffLink,
  member: ObservedMember,
  why: Leaving,
): DraftOperation<"delete-staff"> {
  return {
    kind: "delete-staff",
    customer,
    subject: `account:${formatKey(staff)}`,
    records: [{ stream: "staff", ...staff }],
    target: { enterpriseGlobalId: { $ref: "enterpriseGlobalId" }, memberGlobalId },
    payload: {},
    reason: `${reasonOf[why]}: the account that was made for it would be deleted`,
    before: { memberGlobalId },
    after: { staff },
    policy: why,
    weight: { ...noWeight, accounts: 1, online: member.online ? 1 : 0 },
  };
}
