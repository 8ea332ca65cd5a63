import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Earlier, ResourcePlan, Need } from "../../engine/model/resource.ts";
import { freedBy } from "../../engine/model/registry.ts";
import { type DraftOperation, noWeight, type Weight } from "../../engine/model/operation.ts";
import { staffReference } from "../../engine/model/references.ts";
import {
  type Block,
  quarantineBlock,
  holdersNotRead,
  holdersOf,
  moveStays,
  saysLent,
  type Holders,
} from "../../engine/plan/blocks.ts";
import type { CustomerInput, PlanOptions, PlanInput } from "../../engine/plan/input.ts";
import { counted } from "../../report/text.ts";
import { allocate, type Allocation, type ClaimedAsset } from "./claims.ts";
import type { Assignment } from "./state.ts";

type Grant = DraftOperation<"grant-assets">;
type Revoke = DraftOperation<"revoke-assets">;

interface Drafts<One> extends Pick<ResourcePlan, "changes" | "blocks"> {
  drafts: One[];
}

/** Plans who gets and loses asset numbers (M9). Revokes are sent before grants, which may use the freed numbers. */
export function plan(given: PlanInput, earlier: Earlier, options: PlanOptions): ResourcePlan {
  if (given.observed.unread?.people !== undefined) return { records: "staff", operations: [], changes: [], blocks: [] };
  const holders = holdersOf(given.observed.assets);
  const allocation = allocate(given, earlier.orders.operations, earlier.endingNumbers);
  const revokes = planRevokes(given, allocation, holders, options.removalsBlocked);
  const revoked = earlier.make(withWeights(revokes.drafts, given.observed, allocation.assets));
  const freed = new Set(revoked.operations.flatMap(freedBy));
  const grants = planGrants(given, allocation.assets, earlier.memberships, {
    holders,
    freed,
    begun: options.begun ?? given.known,
  });
  const granted = earlier.make(grants.drafts);
  return {
    records: "staff",
    operations: [...granted.operations, ...revoked.operations],
    changes: [...revokes.changes, ...grants.changes],
    blocks: [allocation, revokes, { blocks: revoked.refused }, grants, { blocks: granted.refused }].flatMap(
      ({ blocks }) => blocks,
    ),
  };
}

/** Never revokes an asset that crm-sync did not assign or adopt. `stopped`: why nothing may be removed now. */
function planRevokes(
  given: PlanInput,
  allocation: Allocation,
  holders: Holders,
  stopped = quarantineBlock(given),
): Drafts<Revoke> {
  const made: Drafts<Revoke> = { drafts: [], changes: [], blocks: [] };
  const states = new Map(given.staff.map((staff) => [formatKey(staff.key), staff.state]));
  const byMember = new Map<string, { held: Assignment; numbers: string[] }>();
  for (const held of given.known.assignments) {
    const { assetNumber } = held;
    const key = formatKey(held.staff);
    if (states.get(key) === "quarantined" || allocation.waiting.has(key)) continue;
    if (allocation.staying.has(assetNumber)) continue;
    if ((allocation.assets.get(key) ?? []).some((claim) => claim.number === assetNumber)) continue;
    const sight = sightOf(held, holders, given.observed);
    const unclear = given.unclearMoves?.get(key);
    if (sight === "gone") made.changes.push({ type: "asset-revoked", assetNumber, operationId: null });
    else if (unclear !== undefined) made.blocks.push([key, moveStays(key, unclear)]);
    else if (typeof sight === "object") made.blocks.push([key, sight]);
    else {
      // By member, because the person may have another account now.
      const who = JSON.stringify([key, held.memberGlobalId]);
      const entry = byMember.get(who) ?? { held, numbers: [] };
      entry.numbers.push(assetNumber);
      byMember.set(who, entry);
    }
  }
  for (const { held, numbers } of byMember.values()) {
    const { staff, memberGlobalId } = held;
    const reason = `the CRM no longer gives this person ${counted(numbers.length, "asset")}`;
    const needs = purchasesFor(staff, allocation.assets);
    if (stopped !== undefined) made.blocks.push([formatKey(staff), stopped]);
    else made.drafts.push({ ...revokeOf(given.customer, staff, { memberGlobalId, numbers, reason }), needs });
  }
  return made;
}

/** A person who gets something from this plan's purchases keeps the old assets until then. */
function purchasesFor(staff: RecordKey, assets: Allocation["assets"]): Need[] {
  const purchases = (assets.get(formatKey(staff)) ?? []).flatMap(({ purchase }) => purchase ?? []);
  return [...new Set(purchases)].map((subject) => ({ stage: "orders", subject }));
}

export function revokeOf(
  customer: RecordKey,
  staff: RecordKey,
  { memberGlobalId, numbers, reason }: { memberGlobalId: string; numbers: string[]; reason: string },
): Revoke {
  return {
    kind: "revoke-assets",
    customer,
    subject: subjectOf(staff),
    records: [{ stream: "staff", ...staff }],
    target: { memberGlobalId },
    payload: { deleteAssets: numbers, addAssets: [] },
    reason,
    before: Object.fromEntries(numbers.map((number) => [number, memberGlobalId])),
    after: null,
  };
}

/** An assignment counts as gone only if neither M6 nor M5 shows it (A34). */
function sightOf(
  { assetNumber, memberGlobalId }: Assignment,
  holders: Holders,
  { members, unread }: Pick<CustomerInput["observed"], "members" | "unread">,
): "held" | "gone" | Block {
  if (holders === undefined || members === undefined) return holdersNotRead;
  if (holders.get(assetNumber) === memberGlobalId) return "held";
  if (!holders.has(assetNumber) && unread?.seats !== undefined) return unread.seats;
  const isInM5 = members.some(
    (member) => member.globalId === memberGlobalId && !member.deleted && member.assetNums.includes(assetNumber),
  );
  if (!isInM5) return "gone";
  const reason =
    `M5 shows this person as the holder of the asset number ${assetNumber}, and M6 does not. crm-sync removes ` +
    "nothing because of that";
  return { code: "asset.readings-disagree", reason, again: true };
}

export function withWeights(
  revokes: readonly Revoke[],
  { members = [], assets = [] }: Pick<CustomerInput["observed"], "members" | "assets">,
  gets: Allocation["assets"] = new Map(),
): Revoke[] {
  const byId = new Map<unknown, (typeof members)[number]>(members.map((member) => [member.globalId, member]));
  const lent = new Set(assets.filter((asset) => asset.borrowed && saysLent(asset)).map(({ assetNum }) => assetNum));
  return revokes.map((revoke) => {
    const { payload, records, target } = revoke;
    const member = byId.get(target.memberGlobalId);
    const numbers = new Set(payload.deleteAssets.filter((number) => typeof number === "string"));
    const keeps = (member?.assetNums ?? []).some((number) => !numbers.has(number));
    const getsMore = records.some((record) => (gets.get(formatKey(record)) ?? []).length > 0);
    const weight: Weight = {
      ...noWeight,
      seats: payload.deleteAssets.length,
      lastAsset: keeps || getsMore ? 0 : 1,
      online: member?.online === true ? 1 : 0,
      lent: [...numbers].filter((number) => lent.has(number)).length,
    };
    return { ...revoke, weight };
  });
}

interface Shown {
  holders: Holders;
  freed: ReadonlySet<string>;
  begun: NonNullable<PlanOptions["begun"]>;
}

function planGrants(
  given: PlanInput,
  assets: Allocation["assets"],
  memberships: Earlier["memberships"],
  shown: Shown,
): Drafts<Grant> {
  const { customer, known, observed } = given;
  const made: Drafts<Grant> = { drafts: [], changes: [], blocks: [] };
  const recorded = new Map(known.assignments.map((item) => [item.assetNumber, item]));
  for (const staff of given.staff) {
    const key = formatKey(staff.key);
    const membership = memberships.get(key);
    if (staff.state !== "current" || membership === undefined || membership.kind === "blocked") continue;
    const memberGlobalId = membership.kind === "member" ? membership.memberGlobalId : undefined;
    // The recorded account is gone: a grant waits for the new one.
    if (memberGlobalId === undefined && known.staffLinks.has(key)) continue;
    const grants: ClaimedAsset[] = [];
    for (const claim of assets.get(key) ?? []) {
      const assignment = claim.number === undefined ? undefined : recorded.get(claim.number);
      const person = { key, memberGlobalId, assignment, isLinked: known.link !== undefined };
      const verdict = judge(claim, person, shown);
      // Recorded with this member: if M6 shows nobody, it was lost on the platform.
      const isOurs = assignment !== undefined && assignment.memberGlobalId === memberGlobalId;
      if (typeof verdict === "object") made.blocks.push([key, verdict]);
      else if (verdict === "grant" && isOurs) {
        const isNew = !shown.begun.assignments.some(({ assetNumber }) => assetNumber === assignment.assetNumber);
        const block = notGivenAgain(observed.members, assignment.assetNumber, isNew);
        if (block !== undefined) made.blocks.push([key, block]);
      } else if (verdict === "grant") grants.push(claim);
      else if (verdict === "adopt" && claim.number !== undefined && memberGlobalId !== undefined) {
        const begins = { assetNumber: claim.number, staff: staff.key, customer, memberGlobalId } as const;
        made.changes.push({ type: "asset-granted", ...begins, origin: "adopted", operationId: null });
      }
    }
    const reason = `the CRM gives this person ${counted(grants.length, "asset")} more`;
    if (grants.length > 0) made.drafts.push(grantOfClaims(customer, staff.key, grants, reason));
  }
  return made;
}

/**
 * A recorded number of which M6 shows no holder. If M5 shows one, the readings disagree (A34). What this attempt gave
 * (`isNew`) may not be shown yet.
 */
function notGivenAgain(
  members: CustomerInput["observed"]["members"],
  number: string,
  isNew: boolean,
): Block | undefined {
  if (members?.some((member) => !member.deleted && member.assetNums.includes(number)) === true) {
    const reason = `M5 shows a holder of the asset number ${number}, and M6 shows none. crm-sync makes no assignment`;
    return { code: "asset.readings-disagree", reason, again: true };
  }
  if (isNew) return undefined;
  const reason = `M6 no longer shows the asset number ${number} with this person, and crm-sync does not give it again by itself`;
  return { code: "asset.taken-away", reason, again: true };
}

function subjectOf(staff: RecordKey): string {
  return `staff:${formatKey(staff)}`;
}

export function grantOf(
  customer: RecordKey,
  staff: RecordKey,
  {
    memberGlobalId,
    assets,
    after,
    reason,
  }: {
    memberGlobalId: Grant["target"]["memberGlobalId"];
    assets: Grant["payload"]["addAssets"];
    after: string[];
    reason: string;
  },
): Grant {
  return {
    kind: "grant-assets",
    customer,
    subject: subjectOf(staff),
    records: [{ stream: "staff", ...staff }],
    target: { memberGlobalId },
    payload: { deleteAssets: [], addAssets: assets },
    reason,
    before: null,
    after,
  };
}

/** The payload always names the unit of an instance, so that its hash stays stable. */
function grantOfClaims(customer: RecordKey, staff: RecordKey, claims: readonly ClaimedAsset[], reason: string): Grant {
  const after = claims.map((claim) => claim.number ?? claim.token);
  const assets = claims.map((claim) => claim.payload);
  return grantOf(customer, staff, { memberGlobalId: staffReference(staff), assets, after, reason });
}

function judge(
  { number }: ClaimedAsset,
  person: { key: string; memberGlobalId: string | undefined; assignment: Assignment | undefined; isLinked: boolean },
  { holders, freed }: Shown,
): "grant" | "adopt" | "nothing" | Block {
  const { memberGlobalId, assignment } = person;
  if (number === undefined) return "grant";
  if (holders === undefined) return person.isLinked ? holdersNotRead : "grant";
  const holder = holders.get(number);
  if (holder === undefined) {
    const reason = `the platform does not show the asset number ${number} yet`;
    return { code: "asset.not-shown", reason, again: true };
  }
  if (holder === null) return "grant";
  if (holder === memberGlobalId) return assignment?.memberGlobalId === memberGlobalId ? "nothing" : "adopt";
  if (freed.has(number)) return "grant";
  const isOurs = assignment?.memberGlobalId === holder;
  const staff = isOurs ? formatKey(assignment.staff) : undefined;
  const reason =
    staff === undefined
      ? `another staff member holds the asset number ${number}, and crm-sync did not make that assignment`
      : staff === person.key
        ? `the earlier account ${holder} of this person still holds the asset number ${number}: take it from there on the platform`
        : `${staff} still holds the asset number ${number}, and its removal is blocked`;
  return { code: "asset.held-by-another", reason, again: true };
}
