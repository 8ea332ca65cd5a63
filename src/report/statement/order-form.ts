import type { Asset, InstanceWith, Money, Package } from "../../crm/model.ts";
import type { DateZones } from "../../crm/model.ts";
import { buildAssets } from "../../crm/tree.ts";
import { crmDate } from "../crm-date.ts";
import type { CrmDate } from "../crm-date.ts";

/** A product in one form of an order, with the asset that it belongs to. Licence passwords are left out. */
export interface FormProduct {
  id: string;
  name: string;
  /** Its product number, else its application key. */
  number: string | null;
  gmsPid: string | undefined;
  appKey: string | undefined;
  assetId: string;
  licenseType: string;
  /** How many assets have it. */
  quantity: number;
  nodes: number;
  term: string;
  limitStart: CrmDate | null;
  limitEnd: CrmDate | null;
  trialEnd: CrmDate | null;
  /** What it costs in all its assets together. */
  amount: Money | undefined;
  /** Ids of the packages that it stands in, the outermost first: it is bought with that one. */
  packages: readonly string[];
}

interface FormAsset {
  id: string;
  licenseType: string;
  quantity: number;
  /** Those that the CRM gives. */
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
  /** Ids of the packages that it stands in, the outermost first, and its own. */
  packages: readonly string[];
}

/** One form of an order as the CRM gave it: what can be compared and added up of it, by the ids of its instances. */
export interface OrderForm {
  placedAt: CrmDate | null;
  cancelled: boolean;
  amount: Money | undefined;
  assets: ReadonlyMap<string, FormAsset>;
  packages: ReadonlyMap<string, FormPackage>;
  products: ReadonlyMap<string, FormProduct>;
}

/** An order as it is kept, with its instances flat. */
interface KeptOrder {
  placedAt?: string | undefined;
  cancelled: boolean;
  amount?: Money | undefined;
  instances: readonly InstanceWith<unknown>[];
}

/** Reads a form of an order, with the zones of its local dates. */
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

/** The products of a form that are taken so far. */
interface Taken {
  products: Map<string, FormProduct>;
  zones: DateZones | undefined;
}

function takePackages(
  form: Taken & { packages: Map<string, FormPackage> },
  asset: Asset<unknown>,
  packages: readonly Package<unknown>[],
  around: readonly string[] = [],
): void {
  for (const { id, number, name, term, products, children } of packages) {
    const { id: assetId, licenseType } = asset;
    const inside = [...around, id];
    form.packages.set(id, { id, number, name, term, assetId, licenseType, packages: inside });
    takeProducts(form, asset, products, inside);
    takePackages(form, asset, children, inside);
  }
}

function takeProducts(
  { products: into, zones }: Taken,
  { id: assetId, licenseType, quantity }: Asset<unknown>,
  products: Package<unknown>["products"],
  around: readonly string[] = [],
): void {
  for (const product of products) {
    const { id, name, gmsPid, appKey, nodes, term } = product;
    const of = { assetId, licenseType, quantity, number: gmsPid ?? appKey ?? null, gmsPid, appKey, packages: around };
    const dates = {
      limitStart: crmDate(product.limitStart, zones, "product.limitStart"),
      limitEnd: crmDate(product.limitEnd, zones, "product.limitEnd"),
      trialEnd: crmDate(product.trialEnd, zones, "product.trialEnd"),
    };
    into.set(id, { ...of, id, name, nodes, term, ...dates, amount: product.amount });
  }
}

/** Whether something of a form is the product that is asked for, by its product number or application key. */
export function hasProduct(form: OrderForm | null | undefined, wanted: string): boolean {
  return [...(form?.products.values() ?? [])].some((product) => isProduct(product, wanted));
}

/** Whether a product is the one that is asked for. */
export function isProduct(product: { [Name in "gmsPid" | "appKey"]?: string | undefined }, wanted: string): boolean {
  return product.gmsPid === wanted || product.appKey === wanted;
}

/**
 * The part of an amount that falls to `units` of `of` equal ones from the `first` on: whole minor units, and the parts
 * of all of them make the amount.
 */
export function shareOf({ currency, minor }: Money, of: number, first: number, units = 1): Money {
  const upTo = (count: number): number => Number((BigInt(minor) * BigInt(Math.min(count, of))) / BigInt(of));
  return { currency, minor: of < 1 ? 0 : upTo(first + units) - upTo(first) };
}
