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
