import { counted } from "../../report/text.ts";
import { formatKey } from "../../crm/keys.ts";
import type { EarlierInstance, RecordKey } from "../../crm/model.ts";
import { unitsOf, type EarlierUnit, type RenewedUnit, type FixedNumber } from "../../engine/model/references.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import { orderOf, type StandingUnit } from "./model.ts";
import { type Known, isSameKey } from "../../engine/model/state.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import { pairs } from "../../base/lists.ts";
import type { CustomerInput } from "../../engine/plan/input.ts";
import { heldNumbers } from "./units-that-stay.ts";
import type { PurchasedAsset } from "./payload.ts";
import { numbersShown } from "./shown-orders.ts";

export type RenewalsGiven = Pick<CustomerInput, "customer" | "standings" | "earlierOwners" | "earlier" | "orders"> & {
  known: Pick<Known, "placedOrders" | "numbers" | "assignments">;
  observed: Pick<CustomerInput["observed"], "unclearOrders" | "contents" | "allContents">;
  taken?: ReadonlyMap<string, RecordKey> | undefined;
};

export interface Renewing {
  taken: readonly string[];
  /** It needs the number of an earlier unit that only a full reading of the enterprise may show. */
  isUnnumbered: boolean;
}

/**
 * Gives each unit that continues an earlier one its number (E5: assetNos). Numbers are never guessed, and a unit is
 * renewed only once. No other field names a renewal, so `transferedAssetNum` is sent as the CRM gives it.
 */
export function withRenewals(
  given: RenewalsGiven,
  order: RecordKey,
  assets: readonly PurchasedAsset[],
): { assets: PurchasedAsset[] | Block; renewing: Renewing } {
  const here = new Map<string, string>();
  const renewed: PurchasedAsset[] = [];
  for (const asset of assets) {
    const { units, block, isUnnumbered = false } = earlierUnits({ given, order, here }, asset);
    for (const { continues } of units) for (const unit of continues.slice(0, 1)) here.set(unitName(unit), asset.id);
    if (block !== undefined) return { assets: block, renewing: { taken: [...here.keys()], isUnnumbered } };
    renewed.push(units.length === 0 ? asset : { ...asset, renewed: [...units] });
  }
  return { assets: renewed, renewing: { taken: [...here.keys()], isUnnumbered: false } };
}

interface Buying {
  given: RenewalsGiven;
  order: RecordKey;
  here: ReadonlyMap<string, string>;
}

interface Renewal extends Buying {
  asset: PurchasedAsset;
  continues: EarlierInstance;
  from: RecordKey;
  named: string;
}

type Found = { units: readonly RenewedUnit[]; block?: Block; isUnnumbered?: boolean };
type Blocked = { units: []; block: Block };

function foundNot(code: string, reason: string): Blocked {
  return { units: [], block: { code, reason, again: true } };
}

function earlierUnits(buying: Buying, asset: PurchasedAsset): Found {
  const { continues } = asset;
  if (continues === undefined) return { units: [] };
  const { given, order } = buying;
  const units = unitsOf(asset).filter((unit) => !stands(given, order, asset, unit));
  if (units.length === 0) return { units: [] };
  const from = orderOf(order, continues);
  const named = `the asset ${asset.id} continues ${continues.instanceId} of the order ${formatKey(from)}`;
  const renewal: Renewal = { ...buying, asset, continues, from, named };
  const standing = standingOf(renewal);
  if ("block" in standing) return standing;
  const own = standing.filter((unit) => unit.instanceId === continues.instanceId);
  const other = own.find(({ licenseType }) => licenseType !== asset.licenseType);
  if (other !== undefined) {
    const types = `${other.licenseType}, not ${asset.licenseType}`;
    return foundNot("order.earlier-other-type", `${named}. That asset has the licence type ${types}`);
  }
  const candidates = candidatesOf(renewal, own);
  const free = candidates.filter(({ earlier }) => renewerOf(renewal, earlier) === undefined);
  if (free.length < units.length) {
    const lacking = lackingOf(renewal, candidates, own.length);
    if (lacking !== undefined) return lacking;
    if (candidates.length === 0 && !isMore(renewal)) {
      const reason = `${named}, but that asset no longer exists. crm-sync does not guess an asset number`;
      return foundNot("order.earlier-ended", reason);
    }
  }
  return underEarlierNumbers(renewal, units, free);
}

function underEarlierNumbers(renewal: Renewal, units: readonly number[], free: readonly Candidate[]): Found {
  const { given, named } = renewal;
  const numbered = withShownNumbers(free, given);
  if ("doubt" in numbered)
    return { ...unknownOf(named, numbered.doubt), isUnnumbered: given.observed.allContents !== true };
  const ranked = rankedUnits(renewal, numbered);
  const renewed: RenewedUnit[] = [];
  for (const [unit, next] of pairs(units, ranked)) {
    const { number } = next.unit;
    if (number === undefined) {
      const why = `the asset number of its unit ${next.unit.unit + 1} is not known`;
      return { ...unknownOf(named, why), units: renewed };
    }
    const unfit = notGiven(renewal, number);
    if (unfit !== undefined) return { ...unfit, units: renewed };
    const continues = [next.earlier, ...chainOf(given.known.numbers, next.earlier)];
    renewed.push({ unit, number, continues, ...(next.shown === true ? { shown: true as const } : {}) });
  }
  return { units: renewed };
}

function stands(given: RenewalsGiven, order: RecordKey, asset: PurchasedAsset, unit: number): boolean {
  return unitsIn(given, order).some((item) => item.instanceId === asset.id && item.unit === unit);
}

export function unitsIn({ standings }: Pick<RenewalsGiven, "standings">, order: RecordKey): readonly StandingUnit[] {
  const standing = standings?.get(formatKey(order));
  return standing === undefined || "lost" in standing ? [] : standing.units;
}

interface Candidate {
  unit: StandingUnit;
  earlier: EarlierUnit;
  shown?: true;
}

function candidatesOf(renewal: Renewal, own: readonly StandingUnit[]): Candidate[] {
  const { from, given } = renewal;
  const handed = handedOn(renewal);
  const continued = new Set(handed.flatMap(({ earlier }) => chainOf(given.known.numbers, earlier).map(unitName)));
  const direct = own.map((unit) => ({ unit, earlier: earlierOf(from, unit) }));
  return [...direct.filter(({ earlier }) => !continued.has(unitName(earlier))), ...handed];
}

/** Unwanted units of this order that continue the earlier asset. Their replacement continues it. */
function handedOn({ given, order, from, continues }: Renewal): Candidate[] {
  const now = given.orders.find(({ key }) => isSameKey(key, order));
  if (now === undefined) return [];
  const wanted = new Set(now.tree.assets.map(({ id }) => id));
  return unitsIn(given, order).flatMap((unit) => {
    const earlier = earlierOf(order, unit);
    if (wanted.has(unit.instanceId)) return [];
    const isOf = chainOf(given.known.numbers, earlier).some(
      (one) => one.instanceId === continues.instanceId && one.orderId === from.id && one.namespace === from.namespace,
    );
    return isOf ? [{ unit, earlier }] : [];
  });
}

/** Whether the asset continued already; then a missing unit is new. */
function isMore({ given: { known, customer, standings }, order, asset: { id } }: Renewal): boolean {
  const own = standings?.get(formatKey(order));
  const ended = own === undefined || "lost" in own ? [] : own.ended;
  if (ended.some(({ unit }) => unit.instanceId === id && unit.renews === true)) return true;
  const placed = known.placedOrders.get(formatKey(order));
  if (placed === undefined) return false;
  if (placed.placedFor !== undefined || !isSameKey(placed.customer, customer)) return true;
  return known.numbers.some(
    (item) =>
      item.continues !== undefined &&
      item.instanceId === id &&
      item.orderId === order.id &&
      item.namespace === order.namespace,
  );
}

function standingOf(renewal: Renewal): readonly StandingUnit[] | Blocked {
  const { given, from, named } = renewal;
  const key = formatKey(from);
  const placed = given.known.placedOrders.get(key);
  const isMoved = placed !== undefined && !isSameKey(placed.customer, given.customer);
  const owner = isMoved ? placed.customer : given.earlierOwners?.get(key);
  if (owner !== undefined) return ofAnother(renewal, owner);
  if (placed?.elsewhere === true)
    return unknownOf(named, "that order is in an enterprise that the customer was linked with earlier");
  if (placed === undefined) return notPlaced(named, whyNotPlaced(renewal));
  const standing = given.standings?.get(key);
  if (standing === undefined) return unknownOf(named, "the present state of that order was not read");
  return "lost" in standing
    ? unknownOf(named, `the present state of that order is not known: ${standing.lost}`)
    : standing.units;
}

function whyNotPlaced({ given, order, from }: Renewal): string {
  const unclear = given.observed.unclearOrders?.get(formatKey(from));
  if (unclear !== undefined) return `it is not clear whether that order is placed (${unclear.reason})`;
  if (isSameKey(from, order)) return "this order itself is not placed yet";
  const isThere = given.orders.some(({ key }) => isSameKey(key, from));
  return isThere ? "that order is not placed yet" : "the ledger does not know that order";
}

/** If an order moves and the order that it continues does not, the earlier asset stays with its customer. */
function ofAnother(renewal: Renewal, owner: RecordKey): readonly StandingUnit[] | Blocked {
  const { given, order, from, named } = renewal;
  // An order does not wait for itself.
  const moves = isSameKey(from, order) ? undefined : stillWanted(given, from);
  if (moves !== undefined)
    return notPlaced(named, "that order moves to this customer too and is not placed for this customer yet");
  const placed = given.known.placedOrders.get(formatKey(order));
  const stood = [placed?.placedFor, placed?.customer].some((one) => one !== undefined && isSameKey(one, owner));
  if (stood && isMore(renewal)) return [];
  const reason =
    `${named}. That order belongs to the customer ${formatKey(owner)}, but an order can only continue assets of its ` +
    "own customer";
  return foundNot("order.earlier-of-another", reason);
}

function notPlaced(named: string, why: string): Blocked {
  return foundNot("order.earlier-not-placed", `${named}, but ${why}. The order waits for that`);
}

function unknownOf(named: string, why: string): Blocked {
  return foundNot("order.earlier-unknown", `${named}, but ${why}. crm-sync does not guess an asset number`);
}

/** Why fewer units than wanted can be continued; undefined if there simply are no more. */
function lackingOf(renewal: Renewal, candidates: readonly Candidate[], stand: number): Found | undefined {
  const { given, order, from, asset, continues, named } = renewal;
  const renewers = candidates.flatMap(({ earlier }) => renewerOf(renewal, earlier) ?? []);
  const [own, others] = [true, false].map((is) => renewers.filter((one) => isSameKey(one.order, order) === is));
  const by = new Set([
    ...(others ?? []).map((one) => `the order ${formatKey(one.order)}`),
    ...(own ?? []).flatMap(({ instanceId }) =>
      instanceId === asset.id ? [] : [`the asset ${instanceId} of the same order`],
    ),
  ]);
  if (by.size > 0) {
    const reason = `${named}, but ${[...by].join(" and ")} already ${by.size === 1 ? "continues" : "continue"} that asset`;
    return foundNot("order.earlier-continued", reason);
  }
  const earlier = stillWanted(given, from)?.tree.assets.find(({ id }) => id === continues.instanceId);
  const wanted = earlier?.quantity ?? 0;
  if (wanted <= stand || isSameKey(from, order)) return undefined;
  const reason =
    `${named}, which has ${counted(wanted, "unit")} in the CRM; only ${stand} of them are bought yet. The order ` +
    "waits for the others, so that no asset is bought a second time";
  return foundNot("order.earlier-too-few", reason);
}

function stillWanted({ orders, earlier = [] }: RenewalsGiven, of: RecordKey): OrderWithTree | undefined {
  const order = [...orders, ...earlier].find(({ key }) => isSameKey(key, of));
  return order === undefined || order.state === "absent" || order.body.cancelled ? undefined : order;
}

interface Renewer {
  order: RecordKey;
  instanceId: string | undefined;
}

/** Who renews a unit already: the unit that continues it directly, or an order of this plan. */
function renewerOf({ given, order, here }: Buying, earlier: EarlierUnit): Renewer | undefined {
  const name = unitName(earlier);
  const instanceId = here.get(name);
  if (instanceId !== undefined) return { order, instanceId };
  const by = given.known.numbers.find(({ continues = [] }) => continues.some((unit) => unitName(unit) === name));
  if (by !== undefined) {
    const chain: readonly EarlierUnit[] = [by, ...(by.continues ?? [])];
    const direct = chain[chain.findIndex((unit) => unitName(unit) === name) - 1] ?? by;
    return { order: { namespace: direct.namespace, id: direct.orderId }, instanceId: direct.instanceId };
  }
  const other = given.taken?.get(name);
  return other === undefined || isSameKey(other, order) ? undefined : { order: other, instanceId: undefined };
}

/** Adds numbers that only M7 shows. `doubt`: M7 does not show them clearly or was not read. */
function withShownNumbers(free: readonly Candidate[], given: RenewalsGiven): readonly Candidate[] | { doubt: string } {
  const unknown = free.find(({ unit }) => unit.number === undefined);
  if (unknown === undefined) return free;
  const doubt = `the asset number of its unit ${unknown.unit.unit + 1} is not known`;
  const { contents, allContents } = given.observed;
  if (contents === undefined || allContents !== true) return { doubt };
  const { namespace, orderId: id, instanceId } = unknown.earlier;
  const shown = numbersShown(
    unitsIn(given, { namespace, id }).filter((unit) => unit.instanceId === instanceId && unit.number === undefined),
    new Set(given.known.numbers.map(({ number }) => number)),
    contents,
  );
  if ("doubt" in shown) return { doubt: `${doubt}: ${shown.doubt}` };
  return free.map((one): Candidate => {
    const number = shown.numbers.get(one.unit);
    return number === undefined ? one : { ...one, unit: { ...one.unit, number }, shown: true };
  });
}

/** First numbers that the CRM gives, then held units, then lower indexes, and empty units last. */
function rankedUnits({ given, asset }: Renewal, units: readonly Candidate[]): Candidate[] {
  const { known, observed } = given;
  const held = heldNumbers(known);
  const isHeld = ({ unit: { number = "" }, shown }: Candidate): boolean =>
    held.has(number) || (shown === true && typeof observed.contents?.get(number)?.asset.holder === "string");
  const rank = (one: Candidate): number => {
    const { number = "", unit, products } = one.unit;
    const place = asset.assetNumbers.includes(number) ? 0 : isHeld(one) ? 1 : products.length > 0 ? 2 : 3;
    return place * 1_000_000 + unit;
  };
  return units.toSorted((one, other) => rank(one) - rank(other));
}

function notGiven({ asset: { assetNumbers }, named }: Renewal, number: string): Found | undefined {
  if (assetNumbers.length === 0 || assetNumbers.includes(number)) return undefined;
  const reason = `${named} under the asset number ${number}, but the CRM gives it the number ${assetNumbers.join(", ")}`;
  return foundNot("order.earlier-other-number", reason);
}

function earlierOf({ namespace, id: orderId }: RecordKey, { instanceId, unit }: StandingUnit): EarlierUnit {
  return { namespace, orderId, instanceId, unit };
}

function chainOf(numbers: readonly FixedNumber[], of: EarlierUnit): readonly EarlierUnit[] {
  return numbers.find((item) => unitName(item) === unitName(of))?.continues ?? [];
}

export function unitName({ namespace, orderId, instanceId, unit }: EarlierUnit): string {
  return JSON.stringify([namespace, orderId, instanceId, unit]);
}
