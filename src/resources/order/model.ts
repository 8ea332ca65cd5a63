import type { DraftOperation } from "../../engine/model/operation.ts";
import type { Known, StateChange } from "../../engine/model/state.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import type { Endings } from "./removal-parts.ts";
import type { Renewing } from "./renewals.ts";
import type { Asset, EarlierInstance, LicenseType, Money, Package, Product, RecordKey } from "../../crm/model.ts";
import type { Desired, DesiredCustomer, DesiredOrder, OrderWithTree, RecordState } from "../../engine/model/desired.ts";
import type { EarlierUnit, FixedNumber, Commitment } from "../../engine/model/references.ts";
import type { OrderHistory } from "./fold.ts";

export type AssetTerms = Pick<
  Asset,
  "id" | "licenseType" | "limitStart" | "limitEnd" | "borrowedUsbKey" | "transferredAssetNumber" | "extensions"
>;

/** Kept forms hold only commitments of licence passwords: they show that a password changed, never its value. */
export type FormProduct = Product<Commitment>;
export type FormPackage = Package<Commitment>;

export interface Bought {
  channelOrderId: string;
  /** Undefined: not known. Never guess it. */
  licenseOrderId: string | undefined;
}

export interface StandingProduct extends Bought {
  /** With the amount that was agreed last. */
  product: FormProduct;
  packageId: string | undefined;
}

export interface EndedProduct {
  unit: Omit<StandingUnit, "products" | "packages">;
  standing: StandingProduct;
}

/** An outermost package with its contents, as bought. Its products are listed in the unit too. */
export interface StandingPackage extends Bought {
  item: FormPackage;
}

export interface StandingUnit {
  instanceId: string;
  unit: number;
  number: string | undefined;
  customer: RecordKey;
  licenseType: LicenseType;
  asset: AssetTerms;
  /** Two products can have the same id while an old and a new form overlap. */
  products: readonly StandingProduct[];
  packages: readonly StandingPackage[];
  /** At its purchase it took over the number of an earlier unit. */
  renews?: true;
}

export interface OrderStanding {
  order: RecordKey;
  customer: RecordKey;
  channelOrderId: string;
  /** 0: no step since the placing. */
  lastStep: number;
  amount: Money | undefined;
  units: readonly StandingUnit[];
  ended: readonly EndedProduct[];
}

export function isWanted({ state, body }: Pick<Desired<DesiredOrder>, "state" | "body">): boolean {
  return state === "current" && !body.cancelled;
}

export function hasProducts({ units }: OrderStanding): boolean {
  return units.some(({ products }) => products.length > 0);
}

export function orderOf(own: RecordKey, { orderId, orderNamespace }: EarlierInstance): RecordKey {
  return { namespace: orderNamespace ?? own.namespace, id: orderId ?? own.id };
}

/** An instance that takes over an earlier one, possibly of another order. */
export interface TakingOver {
  instanceId: string;
  from: RecordKey;
  earlier: string;
}

export function takenOver(own: RecordKey, instances: DesiredOrder["instances"]): TakingOver[] {
  return instances.flatMap((item) => {
    if (item.kind !== "product" && item.kind !== "asset") return [];
    const earlier = item.kind === "product" ? item.transferredFrom : item.continues;
    if (earlier === undefined) return [];
    return [{ instanceId: item.id, from: orderOf(own, earlier), earlier: earlier.instanceId }];
  });
}

export function earlierOrders(own: RecordKey, instances: DesiredOrder["instances"]): RecordKey[] {
  return takenOver(own, instances).map(({ from }) => from);
}

export function absentName(
  { instanceId, unit }: Pick<StandingUnit, "instanceId" | "unit">,
  { product, channelOrderId }: Pick<StandingProduct, "product" | "channelOrderId">,
): string {
  return JSON.stringify([instanceId, unit, product.id, channelOrderId]);
}

export function productsUnder<Passwords>(item: Package<Passwords>): Product<Passwords>[] {
  return [...item.products, ...item.children.flatMap((child) => productsUnder(child))];
}

export function productsOf<Passwords>(asset: Pick<Asset<Passwords>, "products" | "packages">): Product<Passwords>[] {
  return [...asset.products, ...asset.packages.flatMap((item) => productsUnder(item))];
}

export function uriOf({ gmsPid, appKey }: Pick<Product<unknown>, "gmsPid" | "appKey">): string | undefined {
  return gmsPid ?? appKey;
}

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

export interface EndedAsset {
  number: string;
  namespace: string;
  instanceId: string;
}

/** An order that moved to another customer in the CRM. Parts of it may still exist here. */
export interface AwayOrder {
  order: OrderWithTree;
  owner: RecordKey;
  /** What exists here. `lost`: nobody knows. Undefined: it was never placed. */
  standing: OrderStanding | { lost: string } | undefined;
  unclear: string | undefined;
  buyer: Desired<DesiredCustomer> | undefined;
  /** What is known of its owner, with the orders that this order takes products from. */
  theirs: { known: Known; standings: ReadonlyMap<string, OrderStanding | { lost: string }> };
  /** Undefined: its owner has an enterprise. */
  noEnterprise: string | undefined;
  /** Asset numbers in the CRM that this order cannot get, even after its removal here. */
  taken: readonly string[];
}

export interface LeftBehind {
  customer: RecordKey;
  standing: OrderStanding | { lost: string };
}

export interface UndoneOrder {
  /** Undefined: not placed for this customer. */
  history: OrderHistory | undefined;
  now: { bodyHash: string; state: RecordState } | undefined;
}

export function unitsNamed({ namespace, orderId, instanceId, unit, continues = [] }: FixedNumber): EarlierUnit[] {
  return [{ namespace, orderId, instanceId, unit }, ...continues];
}

export function numbersOfInstance(numbers: readonly FixedNumber[], { namespace, id }: RecordKey): string[] {
  const own = numbers.filter((item) =>
    unitsNamed(item).some((unit) => unit.instanceId === id && unit.namespace === namespace),
  );
  return [...new Set(own.map(({ number }) => number))];
}

export function sharingOrders(numbers: readonly FixedNumber[], { namespace, id }: RecordKey): RecordKey[] {
  if (numbers.every(({ continues }) => continues === undefined)) return [];
  const isOwn = (item: FixedNumber): boolean => item.orderId === id && item.namespace === namespace;
  const own = new Set(numbers.filter(isOwn).map(({ number }) => number));
  return numbers.flatMap((item) =>
    own.has(item.number) && !isOwn(item) ? [{ namespace: item.namespace, id: item.orderId }] : [],
  );
}

/** A shared number stays when one of its units ends. */
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

export interface OrderPlan {
  meant: DraftOperation<"place-order" | "amend-order">[];
  changes: StateChange[];
  blocks: Block[];
  endings: Endings[];
  renewing: Renewing[];
}

export function joinedPlans(plans: readonly Partial<OrderPlan>[]): OrderPlan {
  return {
    meant: plans.flatMap(({ meant = [] }) => meant),
    changes: plans.flatMap(({ changes = [] }) => changes),
    blocks: plans.flatMap(({ blocks = [] }) => blocks),
    endings: plans.flatMap(({ endings = [] }) => endings),
    renewing: plans.flatMap(({ renewing = [] }) => renewing),
  };
}

export function blockedBy(block: Block): Partial<OrderPlan> {
  return { blocks: [block] };
}

declare module "../../engine/plan/input.ts" {
  interface CustomerInput {
    /** Orders that wait for their own change and take over parts of orders that may end. */
    takers?: readonly OrderWithTree[] | undefined;
    /** By order, if it differs from the CRM. `lost`: nobody knows the state. */
    standings?: ReadonlyMap<string, OrderStanding | { lost: string }> | undefined;
    /** By order: the parts that exist, or may exist, for another customer. */
    left?: ReadonlyMap<string, LeftBehind> | undefined;
    away?: readonly AwayOrder[] | undefined;
    earlierOwners?: ReadonlyMap<string, RecordKey> | undefined;
    /** Earlier orders of the same customer that differ from the CRM and that this pass does not plan. */
    earlier?: readonly OrderWithTree[] | undefined;
    /** Placed orders, of any form, whose licence passwords are still kept. */
    sealed?: ReadonlySet<string> | undefined;
    /** Asset numbers of placed orders that were never purchased. Loaded only if the customer has staff. */
    unbought?: ReadonlySet<string> | undefined;
    /** Ended assets of orders that agree with the CRM. Loaded only if the customer has staff. */
    ended?: readonly EndedAsset[] | undefined;
    /** Orders that moved back to a customer where nobody knows which parts are left. */
    unclear?: readonly OrderWithTree[] | undefined;
  }
  interface Observed {
    /** Products missing from enough M7 readings over the settle time, by order (`absentName`). */
    gone?: ReadonlyMap<string, ReadonlySet<string>> | undefined;
    /** Why orders wait that may already exist on the platform, in full or in part; by order. */
    unclearOrders?: ReadonlyMap<string, { code: string; reason: string; again: boolean }> | undefined;
  }
}
declare module "../../engine/plan/undo.ts" {
  interface UndoFacts {
    orders: ReadonlyMap<string, UndoneOrder>;
  }
}
