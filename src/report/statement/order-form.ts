import type { Asset, InstanceWith, Money, Package, DateZones } from "../../crm/model.ts";
import { buildAssets } from "../../crm/tree.ts";
import { crmDate, type CrmDate } from "../crm-date.ts";

/** A product in one form of an order, with its asset. Licence passwords are left out. */
export interface FormProduct {
  id: string;
  name: string;
  number: string | null;
  gmsPid: string | undefined;
  appKey: string | undefined;
  assetId: string;
  licenseType: string;
  quantity: number;
  nodes: number;
  term: string;
  limitStart: CrmDate | null;
  limitEnd: CrmDate | null;
  trialEnd: CrmDate | null;
  amount: Money | undefined;
}

interface FormAsset {
  id: string;
  licenseType: string;
  quantity: number;
  assetNumbers: readonly string[];
  limitStart: CrmDate | null;
  limitEnd: CrmDate | null;
}

interface FormPackage {
  id: string;
  number: string;
  name: string;
  assetId: string;
  licenseType: string;
  term: string;
}

export interface OrderForm {
  placedAt: CrmDate | null;
  cancelled: boolean;
  amount: Money | undefined;
  assets: ReadonlyMap<string, FormAsset>;
  packages: ReadonlyMap<string, FormPackage>;
  products: ReadonlyMap<string, FormProduct>;
}

interface KeptOrder {
  placedAt?: string | undefined;
  cancelled: boolean;
  amount?: Money | undefined;
  instances: readonly InstanceWith<unknown>[];
}

export function orderForm(order: KeptOrder, zones?: DateZones): OrderForm {
  const { assets } = buildAssets<unknown>(order.instances);
  const packages = new Map<string, FormPackage>();
  const products = new Map<string, FormProduct>();
  for (const asset of assets) {
    takeProducts({ products, zones }, asset, asset.products);
    takePackages({ packages, products, zones }, asset, asset.packages);
  }
  return {
    placedAt: crmDate(order.placedAt, zones, "placedAt"),
    cancelled: order.cancelled,
    amount: order.amount,
    assets: new Map(
      assets.map(({ id, licenseType, quantity, assetNumbers, ...asset }) => [
        id,
        {
          id,
          licenseType,
          quantity,
          assetNumbers,
          limitStart: crmDate(asset.limitStart, zones, "asset.limitStart"),
          limitEnd: crmDate(asset.limitEnd, zones, "asset.limitEnd"),
        },
      ]),
    ),
    packages,
    products,
  };
}

interface Taken {
  products: Map<string, FormProduct>;
  zones: DateZones | undefined;
}

function takePackages(
  form: Taken & { packages: Map<string, FormPackage> },
  asset: Asset<unknown>,
  packages: readonly Package<unknown>[],
): void {
  for (const { id, number, name, term, products, children } of packages) {
    const { id: assetId, licenseType } = asset;
    form.packages.set(id, { id, number, name, term, assetId, licenseType });
    takeProducts(form, asset, products);
    takePackages(form, asset, children);
  }
}

function takeProducts(
  { products: into, zones }: Taken,
  { id: assetId, licenseType, quantity }: Asset<unknown>,
  products: Package<unknown>["products"],
): void {
  for (const product of products) {
    const { id, name, gmsPid, appKey, nodes, term } = product;
    const of = { assetId, licenseType, quantity, number: gmsPid ?? appKey ?? null, gmsPid, appKey };
    const dates = {
      limitStart: crmDate(product.limitStart, zones, "product.limitStart"),
      limitEnd: crmDate(product.limitEnd, zones, "product.limitEnd"),
      trialEnd: crmDate(product.trialEnd, zones, "product.trialEnd"),
    };
    into.set(id, { ...of, id, name, nodes, term, ...dates, amount: product.amount });
  }
}

/** Searches by product number or application key. */
export function hasProduct(form: OrderForm | null | undefined, wanted: string): boolean {
  return [...(form?.products.values() ?? [])].some((product) => isProduct(product, wanted));
}

export function isProduct(product: { [Name in "gmsPid" | "appKey"]?: string | undefined }, wanted: string): boolean {
  return product.gmsPid === wanted || product.appKey === wanted;
}

/**
 * The share of `units` equal units, from unit `first` on, in the amount of `of` units. Shares are whole minor units and
 * add up to the amount.
 */
export function shareOf({ currency, minor }: Money, of: number, first: number, units = 1): Money {
  const upTo = (count: number): number => Number((BigInt(minor) * BigInt(Math.min(count, of))) / BigInt(of));
  return { currency, minor: of < 1 ? 0 : upTo(first + units) - upTo(first) };
}

export const changedFields = [
  "amount",
  "quantity",
  "nodes",
  "term",
  "term_start",
  "term_end",
  "trial_end",
  "product",
  "product_number",
  "package",
  "cancelled",
  "crm_date",
] as const;
type ChangedField = (typeof changedFields)[number];

interface ChangedValue {
  text: string | null;
  date?: CrmDate | null | undefined;
  amount?: Money | undefined;
  count?: number | undefined;
}

export interface OrderChange {
  level: "order" | "asset" | "package" | "product";
  item: string | null;
  asset: string | null;
  name: string | null;
  number: string | null;
  licenseType: string | null;
  field: ChangedField;
  before: ChangedValue;
  after: ChangedValue;
}

type About = Omit<OrderChange, "field" | "before" | "after">;

const unnamed = { name: null, number: null };
const theOrder: About = { ...unnamed, level: "order", item: null, asset: null, licenseType: null };

export function orderChanges(before: OrderForm, after: OrderForm): OrderChange[] {
  return [
    ...amountChange(theOrder, before.amount, after.amount),
    ...change(theOrder, "cancelled", flag(before.cancelled), flag(after.cancelled)),
    ...change(theOrder, "crm_date", date(before.placedAt), date(after.placedAt)),
    ...assetChanges(before, after),
    ...packageChanges(before, after),
    ...productChanges(before, after),
  ];
}

function assetChanges(before: OrderForm, after: OrderForm): OrderChange[] {
  return [...after.assets.values()].flatMap((asset) => {
    const old = before.assets.get(asset.id);
    if (old === undefined) return [];
    const { id, licenseType } = asset;
    const about: About = { ...unnamed, level: "asset", item: id, asset: id, licenseType };
    return [
      ...change(about, "quantity", count(old.quantity), count(asset.quantity)),
      ...change(about, "term_start", date(old.limitStart), date(asset.limitStart)),
      ...change(about, "term_end", date(old.limitEnd), date(asset.limitEnd)),
    ];
  });
}

function packageChanges(before: OrderForm, after: OrderForm): OrderChange[] {
  return idsOf(before.packages, after.packages).flatMap((id) => {
    const [old, now] = [before.packages.get(id), after.packages.get(id)];
    const one = now ?? old;
    if (one === undefined) return [];
    const { assetId: asset, name, number, licenseType } = one;
    const about: About = { level: "package", item: id, asset, name, number, licenseType };
    if (old === undefined || now === undefined) {
      return change(about, "package", text(old?.number ?? null), text(now?.number ?? null));
    }
    return change(about, "term", text(old.term), text(now.term));
  });
}

function productChanges(before: OrderForm, after: OrderForm): OrderChange[] {
  return idsOf(before.products, after.products).flatMap((id) => {
    const [old, now] = [before.products.get(id), after.products.get(id)];
    const one = now ?? old;
    if (one === undefined) return [];
    const { assetId: asset, name, number, licenseType } = one;
    const about: About = { level: "product", item: id, asset, name, number, licenseType };
    if (old === undefined || now === undefined) return change(about, "product", whole(old, before), whole(now, after));
    return [
      ...amountChange(about, old.amount, now.amount),
      ...change(about, "nodes", count(old.nodes), count(now.nodes)),
      ...change(about, "term", text(old.term), text(now.term)),
      ...change(about, "term_start", date(old.limitStart), date(now.limitStart)),
      ...change(about, "term_end", date(old.limitEnd), date(now.limitEnd)),
      ...change(about, "trial_end", date(old.trialEnd), date(now.trialEnd)),
      ...change(about, "product_number", text(old.number), text(now.number)),
    ];
  });
}

/** A product that was added or removed, with its cost and number of assets. */
function whole(product: FormProduct | undefined, form: OrderForm): ChangedValue {
  if (product === undefined) return { text: null };
  const { quantity = 1 } = form.assets.get(product.assetId) ?? {};
  return { text: product.number ?? product.name, amount: product.amount, count: quantity };
}

function amountChange(about: About, before: Money | undefined, after: Money | undefined): OrderChange[] {
  if (before?.currency === after?.currency && before?.minor === after?.minor) return [];
  return [{ ...about, field: "amount", before: money(before), after: money(after) }];
}

function change(about: About, field: ChangedField, before: ChangedValue, after: ChangedValue): OrderChange[] {
  return before.text === after.text ? [] : [{ ...about, field, before, after }];
}

function text(value: string | null): ChangedValue {
  return { text: value };
}

/** Two dates are equal if their instants are equal: those are sent. */
function date(value: CrmDate | null): ChangedValue {
  return { text: value?.at ?? null, date: value };
}

function count(value: number): ChangedValue {
  return { text: String(value), count: value };
}

function flag(value: boolean): ChangedValue {
  return { text: value ? "yes" : "no" };
}

function money(amount: Money | undefined): ChangedValue {
  return { text: null, amount };
}

function idsOf(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort();
}
