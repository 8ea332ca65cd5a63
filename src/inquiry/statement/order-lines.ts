import type { Asset, Money, Package, Product, RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import { buildAssets } from "../../crm/tree.ts";
import type { DesiredOrder } from "../../engine/desired.ts";
import type { PrivateMarker } from "../../engine/references.ts";
import type {
  BoughtItem,
  LicenceOrder,
  OrderStep,
  PricedItem,
  RemovedItem,
  StepOrigin,
} from "../../resources/order/state/order-steps.ts";
import { minus } from "../../report/statement/exact.ts";
import type { Exact } from "../../report/statement/exact.ts";
import { shareOf } from "../../report/statement/order-form.ts";
import type { DatedOrder } from "./crm-dates.ts";

/** Everything that happened to one order, oldest first. */
export interface OrderHistory {
  order: RecordKey;
  /** The source that gives the order. */
  source: string | null;
  placing: {
    at: string;
    /** For whom it was placed. */
    customer: RecordKey;
    origin: "placed" | "adopted";
    channelOrderId: string;
    version: number;
    /** The form that it was placed with; undefined where that is not kept any more. */
    form: DatedOrder | undefined;
    licenceOrders: readonly LicenceOrder[];
    operationId: string | null;
  };
  steps: readonly HistoryStep[];
  /** The number that a unit was placed or found with. */
  numberOf(of: { customer: RecordKey; instanceId: string; unit: number; product: string }): string | undefined;
}

/** A step with its time, its operation and the form that it was made from, or else the CRM's form at that time. */
export type HistoryStep = OrderStep & { at: string; operationId: string | null; form: DatedOrder | undefined };

/** One unit of an asset of an order. Its number may become known by a later step. */
interface Unit {
  instanceId: string;
  unit: number;
  number: string | undefined;
}

/** One product in one unit of an asset, by the purchase that brought it. */
export interface UnitProduct {
  unit: Unit;
  asset: Asset<PrivateMarker>;
  product: Product<PrivateMarker>;
  zones: DatedOrder["zones"];
  /** The packages that it stands in, the outermost first. */
  packages: readonly Package<PrivateMarker>[];
  channelOrderId: string;
  /** Null where more than one could be meant. */
  licenceOrderId: string | null;
  /** What the product costs in all units of its asset, as agreed last. */
  lineAmount: Money | undefined;
  /** The unit's share of that. */
  amount: Money | undefined;
}

/** By how much something costs more. */
interface Cost {
  currency: string;
  minor: Exact;
}

/** What an event did to one product in one unit: it came (1), went (−1) or costs something else (0). */
export interface Moved {
  of: UnitProduct;
  units: 1 | -1 | 0;
  /** By how much what stands of the order costs more since. */
  amounts: readonly Cost[];
}

type OrderEvent = "placed" | "adopted" | "amended" | "ended" | "repriced" | "found-gone" | "found-again";

/** Something that happened to an order, with what it did to each product in each unit. */
export interface OrderChange {
  /** 0: the placing; else the number of the step. */
  number: number;
  at: string;
  event: OrderEvent;
  /** Who says so; null where nothing was sent or seen, as when amounts changed. */
  origin: StepOrigin | null;
  customer: RecordKey;
  channelOrderId: string;
  operationId: string | null;
  moved: readonly Moved[];
}

/** What stands of an order for one customer. */
interface Standing {
  amount: Money | undefined;
  units: Map<string, { unit: Unit; products: UnitProduct[] }>;
  ended: UnitProduct[];
}

/** Under which number something was bought, and the licence orders that came of it. */
type Purchase = Pick<OrderHistory["placing"], "channelOrderId" | "licenceOrders">;

/** Follows an order through its history. Between two changes it says what stands. */
export class OrderLines {
  readonly #history: OrderHistory;
  readonly #standings = new Map<string, Standing>();

  constructor(history: OrderHistory) {
    this.#history = history;
  }

  /** What happened, oldest first. Numbers of units are known once all of it was read. */
  *changes(): Generator<OrderChange, void, void> {
    const { placing, steps } = this.#history;
    const { at, customer, origin, channelOrderId, operationId, form, licenceOrders } = placing;
    const placed = this.#buy(customer, form, { channelOrderId, items: undefined, licenceOrders });
    yield {
      number: 0,
      at,
      event: origin,
      origin: origin === "placed" ? "sent" : "found",
      customer,
      channelOrderId,
      operationId,
      moved: placed,
    };
    for (const step of steps) {
      const moved = this.#apply(step);
      const event = eventOf(step);
      if (event === undefined) continue;
      const under = step.kind === "bought" ? step.channelOrderId : channelOrderId;
      yield {
        number: step.number,
        at: step.at,
        event,
        origin: step.kind === "priced" ? null : step.origin,
        customer: step.customer,
        channelOrderId: under,
        operationId: step.operationId,
        moved,
      };
    }
  }

  /** What the whole order costs for a customer, as agreed last; undefined where nothing of it stands. */
  amountOf(customer: RecordKey): Money | undefined {
    return this.productsOf(customer).length === 0 ? undefined : this.#standingOf(customer).amount;
  }

  /** What stands for a customer. */
  productsOf(customer: RecordKey): UnitProduct[] {
    return [...this.#standingOf(customer).units.values()].flatMap(({ products }) => products);
  }

  #standingOf(customer: RecordKey): Standing {
    const key = formatKey(customer);
    let standing = this.#standings.get(key);
    if (standing === undefined)
      this.#standings.set(key, (standing = { amount: undefined, units: new Map(), ended: [] }));
    return standing;
  }

  #apply(step: HistoryStep): Moved[] {
    switch (step.kind) {
      case "bought":
        if (step.origin === "found") return this.#standAgain(step);
        return [...this.#buy(step.customer, step.form, step), ...this.#shareAnew(step)];
      case "removed":
        return [...step.items.flatMap((item) => this.#remove(step.customer, item)), ...this.#shareAnew(step)];
      case "priced":
        return step.items.flatMap((item) => this.#price(step.customer, item, step.form));
    }
  }

  /**
   * A unit brings and takes what it costs. Where the form says the same amount of the line for another quantity, it is
   * shared by as many units as the form wants, or by those that stand where they are more.
   */
  #shareAnew({ customer, form }: HistoryStep): Moved[] {
    const lines = linesIn(form);
    const units = inOrder(this.#standingOf(customer).units.values());
    const ranks = new Map<string, number>();
    const stands = new Map<string, number>();
    for (const { products } of units)
      for (const id of new Set(products.map((one) => one.product.id))) stands.set(id, (stands.get(id) ?? 0) + 1);
    const changed = new Map<UnitProduct, UnitProduct>();
    for (const stood of units) {
      const latest = new Map(stood.products.map((one) => [one.product.id, one]));
      for (const [id, one] of latest) {
        const wanted = lines.get(id);
        const rank = ranks.get(id) ?? 0;
        ranks.set(id, rank + 1);
        if (wanted === undefined || difference(one.lineAmount, wanted.amount).length > 0) continue;
        const quantity = Math.max(wanted.units, stands.get(id) ?? 0);
        changed.set(one, { ...one, amount: partOf(one.lineAmount, rank, quantity) });
      }
      if (changed.size > 0) stood.products = stood.products.map((one) => changed.get(one) ?? one);
    }
    return [...changed].flatMap(([from, of]): Moved[] => {
      const amounts = difference(from.amount, of.amount);
      return amounts.length === 0 ? [] : [{ of, units: 0, amounts }];
    });
  }

  #buy(
    customer: RecordKey,
    form: DatedOrder | undefined,
    { items, ...bought }: Purchase & { items: readonly BoughtItem[] | undefined },
  ): Moved[] {
    const standing = this.#standingOf(customer);
    standing.amount = this.amountOf(customer) ?? form?.amount;
    const moved: Moved[] = [];
    const purchase = { ...bought, zones: form?.zones };
    const byInstance = items === undefined ? undefined : Map.groupBy(items, ({ instanceId }) => instanceId);
    for (const asset of form === undefined ? [] : buildAssets<PrivateMarker>(form.instances).assets) {
      const inside = contentsOf(asset);
      const wanted = byInstance === undefined ? everyUnit(asset) : (byInstance.get(asset.id) ?? []);
      for (const item of wanted) {
        const chosen =
          item.products === undefined
            ? inside
            : inside.filter(({ product, packages: [outermost] }) =>
                outermost === undefined ? item.products?.includes(product.id) : item.packages?.includes(outermost.id),
              );
        moved.push(...this.#buyUnit(customer, asset, { ...item, number: item.number ?? undefined }, chosen, purchase));
      }
    }
    return moved;
  }

  #buyUnit(
    customer: RecordKey,
    asset: Asset<PrivateMarker>,
    item: Unit,
    inside: readonly Inside[],
    { channelOrderId, licenceOrders, zones }: Purchase & Pick<DatedOrder, "zones">,
  ): Moved[] {
    const { units } = this.#standingOf(customer);
    const { instanceId, unit: index } = item;
    const key = unitKey(item);
    let stood = units.get(key);
    if (stood === undefined) {
      const product = inside[0]?.product.id ?? "";
      const number = item.number ?? this.#history.numberOf({ customer, instanceId, unit: index, product });
      units.set(key, (stood = { unit: { instanceId, unit: index, number }, products: [] }));
    }
    const { unit } = stood;
    unit.number ??= item.number;
    const licenceOrderId = licenceOrderOf(licenceOrders, asset.licenseType);
    const bought = inside.map(({ product, packages }): UnitProduct => {
      const { amount: lineAmount } = product;
      const amount = partOf(lineAmount, index, asset.quantity);
      return { unit, asset, product, zones, packages, channelOrderId, licenceOrderId, lineAmount, amount };
    });
    stood.products.push(...bought);
    return bought.map((of) => ({ of, units: 1, amounts: of.amount === undefined ? [] : [of.amount] }));
  }

  /** One product of a unit goes, of one purchase or of all, or the whole unit does. */
  #remove(customer: RecordKey, item: RemovedItem): Moved[] {
    const standing = this.#standingOf(customer);
    const key = unitKey(item);
    const stood = standing.units.get(key);
    if (stood === undefined) return [];
    if (item.number !== null) stood.unit.number ??= item.number;
    const goes = ({ product, channelOrderId }: UnitProduct): boolean =>
      item.product === null ||
      (product.id === item.product && (item.channelOrderId === null || item.channelOrderId === channelOrderId));
    const gone = stood.products.filter(goes);
    if (item.product === null) standing.units.delete(key);
    else stood.products = stood.products.filter((one) => !goes(one));
    standing.ended.push(...gone);
    return gone.map((of) => ({ of, units: -1, amounts: of.amount === undefined ? [] : [negative(of.amount)] }));
  }

  /** What had ended and is shown again stands as it was bought, under the number under which it is shown. */
  #standAgain({ customer, channelOrderId, items }: Extract<HistoryStep, { kind: "bought" }>): Moved[] {
    const { units, ended } = this.#standingOf(customer);
    const moved: Moved[] = [];
    for (const item of items) {
      const key = unitKey(item);
      for (const id of item.products) {
        const at = ended.findLastIndex(
          (one) => unitKey(one.unit) === key && one.product.id === id && one.channelOrderId === channelOrderId,
        );
        const [again] = at < 0 ? [] : ended.splice(at, 1);
        if (again === undefined) continue;
        let stood = units.get(key);
        if (stood === undefined)
          units.set(key, (stood = { unit: { ...again.unit, number: item.number ?? undefined }, products: [] }));
        const of = { ...again, unit: stood.unit };
        stood.products.push(of);
        moved.push({ of, units: 1, amounts: of.amount === undefined ? [] : [of.amount] });
      }
    }
    return moved;
  }

  #price(customer: RecordKey, { product: id, to }: PricedItem, form: DesiredOrder | undefined): Moved[] {
    const standing = this.#standingOf(customer);
    if (id === null) {
      standing.amount = to ?? undefined;
      return [];
    }
    const standsIn = inOrder(standing.units.values()).filter(({ products }) =>
      products.some((one) => one.product.id === id),
    );
    const lineAmount = to ?? undefined;
    const units = Math.max(linesIn(form).get(id)?.units ?? 0, standsIn.length);
    const moved: Moved[] = [];
    for (const [rank, stood] of standsIn.entries()) {
      stood.products = stood.products.map((one) => {
        if (one.product.id !== id) return one;
        const of = { ...one, lineAmount, amount: partOf(lineAmount, rank, units) };
        const amounts = difference(one.amount, of.amount);
        if (amounts.length > 0) moved.push({ of, units: 0, amounts });
        return of;
      });
    }
    return moved;
  }
}

function inOrder<Stood extends { unit: Unit }>(units: Iterable<Stood>): Stood[] {
  return [...units].toSorted((one, other) => one.unit.unit - other.unit.unit);
}

/** A product of an asset with the packages around it. */
type Inside = Pick<UnitProduct, "product" | "packages">;

function contentsOf(asset: Asset<PrivateMarker>): Inside[] {
  const under = (item: Package<PrivateMarker>, around: readonly Package<PrivateMarker>[]): Inside[] => {
    const packages = [...around, item];
    return [
      ...item.products.map((product) => ({ product, packages })),
      ...item.children.flatMap((one) => under(one, packages)),
    ];
  };
  return [
    ...asset.products.map((product) => ({ product, packages: [] })),
    ...asset.packages.flatMap((item) => under(item, [])),
  ];
}

type WantedUnit = Pick<BoughtItem, "instanceId" | "unit" | "number"> &
  Partial<Pick<BoughtItem, "products" | "packages">>;

function everyUnit({ id, quantity }: Asset<PrivateMarker>): WantedUnit[] {
  return Array.from({ length: quantity }, (_, unit) => ({ instanceId: id, unit, number: null }));
}

/** What a step is called; undefined: it only says under which numbers units go on. */
function eventOf(step: HistoryStep): OrderEvent | undefined {
  if (step.kind === "priced") return "repriced";
  if (step.kind === "removed") return step.origin === "found" ? "found-gone" : "ended";
  if (!step.items.some(({ products, packages }) => products.length > 0 || packages.length > 0)) return undefined;
  return step.origin === "found" ? "found-again" : "amended";
}

/** A unit's share of what all units of a line cost. */
function partOf(amount: Money | undefined, unit: number, units: number): Money | undefined {
  return amount === undefined || units <= 1 ? amount : shareOf(amount, units, unit);
}

function negative({ currency, minor }: Money): Money {
  return { currency, minor: minor === 0 ? 0 : -minor };
}

/** Empty where they are the same. What was paid before is given back where the currency is another one now. */
function difference(from: Money | undefined, to: Money | undefined): Cost[] {
  if (from !== undefined && from.currency === to?.currency)
    return from.minor === to.minor ? [] : [{ currency: to.currency, minor: minus(to.minor, from.minor) }];
  return [...(from === undefined ? [] : [negative(from)]), ...(to === undefined ? [] : [to])];
}

/** How many units a form of an order wants of each product, and what all of them cost. */
function linesIn(form: DesiredOrder | undefined): ReadonlyMap<string, { units: number; amount: Money | undefined }> {
  const lines = new Map<string, { units: number; amount: Money | undefined }>();
  if (form === undefined) return lines;
  for (const asset of buildAssets<PrivateMarker>(form.instances).assets)
    for (const { product } of contentsOf(asset))
      lines.set(product.id, { units: asset.quantity, amount: product.amount });
  return lines;
}

/** The licence order of a type; none where a purchase has more than one of it, since nobody knows which is whose. */
function licenceOrderOf(licenceOrders: readonly LicenceOrder[], licenseType: string): string | null {
  const [only, ...others] = licenceOrders.filter((item) => item.licenseType === licenseType);
  return others.length > 0 || only === undefined || only.licenseOrderId === "" ? null : only.licenseOrderId;
}

function unitKey({ instanceId, unit }: Pick<Unit, "instanceId" | "unit">): string {
  return JSON.stringify([instanceId, unit]);
}
