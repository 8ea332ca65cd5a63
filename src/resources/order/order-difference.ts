import type { Money } from "../../crm/model.ts";
import { hasProducts, productsUnder, termsOf } from "./order-standing.ts";
import type { Need } from "../../engine/shape.ts";
import type { OrderStanding, StandingPackage, StandingProduct, StandingUnit } from "./order-standing.ts";
import { changedFields, endedIn, isSame, productTerms } from "./order-terms.ts";
import type { PlannedAsset, PlannedPackage, PlannedProduct } from "./order-records.ts";

/** What the CRM wants of an order for one customer. No assets: nothing, since it was cancelled, is gone, or moved. */
export interface WantedOrder {
  assets: readonly PlannedAsset[];
  amount: Money | undefined;
}

/** What is to be bought under one asset number. */
export interface AddedPart {
  asset: PlannedAsset;
  unit: number;
  /** The unit that stands; undefined where the whole unit is new. */
  standing: StandingUnit | undefined;
  /** The number that the CRM gave to a new unit. */
  given: string | undefined;
  /** Those of the asset's own that do not stand in the unit. */
  products: readonly PlannedProduct[];
  /** Outermost packages that do not stand in it. */
  packages: readonly PlannedPackage[];
}

/** What of one unit nobody wants any more. */
export interface EndedPart {
  unit: StandingUnit;
  /** The unit itself goes with everything that stands in it; else it stays, also where nothing is left in it. */
  whole: boolean;
  products: readonly StandingProduct[];
  /** Packages among whose products these are (A42). */
  packages: readonly StandingPackage[];
  /** What stands in its place: nothing goes before all of that is shown as it was bought. */
  by?: Replacing | undefined;
}

/** What of one unit takes the place of something, each product by its own purchase. None: not all of it stands. */
export interface Replacing {
  unit: StandingUnit;
  products: readonly StandingProduct[];
}

/** A product or package that is wanted with other terms than it stands with. */
export interface ReplacedPart {
  asset: PlannedAsset;
  unit: StandingUnit;
  /** All forms that stand. */
  from: readonly StandingProduct[];
  to: { product: PlannedProduct } | { package: PlannedPackage };
  /** Names of the terms that differ. */
  fields: readonly string[];
}

/** The old form of what stands in the wanted form too. */
export interface SupersededPart extends EndedPart {
  by: Replacing;
}

/** A unit whose asset is wanted with other terms; no call changes an asset. */
export interface AssetPart {
  asset: PlannedAsset;
  unit: StandingUnit;
  /** Of the unit that takes its place. */
  newUnit: number;
  fields: readonly string[];
}

/** A name that differs and nothing else. */
export interface WordingChange {
  instanceId: string;
  field: string;
  from: string;
  to: string;
}

/** An amount that differs; `product: null` is the order's own. */
export interface PriceChange {
  product: string | null;
  from: Money | undefined;
  to: Money | undefined;
}

export interface OrderDifference {
  added: AddedPart[];
  ended: EndedPart[];
  /** Units that nobody wants any more and of which nothing is left: no call takes anything away for them. */
  emptied: StandingUnit[];
  replaced: ReplacedPart[];
  superseded: SupersededPart[];
  assetChanged: AssetPart[];
  wording: WordingChange[];
  price: PriceChange[];
}

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

/**
 * What has to happen so that what stands of an order is what the CRM wants. `held`: asset numbers that somebody holds,
 * which go last where there are too many; `reserved`: units whose place no new one takes.
 */
export function differenceOf(
  standing: OrderStanding,
  wanted: WantedOrder,
  facts: { held: ReadonlySet<string>; reserved?: readonly StandingUnit[] },
): OrderDifference {
  const difference: OrderDifference = {
    added: [],
    ended: [],
    emptied: [],
    replaced: [],
    superseded: [],
    assetChanged: [],
    wording: [],
    price: [],
  };
  const byInstance = new Map<string, StandingUnit[]>();
  for (const unit of standing.units)
    byInstance.set(unit.instanceId, [...(byInstance.get(unit.instanceId) ?? []), unit]);
  for (const asset of wanted.assets) {
    compareUnits(difference, asset, byInstance.get(asset.id) ?? [], facts);
    byInstance.delete(asset.id);
  }
  for (const units of byInstance.values()) for (const unit of units) endUnit(difference, unit);
  // An order of which nothing stands costs what the form says from which it is bought.
  if (wanted.assets.length > 0 && hasProducts(standing) && !isSame(standing.amount, wanted.amount))
    difference.price.push({ product: null, from: standing.amount, to: wanted.amount });
  difference.price = onceEach(difference.price, (item) => item.product);
  difference.wording = onceEach(difference.wording, (item) => `${item.instanceId} ${item.field}`);
  return difference;
}

/** Whether nothing at all differs. */
export function isEmpty(difference: OrderDifference): boolean {
  return Object.values(difference).every((parts: readonly unknown[]) => parts.length === 0);
}

function compareUnits(
  difference: OrderDifference,
  asset: PlannedAsset,
  units: readonly StandingUnit[],
  { held, reserved = [] }: { held: ReadonlySet<string>; reserved?: readonly StandingUnit[] },
): void {
  const given = new Set(asset.assetNumbers);
  const ranked = units.toSorted((one, other) => rankOf(one, given, held) - rankOf(other, given, held));
  const fitting = ranked.filter((unit) => changedTerms(unit, asset).length === 0);
  const others = ranked.filter((unit) => !fitting.includes(unit));
  const standingNumbers = new Set(units.map((unit) => unit.number));
  // A number that the CRM gives and no unit has comes with a unit of its own, and another unit makes room, unless it
  // may be that of a unit whose number is not known.
  const unknown = units.filter((unit) => unit.number === undefined).length;
  const missing = [...given].filter((number) => !standingNumbers.has(number)).slice(unknown);
  const kept = fitting.slice(0, Math.max(0, asset.quantity - missing.length));
  const free = freeUnits([...units, ...reserved.filter((unit) => unit.instanceId === asset.id)]);
  const fresh = (): number => {
    const { value } = free.next();
    return value;
  };
  // So many of the others stay until there is another unit in the place of each.
  const lacks = Math.max(0, asset.quantity - kept.length);
  const changed = others.slice(0, Math.max(0, lacks - missing.length));
  for (const unit of kept) compareContents(difference, asset, unit);
  for (const number of missing.slice(0, asset.quantity)) addUnit(difference, asset, fresh(), number);
  for (const unit of changed)
    difference.assetChanged.push({ asset, unit, newUnit: fresh(), fields: changedTerms(unit, asset) });
  const lacking = asset.quantity - Math.min(missing.length, asset.quantity) - kept.length - changed.length;
  for (let count = 0; count < lacking; count += 1) addUnit(difference, asset, fresh(), undefined);
  for (const [index, unit] of fitting.slice(kept.length).entries()) {
    endUnit(difference, unit, exchangedFor(unit, kept, given)[index]);
  }
  for (const [index, unit] of others.slice(lacks).entries()) {
    const by = kept[index];
    const { products, packages } = unit;
    if (by === undefined || products.length === 0) endUnit(difference, unit);
    else difference.superseded.push({ unit, whole: true, products, packages, by: wholeOf(by) });
  }
}

/** Units that another purchase brought under numbers that the CRM gives, in the place of one that it gives no more. */
function exchangedFor(
  old: StandingUnit,
  kept: readonly StandingUnit[],
  given: ReadonlySet<string>,
): readonly StandingUnit[] {
  if (old.number === undefined || given.has(old.number)) return [];
  const purchases = new Set(old.products.map((item) => item.channelOrderId));
  return kept.filter(
    ({ number, products }) =>
      number !== undefined && given.has(number) && !products.some((item) => purchases.has(item.channelOrderId)),
  );
}

function wholeOf(unit: StandingUnit): Replacing {
  return { unit, products: unit.products };
}

/**
 * Which units stay where there are too many: those whose number the CRM gives, those whose number nobody knows where it
 * gives any, those that are held, the lower ones.
 */
function rankOf({ number, unit }: StandingUnit, given: ReadonlySet<string>, held: ReadonlySet<string>): number {
  const places = [
    number !== undefined && given.has(number),
    number === undefined && given.size > 0,
    number !== undefined && held.has(number),
    true,
  ];
  return places.indexOf(true) * 1_000_000 + unit;
}

/** Indexes that no unit has, the smallest first. */
function* freeUnits(units: readonly StandingUnit[]): Generator<number, never> {
  const taken = new Set(units.map((unit) => unit.unit));
  for (let unit = 0; ; unit += 1) if (!taken.has(unit)) yield unit;
}

function addUnit(difference: OrderDifference, asset: PlannedAsset, unit: number, given: string | undefined): void {
  const { products, packages } = asset;
  difference.added.push({ asset, unit, standing: undefined, given, products, packages });
}

/** A unit in which nothing stands any more has nothing that could be taken away. `by`: what stands in its place. */
function endUnit({ ended, emptied }: OrderDifference, unit: StandingUnit, by?: StandingUnit): void {
  const { products, packages } = unit;
  if (products.length === 0) emptied.push(unit);
  else ended.push({ unit, whole: true, products, packages, ...(by === undefined ? {} : { by: wholeOf(by) }) });
}

function compareContents(difference: OrderDifference, asset: PlannedAsset, unit: StandingUnit): void {
  const products: PlannedProduct[] = [];
  const packages: PlannedPackage[] = [];
  const ended: StandingProduct[] = [];
  const own = groupBy(
    unit.products.filter((item) => item.packageId === undefined),
    (item) => item.product.id,
  );
  for (const product of asset.products) {
    const forms = own.get(product.id);
    own.delete(product.id);
    if (forms === undefined) products.push(product);
    else compareProduct(difference, { asset, unit }, forms, product);
  }
  for (const forms of own.values()) ended.push(...forms);
  const standing = groupBy(unit.packages, ({ item }) => item.id);
  for (const item of asset.packages) {
    const forms = standing.get(item.id);
    standing.delete(item.id);
    if (forms === undefined) packages.push(item);
    else ended.push(...comparePackage(difference, { asset, unit }, forms, item));
  }
  const endedPackages = [...standing.values()].flat();
  ended.push(...endedPackages.flatMap((item) => productsOf(unit, item)));
  if (products.length > 0 || packages.length > 0)
    difference.added.push({ asset, unit: unit.unit, standing: unit, given: undefined, products, packages });
  if (ended.length > 0) difference.ended.push({ unit, whole: false, products: ended, packages: endedPackages });
}

type Within = Pick<ReplacedPart, "asset" | "unit">;

function compareProduct(
  difference: OrderDifference,
  within: Within,
  forms: readonly StandingProduct[],
  product: PlannedProduct,
): void {
  const fits = forms.findLast((form) => changedFields(productTerms(form.product), productTerms(product)).length === 0);
  if (fits === undefined) {
    const latest = forms.at(-1);
    const fields = latest === undefined ? [] : changedFields(productTerms(latest.product), productTerms(product));
    difference.replaced.push({ ...within, from: forms, to: { product }, fields });
    return;
  }
  const { unit } = within;
  const old = forms.filter((form) => form !== fits);
  if (old.length > 0) {
    const by = { unit, products: [fits] };
    difference.superseded.push({ unit, whole: false, products: old, packages: [], by });
  }
  compareWords(difference, fits.product, product);
}

/** Compares a package as it stands. Gives what of it nobody wants any more, where nothing else of it differs. */
function comparePackage(
  difference: OrderDifference,
  within: Within,
  forms: readonly StandingPackage[],
  item: PlannedPackage,
): StandingProduct[] {
  const { unit } = within;
  const found = forms.flatMap((form) => {
    const products = productsOf(unit, form);
    const stands = new Set(products.map(({ product }) => product.id));
    const ended = endedIn(form.item, item, stands);
    return ended === undefined ? [] : [{ form, products, ended: new Set(ended) }];
  });
  const fits = found.findLast(({ ended }) => ended.size === 0) ?? found.at(-1);
  if (fits === undefined) {
    const from = forms.flatMap((form) => productsOf(unit, form));
    difference.replaced.push({ ...within, from, to: { package: item }, fields: ["packages"] });
    return [];
  }
  const [ended = [], stays = []] = [true, false].map((goes) =>
    fits.products.filter(({ product }) => fits.ended.has(product.id) === goes),
  );
  const old = forms.filter((form) => form !== fits.form);
  if (old.length > 0) {
    const by = { unit, products: stays };
    const products = old.flatMap((form) => productsOf(unit, form));
    difference.superseded.push({ unit, whole: false, products, packages: old, by });
  }
  comparePackageWords(difference, fits.form.item, item);
  const before = new Map(stays.map(({ product }) => [product.id, product]));
  for (const product of productsUnder(item)) {
    const earlier = before.get(product.id);
    if (earlier !== undefined) compareWords(difference, earlier, product);
  }
  return ended;
}

/** The products that stand by one form of a package. */
function productsOf(unit: StandingUnit, { item, channelOrderId }: StandingPackage): StandingProduct[] {
  return unit.products.filter((one) => one.packageId === item.id && one.channelOrderId === channelOrderId);
}

function compareWords(difference: OrderDifference, before: PlannedProduct, after: PlannedProduct): void {
  const word = (field: string, from: string, to: string): void => {
    if (from !== to) difference.wording.push({ instanceId: after.id, field, from, to });
  };
  word("name", before.name, after.name);
  const names = new Map(before.features.map((feature) => [feature.code, feature.name]));
  for (const { code, name } of after.features) word(`features.${code}.name`, names.get(code) ?? name, name);
  if (!isSame(before.amount, after.amount))
    difference.price.push({ product: after.id, from: before.amount, to: after.amount });
}

function comparePackageWords(difference: OrderDifference, before: PlannedPackage, after: PlannedPackage): void {
  if (before.name !== after.name)
    difference.wording.push({ instanceId: after.id, field: "name", from: before.name, to: after.name });
  const children = new Map(before.children.map((child) => [child.id, child]));
  for (const child of after.children) {
    const earlier = children.get(child.id);
    if (earlier !== undefined) comparePackageWords(difference, earlier, child);
  }
}

function changedTerms(unit: StandingUnit, asset: PlannedAsset): string[] {
  return changedFields(termsOf(unit.asset), termsOf(asset));
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  return Map.groupBy(items, keyOf);
}

function onceEach<Item>(items: readonly Item[], keyOf: (item: Item) => string | null): Item[] {
  const seen = new Map<string | null, Item>();
  for (const item of items) if (!seen.has(keyOf(item))) seen.set(keyOf(item), item);
  return [...seen.values()];
}
