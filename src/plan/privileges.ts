import type { Json, JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { KnownChange } from "./changes.ts";
import type { Block } from "./enterprise.ts";
import type { CustomerInput, Desired, DesiredStaff } from "./input.ts";
import { assetNumberReference, staffReference } from "./order-records.ts";
import type { Operation } from "./operation.ts";
import { operation } from "./operation.ts";
import type { Membership } from "./staff.ts";

/** An asset a staff member should hold: a number, or the number of an instance's slot that becomes known later. */
interface Claimed {
  /** Stable identity of the claimed number: the number itself where the CRM names it, else the slot of the instance. */
  token: string;
  number: string | undefined;
  payload: Json;
}

export interface PrivilegeStage {
  operations: Operation[];
  learned: KnownChange[];
  blocks: Map<string, Block>;
}

/**
 * Compares what each staff member should hold with what M6 shows: revokes first, then grants (A33). Only what we granted or adopted is ever
 * revoked. `revokesBlocked` says why nothing may be taken away now; what needs such a revoke waits with it.
 */
export function planPrivileges(
  input: CustomerInput,
  memberships: ReadonlyMap<string, Membership>,
  options: { orderOperations: readonly Operation[]; revokesBlocked: Block | undefined },
): PrivilegeStage {
  const blocks = new Map<string, Block>();
  const learned: KnownChange[] = [];
  const operations: Operation[] = [];
  const holders =
    input.observed.assets === undefined
      ? undefined
      : new Map(input.observed.assets.map((asset) => [asset.assetNum, asset.holder]));
  const claims = allocate(input, options.orderOperations, blocks);
  const revoked = planRevokes(input, claims, holders, options.revokesBlocked, { operations, learned, blocks });

  for (const staff of input.staff) {
    const key = formatKey(staff.key);
    const membership = memberships.get(key);
    if (staff.state !== "current" || membership === undefined || membership.kind === "blocked") continue;
    const memberGlobalId = membership.kind === "member" ? membership.memberGlobalId : undefined;
    const grants: Claimed[] = [];
    for (const claim of claims.get(key) ?? []) {
      const verdict = judge(input, claim, memberGlobalId, staff, holders, revoked);
      if (verdict === "grant") grants.push(claim);
      else if (verdict === "adopt" && claim.number !== undefined && memberGlobalId !== undefined) {
        learned.push({
          type: "asset-granted",
          assetNumber: claim.number,
          staff: staff.key,
          customer: input.customer,
          memberGlobalId,
          origin: "adopted",
          operationId: null,
        });
      } else if (typeof verdict === "object") blocks.set(key, verdict);
    }
    if (grants.length === 0) continue;
    operations.push(
      operation("grant-assets", {
        customer: input.customer,
        subject: `staff:${key}`,
        records: [{ stream: "staff", ...staff.key }],
        target: { memberGlobalId: staffReference(staff.key) },
        payload: { deleteAssets: [], addAssets: grants.map((claim) => claim.payload) },
        reason: `the CRM gives this person ${grants.length} asset${grants.length === 1 ? "" : "s"} more`,
        before: null,
        after: grants.map((claim) => claim.token),
      }),
    );
  }
  return { operations, learned, blocks };
}

/** Which number each claim means. An instance with several numbers keeps the one a person holds already, then gives the first free one. */
function allocate(
  input: CustomerInput,
  orderOperations: readonly Operation[],
  blocks: Map<string, Block>,
): Map<string, Claimed[]> {
  const slots = new Map<string, Claimed[]>();
  for (const fixed of input.known.numbers) {
    const key = JSON.stringify([fixed.namespace, fixed.instanceId]);
    const order = { namespace: fixed.namespace, id: fixed.orderId };
    if (
      !input.known.placedOrders.has(formatKey(order)) &&
      !orderOperations.some((item) => item.subject === `order:${formatKey(order)}`)
    )
      continue;
    const payload = assetNumberReference(order, fixed.instanceId, fixed.slot);
    push(slots, key, { token: String(payload.of), number: fixed.number, payload });
  }
  for (const planned of orderOperations) {
    const [record] = planned.records;
    if (record === undefined) continue;
    for (const asset of plannedAssets(planned.after)) {
      const key = JSON.stringify([record.namespace, asset.id]);
      for (let slot = 0; slot < asset.quantity; slot += 1) {
        const payload = assetNumberReference(record, asset.id, slot);
        const token = String(payload.of);
        if (slots.get(key)?.some((claim) => claim.token === token) === true) continue;
        push(slots, key, { token, number: undefined, payload });
      }
    }
  }
  const current = input.staff.filter((staff) => staff.state === "current");
  const held = new Map(input.known.assignments.map((item) => [item.assetNumber, formatKey(item.staff)]));
  const taken = new Map<string, string>();
  const claims = new Map<string, Claimed[]>();
  for (const quarantined of input.staff.filter((staff) => staff.state === "quarantined")) {
    for (const item of input.known.assignments) {
      if (formatKey(item.staff) === formatKey(quarantined.key)) taken.set(item.assetNumber, formatKey(quarantined.key));
    }
  }
  const take = (staff: Desired<DesiredStaff>, claim: Claimed): void => {
    taken.set(claim.token, formatKey(staff.key));
    if (claim.number !== undefined) taken.set(claim.number, formatKey(staff.key));
    push(claims, formatKey(staff.key), claim);
  };
  const isFree = (claim: Claimed): boolean =>
    !taken.has(claim.token) && (claim.number === undefined || !taken.has(claim.number));
  const open: { staff: Desired<DesiredStaff>; candidates: Claimed[]; name: string }[] = [];
  for (const staff of current) {
    const key = formatKey(staff.key);
    for (const claim of staff.body.assets) {
      const candidates =
        "assetNumber" in claim
          ? [{ token: claim.assetNumber, number: claim.assetNumber, payload: claim.assetNumber }]
          : (slots.get(JSON.stringify([staff.key.namespace, claim.instanceId])) ?? []);
      const name = "assetNumber" in claim ? `asset number ${claim.assetNumber}` : `asset instance ${claim.instanceId}`;
      if (candidates.length === 0) {
        blocks.set(key, {
          code: "asset.not-ordered",
          reason: `${name} is in no placed order of this customer yet`,
          again: true,
        });
        continue;
      }
      const kept = candidates.find(
        (item) => item.number !== undefined && held.get(item.number) === key && isFree(item),
      );
      if (kept === undefined) open.push({ staff, candidates, name });
      else take(staff, kept);
    }
  }
  for (const { staff, candidates, name } of open) {
    const free = candidates.find(isFree);
    if (free !== undefined) {
      take(staff, free);
      continue;
    }
    const other = taken.get(candidates[0]?.token ?? "");
    blocks.set(formatKey(staff.key), {
      code: "asset.claimed-twice",
      reason: `${name} is claimed by ${other ?? "another staff record"} too, and an asset number has one holder`,
      again: true,
    });
  }
  return claims;
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function plannedAssets(after: Json): { id: string; quantity: number }[] {
  if (typeof after !== "object" || after === null || Array.isArray(after) || !Array.isArray(after["assets"])) return [];
  return after["assets"].flatMap((asset) => {
    if (typeof asset !== "object" || asset === null || Array.isArray(asset)) return [];
    const { id, quantity } = asset;
    return typeof id === "string" && typeof quantity === "number" ? [{ id, quantity }] : [];
  });
}

function planRevokes(
  input: CustomerInput,
  claims: ReadonlyMap<string, Claimed[]>,
  holders: ReadonlyMap<string, string | null> | undefined,
  revokesBlocked: Block | undefined,
  into: { operations: Operation[]; learned: KnownChange[]; blocks: Map<string, Block> },
): ReadonlySet<string> {
  const states = new Map(input.staff.map((staff) => [formatKey(staff.key), staff.state]));
  const byStaff = new Map<
    string,
    { memberGlobalId: string; staff: { namespace: string; id: string }; numbers: string[] }
  >();
  const leaving = new Set<string>();
  for (const item of input.known.assignments) {
    const key = formatKey(item.staff);
    if (states.get(key) === "quarantined") continue;
    if ((claims.get(key) ?? []).some((claim) => claim.number === item.assetNumber)) continue;
    if (into.blocks.get(key)?.code === "asset.not-ordered") continue;
    if (holders === undefined) continue;
    if (holders.get(item.assetNumber) !== item.memberGlobalId) {
      into.learned.push({ type: "asset-revoked", assetNumber: item.assetNumber, operationId: null });
      leaving.add(item.assetNumber);
      continue;
    }
    const entry = byStaff.get(key) ?? { memberGlobalId: item.memberGlobalId, staff: item.staff, numbers: [] };
    entry.numbers.push(item.assetNumber);
    byStaff.set(key, entry);
  }
  const quarantined: Block | undefined =
    input.quarantinedInScope > 0
      ? {
          code: "revokes.blocked",
          reason: `${input.quarantinedInScope} record(s) of this customer wait in quarantine, so nothing is taken away`,
          again: true,
        }
      : undefined;
  const block = revokesBlocked ?? quarantined;
  for (const [key, entry] of byStaff) {
    if (block !== undefined) {
      into.blocks.set(key, block);
      continue;
    }
    for (const number of entry.numbers) leaving.add(number);
    const before: JsonObject = {};
    for (const number of entry.numbers) before[number] = entry.memberGlobalId;
    into.operations.push(
      operation("revoke-assets", {
        customer: input.customer,
        subject: `staff:${key}`,
        records: [{ stream: "staff", ...entry.staff }],
        target: { memberGlobalId: staffReference(entry.staff) },
        payload: { deleteAssets: entry.numbers, addAssets: [] },
        reason: `the CRM no longer gives this person ${entry.numbers.length} asset${entry.numbers.length === 1 ? "" : "s"}`,
        before,
        after: null,
        takesAway: entry.numbers.length,
      }),
    );
  }
  return leaving;
}

function judge(
  input: CustomerInput,
  claim: Claimed,
  memberGlobalId: string | undefined,
  staff: Desired<DesiredStaff>,
  holders: ReadonlyMap<string, string | null> | undefined,
  leaving: ReadonlySet<string>,
): "grant" | "adopt" | "nothing" | Block {
  if (claim.number === undefined || holders === undefined) return "grant";
  if (!holders.has(claim.number)) {
    return {
      code: "asset.not-shown",
      reason: `the platform does not show the asset number ${claim.number} yet`,
      again: true,
    };
  }
  const holder = holders.get(claim.number) ?? null;
  if (holder === null) return "grant";
  if (holder === memberGlobalId) {
    const ours = input.known.assignments.some(
      (item) => item.assetNumber === claim.number && item.memberGlobalId === memberGlobalId,
    );
    return ours ? "nothing" : "adopt";
  }
  if (leaving.has(claim.number)) return "grant";
  const other = input.known.assignments.find((item) => item.assetNumber === claim.number);
  return {
    code: "asset.held-by-another",
    reason:
      other === undefined
        ? `the asset number ${claim.number} is held by a staff member that crm-sync did not assign it to`
        : `the asset number ${claim.number} is still held by ${formatKey(other.staff)}, and taking it away is blocked`,
    again: true,
  };
}
