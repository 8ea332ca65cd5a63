import type { ProductInstance } from "../../contract/asset-contents.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { type DraftOperation, noWeight, type Weight } from "../../engine/model/operation.ts";
import type { Observed, PlanInput } from "../../engine/plan/input.ts";
import type { Need } from "../../engine/model/resource.ts";
import type { StateChange } from "../../engine/model/state.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import type { EndedPart, Replacing } from "./difference.ts";
import { type OrderStanding, type StandingProduct, type StandingUnit, isShared } from "./model.ts";
import { type Limits, isTwin } from "./terms.ts";
import type { FixedNumber } from "../../engine/model/references.ts";
import type { OrderRemoved } from "./state/changes.ts";
import type { RemovedItem } from "./shapes.ts";
import { policyOf, type Policies, type PolicyWord } from "../../engine/model/policy-settings.ts";
import { grouped } from "../../base/lists.ts";

/** The policies that permit removals from orders. */
export type EndingPolicy = `orders.${"ended" | "cancelled" | "deleted" | "replaced" | "assetChanged" | "moved"}`;

export interface Endings {
  order: OrderStanding;
  parts: readonly EndedPart[];
  units: ReadonlySet<string>;
  why: EndingPolicy;
  what: string;
  /** Purchases that replace it, of this or another order. Nothing is removed before them. */
  needs: Need[];
}

export type RemovalsGiven = Pick<
  PlanInput,
  "customer" | "desiredCustomer" | "numbers" | "quarantinedInScope" | "sourceWithStrayRecord" | "known"
> & { observed: Pick<Observed, "contents" | "allContents" | "gone" | "loans" | "members"> };

export type RemovalKind = "delete-products" | "delete-package-products" | "delete-assets" | "delete-everywhere";
export type Removal = DraftOperation<RemovalKind>;

export interface GoingRow {
  row: ProductInstance;
  standing: StandingProduct;
  isOwned: boolean;
  by: Replacing | undefined;
  /** The copy of a package product in the asset. It is not counted. */
  isRepeated?: true;
}

export interface RemovalPart {
  ending: Endings;
  unit: StandingUnit;
  number: string;
  /** A renewing or renewed unit has the same number, so the asset stays. */
  shared: boolean;
  whole: boolean;
  reading: AssetReading;
  rows: GoingRow[];
}

export interface Removing {
  given: RemovalsGiven;
  limits: Limits;
  settings: AssumptionSettings;
  /** Everything to remove in all orders of the customer, by `unwantedName`. */
  unwanted: ReadonlySet<string>;
  /** The same plan buys something for the customer. */
  buys: boolean;
}

export interface Batch extends Omit<RemovalPart, "ending" | "whole"> {
  asset: boolean;
  /** The unit ends, but its asset stays for other contents. */
  ends: boolean;
}

/** The numbers of units that end completely. Nobody is assigned these. */
export function endingsOf(
  order: OrderStanding,
  parts: readonly EndedPart[],
  { why, what, needs }: Pick<Endings, "why" | "what" | "needs">,
): Endings {
  const units = parts.flatMap(({ unit: { number }, whole }) => (whole && number !== undefined ? [number] : []));
  return { order, parts, units: new Set(units), why, what, needs };
}

export function removedFrom(
  { instanceId, unit, number }: Pick<RemovedItem, "instanceId" | "unit"> & { number?: string | null | undefined },
  { product, channelOrderId, licenseOrderId }: StandingProduct,
): RemovedItem {
  const of = { number: number ?? null, licenseOrderId: licenseOrderId ?? null };
  return { instanceId, unit, product: product.id, channelOrderId, ...of };
}

export function wholeUnit({ instanceId, unit, number }: Pick<StandingUnit, "instanceId" | "unit" | "number">) {
  const whole = { product: null, channelOrderId: null, licenseOrderId: null };
  return { instanceId, unit, number: number ?? null, ...whole } satisfies RemovedItem;
}

/** Records parts that vanished without a call, and the end of their numbers, unless a renewal shares those. */
export function removedWithoutCall(
  { order, customer }: Pick<OrderStanding, "order" | "customer">,
  { items, products, origin }: Pick<OrderRemoved, "items" | "products" | "origin">,
  numbers: readonly FixedNumber[],
): StateChange[] {
  const ended = items.flatMap(({ product, number, ...unit }) =>
    product === null && number !== null && !isShared(numbers, { order, ...unit, number }) ? [number] : [],
  );
  return [
    { type: "order-removed", order, customer, operationId: null, origin, products, items },
    ...(ended.length === 0 ? [] : [{ type: "numbers-ended" as const, numbers: ended }]),
  ];
}

/** The weight of a deletion by M7, M6 and M5. A product whose replacement is not smaller does not count. */
export function weightOfRemoval(batches: readonly Batch[], { observed }: RemovalsGiven, limits: Limits): Weight {
  const assets = batches.filter((batch) => batch.asset);
  const numbers = new Set(assets.map((batch) => batch.number));
  const holders = new Set(assets.flatMap((batch) => batch.reading.asset.holder ?? []));
  const losing = (observed.members ?? []).filter(
    (member) => holders.has(member.globalId) && member.assetNums.every((number) => numbers.has(number)),
  );
  const touched = new Set(batches.flatMap((batch) => batch.reading.asset.holder ?? []));
  const rows = batches.flatMap((batch) =>
    batch.rows.filter((item) => item.isRepeated !== true && !isReplaced(item, observed.contents, limits)),
  );
  return {
    ...noWeight,
    seats: assets.filter((batch) => batch.reading.asset.holder !== null).length,
    products: rows.length,
    nodes: rows.reduce((sum, { row }) => sum + (row.limitConcurrent ?? 0), 0),
    lastAsset: losing.length,
    online: (observed.members ?? []).filter(({ globalId, online }) => online && touched.has(globalId)).length,
  };
}

/** Whether M7 shows a replacement with no fewer nodes and no earlier end. */
function isReplaced({ by, row }: GoingRow, contents: RemovalsGiven["observed"]["contents"], limits: Limits): boolean {
  if (by === undefined) return false;
  const shown = contents?.get(by.unit.number ?? "")?.products ?? [];
  const purchases = by.products.flatMap(({ product, channelOrderId }) =>
    product.id === row.crmProductId ? [channelOrderId] : [],
  );
  const next = shown.find(
    (item) => item.crmProductId === row.crmProductId && purchases.includes(item.channelOrderId ?? ""),
  );
  if (next === undefined || (next.limitConcurrent ?? 0) < (row.limitConcurrent ?? 0)) return false;
  const before = limits.shown(row.limitEndTime);
  const after = limits.shown(next.limitEndTime);
  if ("fault" in before || "fault" in after) return false;
  return after.wire === undefined || (before.wire !== undefined && Number(after.wire) >= Number(before.wire));
}

export interface RemovalCall {
  ending: Endings;
  packaged: boolean;
  batches: Batch[];
}

interface Going {
  part: RemovalPart;
  rows: readonly GoingRow[];
  asset: boolean;
  ending: Endings;
  packaged: boolean;
}

/**
 * Divides removals into calls: one per policy, and one more for package products. A call that names a twin removes
 * both,
 * so twins go into one call, under the policy that needs more approval.
 */
export function callsOf(parts: readonly RemovalPart[], policies: Policies, limits: Limits): RemovalCall[] {
  const going = withTwinsTogether(parts.flatMap(goingOf), policies, limits);
  const endings = [...new Set(parts.map((part) => part.ending))];
  return endings.flatMap((ending) =>
    [false, true].flatMap((packaged) => {
      const own = going.filter((one) => one.ending === ending && one.packaged === packaged);
      if (own.length === 0) return [];
      const of = [...new Set([ending, ...own.map((one) => one.part.ending)])];
      const what = of.map((one) => one.what).join("; ");
      const needs = of.flatMap((one) => one.needs);
      return [{ ending: { ...ending, what, needs }, packaged, batches: batchesOf(own, limits) }];
    }),
  );
}

function goingOf(part: RemovalPart): Going[] {
  const { ending, rows } = part;
  if (goesWhole(part)) return [{ part, rows, asset: true, ending, packaged: false }];
  const owned = rows.filter((item) => item.isOwned);
  return owned.map((item) => {
    const packaged = item.standing.packageId !== undefined;
    return { part, rows: [item], asset: false, ending, packaged };
  });
}

/** Removes a whole asset only if no other unit has its number and M7 shows nothing else in it. */
function goesWhole({ whole, shared, rows, reading }: RemovalPart): boolean {
  if (!whole || shared || rows.some((item) => !item.isOwned)) return false;
  const going = new Set(rows.map((item) => item.row));
  const licenceOrders = new Set(rows.map((item) => item.row.licenseOrderId));
  return (
    reading.products.every((row) => going.has(row)) &&
    reading.packages.every(({ licenseOrderId }) => licenceOrders.has(licenseOrderId))
  );
}

const careful: Readonly<Record<PolicyWord, number>> = {
  apply: 0,
  ignore: 0,
  report: 0,
  "apply-after-approvals": 1,
  ask: 2,
};

function withTwinsTogether(going: readonly Going[], policies: Policies, limits: Limits): readonly Going[] {
  const askedOf = ({ ending, packaged }: Going): number =>
    careful[policyOf(policies, ending.why)] + (packaged ? Object.keys(careful).length : 0);
  return going.reduce<readonly Going[]>((now, { asset }, index) => {
    const one = now[index];
    if (asset || one === undefined) return now;
    const twins = now.filter((other) => other === one || (!other.asset && areTwins(one, other, limits)));
    const [most = one] = twins.toSorted((left, right) => askedOf(right) - askedOf(left));
    const { ending, packaged } = most;
    return twins.length === 1
      ? now
      : now.map((other) => (twins.includes(other) ? { ...other, ending, packaged } : other));
  }, going);
}

function areTwins(one: Going, other: Going, limits: Limits): boolean {
  if (one.part.number !== other.part.number) return false;
  return one.rows.some(({ row }) => other.rows.some((item) => isTwin(row, item.row, limits)));
}

/** By unit, because two units may share an asset number. */
function batchesOf(going: readonly Going[], limits: Limits): Batch[] {
  const byUnit = grouped(going, ({ part: { number, unit } }) => [number, unit.instanceId, unit.unit]);
  return byUnit.map(([{ part, asset }, own]) => {
    const rows = own.flatMap((one) => one.rows);
    const named = namedRows(rows, limits);
    const all = part.rows.filter((item) => item.isRepeated !== true);
    const isWhole = part.whole && own.every((one) => one.part === part) && named.length === all.length;
    return { ...part, rows, asset, ends: asset || isWhole };
  });
}

/** Names rows that a call cannot tell apart only once per licence order. */
export function namedRows(rows: readonly GoingRow[], limits: Limits): GoingRow[] {
  const named = grouped(rows, ({ row }) => [row.licenseOrderId ?? null, limits.matched(row)]);
  return named.map(([first]) => first);
}
