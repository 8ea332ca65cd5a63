import { formatKey } from "../../crm/keys.ts";
import type { Asset, Money, Package, Product, RecordKey } from "../../crm/model.ts";
import { buildAssets } from "../../crm/tree.ts";
import { foldOrder, type LineChange, type LineUnit, type StepChange } from "../../resources/order/fold.ts";
import type { StandingProduct } from "../../resources/order/model.ts";
import type { Commitment } from "../../engine/model/references.ts";
import type { StepOrigin } from "../../resources/order/state/changes.ts";
import { minus, type Exact } from "../../report/statement/cells.ts";
import { shareOf } from "../../report/statement/order-form.ts";
import type { DatedOrder } from "./filters.ts";
import type { HistoryStep, OrderHistory } from "./order-history.ts";

export interface UnitProduct {
  unit: LineUnit;
  asset: Asset<Commitment>;
  /** `amount`: the last agreed price in all units of its asset. */
  product: Product<Commitment>;
  zones: DatedOrder["zones"];
  packages: readonly Package<Commitment>[];
  channelOrderId: string;
  licenceOrderId: string | null;
  amount: Money | undefined;
}

interface Cost {
  currency: string;
  minor: Exact;
}

export interface Moved {
  of: UnitProduct;
  units: 1 | -1 | 0;
  amounts: readonly Cost[];
}

type OrderEvent = "placed" | "adopted" | "amended" | "ended" | "repriced" | "found-gone";

export interface OrderChange {
  /** 0: the placing; otherwise the number of the step. */
  number: number;
  at: string;
  event: OrderEvent;
  /** Null for a change of amounts, which nobody sent or observed. */
  origin: StepOrigin | null;
  customer: RecordKey;
  channelOrderId: string;
  operationId: string | null;
  moved: readonly Moved[];
  amount: Money | undefined;
}

interface StatedOrder {
  changes: OrderChange[];
  productsOf: (customer: RecordKey) => UnitProduct[];
}

export function statedOrder(history: OrderHistory): StatedOrder {
  const { placing, steps } = history;
  const shares = new Shares(history.forms);
  const changes = foldOrder(history).changes.flatMap((change, at): OrderChange[] => {
    const step = at === 0 ? undefined : steps[at - 1];
    const moved = shares.moved(change, step);
    const told = step === undefined ? toldOfPlacing(placing) : toldOfStep(step, placing);
    return told === undefined
      ? []
      : [{ ...told, number: change.step, customer: change.customer, moved, amount: change.amount }];
  });
  return { changes, productsOf: (customer) => shares.productsOf(customer) };
}

type Told = Pick<OrderChange, "at" | "event" | "origin" | "channelOrderId" | "operationId">;

function toldOfPlacing({ at, origin, channelOrderId, operationId }: OrderHistory["placing"]): Told {
  return { at, event: origin, origin: origin === "placed" ? "sent" : "found", channelOrderId, operationId };
}

/** Undefined for a step that only renumbers units. */
function toldOfStep(step: HistoryStep, { channelOrderId }: OrderHistory["placing"]): Told | undefined {
  const { at, operationId } = step;
  const of = { at, operationId, channelOrderId };
  if (step.kind === "priced") return { ...of, event: "repriced", origin: null };
  const { origin } = step;
  if (step.kind === "removed") return { ...of, event: origin === "found" ? "found-gone" : "ended", origin };
  if (!step.items.some(({ products, packages }) => products.length > 0 || packages.length > 0)) return undefined;
  return { ...of, event: "amended", origin, channelOrderId: step.channelOrderId };
}

class Shares {
  readonly #forms: OrderHistory["forms"];
  readonly #lines = new Map<DatedOrder, ReadonlyMap<string, FormLine>>();
  readonly #standing = new Map<string, Map<LineUnit, StandingProduct[]>>();
  readonly #stated = new Map<StandingProduct, UnitProduct>();

  constructor(forms: OrderHistory["forms"]) {
    this.#forms = forms;
  }

  productsOf(customer: RecordKey): UnitProduct[] {
    return [...this.#unitsOf(customer).values()].flatMap((products) =>
      products.flatMap((product) => this.#stated.get(product) ?? []),
    );
  }

  moved({ customer, lines }: StepChange, step: HistoryStep | undefined): Moved[] {
    if (step?.kind === "priced") return this.#price(customer, lines, step.form);
    const moved = lines.flatMap((line) => (line.units === 1 ? this.#came(customer, line) : this.#went(customer, line)));
    if (step === undefined) return moved;
    return [...moved, ...this.#shareAnew(customer, step.form)];
  }

  #came(customer: RecordKey, { unit, product: standing, previous, version }: LineChange): Moved[] {
    const before = previous && this.#stated.get(previous);
    const of = before === undefined ? this.#bought(unit, standing, version) : { ...before, unit };
    if (of === undefined) return [];
    const units = this.#unitsOf(customer);
    units.set(unit, [...(units.get(unit) ?? []), standing]);
    this.#stated.set(standing, of);
    return [{ of, units: 1, amounts: of.amount === undefined ? [] : [of.amount] }];
  }

  #bought(unit: LineUnit, standing: StandingProduct, version: number): UnitProduct | undefined {
    const form = this.#forms.get(version);
    const line = this.#linesIn(form).get(standing.product.id);
    if (line === undefined) return undefined;
    const { asset, packages } = line;
    const { product, channelOrderId, licenseOrderId: licenceOrderId = null } = standing;
    const amount = partOf(product.amount, unit.unit, asset.quantity);
    return { unit, asset, product, zones: form?.zones, packages, channelOrderId, licenceOrderId, amount };
  }

  #went(customer: RecordKey, { unit, product: standing }: LineChange): Moved[] {
    const of = this.#stated.get(standing);
    if (of === undefined) return [];
    this.#replace(customer, unit, (one) => (one === standing ? [] : [one]));
    return [{ of, units: -1, amounts: of.amount === undefined ? [] : [negative(of.amount)] }];
  }

  /** A new price is divided by the number of units in the form, or by the existing units if there are more. */
  #price(customer: RecordKey, lines: readonly LineChange[], form: DatedOrder | undefined): Moved[] {
    return [...Map.groupBy(lines, ({ product }) => product.product.id)].flatMap(([id, priced]) => {
      const units = inOrder(new Set(priced.map(({ unit }) => unit)));
      const count = Math.max(this.#linesIn(form).get(id)?.asset.quantity ?? 0, units.length);
      const byUnit = Map.groupBy(priced, ({ unit }) => unit);
      return units.flatMap((unit, rank) =>
        (byUnit.get(unit) ?? []).flatMap(({ product: standing, previous = standing }): Moved[] => {
          const before = this.#stated.get(previous);
          if (before === undefined) return [];
          const { product } = standing;
          const of = { ...before, product, amount: partOf(product.amount, rank, count) };
          this.#stated.delete(previous);
          this.#stated.set(standing, of);
          this.#replace(customer, unit, (one) => [one === previous ? standing : one]);
          const amounts = difference(before.amount, of.amount);
          return amounts.length === 0 ? [] : [{ of, units: 0, amounts }];
        }),
      );
    });
  }

  /** The same amount for another quantity is divided again: by the form's units, or by the existing ones if more. */
  #shareAnew(customer: RecordKey, form: DatedOrder | undefined): Moved[] {
    const lines = this.#linesIn(form);
    const standing = this.#unitsOf(customer);
    // Of two purchases of one product in a unit, the later one.
    const latest = inOrder(standing.keys()).map(
      (unit) => new Map((standing.get(unit) ?? []).map((one) => [one.product.id, one])),
    );
    const stands = new Map<string, number>();
    for (const products of latest) for (const id of products.keys()) stands.set(id, (stands.get(id) ?? 0) + 1);
    const ranks = new Map<string, number>();
    const moved: Moved[] = [];
    for (const [id, one] of latest.flatMap((products) => [...products])) {
      const rank = ranks.get(id) ?? 0;
      ranks.set(id, rank + 1);
      const wanted = lines.get(id);
      const before = this.#stated.get(one);
      if (wanted === undefined || before === undefined) continue;
      if (difference(one.product.amount, wanted.product.amount).length > 0) continue;
      const count = Math.max(wanted.asset.quantity, stands.get(id) ?? 0);
      const amount = partOf(one.product.amount, rank, count);
      const amounts = difference(before.amount, amount);
      if (amounts.length === 0) continue;
      const of = { ...before, amount };
      this.#stated.set(one, of);
      moved.push({ of, units: 0, amounts });
    }
    return moved;
  }

  #replace(customer: RecordKey, unit: LineUnit, by: (product: StandingProduct) => StandingProduct[]): void {
    const units = this.#unitsOf(customer);
    units.set(unit, (units.get(unit) ?? []).flatMap(by));
  }

  #unitsOf(customer: RecordKey): Map<LineUnit, StandingProduct[]> {
    const name = formatKey(customer);
    const units = this.#standing.get(name) ?? new Map<LineUnit, StandingProduct[]>();
    this.#standing.set(name, units);
    return units;
  }

  #linesIn(form: DatedOrder | undefined): ReadonlyMap<string, FormLine> {
    if (form === undefined) return noLines;
    const lines = this.#lines.get(form) ?? linesOf(form);
    this.#lines.set(form, lines);
    return lines;
  }
}

type FormLine = Pick<UnitProduct, "asset" | "product" | "packages">;

const noLines: ReadonlyMap<string, FormLine> = new Map();

function linesOf(form: DatedOrder): ReadonlyMap<string, FormLine> {
  const lines = buildAssets<Commitment>(form.instances).assets.flatMap((asset) => {
    const under = (item: Package<Commitment>, around: readonly Package<Commitment>[]): FormLine[] => {
      const packages = [...around, item];
      const own = item.products.map((product) => ({ asset, product, packages }));
      return [...own, ...item.children.flatMap((child) => under(child, packages))];
    };
    const own = asset.products.map((product) => ({ asset, product, packages: [] }));
    return [...own, ...asset.packages.flatMap((item) => under(item, []))];
  });
  return new Map(lines.map((line) => [line.product.id, line]));
}

function inOrder(units: Iterable<LineUnit>): LineUnit[] {
  return [...units].toSorted((one, other) => one.unit - other.unit);
}

function partOf(amount: Money | undefined, unit: number, units: number): Money | undefined {
  return amount === undefined || units <= 1 ? amount : shareOf(amount, units, unit);
}

function negative({ currency, minor }: Money): Money {
  return { currency, minor: minor === 0 ? 0 : -minor };
}

/** Empty if both are equal. With another currency, the old amount is returned in full. */
function difference(from: Money | undefined, to: Money | undefined): Cost[] {
  if (from !== undefined && from.currency === to?.currency)
    return from.minor === to.minor ? [] : [{ currency: to.currency, minor: minus(to.minor, from.minor) }];
  return [...(from === undefined ? [] : [negative(from)]), ...(to === undefined ? [] : [to])];
}
