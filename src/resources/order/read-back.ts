import type { ProductInstance } from "../../contract/asset-contents.ts";
import type { LicenseType } from "../../crm/model.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import { orderOf, productsUnder, unitsNamed, type OrderStanding } from "./model.ts";
import type { FixedNumber } from "../../engine/model/references.ts";
import type { BoughtItem, RemovedItem } from "./shapes.ts";
import type { LicenceOrder } from "./state/changes.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import {
  differenceOf,
  wantedOf,
  type AddedPart,
  type EndedPart,
  type OrderDifference,
  type ReplacedPart,
} from "./difference.ts";
import type { PlannedProduct } from "./payload.ts";
import { isForm, isRowOf, observedTerms, type Limits } from "./terms.ts";
import { removedFrom, removedWithoutCall, wholeUnit } from "./removal-parts.ts";
import type { ReadBack } from "../../engine/plan/blocks.ts";

/** Fields in which M7 always distinguishes two forms. */
const observable = new Set(["nodes", "gmsPid", "appKey"]);

interface Reading {
  standing: OrderStanding;
  contents: ShownContents;
  limits: Limits;
  numbers: readonly FixedNumber[];
  /** Numbers of existing units. Other units cannot have them. */
  taken: ReadonlySet<string | undefined>;
}

interface Found extends Pick<ReadBack, "seen" | "unseen" | "otherwise"> {
  bought: { item: BoughtItem; rows: readonly ShownProduct[] }[];
  removed: RemovedItem[];
}

/** Reads back an order that a person amended on the platform. Where M7 is silent, that person's statement counts. */
export function readBackOrder(
  order: OrderWithTree,
  standing: OrderStanding,
  contents: ShownContents,
  { held, limits, numbers }: { held: ReadonlySet<string>; limits: Limits; numbers: readonly FixedNumber[] },
): ReadBack {
  const difference = differenceOf(standing, wantedOf(order), { held });
  const first = { standing, contents, limits, numbers, taken: new Set(standing.units.map((unit) => unit.number)) };
  const { found: added, taken } = readEachAdded(first, difference.added);
  const reading = { ...first, taken };
  const { seen, unseen, otherwise, ...done } = joined([
    ...added,
    ...difference.replaced.map((part) => readReplaced(reading, part)),
    ...[...difference.ended, ...difference.superseded].map((part) => readEnded(contents, part)),
    { removed: difference.emptied.map(wholeUnit) },
    ...difference.assetChanged.map(({ asset }) => ({
      otherwise: [`the asset ${asset.id} is wanted otherwise, and no reading shows how an asset is`],
    })),
  ]);
  return { changes: changesOf(order, reading, difference.price, done), seen, unseen, otherwise };
}

function joined(found: readonly Partial<Found>[]): Found {
  return {
    seen: found.flatMap(({ seen = [] }) => seen),
    unseen: found.flatMap(({ unseen = [] }) => unseen),
    otherwise: found.flatMap(({ otherwise = [] }) => otherwise),
    bought: found.flatMap(({ bought = [] }) => bought),
    removed: found.flatMap(({ removed = [] }) => removed),
  };
}

/** In sequence, because a shown unit must not be matched twice. */
function readEachAdded(
  reading: Reading,
  parts: readonly AddedPart[],
): { found: Partial<Found>[]; taken: Reading["taken"] } {
  const found: Partial<Found>[] = [];
  let { taken } = reading;
  for (const [index, part] of parts.entries()) {
    const units = parts.slice(index).filter(({ asset }) => asset.id === part.asset.id).length;
    const { rows, ...one } = readAdded({ ...reading, taken }, part, units);
    taken = taken.union(new Set(rows.map((row) => row.number)));
    found.push(one);
  }
  return { found, taken };
}

/** `units`: units of the asset still to be found, with this one. */
function readAdded(
  reading: Reading,
  part: AddedPart,
  units: number,
): Partial<Found> & { rows: readonly ShownProduct[] } {
  const { asset, unit, products, packages } = part;
  const all = [...products, ...packages.flatMap(productsUnder)];
  // As many rows without a known unit may belong to units of unknown number.
  const hidden = reading.standing.units.filter((one) => one.instanceId === asset.id && one.number === undefined).length;
  const known = part.standing?.number ?? part.given;
  const number = known ?? (hidden > 0 ? undefined : numberOf(all, reading, units));
  const shown = all.map((product) => readShown(reading, product, asset.licenseType, { number, hidden }));
  const rows = shown.flatMap((one) => one.rows);
  const item: BoughtItem = {
    instanceId: asset.id,
    unit,
    number: number ?? null,
    products: products.map(({ id }) => id),
    packages: packages.map(({ id }) => id),
    ...earlierOf(reading, asset, number),
  };
  return { ...joined(shown), bought: [{ item, rows }], rows };
}

function earlierOf(
  { numbers, standing: { order, units } }: Reading,
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

/** A number that shows all products and belongs to no unit, if there are not too many of them. */
function numberOf(
  products: readonly PlannedProduct[],
  { taken, contents }: Reading,
  units: number,
): string | undefined {
  const numbers = products.map(({ id }) => new Set(contents.of(id, undefined).map((row) => row.number)));
  const [first, ...others] = numbers;
  const common = [...(first ?? [])].filter((number) => !taken.has(number) && others.every((set) => set.has(number)));
  return common.length <= units ? common.toSorted()[0] : undefined;
}

function readShown(
  { contents, limits, taken }: Reading,
  product: PlannedProduct,
  licenseType: LicenseType,
  { number, hidden = 0 }: { number: string | undefined; hidden?: number },
): Partial<Found> & { rows: ShownProduct[] } {
  const named = contents.of(product.id, number);
  const shown = named.length > 0 ? named : contents.unnamed(product, number);
  const rows = number === undefined ? shown.filter((row) => !taken.has(row.number)).slice(hidden) : shown;
  const forms = rows.filter((item) => isForm(item, product));
  const row = forms.find((item) => datesShown(item, product, limits).otherwise.length === 0);
  if (row !== undefined) return { rows: [row], seen: [`the product ${product.id}`] };
  const terms = forms.flatMap((item) => datesShown(item, product, limits).otherwise);
  const other = terms.length === 0 ? "" : ` (${[...new Set(terms)].join(", ")})`;
  if (rows.length > 0)
    return { rows: [], otherwise: [`M7 shows the product ${product.id}, but it differs from the CRM${other}`] };
  if (contents.speaksOf(licenseType, number))
    return { rows: [], otherwise: [`M7 does not show the product ${product.id}`] };
  return { rows: [], unseen: [`the product ${product.id}`] };
}

function datesShown(
  row: ShownProduct,
  product: PlannedProduct,
  limits: Limits,
): { told: string[]; otherwise: string[] } {
  const terms = observedTerms(row, product, limits);
  const dates = ["limitStart", "limitEnd", "term"] as const;
  const otherwise = dates.filter((name) => terms[name] === "other");
  return { told: dates.filter((name) => terms[name] === "same" || terms[name] === "other"), otherwise };
}

function readReplaced(reading: Reading, { asset, unit, from, to, fields }: ReplacedPart): Partial<Found> {
  const { contents, limits } = reading;
  const products = "product" in to ? [to.product] : productsUnder(to.package);
  const { number, licenseType } = unit;
  const shown = products.map((product) => ({ product, ...readShown(reading, product, licenseType, { number }) }));
  const rows = shown.flatMap((one) => one.rows);
  const told = shown.map((one) => new Set(one.rows.flatMap((row) => datesShown(row, one.product, limits).told)));
  const hidden = fields.filter((field) => !observable.has(field) && !told.every((some) => some.has(field)));
  const isHidden = rows.length > 0 && hidden.length > 0;
  const old = from.filter(
    ({ product }) =>
      rows.length > 0 && contents.of(product.id, number).some((row) => !rows.some((one) => one.id === row.id)),
  );
  const item: BoughtItem = {
    instanceId: asset.id,
    unit: unit.unit,
    number: number ?? null,
    products: "product" in to ? [to.product.id] : [],
    packages: "package" in to ? [to.package.id] : [],
  };
  return joined([
    ...shown,
    {
      unseen: isHidden ? [`${hidden.join(", ")} of ${products.map(({ id }) => id).join(", ")}`] : [],
      otherwise: old.map(({ product }) => `M7 still shows the old form of ${product.id}`),
      removed: from.map((standing) => removedFrom(unit, standing)),
      bought: [{ item, rows }],
    },
  ]);
}

function readEnded(contents: ShownContents, { unit, whole, products }: EndedPart): Partial<Found> {
  const { number, licenseType } = unit;
  const found = products.map((standing): Partial<Found> => {
    const { product, channelOrderId } = standing;
    if (contents.of(product.id, number).some((row) => isRowOf(row, standing)))
      return { otherwise: [`M7 still shows the product ${product.id} of ${channelOrderId}`] };
    if (contents.speaksOf(licenseType, number)) return { seen: [`the product ${product.id} is gone`] };
    return { unseen: [`that the product ${product.id} is gone`] };
  });
  return joined([
    ...found,
    { removed: whole ? [wholeUnit(unit)] : products.map((standing) => removedFrom(unit, standing)) },
  ]);
}

function changesOf(
  { key, version, bodyHash }: OrderWithTree,
  { standing, numbers }: Reading,
  price: OrderDifference["price"],
  { bought, removed }: Pick<Found, "bought" | "removed">,
): ReadBack["changes"] {
  const { customer } = standing;
  const origin = "by-hand";
  const whole = removed.filter((item) => item.product === null);
  const inside = standing.units
    .filter((unit) => whole.some((item) => item.instanceId === unit.instanceId && item.unit === unit.unit))
    .reduce((sum, unit) => sum + unit.products.length, 0);
  const gone = { items: removed, products: removed.length - whole.length + inside, origin } as const;
  // Grouped by the shown channel order number; without one, the order's own number.
  const purchases = Map.groupBy(
    bought,
    ({ rows }) => rows.find((row) => typeof row.channelOrderId === "string")?.channelOrderId ?? "",
  );
  const prices = price.map(({ product, from, to }) => ({ product, from: from ?? null, to: to ?? null }));
  return [
    ...(removed.length > 0 ? removedWithoutCall({ order: key, customer }, gone, numbers) : []),
    ...[...purchases].map(([number, parts]) => {
      const channelOrderId = number === "" ? standing.channelOrderId : number;
      const items = parts.map(({ item }) => item);
      const rows = parts.flatMap((part) => part.rows);
      const products = Math.max(rows.length, items.length);
      const of = { order: key, customer, operationId: null, origin } as const;
      const licenceOrders = licenceOrdersIn(rows);
      return { type: "order-bought" as const, ...of, channelOrderId, version, items, licenceOrders, products };
    }),
    ...(prices.length > 0 ? [{ type: "order-priced" as const, order: key, customer, version, items: prices }] : []),
    { type: "order-agreed", order: key, version, bodyHash },
  ];
}

function licenceOrdersIn(rows: readonly ShownProduct[]): LicenceOrder[] {
  const types = new Map(rows.map((row) => [row.licenseOrderId ?? "", row.licenseType ?? ""]));
  types.delete("");
  return [...types].map(([licenseOrderId, licenseType], index) => {
    return { sequence: index + 1, licenseType, platformCustomerId: "", licenseOrderId };
  });
}

export interface ShownProduct extends ProductInstance {
  number: string;
}

export class ShownContents {
  readonly #products: readonly ShownProduct[];
  readonly #bare: ReadonlySet<string>;
  readonly #listed: ReadonlySet<string>;
  readonly #hiddenTypes: ReadonlySet<string>;

  /** `hiddenTypes`: licence types that the platform is not known to show (A43). */
  constructor(readings: readonly AssetReading[], hiddenTypes: ReadonlySet<string>) {
    this.#products = readings.flatMap(({ asset, products }) =>
      products.map((product) => ({ ...product, number: asset.assetNum })),
    );
    this.#listed = new Set(readings.map(({ asset }) => asset.assetNum));
    this.#bare = new Set(readings.filter(({ bare }) => bare).map(({ asset }) => asset.assetNum));
    this.#hiddenTypes = hiddenTypes;
  }

  of(crmProductId: string, number: string | undefined): ShownProduct[] {
    return this.#products.filter(
      (row) => row.crmProductId === crmProductId && (number === undefined || row.number === number),
    );
  }

  /** The only row of this form without a CRM product id; empty if there are several. */
  unnamed(product: PlannedProduct, number: string | undefined): ShownProduct[] {
    const rows = this.#products.filter(
      (row) =>
        (row.crmProductId ?? "") === "" && (number === undefined || row.number === number) && isForm(row, product),
    );
    return rows.length === 1 ? rows : [];
  }

  /** Whether absence from M7 proves that it does not exist. */
  speaksOf(licenseType: string, number: string | undefined): boolean {
    if (this.#hiddenTypes.has(licenseType)) return false;
    if (number === undefined) return this.#bare.size === 0;
    return this.#listed.has(number) && !this.#bare.has(number);
  }
}
