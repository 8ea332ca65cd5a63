import type { Asset, EarlierInstance, LicenseType, Money, Package, Product, RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import { buildAssets } from "../../crm/tree.ts";
import type { DesiredOrder, OrderWithTree } from "../../engine/desired.ts";
import type { PrivateMarker } from "../../engine/references.ts";
import type { FixedNumber } from "./state/asset-numbers.ts";
import type {
  BoughtItem,
  LicenceOrder,
  OrderBought,
  OrderPriced,
  OrderRemoved,
  OrderStep,
  PricedItem,
  RemovedItem,
} from "./state/order-steps.ts";
import type { PlacedOrder } from "./state/placed-orders.ts";
import { compareBytes } from "../../engine/state/row-order.ts";
import { isSameKey } from "../../engine/state/same-key.ts";

/** What an E5 says of an asset beside its numbers and what is in it. */
export type AssetTerms = Pick<
  Asset,
  "id" | "licenseType" | "limitStart" | "limitEnd" | "borrowedUsbKey" | "transferredAssetNumber" | "extensions"
>;

/** By which purchase something stands. */
interface Bought {
  channelOrderId: string;
  /** Undefined: not known, never guessed. */
  licenseOrderId: string | undefined;
}

export interface StandingProduct extends Bought {
  /** As it was bought, with the amount that was agreed last. */
  product: Product<PrivateMarker>;
  /** The outermost package that brought it. */
  packageId: string | undefined;
  /** It had ended, and the platform shows it again. */
  found?: true;
}

/** A product that stands no more, where it stood. */
export interface EndedProduct {
  unit: Omit<StandingUnit, "products" | "packages">;
  standing: StandingProduct;
  /** The form of the order that it was bought from. */
  version: number;
}

/** An outermost package with everything in it, as it was bought. Its products stand in the unit too. */
export interface StandingPackage extends Bought {
  item: Package<PrivateMarker>;
}

/** One unit of an asset instance, which has an asset number of its own. */
export interface StandingUnit {
  instanceId: string;
  unit: number;
  number: string | undefined;
  customer: RecordKey;
  licenseType: LicenseType;
  /** Limits, extensions and flags as bought. */
  asset: AssetTerms;
  /** Two of one id while an old and a new form overlap. */
  products: readonly StandingProduct[];
  packages: readonly StandingPackage[];
  /** It has its number from an earlier unit that it continued when it was bought. */
  renews?: true;
}

/** What of an order stands on the platform by what the ledger knows, for the customer that it stands for. */
export interface OrderStanding {
  order: RecordKey;
  customer: RecordKey;
  /** The number that it was placed under first. */
  channelOrderId: string;
  /** Number of the last step; 0 where nothing happened since it was placed. */
  lastStep: number;
  /** What the whole order costs, as agreed last. */
  amount: Money | undefined;
  /** By instance and unit. */
  units: readonly StandingUnit[];
  /** What stood of it once. */
  ended: readonly EndedProduct[];
}

/** What a standing is made from. */
export interface StandingParts {
  /** Forms of the order, by version: the one that was placed, and those that steps were made from. */
  forms: ReadonlyMap<number, DesiredOrder>;
  /** Numbers fixed to units of the order. */
  numbers: readonly FixedNumber[];
  /** Licence orders of the placing. */
  licenceOrders: readonly LicenceOrder[];
  /** In their order, of all customers. */
  steps: readonly OrderStep[];
  /** For whom it was placed, where it moved since. */
  placedFor?: RecordKey | undefined;
  /** For whom the standing is asked, where it is not the customer that it stands for now. */
  customer?: RecordKey | undefined;
}

/** A placed order with everything that happened to it. */
export interface OrderHistory {
  placed: PlacedOrder;
  /** Whose order it is in the CRM; undefined where the CRM does not know it. */
  owner: RecordKey | undefined;
  parts: StandingParts;
  /** The forms that something of it was bought from, by version. */
  forms: ReadonlyMap<number, OrderWithTree>;
  /** Which operation of ours each step came by, by the number of the step. */
  operations: ReadonlyMap<number, string>;
}

interface Fold {
  order: RecordKey;
  customer: RecordKey;
  amount: Money | undefined;
  numbers: ReadonlyMap<string, string>;
  units: Map<string, StandingUnit>;
  ended: EndedProduct[];
  /** Forms by the channel order number that was bought from them. */
  versions: Map<string, number>;
}

/** Whether anything of it stands. */
export function hasProducts({ units }: OrderStanding): boolean {
  return units.some(({ products }) => products.length > 0);
}

/**
 * What stands of a placed order for one customer: what was placed for it, and each step after that. `lost` says which
 * form is not kept any more: then nobody knows what stands, and nothing of the order is amended.
 */
export function standingOf(placed: PlacedOrder, parts: StandingParts): OrderStanding | { lost: string } {
  const { key: order, channelOrderId, version } = placed;
  const customer = parts.customer ?? placed.customer;
  const fold: Fold = {
    order,
    customer,
    amount: undefined,
    numbers: numbersByUnit(order, parts.numbers),
    units: new Map(),
    ended: [],
    versions: new Map([[channelOrderId, version]]),
  };
  if (isSameKey(parts.placedFor ?? placed.customer, customer)) {
    const form = parts.forms.get(version);
    if (form === undefined) return { lost: lostForm(order, version) };
    buy(fold, form, { channelOrderId, items: undefined, licenceOrders: parts.licenceOrders });
  }
  for (const step of parts.steps) {
    if (!isSameKey(step.customer, customer)) continue;
    if (step.kind === "removed") for (const item of step.items) remove(fold, item);
    else if (step.kind === "priced") for (const item of step.items) price(fold, item);
    else {
      const form = parts.forms.get(step.version);
      if (form === undefined) return { lost: lostForm(order, step.version) };
      fold.versions.set(step.channelOrderId, step.version);
      if (step.origin === "found") standAgain(fold, step);
      else buy(fold, form, step);
    }
  }
  return {
    order,
    customer,
    channelOrderId,
    lastStep: parts.steps.at(-1)?.number ?? 0,
    amount: fold.amount,
    units: [...fold.units.values()].toSorted(
      (one, other) => compareBytes(one.instanceId, other.instanceId) || one.unit - other.unit,
    ),
    ended: fold.ended,
  };
}

/**
 * What stands once something of it went, costs something else, or is shown again after it had ended. What is not this
 * order's leaves it as it is.
 */
export function standingAfter(
  standing: OrderStanding,
  change: OrderRemoved | OrderPriced | OrderBought,
): OrderStanding {
  if (!isSameKey(change.order, standing.order) || !isSameKey(change.customer, standing.customer)) return standing;
  const units = new Map(standing.units.map((unit) => [unitKey(unit.instanceId, unit.unit), unit]));
  const fold: Fold = { ...standing, numbers: new Map(), units, ended: [...standing.ended], versions: new Map() };
  if (change.type === "order-removed") for (const item of change.items) remove(fold, item);
  else if (change.type === "order-priced") for (const item of change.items) price(fold, item);
  else standAgain(fold, change);
  return { ...standing, amount: fold.amount, units: [...fold.units.values()], ended: fold.ended };
}

/** The order that an instance of an order names. */
export function orderOf(own: RecordKey, { orderId, orderNamespace }: EarlierInstance): RecordKey {
  return { namespace: orderNamespace ?? own.namespace, id: orderId ?? own.id };
}

/** An instance of an order that takes over an earlier one, which may be of another order. */
export interface TakingOver {
  instanceId: string;
  from: RecordKey;
  earlier: string;
}

/** The products that are transferred to an order, and the assets that continue earlier ones. */
export function takenOver(own: RecordKey, instances: DesiredOrder["instances"]): TakingOver[] {
  return instances.flatMap((item) => {
    if (item.kind !== "product" && item.kind !== "asset") return [];
    const earlier = item.kind === "product" ? item.transferredFrom : item.continues;
    if (earlier === undefined) return [];
    return [{ instanceId: item.id, from: orderOf(own, earlier), earlier: earlier.instanceId }];
  });
}

/** The orders that products of an order are transferred from, and whose assets its assets continue. */
export function earlierOrders(own: RecordKey, instances: DesiredOrder["instances"]): RecordKey[] {
  return takenOver(own, instances).map(({ from }) => from);
}

/** Names a product of one purchase in one unit of an order. */
export function absentName(
  { instanceId, unit }: Pick<StandingUnit, "instanceId" | "unit">,
  { product, channelOrderId }: Pick<StandingProduct, "product" | "channelOrderId">,
): string {
  return JSON.stringify([instanceId, unit, product.id, channelOrderId]);
}

function lostForm(order: RecordKey, version: number): string {
  return `form ${version} of the order ${formatKey(order)} is not kept any more`;
}

interface Purchase {
  channelOrderId: string;
  /** Undefined: everything that the form says. */
  items: readonly BoughtItem[] | undefined;
  licenceOrders: readonly LicenceOrder[];
}

function buy(fold: Fold, form: DesiredOrder, { channelOrderId, items, licenceOrders }: Purchase): void {
  const stands = [...fold.units.values()].some(({ products }) => products.length > 0);
  fold.amount = stands ? (fold.amount ?? form.amount) : form.amount;
  const { assets } = buildAssets(form.instances);
  for (const asset of assets) {
    const bought: Bought = { channelOrderId, licenseOrderId: licenceOrderOf(licenceOrders, asset.licenseType) };
    if (items === undefined) {
      for (let unit = 0; unit < asset.quantity; unit += 1) buyUnit(fold, asset, { unit, number: null }, bought);
      continue;
    }
    for (const item of items) {
      if (item.instanceId !== asset.id) continue;
      const products = asset.products.filter((product) => item.products.includes(product.id));
      const packages = asset.packages.filter((one) => item.packages.includes(one.id));
      buyUnit(fold, { ...asset, products, packages }, item, bought);
    }
  }
}

function buyUnit(
  fold: Fold,
  asset: Asset<PrivateMarker>,
  { unit, number, continues }: Pick<BoughtItem, "unit" | "number" | "continues">,
  bought: Bought,
): void {
  const key = unitKey(asset.id, unit);
  const packages = asset.packages.map((item): StandingPackage => ({ item, ...bought }));
  const products = [
    ...asset.products.map((product): StandingProduct => ({ product, packageId: undefined, ...bought })),
    ...asset.packages.flatMap((item) =>
      productsUnder(item).map((product): StandingProduct => ({ product, packageId: item.id, ...bought })),
    ),
  ];
  const standing = fold.units.get(key) ?? {
    instanceId: asset.id,
    unit,
    number: number ?? fold.numbers.get(key),
    customer: fold.customer,
    licenseType: asset.licenseType,
    asset: termsOf(asset),
    products: [],
    packages: [],
  };
  fold.units.set(key, {
    ...standing,
    number: standing.number ?? number ?? undefined,
    products: [...standing.products, ...products],
    packages: [...standing.packages, ...packages],
    ...(continues === undefined ? {} : { renews: true }),
  });
}

/** The products of a package and of all lower ones. */
export function productsUnder<Passwords>(item: Package<Passwords>): Product<Passwords>[] {
  return [...item.products, ...item.children.flatMap((child) => productsUnder(child))];
}

/** What an E5 says of an asset beside its numbers and what is in it. */
export function termsOf({
  id,
  licenseType,
  limitStart,
  limitEnd,
  borrowedUsbKey,
  transferredAssetNumber,
  extensions,
}: AssetTerms): AssetTerms {
  return { id, licenseType, limitStart, limitEnd, borrowedUsbKey, transferredAssetNumber, extensions };
}

function remove(fold: Fold, { instanceId, unit, number, product, channelOrderId }: RemovedItem): void {
  const key = unitKey(instanceId, unit);
  const standing = fold.units.get(key);
  if (standing === undefined) return;
  const stood = number === null ? standing : { ...standing, number };
  if (product === null) {
    end(fold, stood, standing.products);
    fold.units.delete(key);
    return;
  }
  const products = standing.products.filter(
    (item) => item.product.id !== product || (channelOrderId !== null && item.channelOrderId !== channelOrderId),
  );
  end(
    fold,
    stood,
    standing.products.filter((item) => !products.includes(item)),
  );
  // A package stands as long as anything of it does.
  const packages = standing.packages.filter(({ item, channelOrderId: number }) =>
    products.some((one) => one.packageId === item.id && one.channelOrderId === number),
  );
  fold.units.set(key, { ...standing, products, packages });
}

function end(
  fold: Fold,
  { products: _products, packages: _packages, ...unit }: StandingUnit,
  products: readonly StandingProduct[],
): void {
  for (const standing of products)
    fold.ended.push({ unit, standing, version: fold.versions.get(standing.channelOrderId) ?? 0 });
}

/** What had ended and is shown again stands as it was bought, under the number under which it is shown. */
function standAgain(
  fold: Fold,
  { channelOrderId, items }: { channelOrderId: string; items: readonly BoughtItem[] },
): void {
  for (const item of items) {
    const key = unitKey(item.instanceId, item.unit);
    for (const id of item.products) {
      const at = fold.ended.findLastIndex(
        ({ unit, standing }) =>
          unitKey(unit.instanceId, unit.unit) === key &&
          standing.product.id === id &&
          standing.channelOrderId === channelOrderId,
      );
      const [ended] = at < 0 ? [] : fold.ended.splice(at, 1);
      if (ended === undefined) continue;
      const unit = fold.units.get(key) ?? {
        ...ended.unit,
        number: item.number ?? undefined,
        products: [],
        packages: [],
      };
      fold.units.set(key, { ...unit, products: [...unit.products, { ...ended.standing, found: true }] });
    }
  }
}

function price(fold: Fold, { product, to }: PricedItem): void {
  const amount = to ?? undefined;
  if (product === null) {
    fold.amount = amount;
    return;
  }
  for (const [key, unit] of fold.units) {
    const products = unit.products.map((item) =>
      item.product.id === product ? { ...item, product: { ...item.product, amount } } : item,
    );
    fold.units.set(key, { ...unit, products });
  }
}

/** The licence order of a type; none where a purchase has more than one of it, since nobody knows which is whose. */
function licenceOrderOf(licenceOrders: readonly LicenceOrder[], licenseType: LicenseType): string | undefined {
  const [only, ...others] = licenceOrders.filter((item) => item.licenseType === licenseType);
  return others.length > 0 || only?.licenseOrderId === "" ? undefined : only?.licenseOrderId;
}

function numbersByUnit({ namespace, id }: RecordKey, numbers: readonly FixedNumber[]): ReadonlyMap<string, string> {
  const own = numbers.filter((item) => item.namespace === namespace && item.orderId === id);
  return new Map(own.map((item) => [unitKey(item.instanceId, item.unit), item.number]));
}

function unitKey(instanceId: string, unit: number): string {
  return JSON.stringify([instanceId, unit]);
}
