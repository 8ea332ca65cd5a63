import { counted } from "../../report/text.ts";
import { formatKey } from "../../crm/keys.ts";
import type { EarlierInstance, RecordKey } from "../../crm/model.ts";
import { unitsOf } from "../../engine/asset-numbers.ts";
import type { EarlierUnit, RenewedUnit } from "../../engine/asset-numbers.ts";
import type { OrderWithTree } from "../../engine/desired.ts";
import { orderOf } from "./order-standing.ts";
import type { StandingUnit } from "./order-standing.ts";
import type { Known } from "../../engine/state.ts";
import type { FixedNumber } from "./state/asset-numbers.ts";
import { isSameKey } from "../../engine/state/same-key.ts";
import type { Block } from "../../engine/plan/block.ts";
import type { CustomerInput } from "../../engine/plan/input.ts";
import type { PurchasedAsset } from "./order-records.ts";
import { numbersShown } from "./shown-numbers.ts";

/** What renewals are planned from. */
export type RenewalsGiven = Pick<CustomerInput, "customer" | "standings" | "earlierOwners" | "earlier" | "orders"> & {
  known: Pick<Known, "placedOrders" | "numbers" | "assignments">;
  observed: Pick<CustomerInput["observed"], "unclearOrders" | "contents" | "allContents">;
  /** Units that purchases of this plan renew already, each with the order that does. */
  taken?: Map<string, RecordKey> | undefined;
  /** Gets the orders that wait for the number of an earlier unit which only a reading of everything tells. */
  unnumbered?: Set<string> | undefined;
};

/** An asset of which units continue earlier ones. */
type Renewal = PurchasedAsset & { continues: EarlierInstance };

/** Units that are bought, and the earlier units that other assets of the same purchase continue, each by its asset. */
interface Renewing {
  units: readonly number[];
  here: Map<string, string>;
}

/**
 * Assets of which each unit that is bought now and continues an earlier one has the number of that (E5: assetNos), or
 * why nothing is bought: an earlier number is never guessed, and a unit is renewed once. Units that are more than those
 * which can be continued get numbers of their own. The contract names no other field for it, so `transferedAssetNum` is
 * sent as the CRM gives it.
 */
export function withRenewals(
  given: RenewalsGiven,
  order: RecordKey,
  assets: readonly PurchasedAsset[],
): PurchasedAsset[] | Block {
  const renewed: PurchasedAsset[] = [];
  const here = new Map<string, string>();
  for (const asset of assets) {
    const { continues } = asset;
    const units = continues === undefined ? [] : unitsOf(asset).filter((unit) => !stands(given, order, asset, unit));
    if (continues === undefined || units.length === 0) {
      renewed.push(asset);
      continue;
    }
    const found = earlierUnits(given, order, { ...asset, continues }, { units, here });
    if ("code" in found) return found;
    renewed.push(found.length === 0 ? asset : { ...asset, renewed: found });
  }
  return renewed;
}

/** Whether a unit stands already: what is bought of it comes under the number that it has. */
function stands(given: RenewalsGiven, order: RecordKey, asset: PurchasedAsset, unit: number): boolean {
  return ownUnits(given, order).some((item) => item.instanceId === asset.id && item.unit === unit);
}

function ownUnits({ standings }: RenewalsGiven, order: RecordKey): readonly StandingUnit[] {
  const own = standings?.get(formatKey(order));
  return own === undefined || "lost" in own ? [] : own.units;
}

function earlierUnits(
  given: RenewalsGiven,
  order: RecordKey,
  asset: Renewal,
  { units, here }: Renewing,
): RenewedUnit[] | Block {
  const from = orderOf(order, asset.continues);
  const named = `the asset ${asset.id} continues ${asset.continues.instanceId} of the order ${formatKey(from)}`;
  const standing = standingOf(given, order, from, { asset, named });
  if ("code" in standing) return standing;
  const own = standing.filter((unit) => unit.instanceId === asset.continues.instanceId);
  const other = own.find(({ licenseType }) => licenseType !== asset.licenseType);
  if (other !== undefined)
    return {
      code: "order.earlier-other-type",
      reason: `${named}. That asset has the licence type ${other.licenseType}, not ${asset.licenseType}`,
      again: true,
    };
  const handed = handedOn(given, order, from, asset);
  const direct = own.map((unit) => ({ unit, earlier: earlierOf(from, unit) }));
  const candidates = [...direct.filter(({ earlier }) => !isContinued(given, earlier, handed)), ...handed];
  const renewers = candidates.flatMap(({ earlier }) => renewerOf(given, order, earlier, here) ?? []);
  const free = candidates.filter(({ earlier }) => renewerOf(given, order, earlier, here) === undefined);
  if (free.length < units.length) {
    const lacking = lackingOf(given, { order, from, asset, named }, { renewers, stand: own.length });
    if (lacking !== undefined) return lacking;
    if (candidates.length === 0 && !isMore(given, order, asset))
      return {
        code: "order.earlier-ended",
        reason: `${named}, but that asset no longer exists. crm-sync does not guess an asset number`,
        again: true,
      };
  }
  return renewedUnits(given, order, { asset, named, free }, { units, here });
}

/** Units of this order that continued the earlier ones and that it has no more: what takes their place goes on. */
function handedOn(given: RenewalsGiven, order: RecordKey, from: RecordKey, { continues }: Renewal): Candidate[] {
  const now = given.orders.find(({ key }) => isSameKey(key, order));
  if (now === undefined) return [];
  const wanted = new Set(now.tree.assets.map(({ id }) => id));
  return ownUnits(given, order).flatMap((unit) => {
    const earlier = earlierOf(order, unit);
    if (wanted.has(unit.instanceId)) return [];
    const chain = chainOf(given.known.numbers, earlier);
    const isOf = chain.some(
      (one) => one.instanceId === continues.instanceId && one.orderId === from.id && one.namespace === from.namespace,
    );
    return isOf ? [{ unit, earlier }] : [];
  });
}

/** Whether one of those continues the unit, itself or through others. */
function isContinued({ known }: RenewalsGiven, unit: EarlierUnit, by: readonly Candidate[]): boolean {
  return by.some(({ earlier }) => chainOf(known.numbers, earlier).some((one) => nameOf(one) === nameOf(unit)));
}

/** The units that go on, each under the number of an earlier one; what is more than those is not among them. */
function renewedUnits(
  given: RenewalsGiven,
  order: RecordKey,
  { asset, named, free }: { asset: Renewal; named: string; free: readonly Candidate[] },
  { units, here }: Renewing,
): RenewedUnit[] | Block {
  const numbered = withShownNumbers(free, given);
  if ("doubt" in numbered) {
    if (given.observed.allContents !== true) given.unnumbered?.add(formatKey(order));
    return unknownOf(named, numbered.doubt);
  }
  const ranked = rankedUnits(given, asset, numbered);
  const renewed: RenewedUnit[] = [];
  for (const [index, unit] of units.entries()) {
    const next = ranked[index];
    if (next === undefined) break;
    const { number } = next.unit;
    if (number === undefined)
      return unknownOf(named, `the asset number of its unit ${next.unit.unit + 1} is not known`);
    const unfit = notGiven(asset, named, number);
    if (unfit !== undefined) return unfit;
    const continues = [next.earlier, ...chainOf(given.known.numbers, next.earlier)];
    renewed.push({ unit, number, continues, ...(next.shown === true ? { shown: true as const } : {}) });
    here.set(nameOf(next.earlier), asset.id);
    given.taken?.set(nameOf(next.earlier), order);
  }
  return renewed;
}

/**
 * Whether an asset went on already, be it that it ended since, or its order moved here without what it continues: what
 * it lacks is new.
 */
function isMore({ known, customer, standings }: RenewalsGiven, order: RecordKey, { id }: Renewal): boolean {
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

/** What stands of the earlier order, or why the renewal waits for it. */
function standingOf(
  given: RenewalsGiven,
  order: RecordKey,
  from: RecordKey,
  { asset, named }: { asset: Renewal; named: string },
): readonly StandingUnit[] | Block {
  const key = formatKey(from);
  const placed = given.known.placedOrders.get(key);
  const isMoved = placed !== undefined && !isSameKey(placed.customer, given.customer);
  const owner = isMoved ? placed.customer : given.earlierOwners?.get(key);
  if (owner !== undefined) return ofAnother(given, order, { from, owner }, { asset, named });
  if (placed?.elsewhere === true)
    return unknownOf(named, "that order is in an enterprise that the customer was linked with earlier");
  if (placed === undefined) {
    const unclear = given.observed.unclearOrders?.get(key);
    const isThere = given.orders.some((item) => formatKey(item.key) === key);
    const why =
      unclear !== undefined
        ? `it is not clear whether that order is placed (${unclear.reason})`
        : key === formatKey(order)
          ? "this order itself is not placed yet"
          : isThere
            ? "that order is not placed yet"
            : "the ledger does not know that order";
    return notPlaced(named, why);
  }
  const standing = given.standings?.get(key);
  if (standing === undefined) return unknownOf(named, "the present state of that order was not read");
  return "lost" in standing
    ? unknownOf(named, `the present state of that order is not known: ${standing.lost}`)
    : standing.units;
}

/**
 * What an order that moved here continues stays with the customer that it was bought for, where that does not move as
 * well: nothing of it stands here.
 */
function ofAnother(
  given: RenewalsGiven,
  order: RecordKey,
  { from, owner }: { from: RecordKey; owner: RecordKey },
  { asset, named }: { asset: Renewal; named: string },
): readonly StandingUnit[] | Block {
  // An order does not wait for itself.
  const moves = isSameKey(from, order) ? undefined : stillWanted(given, from);
  if (moves !== undefined)
    return notPlaced(named, "that order moves to this customer too and is not placed for this customer yet");
  const placed = given.known.placedOrders.get(formatKey(order));
  const stood = [placed?.placedFor, placed?.customer].some((one) => one !== undefined && isSameKey(one, owner));
  if (stood && isMore(given, order, asset)) return [];
  const reason =
    `${named}. That order belongs to the customer ${formatKey(owner)}, but an order can only continue assets of its ` +
    "own customer";
  return { code: "order.earlier-of-another", reason, again: true };
}

function notPlaced(named: string, why: string): Block {
  return { code: "order.earlier-not-placed", reason: `${named}, but ${why}. The order waits for that`, again: true };
}

function unknownOf(named: string, why: string): Block {
  return {
    code: "order.earlier-unknown",
    reason: `${named}, but ${why}. crm-sync does not guess an asset number`,
    again: true,
  };
}

interface Candidate {
  unit: StandingUnit;
  earlier: EarlierUnit;
  /** Its number is known by what M7 shows alone. */
  shown?: true;
}

/** Who has an earlier unit already: an order, and its asset where that is this very order. */
interface Renewer {
  order: RecordKey;
  instanceId: string | undefined;
}

/** Why fewer units can be continued than are to be, where that is not because there are no more. */
function lackingOf(
  given: RenewalsGiven,
  { order, from, asset, named }: { order: RecordKey; from: RecordKey; asset: Renewal; named: string },
  { renewers, stand }: { renewers: readonly Renewer[]; stand: number },
): Block | undefined {
  const others = new Set(
    renewers.flatMap((one) => (isSameKey(one.order, order) ? [] : [`the order ${formatKey(one.order)}`])),
  );
  const own = new Set(
    renewers.flatMap(({ order: by, instanceId }) =>
      isSameKey(by, order) && instanceId !== asset.id ? [`the asset ${instanceId} of the same order`] : [],
    ),
  );
  const by = [...others, ...own];
  if (by.length > 0) {
    const reason = `${named}, but ${by.join(" and ")} already ${by.length === 1 ? "continues" : "continue"} that asset`;
    return { code: "order.earlier-continued", reason, again: true };
  }
  const earlier = stillWanted(given, from)?.tree.assets.find(({ id }) => id === asset.continues.instanceId);
  const wanted = earlier?.quantity ?? 0;
  if (wanted <= stand || isSameKey(from, order)) return undefined;
  const reason =
    `${named}, which has ${counted(wanted, "unit")} in the CRM; only ${stand} of them are bought yet. The order ` +
    "waits for the others, so that no asset is bought a second time";
  return { code: "order.earlier-too-few", reason, again: true };
}

/** An order of this customer that the CRM wants and that may not stand as it says yet. */
function stillWanted({ orders, earlier = [] }: RenewalsGiven, of: RecordKey): OrderWithTree | undefined {
  const order = [...orders, ...earlier].find(({ key }) => isSameKey(key, of));
  return order === undefined || order.state === "absent" || order.body.cancelled ? undefined : order;
}

/** Which unit has the number of an earlier one. */
function renewedBy({ known }: RenewalsGiven, earlier: EarlierUnit): FixedNumber | undefined {
  const name = nameOf(earlier);
  return known.numbers.find(({ continues = [] }) => continues.some((unit) => nameOf(unit) === name));
}

/** Who renews a unit already: the one that continues it itself, whoever renewed that since, or one of this plan. */
function renewerOf(
  given: RenewalsGiven,
  order: RecordKey,
  earlier: EarlierUnit,
  here: Renewing["here"],
): Renewer | undefined {
  const name = nameOf(earlier);
  const instanceId = here.get(name);
  if (instanceId !== undefined) return { order, instanceId };
  const by = renewedBy(given, earlier);
  if (by !== undefined) {
    const chain: readonly EarlierUnit[] = [by, ...(by.continues ?? [])];
    const direct = chain[chain.findIndex((unit) => nameOf(unit) === name) - 1] ?? by;
    return { order: { namespace: direct.namespace, id: direct.orderId }, instanceId: direct.instanceId };
  }
  const other = given.taken?.get(name);
  return other === undefined || isSameKey(other, order) ? undefined : { order: other, instanceId: undefined };
}

/**
 * The same with the numbers that the ledger does not know and under which M7 shows them; `doubt` where it does not show
 * that for sure, or was not read.
 */
function withShownNumbers(
  free: readonly Candidate[],
  { known, observed, standings }: RenewalsGiven,
): readonly Candidate[] | { doubt: string } {
  const [unknown] = free.filter(({ unit }) => unit.number === undefined);
  if (unknown === undefined) return free;
  const doubt = `the asset number of its unit ${unknown.unit.unit + 1} is not known`;
  const { contents, allContents } = observed;
  if (contents === undefined || allContents !== true) return { doubt };
  const { namespace, orderId: id, instanceId } = unknown.earlier;
  const standing = standings?.get(formatKey({ namespace, id }));
  const units = standing === undefined || "lost" in standing ? [] : standing.units;
  const shown = numbersShown(
    units.filter((unit) => unit.instanceId === instanceId && unit.number === undefined),
    new Set(known.numbers.map(({ number }) => number)),
    contents,
  );
  if ("doubt" in shown) return { doubt: `${doubt}: ${shown.doubt}` };
  return free.map((one): Candidate => {
    const number = shown.numbers.get(one.unit);
    return number === undefined ? one : { ...one, unit: { ...one.unit, number }, shown: true };
  });
}

/**
 * Those whose number the CRM gives come first, then those that somebody holds, then the lower ones, and last those in
 * which nothing is left.
 */
function rankedUnits(
  { known, observed }: RenewalsGiven,
  { assetNumbers }: PurchasedAsset,
  units: readonly Candidate[],
): Candidate[] {
  const held = new Set(known.assignments.map((item) => item.assetNumber));
  const isHeld = ({ unit: { number = "" }, shown }: Candidate): boolean =>
    held.has(number) || (shown === true && typeof observed.contents?.get(number)?.asset.holder === "string");
  const rank = (one: Candidate): number => {
    const { number = "", unit, products } = one.unit;
    const place = assetNumbers.includes(number) ? 0 : isHeld(one) ? 1 : products.length > 0 ? 2 : 3;
    return place * 1_000_000 + unit;
  };
  return units.toSorted((one, other) => rank(one) - rank(other));
}

/** The CRM gives numbers, and this is none of them. */
function notGiven({ assetNumbers }: PurchasedAsset, named: string, number: string): Block | undefined {
  if (assetNumbers.length === 0 || assetNumbers.includes(number)) return undefined;
  const reason = `${named} under the asset number ${number}, but the CRM gives it the number ${assetNumbers.join(", ")}`;
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
