import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { PayloadUse } from "../../contract/assumptions/missing.ts";
import type { ProductInstance } from "../../contract/asset-contents.ts";
import { decodeTime, encodeTime } from "../../contract/time-codec.ts";
import type { StandingProduct, StandingUnit } from "./model.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import type { Block } from "../../engine/plan/records.ts";
import { isRowOf, uriOf } from "./terms.ts";

/** A limit as a delete order has it: nothing where M7 shows none; or why it cannot be told. */
type WireLimit = { wire: string | number | undefined } | { fault: string; lacks?: true };

/** Reads limits as M7 shows them and as they were bought, in the one form in which E5 takes them (A20, A21). */
export class Limits {
  readonly #settings: AssumptionSettings;
  /** What was needed of the settings so far. */
  readonly uses = new Set<PayloadUse>();

  constructor(settings: AssumptionSettings) {
    this.#settings = settings;
  }

  shown(value: ProductInstance["limitEndTime"]): WireLimit {
    const { timeCodecs, sentinels, dateZone } = this.#settings;
    if (value === null || value === undefined || sentinels.shownNoLimit.includes(value)) return { wire: undefined };
    this.uses.add("delete-limit").add("product-limit");
    if (timeCodecs.readLimit === undefined) return { fault: "the unit of what M7 shows is not known", lacks: true };
    const read = decodeTime(timeCodecs.readLimit, value, dateZone);
    return read.ok ? this.bought(read.value) : { fault: read.error };
  }

  bought(instant: string | undefined): WireLimit {
    if (instant === undefined) return { wire: undefined };
    const { timeCodecs, dateZone } = this.#settings;
    this.uses.add("product-limit");
    if (timeCodecs.productLimit === undefined) return { fault: "the unit of limits is not known", lacks: true };
    const written = encodeTime(timeCodecs.productLimit, instant, "long", dateZone);
    return written.ok ? { wire: written.value } : { fault: written.error };
  }

  /** What M7 shows, against what was bought. `fault`: why the former cannot be read; silent for want of a setting. */
  compared(value: ProductInstance["limitEndTime"], instant: string | undefined) {
    const shown = this.shown(value);
    const bought = this.bought(instant);
    // What cannot be read for want of a setting is asked for by name before anything is sent.
    if ("fault" in bought || ("fault" in shown && shown.lacks)) return { is: "silent" } as const;
    if ("fault" in shown) return { is: "unreadable", fault: shown.fault, bought: bought.wire } as const;
    const is: "same" | "other" = shown.wire === bought.wire ? "same" : "other";
    return { is, shown: shown.wire, bought: bought.wire };
  }

  /** Whether products of packages may have been bought in the asset too (A23), so that M7 shows them twice. */
  get repeats(): boolean {
    const { packageProducts, packageOnly } = this.#settings;
    return packageProducts === "repeat" || packageOnly === "repeat";
  }

  /** What a strict deletion compares of a product (D: contract E5), as one text. */
  matched({ productUri, limitConcurrent, limitStartTime, limitEndTime }: ProductInstance): string {
    const limit = (value: ProductInstance["limitEndTime"]): unknown => {
      const read = this.shown(value);
      return "fault" in read ? { unread: value } : (read.wire ?? null);
    };
    return JSON.stringify([productUri, limitConcurrent, limit(limitStartTime), limit(limitEndTime)]);
  }
}

/**
 * What M7 shows of one product that is to go: the row it is, that it is gone, that nobody knows which licence order it
 * is of, or why it is left alone. `repeated`: the same product of a package, as it was repeated in the asset (A23).
 */
export type ProductSight =
  | { is: "shown"; row: ProductInstance; repeated?: ProductInstance }
  | { is: "gone" }
  | { is: "unowned"; row: ProductInstance }
  | { is: "blocked"; block: Block };

/** A text that M7 leaves empty says no more than one that it leaves out. */
function given(text: string | null | undefined): string | undefined {
  return text === null || text === undefined || text === "" ? undefined : text;
}

/** Looks for one product of an order in what M7 shows of an asset number. */
export function sightOf(
  { products, asset }: Pick<AssetReading, "products" | "asset">,
  unit: StandingUnit,
  standing: StandingProduct,
  limits: Limits,
): ProductSight {
  const { id } = standing.product;
  const shownOtherwise = (differing: Differing): ProductSight => differently(asset.assetNum, id, differing);
  const named = products.filter((row) => row.crmProductId === id);
  const rows = named.filter((row) => isRowOf(row, standing));
  const [row, ...more] = rows;
  if (row === undefined) {
    const ours = new Set(unit.products.filter((item) => item.product.id === id).map((item) => item.channelOrderId));
    const strange = named.find((item) => !ours.has(item.channelOrderId ?? ""));
    if (strange !== undefined)
      return shownOtherwise({
        field: "channelOrderId",
        shown: strange.channelOrderId,
        bought: standing.channelOrderId,
      });
    const renamed = products.find((item) => isRenamed(item, unit, standing));
    if (renamed === undefined) return { is: "gone" };
    return shownOtherwise({ field: "crmProductId", shown: renamed.crmProductId, bought: id });
  }
  const repeated = repeatedOf(rows, standing, limits);
  if (more.length > 0 && repeated === undefined) {
    const sight = shownOtherwise({ field: "number of rows", shown: String(rows.length), bought: "1" });
    return standing.packageId === undefined || limits.repeats ? sight : withNote(sight, mayBeRepeated);
  }
  const shown = given(row.licenseOrderId);
  const known = standing.licenseOrderId;
  const wrong =
    (shown !== undefined && known !== undefined && shown !== known) || (shown === undefined && known !== undefined)
      ? { field: "licenseOrderId", shown, bought: known }
      : otherTerms(row, unit, standing, limits);
  if (wrong !== undefined) return shownOtherwise(wrong);
  if (shown === undefined) return { is: "unowned", row };
  return repeated === undefined ? { is: "shown", row } : { is: "shown", row, repeated };
}

const mayBeRepeated =
  "; if the order repeated the products of its packages, set assumptions.packageProducts or packageOnly (A23) " +
  "to repeat";

function withNote(sight: ProductSight, note: string): ProductSight {
  if (sight.is !== "blocked") return sight;
  return { ...sight, block: { ...sight.block, reason: sight.block.reason + note } };
}

/**
 * The second of two rows of one purchase which are one product of a package: once in the package and once in the asset,
 * alike in all that a deletion goes by, so that one deletion takes both.
 */
function repeatedOf(
  rows: readonly ProductInstance[],
  { packageId }: StandingProduct,
  limits: Limits,
): ProductInstance | undefined {
  const [row, second, ...others] = rows;
  if (row === undefined || second === undefined || others.length > 0) return undefined;
  if (!limits.repeats || packageId === undefined || given(row.licenseOrderId) === undefined) return undefined;
  const isPair = (row.merchandiseInsId === null) !== (second.merchandiseInsId === null);
  const isSame = row.licenseOrderId === second.licenseOrderId && limits.matched(row) === limits.matched(second);
  return isPair && isSame ? second : undefined;
}

/** Whether M7 shows what a product is by the purchase of that product, under an id that is none of the unit. */
function isRenamed(row: ProductInstance, unit: StandingUnit, { product, channelOrderId }: StandingProduct): boolean {
  const isSame = row.channelOrderId === channelOrderId && row.productUri === uriOf(product);
  return isSame && !unit.products.some((item) => item.product.id === row.crmProductId);
}

interface Differing {
  field: string;
  shown: string | number | null | undefined;
  bought: string | number | undefined;
}

/**
 * The first term of a product that M7 shows otherwise than it was bought. A deletion finds its product by the productUri
 * alone, and by terms that M7 must show: what is left empty is another value here.
 */
function otherTerms(
  row: ProductInstance,
  unit: StandingUnit,
  { product }: StandingProduct,
  limits: Limits,
): Differing | undefined {
  const uri = uriOf(product);
  if (row.productUri !== uri) return { field: "productUri", shown: row.productUri, bought: uri };
  if (row.limitConcurrent !== product.nodes)
    return { field: "limitConcurrent", shown: row.limitConcurrent, bought: product.nodes };
  if (given(row.licenseType) !== undefined && row.licenseType !== unit.licenseType)
    return { field: "licenseType", shown: row.licenseType, bought: unit.licenseType };
  return (
    otherLimit("limitStartTime", row, product.limitStart, limits) ??
    otherLimit("limitEndTime", row, product.limitEnd, limits)
  );
}

/** A limit that M7 shows otherwise than it was bought. */
function otherLimit(
  field: "limitStartTime" | "limitEndTime",
  row: ProductInstance,
  instant: string | undefined,
  limits: Limits,
): Differing | undefined {
  const compared = limits.compared(row[field], instant);
  if (compared.is === "silent" || compared.is === "same") return undefined;
  const { bought } = compared;
  if (compared.is === "unreadable") return { field: `${field} (${compared.fault})`, shown: row[field], bought };
  return { field, shown: compared.shown, bought };
}

function differently(number: string, product: string, { field, shown, bought }: Differing): ProductSight {
  const text = (value: string | number | null | undefined): string =>
    value === undefined || value === null ? "none" : JSON.stringify(value).slice(0, 60);
  const reason =
    `M7 shows the product ${product} under the asset number ${number} with another ${field} ` +
    `(${text(shown)}) than it was bought with (${text(bought)}). crm-sync does not delete the product`;
  return { is: "blocked", block: { code: "order.shown-differently", reason, again: true } };
}

/** Whether a strict deletion of one product takes another one under its asset number along (R4). */
export function isTwin(row: ProductInstance, other: ProductInstance, limits: Limits): boolean {
  const isElsewhere = given(other.licenseOrderId) !== undefined && other.licenseOrderId !== row.licenseOrderId;
  return other !== row && !isElsewhere && limits.matched(other) === limits.matched(row);
}

/** A product that stays and that a deletion would take along. */
export function twinOf(
  row: ProductInstance,
  { products }: Pick<AssetReading, "products">,
  going: ReadonlySet<ProductInstance>,
  limits: Limits,
): ProductInstance | undefined {
  return products.find((other) => !going.has(other) && isTwin(row, other, limits));
}
