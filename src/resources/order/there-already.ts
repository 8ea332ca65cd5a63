import { formatKey } from "../../crm/keys.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import { givenToNew, newUnitsOf, isReference } from "../../engine/model/references.ts";
import type { StandingUnit } from "./model.ts";
import { only, standing } from "../../engine/model/requests.ts";
import type { Known } from "../../engine/model/state.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import type { Block, BlockedRecord } from "../../engine/plan/records.ts";
import type { CustomerInput, LoadedCustomer } from "../../engine/plan/input.ts";
import type { OrderStage } from "./placing.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { SentItem } from "../../report/reconciliation/case.ts";
import { isJsonObject } from "../../base/canonical-json.ts";

type Amendment = DraftOperation<"amend-order">;

/** What is bought under the number of a unit that stands, or of a new one whose number the CRM gives. */
interface BoughtUnder {
  /** Units of the order itself that have the number. */
  own: readonly StandingUnit[];
  /** Units of other orders that have the number too: one renews the other. */
  others: readonly StandingUnit[];
  number: string;
  products: readonly string[];
}

type Given = Pick<CustomerInput, "observed" | "standings"> & { known: Pick<Known, "placedOrders" | "requests"> };

/** Who asked for the lock of a number to be disabled, if it is or will be. */
function disabledBy({ known }: Given, number: string): string | undefined {
  const asked = only(known.requests, "lock").find(({ about }) => about === number);
  return asked?.wanted !== "locked" || standing(asked) === "refused" ? undefined : asked.by;
}

function isAmendment(meant: OrderStage["meant"][number]): meant is Amendment {
  return "items" in meant.after;
}

function boughtUnder({ after, records }: Amendment, standings: LoadedCustomer["standings"]): BoughtUnder[] {
  const [order] = records;
  const standing = order === undefined ? undefined : standings?.get(formatKey(order));
  if (standing === undefined || "lost" in standing) return [];
  return after.items.flatMap(({ instanceId, unit: index, stood, products }) => {
    const found = standing.units.find((one) => one.instanceId === instanceId && one.unit === index);
    const number = stood ? found?.number : givenTo(after, instanceId, index);
    if (number === undefined) return [];
    const isUnder = (one: StandingUnit): boolean => one.number === number;
    const orders = stood ? [...(standings?.values() ?? [])].filter((one) => one !== standing) : [];
    const others = orders.flatMap((one) => ("lost" in one ? [] : one.units.filter(isUnder)));
    return [{ own: standing.units.filter(isUnder), others, number, products }];
  });
}

/** The number that the CRM gives to a new unit. */
function givenTo({ assets }: Amendment["after"], instanceId: string, unit: number): string | undefined {
  const asset = assets.find(({ id }) => id === instanceId);
  return asset === undefined ? undefined : givenToNew(asset)[newUnitsOf(asset).indexOf(unit)];
}

/** Numbers under which something more is to be bought: M7 says whether it is there already. */
export function amendedNumbers(
  { meant }: Pick<OrderStage, "meant">,
  { standings }: Pick<LoadedCustomer, "standings">,
): string[] {
  const amended = meant.filter(isAmendment).flatMap((one) => boughtUnder(one, standings).map(({ number }) => number));
  return [...amended, ...meant.flatMap(renewedNumbers)];
}

/** Numbers of earlier units that a purchase goes on under. */
function renewedNumbers({ after }: OrderStage["meant"][number]): string[] {
  return after.assets.flatMap(({ renewed = [] }) => renewed.map(({ number }) => number));
}

/**
 * Why nothing is bought under the number of an earlier unit: the platform shows no such asset, or it is lent or
 * disabled, and the contract says of none of that what becomes of what is bought then; or it holds that already.
 */
function notRenewable(one: OrderStage["meant"][number], given: Given): Block | undefined {
  for (const number of renewedNumbers(one)) {
    const reading = given.observed.contents?.get(number);
    const block = notUsable(number, reading, given) ?? (reading && boughtTwice(one, number, reading, given));
    if (block !== undefined) return block;
  }
  return undefined;
}

function notUsable(number: string, reading: AssetReading | undefined, given: Given): Block | undefined {
  const stopped = (code: string, reason: string): Block => ({ code, reason, again: true });
  const continued = `the order continues the asset number ${number}`;
  if (reading === undefined)
    return stopped("order.earlier-not-shown", `${continued}, but neither M6 nor E8 shows that number`);
  if (reading.bare) {
    const reason =
      `${continued}, but M7 shows that number without any product or package. ` +
      "Ask the provider of the member-center whether such assets are empty (assumptions.emptyAssets)";
    return stopped("order.earlier-not-shown", reason);
  }
  if (reading.asset.borrowed) {
    const reason =
      `${continued}, which is lent. The contract does not say whether crm-sync ` +
      "may buy something for a lent asset, so have it returned on the platform first";
    return stopped("asset.lent", reason);
  }
  const by = disabledBy(given, number);
  if (by === undefined) return undefined;
  const reason =
    `the order continues the lock ${number}, which is or will be disabled (by ${by}). The contract does not say ` +
    "whether crm-sync may buy something for a disabled lock, so have it enabled first";
  return stopped("order.earlier-locked", reason);
}

/** A renewal may name its products as the order before did: only what no known purchase brought is there already. */
function boughtTwice(
  { payload }: OrderStage["meant"][number],
  number: string,
  { products }: AssetReading,
  { standings, known }: Given,
): Block | undefined {
  const standing = [...(standings?.values() ?? [])].flatMap((one) => ("lost" in one ? [] : one.units));
  const purchases = new Set([
    ...standing.flatMap((unit) => unit.products.map(({ channelOrderId }) => channelOrderId)),
    ...[...known.placedOrders.values()].map(({ channelOrderId }) => channelOrderId),
  ]);
  const assets = payload.orderList.flatMap((record) =>
    record.assets.filter((asset) => asset.assetNos.includes(number)),
  );
  const bought = new Set(assets.flatMap((asset) => asset.products.map((product) => product.crmProductId)));
  const there = products.find((row) => bought.has(row.crmProductId ?? "") && !purchases.has(row.channelOrderId ?? ""));
  return there === undefined ? undefined : isThereAlready(there.crmProductId ?? "", number);
}

function isThereAlready(product: string, number: string): Block {
  const reason =
    `M7 already shows the product ${product} under the asset number ${number}, and more often than this ledger ` +
    "bought it. crm-sync does not buy it a second time";
  return { code: "order.there-already", reason, again: true };
}

/**
 * Leaves out a purchase of which M7 shows something under its number that this ledger did not buy: a person may have
 * done it by hand, and nothing is bought a second time.
 */
export function withoutThereAlready(stage: OrderStage, given: Given): OrderStage {
  const checked = stage.meant.map((one) => {
    const amended = isAmendment(one) ? boughtUnder(one, given.standings) : [];
    return { one, block: notRenewable(one, given) ?? thereAlready(amended, given.observed.contents) };
  });
  const blocks = checked.flatMap(({ one, block }) =>
    block === undefined ? [] : one.records.map((record): BlockedRecord => [formatKey(record), block]),
  );
  const meant = checked.flatMap(({ one, block }) => (block === undefined ? [one] : []));
  return { ...stage, meant, blocks: [...stage.blocks, ...blocks] };
}

function thereAlready(
  bought: readonly BoughtUnder[],
  contents: CustomerInput["observed"]["contents"],
): Block | undefined {
  for (const { own, others, number, products } of bought) {
    const elsewhere = new Set(others.flatMap((one) => one.products.map(({ channelOrderId }) => channelOrderId)));
    const rows = (contents?.get(number)?.products ?? []).filter((row) => !elsewhere.has(row.channelOrderId ?? ""));
    const more = products.find((id) => {
      const stands = own.flatMap((unit) => unit.products.filter((item) => item.product.id === id));
      return rows.filter((row) => row.crmProductId === id).length > stands.length;
    });
    if (more !== undefined) return isThereAlready(more, number);
  }
  return undefined;
}

/** A package as it was sent in an E5. */
export interface SentPackage extends SentItem {
  /** Ids of the products in it and in all lower ones; where there are none, of those in the package around it. */
  inside: readonly string[];
}

/** What an E5 carried, flat: each product and each package under each of its asset numbers. */
interface SentOrder {
  products: SentItem[];
  packages: SentPackage[];
}

/**
 * Reads the unbound payload of an E5. `numberOf` gives the number that a unit was bound to; a unit without one was
 * never sent. Values that the contract does not let anybody read back stay in `fields`; licence passwords do not.
 */
export function sentItems(payload: JsonObject, numberOf: (unit: string) => string | undefined): SentOrder {
  const sent: SentOrder = { products: [], packages: [] };
  for (const record of objects(payload["orderList"])) {
    const licenseType = textOf(record["licenseType"]);
    for (const asset of objects(record["assets"])) {
      for (const assetNumber of numbersOf(asset["assetNos"], numberOf)) {
        const add = {
          product: productInto(sent.products, assetNumber, licenseType),
          package: packageInto(sent.packages, assetNumber, licenseType),
        };
        for (const product of objects(asset["products"])) add.product(product);
        visitPackages(objects(asset["merchandises"]), add);
      }
    }
  }
  return sent;
}

interface Add {
  product: (item: JsonObject) => void;
  package: (item: JsonObject, of: { root: boolean; inside: readonly string[] }) => void;
}

function visitPackages(packages: readonly JsonObject[], add: Add, around?: readonly string[]): void {
  for (const item of packages) {
    const own = productsUnder(item);
    const inside = own.length > 0 ? own : (around ?? []);
    add.package(item, { root: around === undefined, inside });
    for (const product of objects(item["licenseOrderProductList"])) add.product(product);
    visitPackages(objects(item["children"]), add, inside);
  }
}

function productsUnder(item: JsonObject): string[] {
  return [
    ...objects(item["licenseOrderProductList"]).map((product) => textOf(product["crmProductId"])),
    ...objects(item["children"]).flatMap((child) => productsUnder(child)),
  ];
}

function productInto(items: SentItem[], assetNumber: string, licenseType: string): (product: JsonObject) => void {
  return (product) => {
    const { passwords: _passwords, ...fields } = product;
    items.push({ id: textOf(product["crmProductId"]), assetNumber, licenseType, fields });
  };
}

function packageInto(items: SentPackage[], assetNumber: string, licenseType: string): Add["package"] {
  return (item, { root, inside }) => {
    const { children: _children, licenseOrderProductList: _products, ...fields } = item;
    const id = textOf(item["merchandiseNum"]);
    items.push({ id, assetNumber, licenseType, fields: { ...fields, root }, inside });
  };
}

function numbersOf(value: Json | undefined, numberOf: (unit: string) => string | undefined): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    const number =
      typeof item === "string"
        ? item
        : isReference(item) && item.$ref === "assetNumber"
          ? numberOf(item.of)
          : undefined;
    return number === undefined ? [] : [number];
  });
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}
