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
import type { BoughtItem, RemovedItem } from "./payload.ts";
import type { LicenceOrder, OrderPriced, OrderRemoved, OrderStep, PricedItem, PlacedOrder } from "./state/changes.ts";
import { compareBytes, isSameKey } from "../../engine/model/state-part.ts";

/** What a standing is made from. */
export interface StandingParts {
  /** Forms of the order, by version: the one that was placed, and those that steps were made from. */
  forms: ReadonlyMap<number, KeptOrder>;
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

/** What an order is folded from. */
export interface OrderPast {
  order: RecordKey;
  placing: {
    /** For whom it was placed. */
    customer: RecordKey;
    channelOrderId: string;
    version: number;
    licenceOrders: readonly LicenceOrder[];
  };
  /** By version; a form that is not kept any more is missing. */
  forms: ReadonlyMap<number, KeptOrder>;
  /** In their order, of all customers. */
  steps: readonly OrderStep[];
  /** The number of a unit whose purchase names none. `product` is the first one that was bought in it. */
  numberOf: (of: { customer: RecordKey; instanceId: string; unit: number; product: string }) => string | undefined;
}

/** A unit from its first purchase until all of it is removed. */
export interface LineUnit {
  instanceId: string;
  unit: number;
  /** The first one that any step names: it may have become known after the change. */
  readonly number: string | undefined;
}

/** One product of one purchase in one unit was bought (1), removed (-1), or priced (0). */
export interface LineChange {
  unit: LineUnit;
  units: 1 | -1 | 0;
  /** As it stands since then, or stood until then. */
  product: StandingProduct;
  /** The same as it stood before, where it was priced. */
  previous: StandingProduct | undefined;
  /** The form of the order that it was bought from. */
  version: number;
}

/** What the placing of an order or one of its steps did, product by product. */
export interface StepChange {
  /** 0: the placing. */
  step: number;
  customer: RecordKey;
  /** What the whole order costs the customer since then; undefined also where nothing of it stands. */
  amount: Money | undefined;
  lines: readonly LineChange[];
}

/** The state of an order, computed from its history. */
export interface OrderFold {
  /** For the placing and each step, in their order. A purchase from a form that is not kept has no lines. */
  changes: readonly StepChange[];
  /** `lost` says which form is not kept any more: then nobody knows what stands, and nothing of the order is amended. */
  standing: (customer: RecordKey) => OrderStanding | { lost: string };
}

/** Walks once over the placing and the steps of an order. Each customer that it was ever for has a state of its own. */
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

/** What stands of a placed order for the customer that it stands for, or for the one that is asked about. */
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

/** What stands once something of it went or costs something else. What is not this order's leaves it as it is. */
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
  /** Undefined: everything that the form says. */
  items: readonly BoughtItem[] | undefined;
  licenceOrders: readonly LicenceOrder[];
}

interface FoldedUnit {
  standing: StandingUnit;
  line: { -readonly [Name in keyof LineUnit]: LineUnit[Name] };
}

/** What stands of an order for one customer between two steps, and what each step does to it. */
class CustomerFold {
  readonly #customer: RecordKey;
  readonly #numberOf: OrderPast["numberOf"];
  readonly #units: Map<string, FoldedUnit>;
  readonly #ended: EndedProduct[];
  /** Forms by the channel order number that was bought from them. */
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

  /** One product of a unit goes, of one purchase or of all, or the whole unit does. */
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
    // A package stands as long as anything of it does.
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
