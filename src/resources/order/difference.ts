import type { Money } from "../../crm/model.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import { inOrderToStay, nameOf, purchasesIn } from "./units-that-stay.ts";
import {
  hasProducts,
  isWanted,
  productsUnder,
  type OrderStanding,
  type StandingPackage,
  type StandingProduct,
  type StandingUnit,
} from "./model.ts";
import { grouped } from "../../base/lists.ts";
import { changedAssetTerms, changedTerms, endedIn, isSame } from "./terms.ts";
import type { PlannedAsset, PlannedPackage, PlannedProduct } from "./payload.ts";

/** The wanted state for one customer. No assets: the order was cancelled, deleted or moved. */
export interface WantedOrder {
  assets: readonly PlannedAsset[];
  amount: Money | undefined;
}

export interface AddedPart {
  asset: PlannedAsset;
  unit: number;
  /** Undefined: the whole unit is new. */
  standing: StandingUnit | undefined;
  given: string | undefined;
  products: readonly PlannedProduct[];
  packages: readonly PlannedPackage[];
}

export interface EndedPart {
  unit: StandingUnit;
  /** The whole unit ends. Otherwise the unit stays, even if it becomes empty. */
  whole: boolean;
  products: readonly StandingProduct[];
  /** The packages that contain these products (A42). */
  packages: readonly StandingPackage[];
  /** The replacement. Nothing is removed before M7 shows all of it as bought. */
  by?: Replacing | undefined;
}

/** The replacement in one unit. No products: it is not complete yet. */
export interface Replacing {
  unit: StandingUnit;
  products: readonly StandingProduct[];
}

export interface ReplacedPart {
  asset: PlannedAsset;
  unit: StandingUnit;
  from: readonly StandingProduct[];
  to: { product: PlannedProduct } | { package: PlannedPackage };
  fields: readonly string[];
}

export interface SupersededPart extends EndedPart {
  by: Replacing;
}

/** A unit whose asset has other terms in the CRM. No call can change an asset. */
export interface AssetPart {
  asset: PlannedAsset;
  unit: StandingUnit;
  newUnit: number;
  fields: readonly string[];
}

export interface WordingChange {
  instanceId: string;
  field: string;
  from: string;
  to: string;
}

/** `product: null`: the amount of the whole order. */
export interface PriceChange {
  product: string | null;
  from: Money | undefined;
  to: Money | undefined;
}

export interface OrderDifference {
  added: AddedPart[];
  ended: EndedPart[];
  /** Unwanted units without contents. Their removal needs no call. */
  emptied: StandingUnit[];
  replaced: ReplacedPart[];
  superseded: SupersededPart[];
  assetChanged: AssetPart[];
  wording: WordingChange[];
  price: PriceChange[];
}

export function wantedOf(order: OrderWithTree): WantedOrder {
  return isWanted(order) ? { assets: order.tree.assets, amount: order.body.amount } : { assets: [], amount: undefined };
}

/**
 * `held`, `named`: numbers that somebody has, or that the CRM names for somebody. `reserved`: units with taken indexes.
 */
export function differenceOf(
  standing: OrderStanding,
  wanted: WantedOrder,
  of: Omit<Facts, "purchases">,
): OrderDifference {
  const facts = { ...of, purchases: purchasesIn(standing) };
  const byInstance = Map.groupBy(standing.units, ({ instanceId }) => instanceId);
  const ids = new Set(wanted.assets.map(({ id }) => id));
  const unwanted = [...byInstance].flatMap(([id, units]) => (ids.has(id) ? [] : units));
  // If nothing of the order exists, its next purchase sets the amount.
  const costsOther = ids.size > 0 && hasProducts(standing) && !isSame(standing.amount, wanted.amount);
  const difference = joined([
    ...wanted.assets.flatMap((asset) => compareAsset(asset, byInstance.get(asset.id) ?? [], facts)),
    ...unwanted.map((unit) => endUnit(unit)),
    { price: costsOther ? [{ product: null, from: standing.amount, to: wanted.amount }] : [] },
  ]);
  return {
    ...difference,
    price: onceEach(difference.price, (item) => item.product),
    wording: onceEach(difference.wording, (item) => `${item.instanceId} ${item.field}`),
  };
}

export function isEmpty(difference: OrderDifference): boolean {
  return Object.values(difference).every((parts: readonly unknown[]) => parts.length === 0);
}

interface Facts {
  held: ReadonlySet<string>;
  named?: ReadonlySet<string>;
  reserved?: readonly StandingUnit[];
  purchases?: ReturnType<typeof purchasesIn>;
}
type Difference = Partial<OrderDifference>;

function joined(parts: readonly Difference[]): OrderDifference {
  return {
    added: parts.flatMap(({ added = [] }) => added),
    ended: parts.flatMap(({ ended = [] }) => ended),
    emptied: parts.flatMap(({ emptied = [] }) => emptied),
    replaced: parts.flatMap(({ replaced = [] }) => replaced),
    superseded: parts.flatMap(({ superseded = [] }) => superseded),
    assetChanged: parts.flatMap(({ assetChanged = [] }) => assetChanged),
    wording: parts.flatMap(({ wording = [] }) => wording),
    price: parts.flatMap(({ price = [] }) => price),
  };
}

function compareAsset(asset: PlannedAsset, units: readonly StandingUnit[], facts: Facts): Difference[] {
  const given = new Set(asset.assetNumbers);
  const { kept, changed, surplus, outdated, numbers } = placesOf(asset, units, facts);
  const reserved = (facts.reserved ?? []).filter((unit) => unit.instanceId === asset.id);
  const free = freeUnits([...units, ...reserved]);
  const lacking = Math.max(0, asset.quantity - numbers.length - kept.length - changed.length);
  // Free indexes go to the numbers from the CRM first, then to replacements, then to the rest.
  const numbered = numbers.map((number) => newUnit(asset, free.next().value, number));
  const inPlaceOf = changed.map((unit) => {
    return { asset, unit, newUnit: free.next().value, fields: changedAssetTerms(unit.asset, asset) };
  });
  const others = Array.from({ length: lacking }, () => newUnit(asset, free.next().value, undefined));
  return [
    ...kept.flatMap((unit) => compareContents({ asset, unit })),
    { added: [...numbered, ...others], assetChanged: inPlaceOf },
    ...surplus.map((unit, index) => endUnit(unit, exchangedFor(unit, kept, given)[index])),
    ...outdated.map((unit, index) => supersedeUnit(unit, kept[index])),
  ];
}

interface Places {
  kept: StandingUnit[];
  /** Units with other asset terms. Each stays until its replacement exists. */
  changed: StandingUnit[];
  surplus: StandingUnit[];
  /** Units with other asset terms whose replacement exists. */
  outdated: StandingUnit[];
  /** Numbers from the CRM that no unit has. Each replaces a unit, unless a unit of unknown number may have it. */
  numbers: string[];
}

function placesOf(asset: PlannedAsset, units: readonly StandingUnit[], facts: Facts): Places {
  const { held, named = new Set(), purchases } = facts;
  const given = new Set(asset.assetNumbers);
  const ranked = inOrderToStay(units, {
    given,
    held,
    named,
    contentsOf: (unit) => (units.length > asset.quantity ? contentsOf(asset, unit) : nothingKnown),
    purchasesOf: (unit) => purchases?.get(nameOf(unit)) ?? new Set(),
  });
  const fitting = ranked.filter((unit) => changedAssetTerms(unit.asset, asset).length === 0);
  const others = ranked.filter((unit) => !fitting.includes(unit));
  const standing = new Set(units.map((unit) => unit.number));
  const unknown = units.filter((unit) => unit.number === undefined).length;
  const missing = [...given].filter((number) => !standing.has(number)).slice(unknown);
  const kept = fitting.slice(0, Math.max(0, asset.quantity - missing.length));
  const places = Math.max(0, asset.quantity - kept.length);
  return {
    kept,
    changed: others.slice(0, Math.max(0, places - missing.length)),
    surplus: fitting.slice(kept.length),
    outdated: others.slice(places),
    numbers: missing.slice(0, asset.quantity),
  };
}

const nothingKnown = { wanted: [], lacking: 0 };
/** The wanted products of a unit and the number of missing parts. Nothing is ever bought in a unit with other terms. */
function contentsOf(asset: PlannedAsset, unit: StandingUnit): { wanted: readonly StandingProduct[]; lacking: number } {
  if (changedAssetTerms(unit.asset, asset).length > 0) return nothingKnown;
  const { added, ended, superseded, replaced } = joined(compareContents({ asset, unit }));
  const unwanted = [
    ...[...ended, ...superseded].flatMap((part) => part.products),
    ...replaced.flatMap(({ from }) => from),
  ];
  const lacking = added.reduce((sum, part) => sum + part.products.length + part.packages.length, replaced.length);
  return { wanted: unit.products.filter((product) => !unwanted.includes(product)), lacking };
}

function* freeUnits(units: readonly StandingUnit[]): Generator<number, never> {
  const taken = new Set(units.map((unit) => unit.unit));
  for (let unit = 0; ; unit += 1) if (!taken.has(unit)) yield unit;
}

function newUnit(asset: PlannedAsset, unit: number, given: string | undefined): AddedPart {
  const { products, packages } = asset;
  return { asset, unit, standing: undefined, given, products, packages };
}

/** Units of another purchase with numbers from the CRM that replace a unit whose number the CRM dropped. */
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

function endUnit(unit: StandingUnit, by?: StandingUnit): Difference {
  const { products, packages } = unit;
  if (products.length === 0) return { emptied: [unit] };
  return { ended: [{ unit, whole: true, products, packages, ...(by === undefined ? {} : { by: wholeOf(by) }) }] };
}

function supersedeUnit(unit: StandingUnit, by: StandingUnit | undefined): Difference {
  const { products, packages } = unit;
  if (by === undefined || products.length === 0) return endUnit(unit);
  return { superseded: [{ unit, whole: true, products, packages, by: wholeOf(by) }] };
}

function wholeOf(unit: StandingUnit): Replacing {
  return { unit, products: unit.products };
}

type Within = Pick<ReplacedPart, "asset" | "unit">;

function compareContents({ asset, unit }: Within): Difference[] {
  const own = Map.groupBy(
    unit.products.filter((item) => item.packageId === undefined),
    (item) => item.product.id,
  );
  const inside = Map.groupBy(unit.packages, ({ item }) => item.id);
  const products = asset.products.filter(({ id }) => !own.has(id));
  const packages = asset.packages.filter(({ id }) => !inside.has(id));
  const compared = asset.products.flatMap((product) => {
    const forms = own.get(product.id);
    return forms === undefined ? [] : compareProduct({ asset, unit }, forms, product);
  });
  const comparedPackages = asset.packages.flatMap((item) => {
    const forms = inside.get(item.id);
    return forms === undefined ? [] : comparePackage({ asset, unit }, forms, item);
  });
  const endedPackages = withoutIds(inside, asset.packages);
  const ended = [
    ...withoutIds(own, asset.products),
    ...comparedPackages.flatMap((one) => one.gone),
    ...endedPackages.flatMap((item) => productsOf(unit, item)),
  ];
  const isMore = products.length > 0 || packages.length > 0;
  return [
    ...compared,
    ...comparedPackages.map((one) => one.difference),
    { added: isMore ? [{ asset, unit: unit.unit, standing: unit, given: undefined, products, packages }] : [] },
    { ended: ended.length > 0 ? [{ unit, whole: false, products: ended, packages: endedPackages }] : [] },
  ];
}

function withoutIds<Form>(forms: ReadonlyMap<string, Form[]>, wanted: readonly { id: string }[]): Form[] {
  const ids = new Set(wanted.map(({ id }) => id));
  return [...forms].flatMap(([id, own]) => (ids.has(id) ? [] : own));
}

function compareProduct(within: Within, forms: readonly StandingProduct[], product: PlannedProduct): Difference {
  const { unit } = within;
  const fits = forms.findLast((form) => changedTerms(form.product, product).length === 0);
  if (fits === undefined) {
    const fields = forms.slice(-1).flatMap((latest) => changedTerms(latest.product, product));
    return { replaced: [{ ...within, from: forms, to: { product }, fields }] };
  }
  const old = forms.filter((form) => form !== fits);
  const by = { unit, products: [fits] };
  return {
    superseded: old.length > 0 ? [{ unit, whole: false, products: old, packages: [], by }] : [],
    ...compareWords(fits.product, product),
  };
}

/** `gone`: the unwanted products of the package, if the package differs in nothing else. */
function comparePackage(
  within: Within,
  forms: readonly StandingPackage[],
  item: PlannedPackage,
): { gone: StandingProduct[]; difference: Difference } {
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
    return { gone: [], difference: { replaced: [{ ...within, from, to: { package: item }, fields: ["packages"] }] } };
  }
  const gone = fits.products.filter(({ product }) => fits.ended.has(product.id));
  const stays = fits.products.filter(({ product }) => !fits.ended.has(product.id));
  const packages = forms.filter((form) => form !== fits.form);
  const products = packages.flatMap((form) => productsOf(unit, form));
  const by = { unit, products: stays };
  const before = new Map(stays.map(({ product }) => [product.id, product]));
  const words = productsUnder(item).flatMap((product) => {
    const earlier = before.get(product.id);
    return earlier === undefined ? [] : compareWords(earlier, product);
  });
  const difference = {
    superseded: packages.length > 0 ? [{ unit, whole: false, products, packages, by }] : [],
    wording: [...packageWords(fits.form.item, item), ...words.flatMap((one) => one.wording ?? [])],
    price: words.flatMap((one) => one.price ?? []),
  };
  return { gone, difference };
}

function productsOf(unit: StandingUnit, { item, channelOrderId }: StandingPackage): StandingProduct[] {
  return unit.products.filter((one) => one.packageId === item.id && one.channelOrderId === channelOrderId);
}

function compareWords(before: StandingProduct["product"], after: PlannedProduct): Difference {
  const names = new Map(before.features.map((feature) => [feature.code, feature.name]));
  const words = [
    { field: "name", from: before.name, to: after.name },
    ...after.features.map(({ code, name }) => {
      return { field: `features.${code}.name`, from: names.get(code) ?? name, to: name };
    }),
  ];
  return {
    wording: words.flatMap((word) => (word.from === word.to ? [] : { instanceId: after.id, ...word })),
    price: isSame(before.amount, after.amount) ? [] : [{ product: after.id, from: before.amount, to: after.amount }],
  };
}

function packageWords(before: StandingPackage["item"], after: StandingPackage["item"]): WordingChange[] {
  const children = new Map(before.children.map((child) => [child.id, child]));
  const own = { instanceId: after.id, field: "name", from: before.name, to: after.name };
  return [
    ...(own.from === own.to ? [] : [own]),
    ...after.children.flatMap((child) => {
      const earlier = children.get(child.id);
      return earlier === undefined ? [] : packageWords(earlier, child);
    }),
  ];
}

function onceEach<Item>(items: readonly Item[], keyOf: (item: Item) => string | null): Item[] {
  return grouped(items, keyOf).map(([first]) => first);
}
