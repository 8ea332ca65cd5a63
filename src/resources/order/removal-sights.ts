import { numbersShown } from "./shown-orders.ts";
import { formatKey } from "../../crm/keys.ts";
import { absentName, isShared, uriOf, type StandingProduct, type StandingUnit } from "./model.ts";
import type { RemovedItem } from "./shapes.ts";
import type { AssetReading, ObservedAsset, ObservedLoan } from "../../platform/snapshot.ts";
import { type Block, saysLent } from "../../engine/plan/blocks.ts";
import type { Observed } from "../../engine/plan/input.ts";
import type { EndedPart, Replacing } from "./difference.ts";
import { isRowOf, type Limits } from "./terms.ts";
import { removedFrom, wholeUnit, type Endings, type RemovalPart, type RemovalsGiven } from "./removal-parts.ts";
import type { ProductInstance } from "../../contract/asset-contents.ts";

export interface Gone {
  item: RemovedItem;
  products: number;
}

export type Decided = { goes: RemovalPart | undefined; gone: Gone[] } | Block;

export class Sights {
  readonly #given: RemovalsGiven;
  readonly #ending: Endings;
  readonly #limits: Limits;
  readonly #numbers: ReadonlyMap<StandingUnit, string>;

  constructor(given: RemovalsGiven, ending: Endings, limits: Limits) {
    this.#given = given;
    this.#ending = ending;
    this.#limits = limits;
    this.#numbers = numbersFound(given, ending);
  }

  absent({ unit, products }: EndedPart): string[] {
    const reading = this.#given.observed.contents?.get(this.#numberOf(unit) ?? "");
    if (reading === undefined || reading.bare) return [];
    return products
      .filter((standing) => sightOf(reading, unit, standing, this.#limits).is === "gone")
      .map((standing) => absentName(unit, standing));
  }

  #numberOf(unit: StandingUnit): string | undefined {
    return unit.number ?? this.#numbers.get(unit);
  }

  decide(part: EndedPart): Decided {
    const { contents } = this.#given.observed;
    if (contents === undefined) return notRead;
    const { unit } = part;
    const number = this.#numberOf(unit);
    const reading = number === undefined ? undefined : contents.get(number);
    if (number === undefined || reading === undefined) return notShown(this.#ending, unit);
    if (reading.bare) return notShown(this.#ending, unit, number);
    const isLent = lent(number, reading, this.#given.observed.loans);
    if (isLent !== undefined) return isLent;
    const waits = part.by === undefined ? undefined : this.#overlap(unit, part.by);
    return waits ?? this.#rows(part, number, reading);
  }

  /** The old form stays until M7 shows all of the new one as bought, under its numbers (R8). */
  #overlap({ number }: StandingUnit, by: Replacing): Block | undefined {
    const reading = this.#given.observed.contents?.get(by.unit.number ?? "");
    if (reading === undefined || by.products.length === 0) return overlap(number, by.products);
    for (const standing of by.products) {
      const sight = sightOf(reading, by.unit, standing, this.#limits);
      if (sight.is === "blocked") return sight.block;
      if (sight.is === "gone") return overlap(number, [standing]);
    }
    return undefined;
  }

  #rows(part: EndedPart, number: string, reading: AssetReading): Decided {
    const rows: RemovalPart["rows"] = [];
    const gone: Gone[] = [];
    const { instanceId, unit } = part.unit;
    const { order } = this.#ending.order;
    const absent = this.#given.observed.gone?.get(formatKey(order));
    for (const standing of part.products) {
      const sight = sightOf(reading, part.unit, standing, this.#limits);
      if (sight.is === "blocked") return sight.block;
      if (sight.is === "gone") {
        if (!absent?.has(absentName(part.unit, standing))) return unsureAbsence(number, standing);
        gone.push({ item: removedFrom({ instanceId, unit, number }, standing), products: 1 });
      } else {
        rows.push({ row: sight.row, standing, isOwned: sight.is === "shown", by: part.by });
        const repeated = sight.is === "shown" ? sight.repeated : undefined;
        if (repeated !== undefined)
          rows.push({ row: repeated, standing, isOwned: true, by: part.by, isRepeated: true });
      }
    }
    if (rows.length === 0 && part.whole) {
      const item = wholeUnit({ instanceId, unit, number });
      return { goes: undefined, gone: [{ item, products: part.products.length }] };
    }
    if (rows.length === 0) return { goes: undefined, gone };
    const { whole } = part;
    const shared = isShared(this.#given.known.numbers, { order, instanceId, unit, number });
    return { goes: { ending: this.#ending, unit: part.unit, number, shared, whole, reading, rows }, gone };
  }
}

/** Finds unknown numbers in M7, if all units of the instance lose the same: then it does not matter which is which. */
function numbersFound({ observed }: RemovalsGiven, { order, parts }: Endings): ReadonlyMap<StandingUnit, string> {
  const taken = new Set(order.units.flatMap((unit) => unit.number ?? []));
  const unknown = order.units.filter((unit) => unit.number === undefined);
  const found = [...Map.groupBy(unknown, ({ instanceId }) => instanceId).values()].flatMap((units) => {
    const losses = units.map((unit) => lossOf(parts.find((part) => part.unit === unit)));
    if (losses.includes(undefined) || new Set(losses).size > 1) return [];
    const shown = numbersShown(units, taken, observed.contents ?? new Map());
    return "doubt" in shown ? [] : [...shown.numbers];
  });
  return new Map(found);
}

function lossOf(part: EndedPart | undefined): string | undefined {
  return part === undefined ? undefined : JSON.stringify([part.whole, part.products.map(({ product }) => product.id)]);
}

function overlap(number: string | undefined, products: readonly StandingProduct[]): Block {
  const purchases = [...new Set(products.map(({ channelOrderId }) => channelOrderId))].join(" and ");
  const reason =
    `the replacement under the asset number ${number ?? "(not known)"} ` +
    `${purchases === "" ? "is not complete" : `was bought as ${purchases}`}, and M7 does not show it yet. ` +
    "The old form stays until M7 shows the replacement";
  return { code: "order.overlap", reason, again: true };
}

const notRead: Block = {
  code: "order.contents-not-read",
  reason: "crm-sync did not read the contents of the order's assets, so it removes nothing of the order",
  again: true,
};

function unsureAbsence(number: string, { product, channelOrderId }: StandingProduct): Block {
  const reason =
    `M7 does not show the product ${product.id} of ${channelOrderId} under the asset number ${number}. The product ` +
    "counts as removed after enough such readings over the settle time (settle.readings, settle.timeMs)";
  return { code: "order.absence-unsure", reason, again: true };
}

function notShown({ order }: Endings, unit: StandingUnit, bare?: string): Block {
  const { instanceId, number } = unit;
  const what =
    bare !== undefined
      ? `M7 shows the asset number ${bare} without any product or package`
      : number === undefined
        ? `the asset number of unit ${unit.unit + 1} of the instance ${instanceId} is not known`
        : `the asset number ${number} of the instance ${instanceId} is missing in M6 and E8, or in M7`;
  const reason =
    `${what}, so its contents are not known. crm-sync deletes nothing of the order ${formatKey(order.order)} for ` +
    "that asset";
  return { code: "order.not-shown", reason, again: true };
}

/**
 * M6 shows whether an asset is lent. E8 shows only which locks are for lending. M8 shows which locks are lent and to
 * whom, but not their contents.
 */
function lent(number: string, { asset }: AssetReading, loans: Observed["loans"]): Block | undefined {
  const lock = loans?.find((loan) => loan.lock === number);
  if (lock?.lent === true || (saysLent(asset) && asset.borrowed)) return lentNow(number, asset, loans ?? []);
  if (saysLent(asset) || lock !== undefined) return undefined;
  const mayBe = loans?.find(
    (loan) => loan.lent && (loan.borrower === null || asset.holder === null || loan.borrower === asset.holder),
  );
  if (loans !== undefined && mayBe === undefined) return undefined;
  const why = mayBe === undefined ? "M8 was not read" : `the lock ${mayBe.lock} is lent`;
  const reason =
    `M6 does not show the asset number ${number}, and E8 does not say if it is lent (${why}). crm-sync does not ` +
    "remove it before M6 shows it";
  return { code: "asset.lending-unknown", reason, again: true };
}

function lentNow(number: string, asset: ObservedAsset, loans: readonly ObservedLoan[]): Block {
  const held = loans.filter(
    (loan) => loan.lent && (loan.lock === number || (asset.holder !== null && loan.borrower === asset.holder)),
  );
  const where = held.map(
    ({ lock, borrower }) => `into the lock ${lock}${borrower === null ? "" : `, with the member ${borrower}`}`,
  );
  const reason =
    `the asset number ${number} is lent ${where.join("; ") || "(M8 does not say into which lock)"}. ` +
    "crm-sync cannot return a lent lock: have it returned on the platform first";
  return { code: "asset.lent", reason, again: true };
}

/** `unowned`: nobody knows its licence order. `repeated`: the copy of a package product in the asset (A23). */
export type ProductSight =
  | { is: "shown"; row: ProductInstance; repeated?: ProductInstance }
  | { is: "gone" }
  | { is: "unowned"; row: ProductInstance }
  | { is: "blocked"; block: Block };

/** M7 may leave out a text or send it empty: both mean no value. */
function given(text: string | null | undefined): string | undefined {
  return text === null || text === undefined || text === "" ? undefined : text;
}

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

/** The copy of a package product in the asset. A deletion cannot tell both rows apart, so one call removes both. */
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

/** Whether M7 shows the product of this purchase under an id that no product of the unit has. */
function isRenamed(row: ProductInstance, unit: StandingUnit, { product, channelOrderId }: StandingProduct): boolean {
  const isSame = row.channelOrderId === channelOrderId && row.productUri === uriOf(product);
  return isSame && !unit.products.some((item) => item.product.id === row.crmProductId);
}

interface Differing {
  field: string;
  shown: string | number | null | undefined;
  bought: string | number | undefined;
}

/** The first term that differs from the purchase. A deletion matches by these terms, so an empty one differs too. */
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
