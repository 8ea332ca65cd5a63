import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { ProductInstance } from "../../contract/asset-contents.ts";
import type { DraftOperation } from "../../engine/operation.ts";
import type { StandingProduct, StandingUnit } from "./order-standing.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import type { Observed } from "../../engine/plan/input.ts";
import type { Endings, Replacing } from "./order-difference.ts";
import type { Prepared } from "../../engine/plan/prepared.ts";
import type { Limits } from "./removal-sight.ts";

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
