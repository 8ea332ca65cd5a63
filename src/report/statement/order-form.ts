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
  quantity: number;
  nodes: number;
  term: string;
  limitStart: CrmDate | null;
  limitEnd: CrmDate | null;
  trialEnd: CrmDate | null;
  amount: Money | undefined;
}

interface FormPackage {
  number: string;
  name: string;
}

export interface OrderForm {
  amount: Money | undefined;
  /** By asset: the numbers that the CRM gives. */
  numbers: ReadonlyMap<string, readonly string[]>;
  packages: ReadonlyMap<string, FormPackage>;
  products: ReadonlyMap<string, FormProduct>;
}

interface KeptOrder {
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
    amount: order.amount,
    numbers: new Map(assets.map(({ id, assetNumbers }) => [id, assetNumbers])),
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
  for (const { id, number, name, products, children } of packages) {
    form.packages.set(id, { number, name });
    takeProducts(form, asset, products);
    takePackages(form, asset, children);
  }
}

function takeProducts(
  { products: into, zones }: Taken,
  { id: assetId, quantity }: Asset<unknown>,
  products: Package<unknown>["products"],
): void {
  for (const product of products) {
    const { id, name, gmsPid, appKey, nodes, term } = product;
    const of = { assetId, quantity, number: gmsPid ?? appKey ?? null, gmsPid, appKey };
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
