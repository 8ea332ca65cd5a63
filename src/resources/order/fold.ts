import { formatKey } from "../../crm/keys.ts";
import type { Asset, LicenseType, Money, RecordKey } from "../../crm/model.ts";
import { buildAssets } from "../../crm/tree.ts";
import type { KeptOrder, OrderWithTree } from "../../engine/model/desired.ts";
import {
  productsUnder,
  termsOf,
  type Bought,
  type EndedProduct,
  type OrderStanding,
  type StandingPackage,
  type StandingProduct,
  type StandingUnit,
} from "./model.ts";
import type { Commitment, FixedNumber } from "../../engine/model/references.ts";
import type { BoughtItem, RemovedItem } from "./shapes.ts";
import type { LicenceOrder, OrderPriced, OrderRemoved, OrderStep, PricedItem, PlacedOrder } from "./state/changes.ts";
import { compareBytes, isSameKey } from "../../engine/model/state.ts";

export interface StandingParts {
  forms: ReadonlyMap<number, KeptOrder>;
  numbers: readonly FixedNumber[];
  licenceOrders: readonly LicenceOrder[];
  steps: readonly OrderStep[];
  placedFor?: RecordKey | undefined;
  customer?: RecordKey | undefined;
}

export interface OrderHistory {
  placed: PlacedOrder;
  /** Undefined: the CRM does not know the order. */
  owner: RecordKey | undefined;
  parts: StandingParts;
  forms: ReadonlyMap<number, OrderWithTree>;
  operations: ReadonlyMap<number, string>;
}

export interface OrderPast {
  order: RecordKey;
  placing: {
    customer: RecordKey;
    channelOrderId: string;
    version: number;
    licenceOrders: readonly LicenceOrder[];
  };
  /** By version. A form that is no longer kept is missing. */
  forms: ReadonlyMap<number, KeptOrder>;
  /** Oldest first, of all customers. */
  steps: readonly OrderStep[];
  /** The number of a unit whose purchase names none. `product`: the first product bought in the unit. */
  numberOf: (of: { customer: RecordKey; instanceId: string; unit: number; product: string }) => string | undefined;
}

export interface LineUnit {
  instanceId: string;
  unit: number;
  /** The first number that a step names. It may have become known after the change. */
  readonly number: string | undefined;
}

/** One product of one purchase in one unit: bought or found again (1), removed (-1), or priced (0). */
export interface LineChange {
  unit: LineUnit;
  units: 1 | -1 | 0;
  /** The product after the change, or before its removal. */
  product: StandingProduct;
  previous: StandingProduct | undefined;
  version: number;
}

export interface StepChange {
  step: number;
  customer: RecordKey;
  /** The price of the whole order after the step; undefined also if nothing of the order exists. */
  amount: Money | undefined;
  lines: readonly LineChange[];
}

export interface OrderFold {
  /** Oldest first. A purchase has no lines if its form is no longer kept. */
  changes: readonly StepChange[];
  /** `lost`: the form that is no longer kept. The state is then unknown, and the order must not be amended. */
  standing: (customer: RecordKey) => OrderStanding | { lost: string };
}

/** Computes the state from the placing and the steps, separately for each customer. */
export function foldOrder({ order, placing, forms, steps, numberOf }: OrderPast): OrderFold {
  const folds = new Map<string, CustomerFold>();
  const lost = new Map<string, string>();
  const foldOf = (customer: RecordKey): CustomerFold => {
    const name = formatKey(customer);
    const fold = folds.get(name) ?? new CustomerFold(customer, placing, numberOf);
    folds.set(name, fold);
    return fold;
  };
  const formFor = (customer: RecordKey, version: number): KeptOrder | undefined => {
    const form = forms.get(version);
    const name = formatKey(customer);
    if (form === undefined && !lost.has(name)) lost.set(name, lostForm(order, version));
    return form;
  };
  const linesOf = (step: OrderStep): LineChange[] => {
    const fold = foldOf(step.customer);
    if (step.kind === "removed") return step.items.flatMap((item) => fold.remove(item));
    if (step.kind === "priced") return step.items.flatMap((item) => fold.price(item));
    const form = formFor(step.customer, step.version);
    return fold.buy(form, step);
  };
  const { customer, version } = placing;
  const bought = foldOf(customer).buy(formFor(customer, version), { ...placing, items: undefined });
  const changes = [{ step: 0, customer, amount: foldOf(customer).cost, lines: bought }];
  for (const step of steps) {
    const lines = linesOf(step);
    changes.push({ step: step.number, customer: step.customer, amount: foldOf(step.customer).cost, lines });
  }
  return {
    changes,
    standing: (of) => {
      const why = lost.get(formatKey(of));
      if (why !== undefined) return { lost: why };
      const { channelOrderId } = placing;
      return { order, customer: of, channelOrderId, lastStep: steps.at(-1)?.number ?? 0, ...foldOf(of).standing() };
    },
  };
}

export function standingOf(
  placed: PlacedOrder,
  { forms, numbers, licenceOrders, steps, placedFor, customer }: StandingParts,
): OrderStanding | { lost: string } {
  const { key: order, channelOrderId, version } = placed;
  const fixed = numbersByUnit(order, numbers);
  const { standing } = foldOrder({
    order,
    placing: { customer: placedFor ?? placed.customer, channelOrderId, version, licenceOrders },
    forms,
    steps,
    numberOf: ({ instanceId, unit }) => fixed.get(unitKey(instanceId, unit)),
  });
  return standing(customer ?? placed.customer);
}

/** The state after a removal or a price change. A change of another order or customer has no effect. */
export function standingAfter(standing: OrderStanding, change: OrderRemoved | OrderPriced): OrderStanding {
  const { order, customer } = standing;
  if (!isSameKey(change.order, order) || !isSameKey(change.customer, customer)) return standing;
  const fold = new CustomerFold(customer, undefined, () => undefined, standing);
  if (change.type === "order-removed") for (const item of change.items) fold.remove(item);
  else for (const item of change.items) fold.price(item);
  return { ...standing, ...fold.standing() };
}

interface Purchase {
  channelOrderId: string;
  version: number;
  items: readonly BoughtItem[] | undefined;
  licenceOrders: readonly LicenceOrder[];
}

interface FoldedUnit {
  standing: StandingUnit;
  line: { -readonly [Name in keyof LineUnit]: LineUnit[Name] };
}

class CustomerFold {
  readonly #customer: RecordKey;
  readonly #numberOf: OrderPast["numberOf"];
  readonly #units: Map<string, FoldedUnit>;
  readonly #ended: EndedProduct[];
  readonly #versions: Map<string, number>;
  #amount: Money | undefined;

  constructor(
    customer: RecordKey,
    placing: Pick<Purchase, "channelOrderId" | "version"> | undefined,
    numberOf: OrderPast["numberOf"],
    { amount, units, ended }: Pick<OrderStanding, "amount" | "units" | "ended"> = nothing,
  ) {
    this.#customer = customer;
    this.#numberOf = numberOf;
    this.#units = new Map(units.map((unit) => [unitKey(unit.instanceId, unit.unit), folded(unit)]));
    this.#ended = [...ended];
    this.#versions = new Map(placing === undefined ? [] : [[placing.channelOrderId, placing.version]]);
    this.#amount = amount;
  }

  get cost(): Money | undefined {
    return this.#stands() ? this.#amount : undefined;
  }

  standing(): Pick<OrderStanding, "amount" | "units" | "ended"> {
    const units = [...this.#units.values()].map(({ standing }) => standing);
    return {
      amount: this.#amount,
      units: units.toSorted((one, other) => compareBytes(one.instanceId, other.instanceId) || one.unit - other.unit),
      ended: this.#ended,
    };
  }

  buy(form: KeptOrder | undefined, { channelOrderId, version, items, licenceOrders }: Purchase): LineChange[] {
    this.#amount = this.cost ?? form?.amount;
    this.#versions.set(channelOrderId, version);
    if (form === undefined) return [];
    const byInstance = Map.groupBy(items ?? [], ({ instanceId }) => instanceId);
    return buildAssets<Commitment>(form.instances).assets.flatMap((asset) => {
      const bought: Bought = { channelOrderId, licenseOrderId: licenceOrderOf(licenceOrders, asset.licenseType) };
      if (items === undefined)
        return Array.from({ length: asset.quantity }, (_, unit) =>
          this.#buyUnit(asset, { unit, number: null }, bought),
        ).flat();
      return (byInstance.get(asset.id) ?? []).flatMap((item) => {
        const products = asset.products.filter(({ id }) => item.products.includes(id));
        const packages = asset.packages.filter(({ id }) => item.packages.includes(id));
        return this.#buyUnit({ ...asset, products, packages }, item, bought);
      });
    });
  }

  #buyUnit(
    asset: Asset<Commitment>,
    { unit, number, continues }: Pick<BoughtItem, "unit" | "number" | "continues">,
    bought: Bought,
  ): LineChange[] {
    const { id: instanceId, licenseType } = asset;
    const packages = asset.packages.map((item): StandingPackage => ({ item, ...bought }));
    const products = [
      ...asset.products.map((product): StandingProduct => ({ product, packageId: undefined, ...bought })),
      ...asset.packages.flatMap((item) =>
        productsUnder(item).map((product): StandingProduct => ({ product, packageId: item.id, ...bought })),
      ),
    ];
    const key = unitKey(instanceId, unit);
    let stood = this.#units.get(key);
    if (stood === undefined) {
      const of = { customer: this.#customer, instanceId, unit, product: products[0]?.product.id ?? "" };
      const terms = { licenseType, asset: termsOf(asset), products: [], packages: [] };
      const known = number ?? this.#numberOf(of);
      stood = folded({ instanceId, unit, number: known, customer: this.#customer, ...terms });
    }
    const { standing, line } = stood;
    line.number ??= number ?? undefined;
    this.#units.set(key, {
      line,
      standing: {
        ...standing,
        number: standing.number ?? number ?? undefined,
        products: [...standing.products, ...products],
        packages: [...standing.packages, ...packages],
        ...(continues === undefined ? {} : { renews: true }),
      },
    });
    return products.map((product) => this.#change(line, 1, product));
  }

  remove({ instanceId, unit, number, product, channelOrderId }: RemovedItem): LineChange[] {
    const key = unitKey(instanceId, unit);
    const stood = this.#units.get(key);
    if (stood === undefined) return [];
    const { standing, line } = stood;
    line.number ??= number ?? undefined;
    const goes = (item: StandingProduct): boolean =>
      product === null ||
      (item.product.id === product && (channelOrderId === null || item.channelOrderId === channelOrderId));
    const gone = standing.products.filter(goes);
    const products = standing.products.filter((item) => !goes(item));
    // A package exists while any of its products exists.
    const packages = standing.packages.filter(({ item, channelOrderId: bought }) =>
      products.some((one) => one.packageId === item.id && one.channelOrderId === bought),
    );
    if (product === null) this.#units.delete(key);
    else this.#units.set(key, { line, standing: { ...standing, products, packages } });
    const { products: _products, packages: _packages, ...ended } = standing;
    const at = number === null ? ended : { ...ended, number };
    for (const item of gone) this.#ended.push({ unit: at, standing: item });
    return gone.map((item) => this.#change(line, -1, item));
  }

  price({ product, to }: PricedItem): LineChange[] {
    const amount = to ?? undefined;
    if (product === null) {
      this.#amount = amount;
      return [];
    }
    const changes: LineChange[] = [];
    for (const [key, { standing, line }] of this.#units) {
      const products = standing.products.map((previous) => {
        if (previous.product.id !== product) return previous;
        const priced: StandingProduct = { ...previous, product: { ...previous.product, amount } };
        changes.push(this.#change(line, 0, priced, previous));
        return priced;
      });
      this.#units.set(key, { line, standing: { ...standing, products } });
    }
    return changes;
  }

  #change(unit: LineUnit, units: 1 | -1 | 0, product: StandingProduct, previous?: StandingProduct): LineChange {
    return { unit, units, product, previous, version: this.#versions.get(product.channelOrderId) ?? 0 };
  }

  #stands(): boolean {
    return this.#units.values().some(({ standing }) => standing.products.length > 0);
  }
}

const nothing = { amount: undefined, units: [], ended: [] };

function folded(standing: StandingUnit): FoldedUnit {
  const { instanceId, unit, number } = standing;
  return { standing, line: { instanceId, unit, number } };
}

function lostForm(order: RecordKey, version: number): string {
  return `form ${version} of the order ${formatKey(order)} is not kept any more`;
}

/** Undefined if a purchase has several licence orders of the type: nobody knows which one applies. */
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
