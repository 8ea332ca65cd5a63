import type { ProductInstance } from "../../contract/asset-contents.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import type { Observed, Prepared } from "../../engine/plan/input.ts";
import type { Need } from "../../engine/model/shape.ts";
import type { StateChange } from "../../engine/model/state.ts";
import { noWeight } from "../../engine/model/taking.ts";
import type { Weight } from "../../engine/model/taking.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import type { EndedPart, Replacing } from "./difference.ts";
import type { OrderStanding, StandingProduct, StandingUnit } from "./model.ts";
import type { Limits } from "./removal-sight.ts";
import { isShared } from "./model.ts";
import type { FixedNumber } from "../../engine/model/references.ts";
import type { OrderRemoved } from "./state/changes.ts";
import type { RemovedItem } from "./payload.ts";

/** The policies by which something of an order is taken away. */
export type EndingPolicy =
  | `orders.${"ended" | "cancelled" | "deleted" | "replaced" | "assetChanged" | "moved"}`
  | "drift.extra";

/** What of an order is to be taken away, and by which policy: what removals are planned from. */
export interface Endings {
  order: OrderStanding;
  parts: readonly EndedPart[];
  /** Asset numbers of units that go whole, where they are known. */
  units: ReadonlySet<string>;
  why: EndingPolicy;
  /** In words, for the reason of what is done, or of why it waits. */
  what: string;
  /** What is bought in its place, by this order or another one: nothing of it goes without that. */
  needs: Need[];
}

/** What removals are planned from. */
export type RemovalsGiven = Pick<
  Prepared,
  "customer" | "desiredCustomer" | "numbers" | "quarantinedInScope" | "sourceWithStrayRecord" | "known"
> & { observed: Pick<Observed, "contents" | "allContents" | "gone" | "loans" | "members"> };

export type RemovalKind = "delete-products" | "delete-package-products" | "delete-assets" | "delete-everywhere";
export type Removal = DraftOperation<RemovalKind>;

/** A product that M7 shows and that is to go. */
export interface GoingRow {
  row: ProductInstance;
  standing: StandingProduct;
  /** M7 or the ledger knows the licence order that granted it. */
  isOwned: boolean;
  /** What takes its place, where something does. */
  by: Replacing | undefined;
  /** It is the same product once more, as that was repeated in the asset: it counts for nothing by itself. */
  isRepeated?: true;
}

/** What goes from one asset number. */
export interface RemovalPart {
  ending: Endings;
  unit: StandingUnit;
  number: string;
  /** A unit that renews this one, or that this one renews, has the number too: the asset stays. */
  shared: boolean;
  /** Nothing of the unit is wanted any more. */
  whole: boolean;
  reading: AssetReading;
  rows: GoingRow[];
}

export interface Removing {
  given: RemovalsGiven;
  limits: Limits;
  settings: AssumptionSettings;
  /** What is to go of all orders of the customer, by `unwantedName`. */
  unwanted: ReadonlySet<string>;
  /** Something is bought for the customer in the same plan. */
  buys: boolean;
}

/** Rows of one unit that go by one call. */
export interface Batch extends Omit<RemovalPart, "ending" | "whole"> {
  /** The asset itself goes. */
  asset: boolean;
  /** Nothing of the unit is left, though the asset stays for what else is in it. */
  ends: boolean;
}

/** What ends of an order; the numbers of units that go whole are those that nobody is given any more. */
export function endingsOf(
  order: OrderStanding,
  parts: readonly EndedPart[],
  { why, what, needs }: Pick<Endings, "why" | "what" | "needs">,
): Endings {
  const units = parts.flatMap(({ unit: { number }, whole }) => (whole && number !== undefined ? [number] : []));
  return { order, parts, units: new Set(units), why, what, needs };
}

/** A unit that goes with all that it holds. */
export function wholeUnit({ instanceId, unit, number }: Pick<StandingUnit, "instanceId" | "unit" | "number">) {
  const whole = { product: null, channelOrderId: null, licenseOrderId: null };
  return { instanceId, unit, number: number ?? null, ...whole } satisfies RemovedItem;
}

/**
 * The ledger follows what no longer stands of an order: no operation took it. The numbers of whole units end with them;
 * one that another unit has too, by renewal, stays. `numbers`: all that the ledger knows of the customer.
 */
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

/** What a deletion takes away, as M7, M6 and M5 show it now. What stands in a form that is not smaller is not taken. */
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

/** Whether M7 shows the product in a new form with no fewer nodes and no earlier end. */
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
