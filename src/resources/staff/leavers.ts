import type { ReadOptions, Reads, LoadedCustomer, PlanOptions, Part, PlanInput } from "../../engine/plan/input.ts";
import { acts, type Policies, type PolicyName } from "../../engine/model/policy-settings.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { type DraftOperation, noWeight } from "../../engine/model/operation.ts";
import { markerKey } from "../../engine/model/references.ts";
import { freedBy } from "../../engine/model/registry.ts";
import type { Need } from "../../engine/model/resource.ts";
import type { StateChange } from "../../engine/model/state.ts";
import type { ObservedMember } from "../../platform/snapshot.ts";
import {
  type Block,
  type BlockedRecord,
  moveStays,
  quarantineBlock,
  holdersNotRead,
} from "../../engine/plan/blocks.ts";
import { consider } from "../../engine/plan/rejections.ts";
import { isAccountOf } from "./profile.ts";
import type { StaffLink } from "./state.ts";

type Given = Parameters<typeof quarantineBlock>[0] &
  Pick<PlanInput, "staff" | "known" | "observed" | "privateValues" | "unclearMoves">;

interface Leavers {
  drafts: DraftOperation<"delete-staff">[];
  changes: StateChange[];
  blocks: BlockedRecord[];
}

interface Leaver {
  link: StaffLink;
  why: Extract<PolicyName, "staff.left" | "staff.moved">;
}
type Options = Pick<PlanOptions, "settings" | "policies" | "removalsBlocked">;

/** Deletes accounts (M4) only if crm-sync made them. `people`: what this plan does for people. */
export function planLeavers(given: Given, people: Pick<Part, "operations" | "changes">, options: Options): Leavers {
  const adopted = new Set(
    people.changes.flatMap((change) => (change.type === "staff-linked" ? [change.memberGlobalId] : [])),
  );
  const planned = leaversOf(given)
    // This plan gives the account to another record.
    .filter(({ link }) => !adopted.has(link.memberGlobalId))
    .map((leaver) => planLeaver(given, leaver, people.operations, options));
  return {
    drafts: planned.flatMap(({ drafts = [] }) => drafts),
    changes: planned.flatMap(({ changes = [] }) => changes),
    blocks: planned.flatMap(({ blocks = [] }) => blocks),
  };
}

/** The plan must revoke all its assets, no lock may be lent to it (M5, M8), and no other record may use it. */
function planLeaver(
  given: Given,
  { link, why }: Leaver,
  revokes: Part["operations"],
  { settings, policies, removalsBlocked }: Options,
): Partial<Leavers> {
  const key = formatKey(link.key);
  const said = consider(policies, why, `${reasonOf[why]}; the account stays`);
  if (said === "nothing") return {};
  const ours = given.known.assignments.filter((item) => item.memberGlobalId === link.memberGlobalId);
  // The record waits for the revokes first.
  if (said !== "act") return ours.length === 0 ? { blocks: [[key, said]] } : {};
  const { members, assets, unread } = given.observed;
  if (members === undefined || assets === undefined) return {};
  const member = members.find((item) => item.globalId === link.memberGlobalId && !item.deleted);
  const first = revokes.filter(({ records }) => records.some((record) => formatKey(record) === key));
  const freed = new Set(first.flatMap(freedBy));
  // The block of the revoke is the reason already.
  if (ours.some((item) => !freed.has(item.assetNumber))) return {};
  if (member === undefined)
    return ours.length > 0
      ? {}
      : { changes: [{ type: "staff-unlinked", staff: link.key, customer: given.customer, operationId: null }] };
  const unclear = given.unclearMoves?.get(key);
  const stopped =
    (unclear === undefined ? undefined : moveStays(key, unclear)) ??
    removalsBlocked ??
    quarantineBlock(given) ??
    unread?.seats ??
    whyKept(given, { link, member, freed }, settings);
  if (stopped !== undefined) return { blocks: [[key, stopped]] };
  const needs = first.map(({ stage, subject }) => ({ stage, subject }));
  return { drafts: [{ ...deletion(given, link, member, why), needs }] };
}

const reasonOf: Record<Leaver["why"], string> = {
  "staff.left": "the person is gone from the CRM",
  "staff.moved": "the person belongs to another customer in the CRM now",
};

function leaversOf({ staff, known }: Pick<LoadedCustomer, "staff" | "known">): Leaver[] {
  const people = new Map(staff.map((person) => [formatKey(person.key), person]));
  return [...known.staffLinks].flatMap(([key, link]) => {
    const person = people.get(key);
    const isOurs = link.origin === "created" && !known.protectedMembers.has(link.memberGlobalId);
    if (!isOurs || (person !== undefined && person.state !== "absent")) return [];
    return [{ link, why: person === undefined ? "staff.moved" : "staff.left" }];
  });
}

/** Moved people may need a reading although nobody of the customer changed. */
function movedMatter(loaded: Pick<LoadedCustomer, "staff" | "known">, policies: Policies): boolean {
  if (!acts(policies, "staff.moved")) return false;
  return leaversOf(loaded).some(({ why }) => why === "staff.moved");
}

/** The M4 for an account that an undo gives up, or why it stays. `freed`: numbers that this plan revokes by `needs`. */
export function accountGivenUp(
  given: Given,
  link: StaffLink,
  { freed, needs, reason }: { freed: ReadonlySet<string>; needs: Need[]; reason: string },
  { settings, removalsBlocked }: Pick<PlanOptions, "settings" | "removalsBlocked">,
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
  // Treats the own record as deleted, so that it does not count as a user of the account.
  const own = formatKey(link.key);
  const staff = given.staff.map((one) => (formatKey(one.key) === own ? { ...one, state: "absent" as const } : one));
  const why = whyKept({ ...given, staff }, { link, member, freed }, settings);
  return (
    removalsBlocked ??
    quarantineBlock(given) ??
    why ?? { ...deletion(given, link, member, "staff.left"), reason, needs }
  );
}

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
  // The account name of a moved person is with the other customer, so only the id identifies the account.
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
  why: Leaver["why"],
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

export function reads(loaded: LoadedCustomer, { thorough, policies }: ReadOptions): Reads {
  const { staff } = loaded;
  const isChanged = staff.some((person) => person.pending && person.state !== "quarantined");
  return { people: isChanged || (thorough && staff.length > 0) || movedMatter(loaded, policies) };
}
