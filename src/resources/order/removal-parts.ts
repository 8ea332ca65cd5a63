import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { ProductInstance } from "../../contract/asset-contents.ts";
import type { DraftOperation } from "../../engine/operation.ts";
import type { OrderStanding, StandingProduct, StandingUnit } from "./order-standing.ts";
import type { Need } from "../../engine/shape.ts";
import type { StateChange } from "../../engine/state.ts";
import { isShared } from "./state/asset-numbers.ts";
import type { FixedNumber } from "./state/asset-numbers.ts";
import type { OrderRemoved, RemovedItem } from "./state/order-steps.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import type { Observed } from "../../engine/plan/input.ts";
import type { EndedPart, Replacing } from "./order-difference.ts";
import type { Prepared } from "../../engine/plan/prepared.ts";
import type { Limits } from "./removal-sight.ts";

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
