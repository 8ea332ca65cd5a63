import { formatKey } from "../../crm/keys.ts";
import { absentName } from "./model.ts";
import type { StandingProduct, StandingUnit } from "./model.ts";
import { isShared } from "./model.ts";
import type { RemovedItem } from "./payload.ts";
import type { AssetReading, ObservedAsset, ObservedLoan } from "../../platform/snapshot.ts";
import type { Block } from "../../engine/plan/records.ts";
import { grouped, pairs } from "../../base/lists.ts";
import type { Observed } from "../../engine/plan/input.ts";
import type { EndedPart, Replacing } from "./difference.ts";
import { isRowOf } from "./terms.ts";
import { wholeUnit } from "./removal-parts.ts";
import type { Endings, RemovalPart, RemovalsGiven } from "./removal-parts.ts";
import { saysLent } from "../../engine/plan/needs-of-operations.ts";
import { sightOf } from "./removal-sight.ts";
import type { Limits } from "./removal-sight.ts";

/** What M7 no longer shows, and how many products that is. */
export interface Gone {
  item: RemovedItem;
  products: number;
}

/** What becomes of one part: what goes of it, what is gone already, or why it is left alone. */
export type Decided = { goes: RemovalPart | undefined; gone: Gone[] } | Block;

/** What M7 shows of the parts of one order. */
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

  /** What M7 leaves out of a part whose asset it shows, by `absentName`. */
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

  /** The old form stays until M7 shows all of the new one, as it was bought and under its numbers (R8). */
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
        const { channelOrderId, licenseOrderId = null, product } = standing;
        const item = { instanceId, unit, number, product: product.id, channelOrderId, licenseOrderId };
        gone.push({ item, products: 1 });
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

/**
 * Numbers of units whose number the ledger does not know: those under which M7 shows their products, where all units of
 * the instance go, so that it does not matter which of them is which.
 */
function numbersFound({ observed }: RemovalsGiven, { order, parts }: Endings): ReadonlyMap<StandingUnit, string> {
  const known = new Set(order.units.flatMap((unit) => unit.number ?? []));
  const unknown = order.units.filter((unit) => unit.number === undefined);
  const found = grouped(unknown, ({ instanceId }) => instanceId).flatMap(([first, units]) => {
    if (!units.every((unit) => parts.some((part) => part.unit === unit))) return [];
    const numbers = [...(observed.contents ?? [])].flatMap(([number, { products }]) => {
      const isShown = first.products.some((standing) => products.some((row) => isRowOf(row, standing)));
      return isShown && !known.has(number) ? [number] : [];
    });
    return numbers.length === units.length ? pairs(units, numbers) : [];
  });
  return new Map(found);
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
 * Why an asset is left alone that is lent, or of which nobody knows that. M6 says of each asset whether it is lent; E8
 * says only what is a lock for lending, and M8 which of the locks are lent and to whom, not what went into them.
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
