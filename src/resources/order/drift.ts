import { parseTerm } from "../../contract/term.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { GoneItem } from "./payload.ts";
import { standingAfter } from "./fold.ts";
import {
  type EndedProduct,
  type OrderStanding,
  type StandingProduct,
  type StandingUnit,
  type OrderPlan,
  isShared,
  isWanted,
  blockedBy,
  joinedPlans,
} from "./model.ts";
import type { OrderBought } from "./state/changes.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import type { Block } from "../../engine/plan/records.ts";
import { lastingOf, shownName } from "../../engine/plan/drift.ts";
import type { CustomerInput, Observed, PlanOptions } from "../../engine/plan/input.ts";
import { isRowOf } from "./terms.ts";
import { removedFrom, wholeUnit } from "./removal-parts.ts";
import { policyOf, unproven } from "../../engine/model/policy.ts";
import type { Known } from "../../engine/model/state.ts";
import { buy, type Placed } from "./amendments.ts";
import { countedParts, purchasesOf, type PurchaseMaker } from "./purchase-parts.ts";
import { differenceOf, isEmpty, wantedOf } from "./difference.ts";
import { heldNumbers } from "./units-that-stay.ts";

/** What repairs of an order are planned from. */
export type RepairsGiven = Pick<CustomerInput, "drift"> & {
  observed: Pick<Observed, "contents" | "goneAssets" | "assets">;
};

type Options = Pick<PlanOptions, "repairs">;
type Given = RepairsGiven & { known: Pick<Known, "assignments" | "numbers"> };

/**
 * Plans the repair of an order that the ledger has as the CRM wants it, while the platform differs. A product that the
 * platform lost is bought again, under an order number of its own. A product that ended and is shown again is removed.
 */
export function planRepair(
  given: Given,
  of: Placed,
  options: Options & Pick<PlanOptions, "policies">,
  make: PurchaseMaker,
): Partial<OrderPlan> {
  const repairs = (name: "drift.missing" | "drift.extra"): boolean =>
    !["ignore", "report"].includes(policyOf(options.policies, name));
  const changes = repairs("drift.extra") ? shownAgain(given, of.standing, options) : [];
  if (changes.length > 0) return { changes };
  if (!isWanted(of.order) || !repairs("drift.missing")) return {};
  const { gone, blocks } = lostOf(given, of.standing, options);
  return joinedPlans([{ blocks }, gone.length === 0 ? {} : buyAgain(given, of, gone, make)]);
}

function buyAgain(given: Given, of: Placed, gone: Lost["gone"], make: PurchaseMaker): Partial<OrderPlan> {
  const { order, standing } = of;
  const lost = `the platform no longer shows a part of the order ${formatKey(order.key)}`;
  const notRepaired = (reason: string): Partial<OrderPlan> =>
    blockedBy({ code: "order.not-repaired", reason, again: true });
  const shared = gone.find((item) => isShared(given.known.numbers, { order: order.key, ...item }));
  if (shared !== undefined) {
    const why = `another order continues its asset number ${shared.number}`;
    return notRepaired(`${lost}. crm-sync does not buy that part again: ${why}`);
  }
  const facts = { held: heldNumbers(given.known), reserved: standing.units };
  const { added, ...others } = differenceOf(standingWithout(standing, gone), wantedOf(order), facts);
  const numbered = added.find((part) => part.given !== undefined);
  if (numbered !== undefined || !isEmpty({ ...others, added: [], emptied: [] })) {
    const why = numbered === undefined ? "" : `: the CRM gives its asset the number ${numbered.given}`;
    return notRepaired(`${lost}, and crm-sync does not buy it again by itself${why}`);
  }
  // Not being shown proves nothing: it may stand under another number, or be hidden from every reading alike.
  const reason = lostText(order.key, gone);
  return buy(of, purchasesOf(added, []), { make, policy: unproven, gone, reason });
}

/** What the platform lost of an order, and why something of it is left to people. */
export interface Lost {
  /** In whose place something is bought. */
  gone: GoneItem[];
  blocks: Block[];
}

/**
 * Products that the ledger has and the platform lost: they were shown once under this very purchase, were missing in
 * whole readings over the settle time, and are missing now. To buy twice is worse than to lack something. So nothing is
 * bought where it could mean something else: the asset is lent, shows nothing at all, or shows a similar product.
 */
export function lostOf(given: RepairsGiven, { order, units }: OrderStanding, options: Options): Lost {
  const lost = given.drift === undefined ? [] : units.flatMap((unit) => lostIn(given, order, unit, options));
  return {
    gone: lost.flatMap((one) => ("code" in one ? [] : one)),
    blocks: lost.flatMap((one) => ("code" in one ? one : [])),
  };
}

function lostIn(given: RepairsGiven, order: RecordKey, unit: StandingUnit, options: Options): (GoneItem | Block)[] {
  const { number, products } = unit;
  if (number === undefined || products.length === 0) return [];
  const lost = products.filter((item) =>
    isLostOf(given, options, { order, number, limitEnd: unit.asset.limitEnd }, item),
  );
  const { contents, goneAssets, assets } = given.observed;
  if (goneAssets?.has(number) === true) {
    // One that was not read may be listed.
    const isListed = assets?.some((asset) => asset.assetNum === number) ?? true;
    if (isListed || lost.length < products.length) return [];
    if (!products.some(isTransferred))
      return [{ ...wholeUnit({ ...unit, number }), number, products: products.length }];
    return [byHand(`the asset number ${number} holds transferred licences, and they cannot be made twice`)];
  }
  const reading = contents?.get(number);
  if (reading === undefined || reading.bare || reading.asset.borrowed) return [];
  return lost.filter((item) => !isShown(reading, item)).map((item) => lostProduct(unit, number, reading, item));
}

/** Shown once as what this purchase brought, and missing for long enough. */
function isLostOf(
  { drift }: RepairsGiven,
  { repairs }: Options,
  { order, number, limitEnd }: { order: RecordKey; number: string; limitEnd: string | undefined },
  { product, channelOrderId }: StandingProduct,
): boolean {
  const about = { order, item: product.id, assetNumber: number };
  const lasting = lastingOf({ drift, repairs }, "product", "missing", about);
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

function lostProduct(
  unit: StandingUnit,
  number: string,
  reading: AssetReading,
  item: StandingProduct,
): GoneItem | Block {
  const { product, packageId } = item;
  const what = `the product ${product.id} under the asset number ${number}`;
  if (isTransferred(item)) return byHand(`${what} was transferred, and a transfer cannot be made twice`);
  if (packageId !== undefined) return byHand(`${what} is of the package ${packageId}, which cannot be bought in part`);
  const like = reading.products.find(
    (row) =>
      (row.productUri === product.gmsPid || row.productUri === product.appKey) &&
      !unit.products.some((own) => own.product.id === row.crmProductId),
  );
  if (like !== undefined)
    return byHand(`${what} is gone, and M7 shows ${like.crmProductId ?? "another product"} like it there`);
  return { ...removedFrom(unit, item), products: 1 };
}

function isTransferred({ product }: StandingProduct): boolean {
  return product.srcLicenseOrderId !== undefined || product.transferredFrom !== undefined;
}

function byHand(what: string): Block {
  const reason = `${what}. The platform no longer shows the product, and crm-sync does not buy it again by itself`;
  return { code: "order.not-repaired", reason, again: true };
}

/** The order without what the platform lost. */
export function standingWithout(standing: OrderStanding, gone: readonly GoneItem[]): OrderStanding {
  const { order, customer } = standing;
  const items = gone.map(({ products: _count, ...item }) => item);
  const of = { order, customer, operationId: null, origin: "found", products: 0 } as const;
  return standingAfter(standing, { type: "order-removed", ...of, items });
}

/**
 * Products that had ended and that the platform shows again, under the licence order of our own purchase. They are
 * recorded again, so that they are removed like every product that is recorded and not wanted.
 */
export function shownAgain(
  given: RepairsGiven,
  { order, customer, units, ended }: OrderStanding,
  options: Options,
): OrderBought[] {
  if (given.drift === undefined) return [];
  const again = ended.filter((item) => isThereAgain(given, options, units, item));
  return again.map(({ unit: { instanceId, unit, number = null }, standing: { product, channelOrderId }, version }) => ({
    type: "order-bought",
    order,
    customer,
    operationId: null,
    origin: "found",
    products: 1,
    channelOrderId,
    version,
    items: [{ instanceId, unit, number, products: [product.id], packages: [] }],
    licenceOrders: [],
  }));
}

function isThereAgain(
  { drift, observed }: RepairsGiven,
  { repairs }: Options,
  units: readonly StandingUnit[],
  { unit, standing }: EndedProduct,
): boolean {
  const { number, instanceId } = unit;
  const { product, licenseOrderId, packageId } = standing;
  if (number === undefined || licenseOrderId === undefined || packageId !== undefined) return false;
  const about = { item: product.id, assetNumber: number };
  if (lastingOf({ drift, repairs }, "product", "extra", about) === undefined) return false;
  // Another unit may have its place by now.
  if (units.some((one) => one.instanceId === instanceId && one.unit === unit.unit && one.number !== number))
    return false;
  const rows = observed.contents?.get(number)?.products ?? [];
  return rows.some((row) => isRowOf(row, standing) && row.licenseOrderId === licenseOrderId);
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
