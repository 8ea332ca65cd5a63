import type { LicenseType } from "../../crm/model.ts";
import type { OrderWithTree } from "../../engine/desired.ts";
import { orderOf, productsUnder } from "./order-standing.ts";
import type { OrderStanding, StandingUnit } from "./order-standing.ts";
import { isShared, unitsNamed } from "./state/asset-numbers.ts";
import type { FixedNumber } from "./state/asset-numbers.ts";
import type { BoughtItem, LicenceOrder, RemovedItem } from "./state/order-steps.ts";
import { wholeUnit } from "./emptied-units.ts";
import { differenceOf } from "./order-difference.ts";
import type { AddedPart, EndedPart, OrderDifference, ReplacedPart } from "./order-difference.ts";
import type { PlannedProduct } from "./order-records.ts";
import type { Limits } from "./removal-sight.ts";
import { nothingRead } from "../../engine/plan/read-back.ts";
import type { ReadBack } from "../../engine/plan/read-back.ts";
import { isForm } from "./shown-contents.ts";
import type { ShownContents, ShownProduct } from "./shown-contents.ts";

/** What M7 always tells two forms of a product apart by. */
const observable = new Set(["nodes", "gmsPid", "appKey"]);

/** What is found while an order is read back. */
interface Found {
  read: ReadBack;
  limits: Limits;
  /** Those that the ledger knows of the customer. */
  numbers: readonly FixedNumber[];
  bought: Map<string, { items: BoughtItem[]; rows: ShownProduct[] }>;
  removed: RemovedItem[];
  /** Asset numbers that a unit has already: what is shown there is no other unit's. */
  taken: Set<string | undefined>;
}

/**
 * What M7 shows of an order that a person amended on the platform: what the CRM has more is shown, what it has no
 * longer is not, and what it has otherwise is shown so. What M7 says nothing about counts by that person's word.
 */
export function readBackOrder(
  order: OrderWithTree,
  standing: OrderStanding,
  contents: ShownContents,
  { held, limits, numbers }: { held: ReadonlySet<string>; limits: Limits; numbers: readonly FixedNumber[] },
): ReadBack {
  const taken = new Set(standing.units.map((unit) => unit.number));
  const found: Found = { read: nothingRead(), limits, numbers, bought: new Map(), removed: [], taken };
  const isWanted = order.state === "current" && !order.body.cancelled;
  const wanted = isWanted ? { assets: order.tree.assets, amount: order.body.amount } : nothingWanted;
  const difference = differenceOf(standing, wanted, { held });
  for (const [index, part] of difference.added.entries()) {
    const others = difference.added.slice(index).filter(({ asset }) => asset.id === part.asset.id);
    readAdded(found, part, { standing, contents, units: others.length });
  }
  for (const part of difference.replaced) readReplaced(found, part, contents);
  for (const part of [...difference.ended, ...difference.superseded]) readEnded(found, part, contents);
  for (const unit of difference.emptied) found.removed.push(wholeUnit(unit));
  for (const { asset } of difference.assetChanged)
    found.read.otherwise.push(`the asset ${asset.id} is wanted otherwise, and no reading shows how an asset is`);
  found.read.changes.push(...changesOf(order, standing, difference, found));
  return found.read;
}

const nothingWanted = { assets: [], amount: undefined };

/** `units`: this one and those of its asset that are still looked for. A unit that is shown is no other one's too. */
function readAdded(
  found: Found,
  part: AddedPart,
  { standing, contents, units }: { standing: OrderStanding; contents: ShownContents; units: number },
): void {
  const { asset, unit, products, packages } = part;
  const all = [...products, ...packages.flatMap(productsUnder)];
  // Of what is shown under no unit's number so much may be of units whose number nobody knows.
  const hidden = standing.units.filter((one) => one.instanceId === asset.id && one.number === undefined).length;
  const known = part.standing?.number ?? part.given;
  const number = known ?? (hidden > 0 ? undefined : numberOf(all, found, contents, units));
  const rows = all.flatMap((product) => readShown(found, product, asset.licenseType, { number, contents, hidden }));
  for (const row of rows) found.taken.add(row.number);
  const item: BoughtItem = {
    instanceId: asset.id,
    unit,
    number: number ?? null,
    products: products.map(({ id }) => id),
    packages: packages.map(({ id }) => id),
    ...earlierOf(found, standing, asset, number),
  };
  buy(found, item, rows);
}

/** The earlier unit whose number it is, where the asset continues that and does not stand yet. */
function earlierOf(
  { numbers }: Found,
  { order, units }: OrderStanding,
  { id, continues }: AddedPart["asset"],
  number: string | undefined,
): Pick<BoughtItem, "continues"> {
  if (continues === undefined || units.some((unit) => unit.instanceId === id && unit.number === number)) return {};
  const from = orderOf(order, continues);
  const earlier = numbers.find(
    (item) =>
      item.number === number &&
      item.instanceId === continues.instanceId &&
      item.orderId === from.id &&
      item.namespace === from.namespace,
  );
  return earlier === undefined ? {} : { continues: unitsNamed(earlier) };
}

/** A number under which all of it is shown and that no unit has, where there is none too many. */
function numberOf(
  products: readonly PlannedProduct[],
  { taken }: Pick<Found, "taken">,
  contents: ShownContents,
  units: number,
): string | undefined {
  const numbers = products.map(({ id }) => new Set(contents.of(id, undefined).map((row) => row.number)));
  const [first, ...others] = numbers;
  const common = [...(first ?? [])].filter((number) => !taken.has(number) && others.every((set) => set.has(number)));
  return common.length <= units ? common.toSorted()[0] : undefined;
}

/** The row in which a wanted product is shown as the CRM has it. */
function readShown(
  { read, limits, taken }: Pick<Found, "read" | "limits" | "taken">,
  product: PlannedProduct,
  licenseType: LicenseType,
  { number, contents, hidden = 0 }: { number: string | undefined; contents: ShownContents; hidden?: number },
): ShownProduct[] {
  const named = contents.of(product.id, number);
  const shown = named.length > 0 ? named : contents.unnamed(product, number);
  const rows = number === undefined ? shown.filter((row) => !taken.has(row.number)).slice(hidden) : shown;
  const forms = rows.filter((item) => isForm(item, product));
  const row = forms.find((item) => termsShown(item, product, limits).otherwise.length === 0);
  if (row !== undefined) {
    read.seen.push(`the product ${product.id}`);
    return [row];
  }
  const terms = forms.flatMap((item) => termsShown(item, product, limits).otherwise);
  const other = terms.length === 0 ? "" : ` (${[...new Set(terms)].join(", ")})`;
  if (rows.length > 0) read.otherwise.push(`M7 shows the product ${product.id} otherwise than the CRM has it${other}`);
  else if (contents.speaksOf(licenseType, number)) read.otherwise.push(`M7 does not show the product ${product.id}`);
  else read.unseen.push(`the product ${product.id}`);
  return [];
}

/** Which terms of a product M7 tells, as far as the settings say how to read them, and which it shows otherwise. */
function termsShown(
  row: ShownProduct,
  product: PlannedProduct,
  limits: Limits,
): { told: string[]; otherwise: string[] } {
  const told: string[] = [];
  const otherwise: string[] = [];
  const times = [
    { field: "limitStart", shown: limits.shown(row.limitStartTime), wanted: limits.bought(product.limitStart) },
    { field: "limitEnd", shown: limits.shown(row.limitEndTime), wanted: limits.bought(product.limitEnd) },
  ];
  for (const { field, shown, wanted } of times) {
    if ("fault" in shown || "fault" in wanted) continue;
    told.push(field);
    if (shown.wire !== wanted.wire) otherwise.push(field);
  }
  const term = row.timeDurationExpression ?? "";
  if (term !== "") {
    told.push("term");
    if (term !== product.term) otherwise.push("term");
  }
  return { told, otherwise };
}

function readReplaced(found: Found, { asset, unit, from, to, fields }: ReplacedPart, contents: ShownContents): void {
  const products = "product" in to ? [to.product] : productsUnder(to.package);
  const { read, limits } = found;
  const where = { number: unit.number, contents };
  const shown = products.map((product) => ({ product, rows: readShown(found, product, unit.licenseType, where) }));
  const rows = shown.flatMap((one) => one.rows);
  const told = shown.map((one) => new Set(one.rows.flatMap((row) => termsShown(row, one.product, limits).told)));
  const hidden = fields.filter((field) => !observable.has(field) && !told.every((some) => some.has(field)));
  if (rows.length > 0 && hidden.length > 0)
    read.unseen.push(`${hidden.join(", ")} of ${products.map(({ id }) => id).join(", ")}`);
  for (const { product } of from) {
    const old = contents.of(product.id, unit.number).filter((row) => !rows.some((one) => one.id === row.id));
    if (old.length > 0 && rows.length > 0) read.otherwise.push(`M7 still shows the old form of ${product.id}`);
  }
  remove(found, unit, from);
  const isPackage = "package" in to;
  const item: BoughtItem = {
    instanceId: asset.id,
    unit: unit.unit,
    number: unit.number ?? null,
    products: isPackage ? [] : [to.product.id],
    packages: isPackage ? [to.package.id] : [],
  };
  buy(found, item, rows);
}

function readEnded(found: Found, { unit, whole, products }: EndedPart, contents: ShownContents): void {
  const { read } = found;
  for (const { product, channelOrderId } of products) {
    const rows = contents.of(product.id, unit.number).filter((row) => row.channelOrderId === channelOrderId);
    if (rows.length > 0) read.otherwise.push(`M7 still shows the product ${product.id} of ${channelOrderId}`);
    else if (contents.speaksOf(unit.licenseType, unit.number)) read.seen.push(`the product ${product.id} is gone`);
    else read.unseen.push(`that the product ${product.id} is gone`);
  }
  if (whole) found.removed.push(wholeUnit(unit));
  else remove(found, unit, products);
}

function remove({ removed }: Found, unit: StandingUnit, products: StandingUnit["products"]): void {
  for (const { product, channelOrderId, licenseOrderId } of products) {
    removed.push({
      instanceId: unit.instanceId,
      unit: unit.unit,
      number: unit.number ?? null,
      product: product.id,
      channelOrderId,
      licenseOrderId: licenseOrderId ?? null,
    });
  }
}

/** By the channel order number under which it is shown; without one it counts for the order's own. */
function buy({ bought }: Found, item: BoughtItem, rows: readonly ShownProduct[]): void {
  const number = rows.find((row) => typeof row.channelOrderId === "string")?.channelOrderId ?? "";
  const purchase = bought.get(number) ?? { items: [], rows: [] };
  purchase.items.push(item);
  purchase.rows.push(...rows);
  bought.set(number, purchase);
}

function changesOf(
  order: OrderWithTree,
  standing: OrderStanding,
  { price }: OrderDifference,
  { bought, removed, numbers: known }: Found,
): ReadBack["changes"] {
  const { key, version, bodyHash } = order;
  const of = { order: key, customer: standing.customer, operationId: null, origin: "by-hand" } as const;
  const changes: ReadBack["changes"] = [];
  if (removed.length > 0) {
    const whole = removed.filter((item) => item.product === null);
    const inside = standing.units
      .filter((unit) => whole.some((item) => item.instanceId === unit.instanceId && item.unit === unit.unit))
      .reduce((sum, unit) => sum + unit.products.length, 0);
    const products = removed.length - whole.length + inside;
    changes.push({ type: "order-removed", ...of, products, items: removed });
    const numbers = whole.flatMap((item) =>
      item.number === null || isShared(known, { order: key, ...item }) ? [] : [item.number],
    );
    if (numbers.length > 0) changes.push({ type: "numbers-ended", numbers });
  }
  for (const [number, { items, rows }] of bought) {
    const channelOrderId = number === "" ? standing.channelOrderId : number;
    const licenceOrders = licenceOrdersIn(rows);
    const products = Math.max(rows.length, items.length);
    changes.push({ type: "order-bought", ...of, channelOrderId, version, items, licenceOrders, products });
  }
  if (price.length > 0) {
    const items = price.map(({ product, from, to }) => ({ product, from: from ?? null, to: to ?? null }));
    changes.push({ type: "order-priced", order: key, customer: standing.customer, version, items });
  }
  changes.push({ type: "order-agreed", order: key, version, bodyHash });
  return changes;
}

function licenceOrdersIn(rows: readonly ShownProduct[]): LicenceOrder[] {
  const types = new Map(
    rows.flatMap((row) => (row.licenseOrderId ? [[row.licenseOrderId, row.licenseType ?? ""]] : [])),
  );
  return [...types].map(([licenseOrderId, licenseType], index) => {
    return {
      sequence: index + 1,
      licenseType: licenseType ?? "",
      platformCustomerId: "",
      licenseOrderId: licenseOrderId ?? "",
    };
  });
}
