import { parseTerm } from "../../contract/term.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { GoneItem } from "./order-payload.ts";
import { standingAfter } from "./order-standing.ts";
import type { EndedProduct, OrderStanding, StandingProduct, StandingUnit } from "./order-standing.ts";
import type { OrderBought } from "./state/order-steps.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import type { Block } from "../../engine/plan/block.ts";
import { lastingOf, shownName } from "../../engine/plan/drift.ts";
import type { CustomerInput, Observed } from "../../engine/plan/input.ts";
import { countedParts } from "./amendment-texts.ts";
import type { PlanOptions } from "../../engine/plan/options.ts";

/** What repairs of an order are planned from. */
export type RepairsGiven = Pick<CustomerInput, "drift"> & {
  observed: Pick<Observed, "contents" | "goneAssets" | "assets">;
};

type Options = Pick<PlanOptions, "repairs">;

/** What the platform lost of an order, and why something of it is left to people. */
export interface Lost {
  /** In whose place something is bought. */
  gone: GoneItem[];
  blocks: Block[];
}

/**
 * What stands of an order by the ledger and is on the platform no more: shown once under the very purchase, missing in
 * whole readings over the settle time, and missing now. Buying twice is worse than lacking something, so all that could
 * mean something else is left alone: an asset that is lent, one that shows nothing at all, something like it in it.
 */
export function lostOf(given: RepairsGiven, { order, units }: OrderStanding, options: Options): Lost {
  const lost: Lost = { gone: [], blocks: [] };
  if (given.drift === undefined) return lost;
  for (const unit of units) {
    const { number } = unit;
    if (number === undefined || unit.products.length === 0) continue;
    const isLost = (item: StandingProduct): boolean =>
      isLostOf(given, options, order, { number, limitEnd: unit.asset.limitEnd }, item);
    const reading = given.observed.contents?.get(number);
    // One that was not read may be listed.
    const isListed = given.observed.assets?.some((asset) => asset.assetNum === number) ?? true;
    if (given.observed.goneAssets?.has(number) === true) {
      if (isListed) continue;
      if (!unit.products.every(isLost)) continue;
      if (unit.products.some(isTransferred))
        lost.blocks.push(
          byHand(`the asset number ${number} holds transferred licences, and they cannot be made twice`),
        );
      else lost.gone.push(wholeUnit(unit, number));
      continue;
    }
    if (reading === undefined || reading.bare || reading.asset.borrowed) continue;
    const products = unit.products.filter((item) => isLost(item) && !isShown(reading, item));
    if (products.length > 0) addProducts(lost, { unit, number, reading }, products);
  }
  return lost;
}

/** Shown once as what this purchase brought, and missing for long enough. */
function isLostOf(
  { drift }: RepairsGiven,
  { repairs }: Options,
  order: RecordKey,
  { number, limitEnd }: { number: string; limitEnd: string | undefined },
  { product, channelOrderId }: StandingProduct,
): boolean {
  const about = { order, item: product.id, assetNumber: number };
  const lasting = lastingOf(drift, repairs, "product", "missing", about);
  if (lasting === undefined || drift === undefined) return false;
  if (drift.products.get(shownName(number, product.id))?.has(channelOrderId) !== true) return false;
  return !isOver([product.limitEnd, limitEnd], product, drift.bought.get(channelOrderId), lasting.lastSeen);
}

/** What has come to its end, or may have, is missing for that: its limits, its term from the purchase on, a trial. */
function isOver(
  limits: readonly (string | undefined)[],
  { term: stated, trial }: Pick<StandingProduct["product"], "term" | "trial">,
  boughtAt: string | undefined,
  at: string,
): boolean {
  const known = limits.flatMap((limit) => (limit === undefined ? [] : [Date.parse(limit)]));
  const term = parseTerm(stated);
  if (trial || !term.ok) return true;
  const { years, months, days } = term.value;
  if (years > 0 || months > 0 || days > 0) {
    if (boughtAt === undefined) return true;
    const end = new Date(boughtAt);
    end.setUTCFullYear(end.getUTCFullYear() + years, end.getUTCMonth() + months, end.getUTCDate() + days);
    known.push(end.getTime());
  }
  return !known.every((end) => end > Date.parse(at));
}

/** M7 shows it, or something that leaves open what it is. */
function isShown({ products }: AssetReading, { product, channelOrderId }: StandingProduct): boolean {
  return products.some((row) =>
    row.crmProductId === null || row.crmProductId === undefined || row.crmProductId === ""
      ? row.channelOrderId === channelOrderId
      : row.crmProductId === product.id,
  );
}

function addProducts(
  lost: Lost,
  { unit, number, reading }: { unit: StandingUnit; number: string; reading: AssetReading },
  products: readonly StandingProduct[],
): void {
  for (const item of products) {
    const { product, channelOrderId, licenseOrderId, packageId } = item;
    const what = `the product ${product.id} under the asset number ${number}`;
    const like = reading.products.find(
      (row) =>
        (row.productUri === product.gmsPid || row.productUri === product.appKey) &&
        !unit.products.some((own) => own.product.id === row.crmProductId),
    );
    if (isTransferred(item)) lost.blocks.push(byHand(`${what} was transferred, and a transfer cannot be made twice`));
    else if (packageId !== undefined)
      lost.blocks.push(byHand(`${what} is of the package ${packageId}, which cannot be bought in part`));
    else if (like !== undefined)
      lost.blocks.push(byHand(`${what} is gone, and M7 shows ${like.crmProductId ?? "another product"} like it there`));
    else
      lost.gone.push({
        instanceId: unit.instanceId,
        unit: unit.unit,
        number,
        product: product.id,
        channelOrderId,
        licenseOrderId: licenseOrderId ?? null,
        products: 1,
      });
  }
}

function isTransferred({ product }: StandingProduct): boolean {
  return product.srcLicenseOrderId !== undefined || product.transferredFrom !== undefined;
}

function byHand(what: string): Block {
  return {
    code: "order.not-repaired",
    reason: `${what}. The platform no longer shows the product, and crm-sync does not buy it again by itself`,
    again: true,
  };
}

function wholeUnit({ instanceId, unit, products }: StandingUnit, number: string): GoneItem {
  const whole = { product: null, channelOrderId: null, licenseOrderId: null };
  return { instanceId, unit, number, ...whole, products: products.length };
}

/** What stands once what is gone is gone. */
export function standingWithout(standing: OrderStanding, gone: readonly GoneItem[]): OrderStanding {
  const { order, customer } = standing;
  const items = gone.map(({ products: _count, ...item }) => item);
  const of = { order, customer, operationId: null, origin: "found", products: 0 } as const;
  return standingAfter(standing, { type: "order-removed", ...of, items });
}

/**
 * What had ended of an order and the platform shows again, as what our own purchase brought, by its licence order: it
 * stands, so that it can be taken away as everything is that stands and is not wanted.
 */
export function shownAgain(
  given: RepairsGiven,
  { order, customer, units, ended }: OrderStanding,
  options: Options,
): OrderBought[] {
  const changes: OrderBought[] = [];
  if (given.drift === undefined) return changes;
  for (const item of ended) {
    const { unit, standing, version } = item;
    if (!isThereAgain(given, options, units, item)) continue;
    const { channelOrderId, product } = standing;
    const { instanceId, number = null } = unit;
    changes.push({
      type: "order-bought",
      order,
      customer,
      operationId: null,
      origin: "found",
      products: 1,
      channelOrderId,
      version,
      items: [{ instanceId, unit: unit.unit, number, products: [product.id], packages: [] }],
      licenceOrders: [],
    });
  }
  return changes;
}

function isThereAgain(
  { drift, observed }: RepairsGiven,
  { repairs }: Options,
  units: readonly StandingUnit[],
  { unit, standing }: EndedProduct,
): boolean {
  const { number, instanceId } = unit;
  const { product, channelOrderId, licenseOrderId, packageId } = standing;
  if (number === undefined || licenseOrderId === undefined || packageId !== undefined) return false;
  const about = { item: product.id, assetNumber: number };
  if (lastingOf(drift, repairs, "product", "extra", about) === undefined) return false;
  // Another unit may have its place by now.
  if (units.some((one) => one.instanceId === instanceId && one.unit === unit.unit && one.number !== number))
    return false;
  const rows = observed.contents?.get(number)?.products ?? [];
  return rows.some(
    (row) =>
      row.crmProductId === product.id && row.channelOrderId === channelOrderId && row.licenseOrderId === licenseOrderId,
  );
}

/** Numbers whose contents decide what is repaired of an order. */
export function repairedNumbers({ units, ended }: OrderStanding): string[] {
  return [...units, ...ended.map(({ unit }) => unit)].flatMap(({ number }) => number ?? []);
}

/** What is said of what is bought in the place of what is lost. */
export function lostText(order: RecordKey, gone: readonly GoneItem[]): string {
  const products = gone.reduce((sum, item) => sum + item.products, 0);
  const units = gone.filter((item) => item.product === null).length;
  return (
    `the platform showed ${countedParts(units, products)} of the order ${formatKey(order)} and no longer shows them; ` +
    "they are bought again"
  );
}
