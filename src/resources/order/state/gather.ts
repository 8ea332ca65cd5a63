import {
  type AwayOrder,
  type EndedAsset,
  type LeftBehind,
  type OrderStanding,
  earlierOrders,
  hasProducts,
  sharingOrders,
} from "../model.ts";
import { formatKey } from "../../../crm/keys.ts";
import type { RecordKey, LicenseType } from "../../../crm/model.ts";
import {
  withTree,
  type DesiredCustomer,
  type DesiredOrder,
  type OrderWithTree,
} from "../../../engine/model/desired.ts";
import type { CustomerInput, LoadedCustomer } from "../../../engine/plan/input.ts";
import type { Gathered } from "../../../engine/model/resource.ts";
import { type Known, isSameKey } from "../../../engine/model/state.ts";
import { desired, type DesiredRows } from "../../../ledger/state/desired.ts";
import type { LedgerRows } from "../../../ledger/state/registry.ts";
import type { AssetNumberRows } from "./asset-number-rows.ts";
import type { OrderStepRows } from "./order-step-rows.ts";
import { agreesWith, type PlacedOrder } from "./changes.ts";
import type { PlacedOrderRows } from "./placed-order-rows.ts";
import { standingOf, type OrderHistory, type StandingParts } from "../fold.ts";

interface OrderTables {
  placed: PlacedOrderRows;
  numbers: AssetNumberRows;
  steps: OrderStepRows;
  histories: OrderHistories;
}

type Standing = OrderStanding | { lost: string };

export class OrderGathering {
  readonly #rows: OrderTables;
  readonly #ledger: LedgerRows;
  readonly #given: Gathered;
  readonly #standings = new Map<string, Standing>();

  constructor(rows: OrderTables, ledger: LedgerRows, given: Gathered) {
    this.#rows = rows;
    this.#ledger = ledger;
    this.#given = given;
  }

  /** Leaves out bodies of placed, unchanged orders. */
  gathered(): Partial<LoadedCustomer> {
    const { customer, orders, staff, held } = this.#given;
    const isMoved = held["moved"] === 1;
    this.#loadStandings();
    const away = isMoved ? this.#away() : [];
    const mayEnd = this.#standings.size > 0 || away.length > 0;
    const takers = mayEnd ? this.#ledger.desired.takers(customer).map((row) => withTree(desired(row))) : [];
    for (const order of takers) {
      const placed = this.#placed(order.key);
      if (placed !== undefined && !agreesWith(placed, order)) this.#load(order.key);
    }
    const unclear = isMoved ? orders.filter(({ key }) => this.#isUnclear(key)) : [];
    const named = new Map<string, RecordKey>();
    for (const { key, body } of orders)
      for (const earlier of earlierOrders(key, body.instances)) named.set(formatKey(earlier), earlier);
    return {
      takers,
      standings: this.#standings,
      left: this.#leftBehind(),
      ...(unclear.length > 0 ? { unclear } : {}),
      away: isMoved ? away : undefined,
      earlierOwners: this.#earlierOwners(named),
      earlier: [...named.values()].flatMap((earlier) => this.#otherwise(earlier) ?? []),
      ended: staff.length > 0 ? this.#ended() : undefined,
      sealed: this.#sealed(),
      unbought: staff.length > 0 ? this.#unbought() : undefined,
    };
  }

  #placed(order: RecordKey): PlacedOrder | undefined {
    return this.#given.known.placedOrders.get(formatKey(order));
  }

  #standingOf(placed: PlacedOrder, customer = this.#given.customer): Standing {
    return this.#rows.histories.standing(placed, customer, this.#given.known);
  }

  #load(order: RecordKey): void {
    const placed = this.#placed(order);
    const name = formatKey(order);
    if (placed !== undefined && !this.#standings.has(name)) this.#standings.set(name, this.#standingOf(placed));
  }

  /**
   * Loads orders that differ from the CRM or a reading, have an asset to switch, or pass something to such an order.
   */
  #loadStandings(): void {
    const { customer, known, orders } = this.#given;
    for (const order of orders) {
      const { key, body } = order;
      const placed = this.#placed(key);
      const isHere = placed !== undefined && isSameKey(placed.customer, customer);
      const isAgreed = isHere && agreesWith(placed, order);
      if (!isAgreed || asksForSwitch(body)) this.#load(key);
      if (isAgreed) continue;
      for (const source of [...earlierOrders(key, body.instances), ...sharingOrders(known.numbers, key)])
        this.#load(source);
    }
  }

  /** Also records as lost if nobody knows the remaining parts here. */
  #isUnclear(order: RecordKey): boolean {
    const lost = this.#rows.placed.unclear(order, this.#given.customer);
    if (lost !== undefined) this.#standings.set(formatKey(order), { lost });
    return lost !== undefined;
  }

  /** Other customers that have, or may have, parts of the looked-at orders. */
  #leftBehind(): ReadonlyMap<string, LeftBehind> {
    const left = new Map<string, LeftBehind>();
    for (const { key } of this.#given.orders) {
      const placed = this.#placed(key);
      if (placed === undefined) continue;
      for (const place of [placed.customer, ...this.#rows.placed.leftAt(key)]) {
        if (isSameKey(place, this.#given.customer) || left.has(formatKey(key))) continue;
        const lost = this.#rows.placed.unclear(key, place);
        const standing = lost === undefined ? this.#standingOf(placed, place) : { lost };
        if ("lost" in standing || hasProducts(standing)) left.set(formatKey(key), { customer: place, standing });
      }
    }
    return left;
  }

  #away(): AwayOrder[] {
    const { customer } = this.#given;
    const { placed: rows } = this.#rows;
    const known = new Map<string, Known>();
    return rows.movedFrom(customer).flatMap((key): AwayOrder[] => {
      const row = this.#ledger.desired.order(key);
      if (row === undefined) return [];
      const owner = { namespace: row.customer_namespace, id: row.customer_id };
      if (isSameKey(owner, customer)) return [];
      const lost = rows.unclear(key, customer);
      const placed = this.#placed(key);
      const standing = lost === undefined ? placed && this.#standingOf(placed) : { lost };
      const order = withTree(desired<DesiredOrder>(row));
      const ownerRow = this.#ledger.desired.customer(owner);
      const buyer = ownerRow && desired<DesiredCustomer>(ownerRow);
      const noEnterprise = this.#ledger.desired.noEnterprise(owner);
      const [unclear, taken] = [rows.unclear(key, owner), rows.taken(order, owner)];
      const ownerKnown = known.get(formatKey(owner)) ?? this.#given.knownOf(owner);
      known.set(formatKey(owner), ownerKnown);
      const theirs = this.#theirs(order, owner, ownerKnown);
      return [{ order, owner, standing, unclear, buyer, theirs, noEnterprise, taken }];
    });
  }

  #theirs({ key, body }: OrderWithTree, owner: RecordKey, known: Known): AwayOrder["theirs"] {
    const sources = earlierOrders(key, body.instances).flatMap((earlier): [string, Standing][] => {
      const placed = known.placedOrders.get(formatKey(earlier));
      return placed === undefined ? [] : [[formatKey(earlier), this.#rows.histories.standing(placed, owner, known)]];
    });
    return { known, standings: new Map(sources) };
  }

  #earlierOwners(named: ReadonlyMap<string, RecordKey>): CustomerInput["earlierOwners"] {
    const owners = [...named].flatMap(([name, earlier]) => {
      const owner = this.#placed(earlier) === undefined ? this.#ledger.desired.customerOf(earlier) : undefined;
      return owner === undefined || isSameKey(owner, this.#given.customer) ? [] : [[name, owner] as const];
    });
    return owners.length === 0 ? undefined : new Map(owners);
  }

  /** An earlier order of the same customer that differs from the CRM and is not planned now. */
  #otherwise(earlier: RecordKey): OrderWithTree | undefined {
    const { customer, orders } = this.#given;
    const placed = orders.some(({ key }) => isSameKey(key, earlier)) ? undefined : this.#placed(earlier);
    const row = placed === undefined ? undefined : this.#ledger.desired.order(earlier);
    if (placed === undefined || row === undefined) return undefined;
    if (!isSameKey({ namespace: row.customer_namespace, id: row.customer_id }, customer)) return undefined;
    const order = withTree(desired<DesiredOrder>(row));
    return agreesWith(placed, order) && isSameKey(placed.customer, customer) ? undefined : order;
  }

  #ended(): EndedAsset[] {
    const { customer, known } = this.#given;
    const hasSteps = [...known.placedOrders.values()].some(({ agreedHash }) => agreedHash !== undefined);
    return hasSteps ? this.#rows.numbers.ended(customer) : [];
  }

  #sealed(): ReadonlySet<string> {
    const { known, orders } = this.#given;
    const names = orders.map(({ key }) => formatKey(key)).filter((name) => known.placedOrders.has(name));
    return new Set(names.filter((name) => this.#ledger.private.isSealed(`orders/${name}`)));
  }

  /** A rejected purchase leaves its numbers fixed but unused. */
  #unbought(): ReadonlySet<string> {
    const { customer, known } = this.#given;
    const unbought = new Set<string>();
    for (const order of this.#rows.steps.withUnusedNumber(customer)) {
      const placed = this.#placed(order);
      const standing = placed && this.#standingOf(placed);
      if (standing === undefined || "lost" in standing) continue;
      const bought = new Set(standing.units.map((unit) => unit.number));
      for (const { namespace, orderId, number } of known.numbers)
        if (namespace === order.namespace && orderId === order.id && !bought.has(number)) unbought.add(number);
    }
    return unbought;
  }
}

/** Only existing assets can be switched. */
function asksForSwitch({ instances }: DesiredOrder): boolean {
  return instances.some((item) => item.kind === "asset" && item.locked !== undefined);
}

export class OrderHistories {
  readonly #steps: OrderStepRows;
  readonly #desired: DesiredRows;

  constructor(steps: OrderStepRows, desired: DesiredRows) {
    this.#steps = steps;
    this.#desired = desired;
  }

  standing(placed: PlacedOrder, customer: RecordKey, known: Pick<Known, "numbers">): OrderStanding | { lost: string } {
    return standingOf(placed, this.#partsOf(placed, customer, known));
  }

  of(customer: RecordKey, order: RecordKey, known: Pick<Known, "placedOrders" | "numbers">): OrderHistory | undefined {
    const placed = known.placedOrders.get(formatKey(order));
    if (placed === undefined) return undefined;
    const parts = this.#partsOf(placed, customer, known);
    const common = { key: order, since: "", bodyHash: "", state: "current" as const, pending: false };
    const forms = [...parts.forms].map(([version, body]) => [version, withTree({ ...common, version, body })] as const);
    const row = this.#desired.order(order);
    const owner = row && { namespace: row.customer_namespace, id: row.customer_id };
    return { placed, owner, parts, forms: new Map(forms), operations: this.#steps.operationsOf(order) };
  }

  licenceTypes({ placedOrders, numbers }: Pick<Known, "placedOrders" | "numbers">): Map<string, LicenseType> {
    const types = new Map<string, LicenseType>();
    for (const { key, version } of placedOrders.values()) {
      const bought = this.#steps.of(key).flatMap((step) => (step.kind === "bought" ? [step.version] : []));
      const forms = [...new Set([version, ...bought])].map((of) => this.#desired.orderVersion(key, of));
      for (const instance of forms.flatMap((form) => form?.instances ?? [])) {
        if (instance.kind !== "asset") continue;
        for (const number of instance.assetNumbers) types.set(number, instance.licenseType);
        for (const item of numbers)
          if (item.instanceId === instance.id && item.orderId === key.id && item.namespace === key.namespace)
            types.set(item.number, instance.licenseType);
      }
    }
    return types;
  }

  #partsOf(
    { key, version, placedFor }: PlacedOrder,
    customer: RecordKey,
    { numbers }: Pick<Known, "numbers">,
  ): StandingParts & { forms: ReadonlyMap<number, DesiredOrder> } {
    const steps = this.#steps.of(key);
    const forms = new Map<number, DesiredOrder>();
    for (const of of [version, ...steps.flatMap((step) => (step.kind === "bought" ? [step.version] : []))]) {
      const form = forms.get(of) ?? this.#desired.orderVersion(key, of);
      if (form !== undefined) forms.set(of, form);
    }
    return { forms, numbers, licenceOrders: this.#steps.licenceOrders(key), steps, placedFor, customer };
  }
}
