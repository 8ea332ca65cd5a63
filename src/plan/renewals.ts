import { formatKey } from "../crm/keys.ts";
import type { EarlierInstance, RecordKey } from "../crm/model.ts";
import { unitsOf } from "../operation/asset-numbers.ts";
import type { EarlierUnit, RenewedUnit } from "../operation/asset-numbers.ts";
import { orderOf } from "../operation/order-standing.ts";
import type { StandingUnit } from "../operation/order-standing.ts";
import type { Known } from "../operation/state.ts";
import type { FixedNumber } from "../operation/state/asset-numbers.ts";
import { isSameKey } from "../operation/state/same-key.ts";
import type { Block } from "./block.ts";
import type { CustomerInput } from "./input.ts";
import type { PurchasedAsset } from "./order-records.ts";

/** What renewals are planned from. */
export type RenewalsGiven = Pick<CustomerInput, "customer" | "standings" | "earlierOwners" | "orders"> & {
  known: Pick<Known, "placedOrders" | "numbers" | "assignments">;
  observed: Pick<CustomerInput["observed"], "unclearOrders">;
  /** Units that purchases of this plan renew already, each with the order that does. */
  taken?: Map<string, RecordKey> | undefined;
};

/** An asset of which units continue earlier ones. */
type Renewal = PurchasedAsset & { continues: EarlierInstance };

/**
 * Assets of which each unit that is bought now and continues an earlier one has the number of that (E5: assetNos), or
 * why nothing is bought: an earlier number is never guessed, and a unit is renewed once. The contract names no other
 * field for it, so `transferedAssetNum` is sent as the CRM gives it.
 */
export function withRenewals(
  given: RenewalsGiven,
  order: RecordKey,
  assets: readonly PurchasedAsset[],
): PurchasedAsset[] | Block {
  const renewed: PurchasedAsset[] = [];
  const here = new Set<string>();
  for (const asset of assets) {
    const { continues } = asset;
    const units = continues === undefined ? [] : unitsOf(asset).filter((unit) => !stands(given, order, asset, unit));
    if (continues === undefined || units.length === 0) {
      renewed.push(asset);
      continue;
    }
    const found = earlierUnits(given, order, { ...asset, continues }, { units, here });
    if ("code" in found) return found;
    renewed.push({ ...asset, renewed: found });
  }
  return renewed;
}

/** Whether a unit stands already: what is bought of it comes under the number that it has. */
function stands({ standings }: RenewalsGiven, order: RecordKey, asset: PurchasedAsset, unit: number): boolean {
  const own = standings?.get(formatKey(order));
  if (own === undefined || "lost" in own) return false;
  return own.units.some((item) => item.instanceId === asset.id && item.unit === unit);
}

function earlierUnits(
  given: RenewalsGiven,
  order: RecordKey,
  asset: Renewal,
  { units, here }: { units: readonly number[]; here: Set<string> },
): RenewedUnit[] | Block {
  const renewer = ({ earlier }: Candidate): RecordKey | undefined =>
    here.has(nameOf(earlier)) ? order : renewerOf(given, order, earlier);
  const from = orderOf(order, asset.continues);
  const named = `the asset ${asset.id} continues ${asset.continues.instanceId} of the order ${formatKey(from)}`;
  const standing = standingOf(given, order, from, named);
  if (standing === undefined || "code" in standing) return standing ?? unknownOf(named, "which is not known");
  const own = standing.filter((unit) => unit.instanceId === asset.continues.instanceId && unit.products.length > 0);
  if (own.length === 0)
    return {
      code: "order.earlier-ended",
      reason: `${named}, and nothing of that stands any more: its number names nothing, and none is guessed`,
      again: true,
    };
  const other = own.find(({ licenseType }) => licenseType !== asset.licenseType);
  if (other !== undefined)
    return {
      code: "order.earlier-other-type",
      reason: `${named}, which is of the licence type ${other.licenseType} and not ${asset.licenseType}`,
      again: true,
    };
  const candidates = own.map((unit) => ({ unit, earlier: earlierOf(from, unit) }));
  const free = candidates.filter((one) => renewer(one) === undefined);
  if (free.length < units.length)
    return tooFew(named, { others: candidates.flatMap((one) => renewer(one) ?? []), free, units });
  const ranked = rankedUnits(given, asset, free);
  const renewed: RenewedUnit[] = [];
  for (const [index, unit] of units.entries()) {
    const next = ranked[index];
    const number = next?.unit.number;
    if (next === undefined || number === undefined)
      return unknownOf(named, `and the asset number of unit ${(next?.unit.unit ?? index) + 1} of it is not known`);
    const unfit = notGiven(asset, named, number);
    if (unfit !== undefined) return unfit;
    renewed.push({ unit, number, continues: [next.earlier, ...chainOf(given.known.numbers, next.earlier)] });
  }
  for (const { earlier } of ranked.slice(0, units.length)) {
    here.add(nameOf(earlier));
    given.taken?.set(nameOf(earlier), order);
  }
  return renewed;
}

/** What stands of the earlier order, or why the renewal waits for it. */
function standingOf(
  given: RenewalsGiven,
  order: RecordKey,
  from: RecordKey,
  named: string,
): readonly StandingUnit[] | Block | undefined {
  const key = formatKey(from);
  const placed = given.known.placedOrders.get(key);
  const isMoved = placed !== undefined && !isSameKey(placed.customer, given.customer);
  const owner = isMoved ? placed.customer : given.earlierOwners?.get(key);
  if (owner !== undefined) {
    const reason = `${named}, which is an order of the customer ${formatKey(owner)}: only a customer's own is renewed`;
    return { code: "order.earlier-of-another", reason, again: true };
  }
  if (placed?.elsewhere === true)
    return unknownOf(named, "which stands in the enterprise that the customer was linked with before");
  if (placed === undefined) {
    const unclear = given.observed.unclearOrders?.get(key);
    const isThere = given.orders.some((item) => formatKey(item.key) === key);
    const why =
      unclear !== undefined
        ? `of which it is not clear whether it is placed (${unclear.reason})`
        : key === formatKey(order)
          ? "which is this very order, and that is not placed yet"
          : isThere
            ? "which is not placed yet"
            : "of which the ledger knows nothing";
    return {
      code: "order.earlier-not-placed",
      reason: `${named}, ${why}; it waits until that order is placed`,
      again: true,
    };
  }
  const standing = given.standings?.get(key);
  if (standing === undefined) return undefined;
  return "lost" in standing
    ? unknownOf(named, `and nobody knows what stands of that: ${standing.lost}`)
    : standing.units;
}

function unknownOf(named: string, why: string): Block {
  return { code: "order.earlier-unknown", reason: `${named}, ${why}; no number is guessed`, again: true };
}

interface Candidate {
  unit: StandingUnit;
  earlier: EarlierUnit;
}

function tooFew(
  named: string,
  found: { others: readonly RecordKey[]; free: readonly Candidate[]; units: readonly number[] },
): Block {
  const { free, units } = found;
  const others = new Set(found.others.map(formatKey));
  if (others.size > 0) {
    const reason = `${named}, which the order ${[...others].join(" and ")} continues already: a unit is renewed once`;
    return { code: "order.earlier-continued", reason, again: true };
  }
  const reason =
    `${named} with ${units.length} unit(s), and ${free.length} of that stand; what is more than that is ordered as ` +
    "an asset of its own";
  return { code: "order.earlier-too-few", reason, again: true };
}

/** The order that renews a unit already: one whose unit has its number now, or one of this plan. */
function renewerOf({ known, taken }: RenewalsGiven, order: RecordKey, earlier: EarlierUnit): RecordKey | undefined {
  const name = nameOf(earlier);
  const by = known.numbers.find(({ continues = [] }) => continues.some((unit) => nameOf(unit) === name));
  if (by !== undefined) return { namespace: by.namespace, id: by.orderId };
  const other = taken?.get(name);
  return other === undefined || isSameKey(other, order) ? undefined : other;
}

/** Those whose number the CRM gives come first, then those that somebody holds, then the lower ones. */
function rankedUnits(
  { known }: RenewalsGiven,
  { assetNumbers }: PurchasedAsset,
  units: readonly Candidate[],
): Candidate[] {
  const held = new Set(known.assignments.map((item) => item.assetNumber));
  const rank = ({ unit: { number = "", unit } }: Candidate): number =>
    (assetNumbers.includes(number) ? 0 : held.has(number) ? 1 : 2) * 1_000_000 + unit;
  return units.toSorted((one, other) => rank(one) - rank(other));
}

/** The CRM gives numbers, and this is none of them. */
function notGiven({ assetNumbers }: PurchasedAsset, named: string, number: string): Block | undefined {
  if (assetNumbers.length === 0 || assetNumbers.includes(number)) return undefined;
  const reason = `${named} under ${number}, and the CRM gives it the number ${assetNumbers.join(", ")}`;
  return { code: "order.earlier-other-number", reason, again: true };
}

function earlierOf({ namespace, id: orderId }: RecordKey, { instanceId, unit }: StandingUnit): EarlierUnit {
  return { namespace, orderId, instanceId, unit };
}

/** The units that a unit itself continues, nearest first. */
function chainOf(numbers: readonly FixedNumber[], of: EarlierUnit): readonly EarlierUnit[] {
  return numbers.find((item) => nameOf(item) === nameOf(of))?.continues ?? [];
}

function nameOf({ namespace, orderId, instanceId, unit }: EarlierUnit): string {
  return JSON.stringify([namespace, orderId, instanceId, unit]);
}

/** The units of an asset that continue earlier ones, where it has any. */
export function renewedIn(renewed: ReadonlyMap<string, RenewedUnit[]>, id: string): { renewed?: RenewedUnit[] } {
  const units = renewed.get(id);
  return units === undefined ? {} : { renewed: units };
}
