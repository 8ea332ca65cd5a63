import type { DraftOperation } from "../../engine/model/operation.ts";
import type { StateChange } from "../../engine/model/state.ts";
import type { Block } from "../../engine/plan/records.ts";
import type { Endings } from "./removal-parts.ts";
import type { Renewing } from "./renewals.ts";
import type { Asset, EarlierInstance, LicenseType, Money, Package, Product, RecordKey } from "../../crm/model.ts";
import type { Desired, DesiredCustomer, DesiredOrder, OrderWithTree, RecordState } from "../../engine/model/desired.ts";
import type { EarlierUnit, FixedNumber, Commitment } from "../../engine/model/references.ts";
import type { OrderHistory } from "./fold.ts";

/** What an E5 says of an asset beside its numbers and what is in it. */
export type AssetTerms = Pick<
  Asset,
  "id" | "licenseType" | "limitStart" | "limitEnd" | "borrowedUsbKey" | "transferredAssetNumber" | "extensions"
>;

/** As a kept form of an order has it: whether licence passwords changed can be seen of it, and nothing else of them. */
export type FormProduct = Product<Commitment>;
export type FormPackage = Package<Commitment>;

/** By which purchase something stands. */
export interface Bought {
  channelOrderId: string;
  /** Undefined: not known, never guessed. */
  licenseOrderId: string | undefined;
}

export interface StandingProduct extends Bought {
  /** As it was bought, with the amount that was agreed last. */
  product: FormProduct;
  /** The outermost package that brought it. */
  packageId: string | undefined;
}

/** A product that stands no more, where it stood. */
export interface EndedProduct {
  unit: Omit<StandingUnit, "products" | "packages">;
  standing: StandingProduct;
}

/** An outermost package with everything in it, as it was bought. Its products stand in the unit too. */
export interface StandingPackage extends Bought {
  item: FormPackage;
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

/** Whether the CRM wants anything of an order: it was neither cancelled nor deleted. */
export function isWanted({ state, body }: Pick<Desired<DesiredOrder>, "state" | "body">): boolean {
  return state === "current" && !body.cancelled;
}

/** Whether anything of it stands. */
export function hasProducts({ units }: OrderStanding): boolean {
  return units.some(({ products }) => products.length > 0);
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

/** The products of a package and of all lower ones. */
export function productsUnder<Passwords>(item: Package<Passwords>): Product<Passwords>[] {
  return [...item.products, ...item.children.flatMap((child) => productsUnder(child))];
}

/** All products of an asset: its own, and those of its packages. */
export function productsOf<Passwords>(asset: Pick<Asset<Passwords>, "products" | "packages">): Product<Passwords>[] {
  return [...asset.products, ...asset.packages.flatMap((item) => productsUnder(item))];
}

/** What E5 calls a product by, and M7 after it. */
export function uriOf({ gmsPid, appKey }: Pick<Product<unknown>, "gmsPid" | "appKey">): string | undefined {
  return gmsPid ?? appKey;
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

/** An asset that was taken away: nothing stands under its number. */
export interface EndedAsset {
  number: string;
  namespace: string;
  instanceId: string;
}

/** An order that moved away from the customer in the CRM, and of which something may stand here still. */
export interface AwayOrder {
  /** As the CRM says it now, for its owner. */
  order: OrderWithTree;
  owner: RecordKey;
  /** What stands of it here; `lost`: nobody knows that; undefined where it was never placed. */
  standing: OrderStanding | { lost: string } | undefined;
  /** Why nobody knows what of it its owner has already; undefined where that is known. */
  unclear: string | undefined;
  /** The record of its owner; undefined where the CRM gave none. */
  buyer: Desired<DesiredCustomer> | undefined;
  /** Why its owner gets no enterprise, as a code; undefined where nothing is known of that. */
  noEnterprise: string | undefined;
  /** Numbers that the CRM gives to the order and that it cannot have, even after nothing of it is left here. */
  taken: readonly string[];
}

/** What exists of an order for a customer that it moved away from; `lost`: nobody knows that. */
export interface LeftBehind {
  customer: RecordKey;
  standing: OrderStanding | { lost: string };
}

/** An order of which a run did something. */
export interface UndoneOrder {
  /** Undefined: it does not stand placed for this customer. */
  history: OrderHistory | undefined;
  /** What the CRM says of it now, whether it waits to be planned or not. */
  now: { bodyHash: string; state: RecordState } | undefined;
}

/** The units that a number is the number of: its own, and those that this one continues. */
export function unitsNamed({ namespace, orderId, instanceId, unit, continues = [] }: FixedNumber): EarlierUnit[] {
  return [{ namespace, orderId, instanceId, unit }, ...continues];
}

/** The numbers of an asset instance: of its units, and of those that continue them. */
export function numbersOfInstance(numbers: readonly FixedNumber[], { namespace, id }: RecordKey): string[] {
  const own = numbers.filter((item) =>
    unitsNamed(item).some((unit) => unit.instanceId === id && unit.namespace === namespace),
  );
  return [...new Set(own.map(({ number }) => number))];
}

/** The other orders of which a unit has a number that one of this order has too. */
export function sharingOrders(numbers: readonly FixedNumber[], { namespace, id }: RecordKey): RecordKey[] {
  if (numbers.every(({ continues }) => continues === undefined)) return [];
  const isOwn = (item: FixedNumber): boolean => item.orderId === id && item.namespace === namespace;
  const own = new Set(numbers.filter(isOwn).map(({ number }) => number));
  return numbers.flatMap((item) =>
    own.has(item.number) && !isOwn(item) ? [{ namespace: item.namespace, id: item.orderId }] : [],
  );
}

/** Whether another unit than this one has a number too: then it stays when this one ends. */
export function isShared(
  numbers: readonly FixedNumber[],
  { order, instanceId, unit, number }: { order: RecordKey; instanceId: string; unit: number; number: string | null },
): boolean {
  return numbers.some(
    (item) =>
      item.number === number &&
      (item.unit !== unit ||
        item.instanceId !== instanceId ||
        item.orderId !== order.id ||
        item.namespace !== order.namespace),
  );
}

/** What is to be done about one order; what is left out of it is nothing. */
export interface OrderPlan {
  meant: DraftOperation<"place-order" | "amend-order">[];
  changes: StateChange[];
  blocks: Block[];
  /** What of a placed order is to be taken away. */
  endings: Endings[];
  /** What the purchases that were made for it continue, also those that nothing is planned of. */
  renewing: Renewing[];
}

/** Several plans of one order as one. */
export function joinedPlans(plans: readonly Partial<OrderPlan>[]): OrderPlan {
  return {
    meant: plans.flatMap(({ meant = [] }) => meant),
    changes: plans.flatMap(({ changes = [] }) => changes),
    blocks: plans.flatMap(({ blocks = [] }) => blocks),
    endings: plans.flatMap(({ endings = [] }) => endings),
    renewing: plans.flatMap(({ renewing = [] }) => renewing),
  };
}

/** An order of which nothing is done, and why. */
export function blockedBy(block: Block): Partial<OrderPlan> {
  return { blocks: [block] };
}

declare module "../../engine/plan/input.ts" {
  interface CustomerInput {
    /**
     * Orders that wait for a change of their own, so that nothing of them is planned, and that take over something of
     * orders of which something may end.
     */
    takers?: readonly OrderWithTree[] | undefined;
    /** What stands of placed orders of which the CRM says something else now, by order; `lost`: why nobody knows that. */
    standings?: ReadonlyMap<string, OrderStanding | { lost: string }> | undefined;
    /** Another customer for whom something of a placed order exists, or may exist, and what, by order. */
    left?: ReadonlyMap<string, LeftBehind> | undefined;
    /** Orders that moved away from the customer in the CRM. */
    away?: readonly AwayOrder[] | undefined;
    /** Earlier orders that orders of this customer name, and that are another customer's: whose, by order. */
    earlierOwners?: ReadonlyMap<string, RecordKey> | undefined;
    /** Earlier orders of its own that are named so, do not stand as the CRM says, and are not looked at now. */
    earlier?: readonly OrderWithTree[] | undefined;
    /** Placed orders of which licence passwords are kept still, of whatever form. */
    sealed?: ReadonlySet<string> | undefined;
    /** Asset numbers fixed to units of placed orders whose purchase was never made, where there is any staff. */
    unbought?: ReadonlySet<string> | undefined;
    /** What ended of placed orders that stand as the CRM says, where there is any staff. */
    ended?: readonly EndedAsset[] | undefined;
    /** The customer's own orders that moved back to where nobody knows what they left. */
    unclear?: readonly OrderWithTree[] | undefined;
  }
  interface Observed {
    /** What is to go and enough readings of M7 left out over the settle time, by order: names of `absentName`. */
    gone?: ReadonlyMap<string, ReadonlySet<string>> | undefined;
    /** Orders that may be on the platform already, whole or in part, and why they wait; by order. */
    unclearOrders?: ReadonlyMap<string, { code: string; reason: string; again: boolean }> | undefined;
  }
}
declare module "../../engine/plan/undo.ts" {
  interface UndoFacts {
    orders: ReadonlyMap<string, UndoneOrder>;
  }
}
