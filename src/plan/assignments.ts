import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { StateChange } from "../operation/state.ts";
import type { Assignment } from "../operation/state/assignments.ts";
import type { Allocation, Claimed } from "./seat-allocation.ts";
import { allocate, block } from "./seat-allocation.ts";
import type { Block } from "./block.ts";
import type { CustomerInput } from "./input.ts";
import type { Desired, DesiredStaff } from "../operation/desired.ts";
import { staffReference } from "./order-records.ts";
import type { Operation } from "../operation/operation.ts";
import { operation } from "../operation/new-operation.ts";
import type { StandingRejections } from "./rejections.ts";
import type { Membership } from "./staff-identity.ts";

export interface PrivilegeStage {
  operations: Operation[];
  changes: StateChange[];
  blocks: Map<string, Block>;
}

/** Holders by asset number as M6 shows them; undefined where it was not read. */
type Holders = ReadonlyMap<string, string | null> | undefined;

const notRead: Block = {
  code: "staff.not-read",
  reason: "who holds which asset number was not read",
  again: true,
};

/**
 * Compares what each staff member should hold with what M6 shows: revokes first, then grants (A33). Only what we
 * granted or adopted is ever revoked. `revokesBlocked` says why nothing may be taken away now; what needs such a revoke
 * waits with it.
 */
export function planPrivileges(
  input: CustomerInput,
  memberships: ReadonlyMap<string, Membership>,
  options: {
    orderOperations: readonly Operation[];
    revokesBlocked: Block | undefined;
    rejections: Pick<StandingRejections, "of">;
  },
): PrivilegeStage {
  const holders: Holders =
    input.observed.assets === undefined
      ? undefined
      : new Map(input.observed.assets.map((asset) => [asset.assetNum, asset.holder]));
  const allocation = allocate(input, options.orderOperations);
  const into: PrivilegeStage = { operations: [], changes: [], blocks: allocation.blocks };
  const leaving = planRevokes(input, allocation, holders, options, into);
  const assigned = new Map(input.known.assignments.map((item) => [item.assetNumber, item]));

  for (const staff of input.staff) {
    const key = formatKey(staff.key);
    const membership = memberships.get(key);
    if (staff.state !== "current" || membership === undefined || membership.kind === "blocked") continue;
    const memberGlobalId = membership.kind === "member" ? membership.memberGlobalId : undefined;
    const grants: Claimed[] = [];
    for (const claim of allocation.claims.get(key) ?? []) {
      const verdict = judge(input, claim, memberGlobalId, { holders, leaving, assigned });
      if (verdict === "grant") grants.push(claim);
      else if (verdict === "adopt" && claim.number !== undefined && memberGlobalId !== undefined) {
        into.changes.push({
          type: "asset-granted",
          assetNumber: claim.number,
          staff: staff.key,
          customer: input.customer,
          memberGlobalId,
          origin: "adopted",
          operationId: null,
        });
      } else if (typeof verdict === "object") block(into.blocks, key, verdict);
    }
    if (grants.length === 0) continue;
    const wanted = grant(input, staff, grants);
    const refused = options.rejections.of(wanted);
    if (refused === undefined) into.operations.push(wanted);
    else block(into.blocks, key, refused);
  }
  return into;
}

/**
 * `after` names the number where it is known, else the unit; the payload names the unit of an instance in either case,
 * so that its hash is stable.
 */
function grant(input: CustomerInput, staff: Desired<DesiredStaff>, grants: readonly Claimed[]): Operation {
  return operation("grant-assets", {
    customer: input.customer,
    subject: `staff:${formatKey(staff.key)}`,
    records: [{ stream: "staff", ...staff.key }],
    target: { memberGlobalId: staffReference(staff.key) },
    payload: { deleteAssets: [], addAssets: grants.map((claim) => claim.payload) },
    reason: `the CRM gives this person ${grants.length} asset${grants.length === 1 ? "" : "s"} more`,
    before: null,
    after: grants.map((claim) => claim.number ?? claim.token),
  });
}

/** Plans what is taken away; returns the numbers that become free by it. */
function planRevokes(
  input: CustomerInput,
  allocation: Allocation,
  holders: Holders,
  options: { revokesBlocked: Block | undefined; rejections: Pick<StandingRejections, "of"> },
  into: PrivilegeStage,
): ReadonlySet<string> {
  const states = new Map(input.staff.map((staff) => [formatKey(staff.key), staff.state]));
  const leaving = new Set<string>();
  const byMember = new Map<string, { staff: RecordKey; memberGlobalId: string; numbers: string[] }>();
  for (const item of input.known.assignments) {
    const key = formatKey(item.staff);
    if (states.get(key) === "quarantined" || allocation.waiting.has(key)) continue;
    if ((allocation.claims.get(key) ?? []).some((claim) => claim.number === item.assetNumber)) continue;
    const sight = sightOf(input, holders, item);
    if (typeof sight === "object") block(into.blocks, key, sight);
    else if (sight === "gone") {
      into.changes.push({ type: "asset-revoked", assetNumber: item.assetNumber, operationId: null });
    } else {
      const who = JSON.stringify([key, item.memberGlobalId]);
      const entry = byMember.get(who) ?? { staff: item.staff, memberGlobalId: item.memberGlobalId, numbers: [] };
      entry.numbers.push(item.assetNumber);
      byMember.set(who, entry);
    }
  }
  const stopped = options.revokesBlocked ?? quarantineBlock(input);
  for (const entry of byMember.values()) {
    const wanted = revoke(input, entry);
    const why = stopped ?? options.rejections.of(wanted);
    if (why !== undefined) {
      block(into.blocks, formatKey(entry.staff), why);
      continue;
    }
    for (const number of entry.numbers) leaving.add(number);
    into.operations.push(wanted);
  }
  return leaving;
}

function quarantineBlock(input: CustomerInput): Block | undefined {
  const { quarantinedInScope: own, sourceWithStrayRecord: stray } = input;
  if (own > 0) {
    return {
      code: "revokes.blocked",
      reason:
        `${own} record(s) of this customer wait in quarantine, so nothing is taken away: \`crm-sync ` +
        `explain customer ${formatKey(input.customer)}\` lists them`,
      again: true,
    };
  }
  if (stray === undefined) return undefined;
  return {
    code: "revokes.blocked",
    reason:
      `a person of the source ${stray.source} waits in quarantine, and whose customer it is cannot be ` +
      `told, so nothing is taken away where ${stray.source} has people: \`crm-sync quarantine show ` +
      `${stray.row}\``,
    again: true,
  };
}

/** The member is named as it was granted to, not by the person's link, which may lead elsewhere by now. */
function revoke(
  input: CustomerInput,
  entry: { staff: RecordKey; memberGlobalId: string; numbers: string[] },
): Operation {
  const before: Record<string, string> = {};
  for (const number of entry.numbers) before[number] = entry.memberGlobalId;
  return operation("revoke-assets", {
    customer: input.customer,
    subject: `staff:${formatKey(entry.staff)}`,
    records: [{ stream: "staff", ...entry.staff }],
    target: { memberGlobalId: entry.memberGlobalId },
    payload: { deleteAssets: entry.numbers, addAssets: [] },
    reason: `the CRM no longer gives this person ${entry.numbers.length} asset${entry.numbers.length === 1 ? "" : "s"}`,
    before,
    after: null,
  });
}

/** Whether an assignment of ours is still there. It counts as gone only where neither M6 nor M5 shows it (A34). */
function sightOf(input: CustomerInput, holders: Holders, item: Assignment): "held" | "gone" | Block {
  const { members } = input.observed;
  if (holders === undefined || members === undefined) return notRead;
  if (holders.get(item.assetNumber) === item.memberGlobalId) return "held";
  const shown = members.some(
    (member) =>
      member.globalId === item.memberGlobalId && !member.deleted && member.assetNums.includes(item.assetNumber),
  );
  if (!shown) return "gone";
  return {
    code: "asset.readings-disagree",
    reason:
      `M5 shows that this person holds the asset number ${item.assetNumber}, and M6 does not; nothing ` +
      "is taken away on that",
    again: true,
  };
}

function judge(
  input: CustomerInput,
  claim: Claimed,
  memberGlobalId: string | undefined,
  shown: { holders: Holders; leaving: ReadonlySet<string>; assigned: ReadonlyMap<string, Assignment> },
): "grant" | "adopt" | "nothing" | Block {
  const { holders, leaving, assigned } = shown;
  if (claim.number === undefined) return "grant";
  if (holders === undefined) return input.known.link === undefined ? "grant" : notRead;
  if (!holders.has(claim.number)) {
    return {
      code: "asset.not-shown",
      reason: `the platform does not show the asset number ${claim.number} yet`,
      again: true,
    };
  }
  const holder = holders.get(claim.number) ?? null;
  const known = assigned.get(claim.number);
  if (holder === null) return "grant";
  if (holder === memberGlobalId) return known?.memberGlobalId === memberGlobalId ? "nothing" : "adopt";
  if (leaving.has(claim.number)) return "grant";
  return {
    code: "asset.held-by-another",
    reason:
      known === undefined || known.memberGlobalId !== holder
        ? `the asset number ${claim.number} is held by a staff member that crm-sync did not assign it to`
        : `the asset number ${claim.number} is still held by ${formatKey(known.staff)}, and taking it away is blocked`,
    again: true,
  };
}
