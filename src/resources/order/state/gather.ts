import type { AwayOrder, EndedAsset, LeftBehind, OrderStanding } from "../model.ts";
import { formatKey } from "../../../crm/keys.ts";
import type { RecordKey, LicenseType } from "../../../crm/model.ts";
import { withTree } from "../../../engine/model/desired.ts";
import type { Desired, DesiredCustomer, DesiredOrder, OrderWithTree } from "../../../engine/model/desired.ts";
import { driftName } from "../../../engine/plan/drift.ts";
import type { Drift } from "../../../engine/plan/drift.ts";
import type { CustomerInput, LoadedCustomer } from "../../../engine/plan/input.ts";
import type { Gathered } from "../../../engine/model/resource.ts";
import type { Known } from "../../../engine/model/state.ts";
import { isSameKey } from "../../../engine/model/state-part.ts";
import { desired } from "../../../ledger/state/desired.ts";
import type { LedgerRows } from "../../../ledger/state/registry.ts";
import { earlierOrders, hasProducts, sharingOrders } from "../model.ts";
import type { AssetNumberRows } from "./asset-number-rows.ts";
import type { OrderStepRows } from "./order-step-rows.ts";
import { agreesWith } from "./changes.ts";
import type { PlacedOrder } from "./changes.ts";
import type { PlacedOrderRows } from "./placed-order-rows.ts";
import { standingOf } from "../fold.ts";
import type { OrderHistory, StandingParts } from "../fold.ts";
import type { DesiredRows } from "../../../ledger/state/desired.ts";

/** The rows of orders in an open ledger, by what they are of. */
interface OrderTables {
  placed: PlacedOrderRows;
  numbers: AssetNumberRows;
  steps: OrderStepRows;
  histories: OrderHistories;
}

/** What a customer is planned from beside its own orders and what is known. Reads only. */
export class OrderGathering {
  readonly #rows: OrderTables;
  readonly #ledger: LedgerRows;

  constructor(rows: OrderTables, ledger: LedgerRows) {
    this.#rows = rows;
    this.#ledger = ledger;
  }

  /** Bodies of placed, unchanged orders are left out. */
  of({ customer, known, orders, staff, held }: Gathered): Partial<LoadedCustomer> {
    const isDrifted = held.drifted === 1;
    const isMoved = held["moved"] === 1;
    const standings = this.#standings(customer, known, orders, isDrifted);
    const away = isMoved ? this.#away(customer, known) : [];
    const mayEnd = standings.size > 0 || away.length > 0;
    const takers = mayEnd ? this.#ledger.desired.takers(customer).map((row) => withTree(desired(row))) : [];
    this.#addStandings(standings, customer, known, takers);
    const unclear = isMoved ? this.#unclear(standings, customer, orders) : [];
    const hasStaff = staff.length > 0;
    const named = new Map<string, RecordKey>();
    for (const { key, body } of orders)
      for (const earlier of earlierOrders(key, body.instances)) named.set(formatKey(earlier), earlier);
    return {
      takers,
      standings,
      left: this.#leftBehind(customer, known, orders),
      ...(unclear.length > 0 ? { unclear } : {}),
      away: isMoved ? away : undefined,
      earlierOwners: this.#earlierOwners(customer, known, named),
      earlier: this.#earlier(customer, known, orders, named),
      ended: hasStaff ? this.#ended(customer, known) : undefined,
      sealed: this.#sealed(known, orders),
      unbought: hasStaff ? this.#unbought(customer, known) : undefined,
      ...((isDrifted || held.otherwise === 1) && { drift: this.#drift(customer) }),
    };
  }

  /**
   * The state of each placed order that needs it: the CRM wants it otherwise, or it was read back otherwise; an asset of
   * it is to be switched; another order takes a product over from it or continues an asset of it; or it shares an asset
   * number with one of these.
   */
  #standings(
    customer: RecordKey,
    known: Known,
    orders: readonly Desired<DesiredOrder>[],
    drifted: boolean,
  ): Map<string, OrderStanding | { lost: string }> {
    const standings = new Map<string, OrderStanding | { lost: string }>();
    const load = (key: string): void => {
      const placed = known.placedOrders.get(key);
      if (placed !== undefined && !standings.has(key)) standings.set(key, this.#standingOf(placed, customer, known));
    };
    for (const { key, bodyHash, state, body } of orders) {
      const name = formatKey(key);
      const placed = known.placedOrders.get(name);
      const isHere = placed !== undefined && isSameKey(placed.customer, customer);
      const agrees = isHere && agreesWith(placed, { state, bodyHash });
      const isAgreed = agrees && !drifted;
      if (!isAgreed || asksForSwitch(body)) load(name);
      if (isAgreed) continue;
      for (const source of [...earlierOrders(key, body.instances), ...sharingOrders(known.numbers, key)])
        load(formatKey(source));
    }
    return standings;
  }

  /** With what stands of orders that take something over and do not stand as the CRM says. */
  #addStandings(
    standings: Map<string, OrderStanding | { lost: string }>,
    customer: RecordKey,
    known: Known,
    takers: readonly OrderWithTree[],
  ): void {
    for (const order of takers) {
      const name = formatKey(order.key);
      const placed = known.placedOrders.get(name);
      if (placed === undefined || standings.has(name)) continue;
      if (agreesWith(placed, order)) continue;
      standings.set(name, this.#standingOf(placed, customer, known));
    }
  }

  /** Orders that moved back to where nobody knows what they left: so it is said in what stands of them. */
  #unclear(
    standings: Map<string, OrderStanding | { lost: string }>,
    customer: RecordKey,
    orders: readonly OrderWithTree[],
  ): OrderWithTree[] {
    return orders.filter(({ key }) => {
      const lost = this.#rows.placed.unclear(key, customer);
      if (lost !== undefined) standings.set(formatKey(key), { lost });
      return lost !== undefined;
    });
  }

  /** For whom else something of a customer's own placed orders stands, or may, of those that are looked at. */
  #leftBehind(customer: RecordKey, known: Known, orders: readonly OrderWithTree[]): ReadonlyMap<string, LeftBehind> {
    const left = new Map<string, LeftBehind>();
    for (const { key } of orders) {
      const placed = known.placedOrders.get(formatKey(key));
      if (placed === undefined) continue;
      for (const place of [placed.customer, ...this.#rows.placed.leftAt(key)]) {
        if (isSameKey(place, customer) || left.has(formatKey(key))) continue;
        const lost = this.#rows.placed.unclear(key, place);
        const standing = lost === undefined ? this.#standingOf(placed, place, known) : { lost };
        if ("lost" in standing || hasProducts(standing)) left.set(formatKey(key), { customer: place, standing });
      }
    }
    return left;
  }

  /** The orders that moved away from a customer in the CRM, with what stands of them here still. */
  #away(customer: RecordKey, known: Known): AwayOrder[] {
    return this.#rows.placed.movedFrom(customer).flatMap((key): AwayOrder[] => {
      const row = this.#ledger.desired.order(key);
      if (row === undefined) return [];
      const owner = { namespace: row.customer_namespace, id: row.customer_id };
      if (isSameKey(owner, customer)) return [];
      const { placed: rows } = this.#rows;
      const lost = rows.unclear(key, customer);
      const placed = known.placedOrders.get(formatKey(key));
      const standing = lost === undefined ? placed && this.#standingOf(placed, customer, known) : { lost };
      const order = withTree(desired<DesiredOrder>(row));
      const ownerRow = this.#ledger.desired.customer(owner);
      const buyer = ownerRow && desired<DesiredCustomer>(ownerRow);
      const [unclear, taken] = [rows.unclear(key, owner), rows.taken(order, owner)];
      return [{ order, owner, standing, unclear, buyer, taken }];
    });
  }

  /** Whose earlier orders are, of the CRM or placed, that an order of this customer names and that are not its own. */
  #earlierOwners(
    customer: RecordKey,
    known: Known,
    named: ReadonlyMap<string, RecordKey>,
  ): CustomerInput["earlierOwners"] {
    const owners = [...named].flatMap(([name, earlier]) => {
      const owner = known.placedOrders.has(name) ? undefined : this.#ledger.desired.customerOf(earlier);
      return owner === undefined || formatKey(owner) === formatKey(customer) ? [] : [[name, owner] as const];
    });
    return owners.length === 0 ? undefined : new Map(owners);
  }

  /** Earlier orders of the customer's own that do not stand as the CRM says, and that nothing has looked at. */
  #earlier(
    customer: RecordKey,
    { placedOrders }: Known,
    orders: readonly OrderWithTree[],
    named: ReadonlyMap<string, RecordKey>,
  ): OrderWithTree[] {
    const looked = new Set(orders.map(({ key }) => formatKey(key)));
    return [...named].flatMap(([name, earlier]): OrderWithTree[] => {
      const placed = looked.has(name) ? undefined : placedOrders.get(name);
      const row = placed === undefined ? undefined : this.#ledger.desired.order(earlier);
      if (placed === undefined || row === undefined) return [];
      if (!isSameKey({ namespace: row.customer_namespace, id: row.customer_id }, customer)) return [];
      const order = withTree(desired<DesiredOrder>(row));
      return agreesWith(placed, order) && isSameKey(placed.customer, customer) ? [] : [order];
    });
  }

  #ended(customer: RecordKey, { placedOrders }: Known): EndedAsset[] {
    const hasSteps = [...placedOrders.values()].some(({ agreedHash }) => agreedHash !== undefined);
    return hasSteps ? this.#rows.numbers.ended(customer) : [];
  }

  #sealed({ placedOrders }: Known, orders: readonly OrderWithTree[]): ReadonlySet<string> {
    const names = orders.map(({ key }) => formatKey(key)).filter((name) => placedOrders.has(name));
    return new Set(names.filter((name) => this.#ledger.private.isSealed(`orders/${name}`)));
  }

  /** A purchase that was refused leaves its numbers fixed: nothing stands under them. */
  #unbought(customer: RecordKey, known: Known): ReadonlySet<string> {
    const unbought = new Set<string>();
    for (const order of this.#rows.steps.withUnusedNumber(customer)) {
      const placed = known.placedOrders.get(formatKey(order));
      const standing = placed === undefined ? undefined : this.#standingOf(placed, customer, known);
      if (standing === undefined || "lost" in standing) continue;
      const bought = new Set(standing.units.map((unit) => unit.number));
      for (const { namespace, orderId, number } of known.numbers)
        if (namespace === order.namespace && orderId === order.id && !bought.has(number)) unbought.add(number);
    }
    return unbought;
  }

  #drift(customer: RecordKey): Drift {
    const assets = new Map<string, string>();
    const products = new Map<string, Set<string>>();
    const members = new Set<string>();
    for (const { kind, subject, assetId, channelOrderId } of this.#ledger.observations.everShown(customer)) {
      if (kind === "member") members.add(subject);
      else if (kind === "asset" && assetId !== null) assets.set(subject, assetId);
      else if (kind === "product" && channelOrderId !== null)
        products.set(subject, (products.get(subject) ?? new Set()).add(channelOrderId));
    }
    const bought = this.#rows.steps.boughtAt(customer);
    return { lasting: this.#lasting(customer), bought, assets, products, members };
  }

  #lasting(customer: RecordKey): Drift["lasting"] {
    const { differences } = this.#ledger;
    const approved = new Map([...differences.editsApproved(customer)].map(([key, at]) => [`of ${key}`, at]));
    return new Map(
      differences.of(customer).map(({ level, subject, class: named, firstSeen, lastSeen, endedBefore }) => {
        const since = approved.get(subject) ?? "";
        const before = endedBefore.filter((at) => at > since).length;
        const ms = Date.parse(lastSeen) - Date.parse(firstSeen);
        return [driftName(level, subject, named), { class: named, ms, lastSeen, before }];
      }),
    );
  }

  #standingOf(placed: PlacedOrder, customer: RecordKey, known: Known): OrderStanding | { lost: string } {
    return this.#rows.histories.standing(placed, customer, known);
  }
}

/** Whether the CRM says of any asset if it is to be disabled: only what stands under its numbers is switched. */
function asksForSwitch({ instances }: DesiredOrder): boolean {
  return instances.some((item) => item.kind === "asset" && item.locked !== undefined);
}

/** What happened to orders since they were placed, and what stands of them. Reads only. */
export class OrderHistories {
  readonly #steps: OrderStepRows;
  readonly #desired: DesiredRows;

  constructor(steps: OrderStepRows, desired: DesiredRows) {
    this.#steps = steps;
    this.#desired = desired;
  }

  /** What stands of a placed order for a customer. */
  standing(placed: PlacedOrder, customer: RecordKey, known: Pick<Known, "numbers">): OrderStanding | { lost: string } {
    return standingOf(placed, this.#partsOf(placed, customer, known));
  }

  /** Everything that happened to an order that is placed for a customer. */
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

  /** The licence type of each asset number of placed orders, also of adopted ones. */
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
  ): StandingParts {
    const steps = this.#steps.of(key);
    const forms = new Map<number, DesiredOrder>();
    for (const of of [version, ...steps.flatMap((step) => (step.kind === "bought" ? [step.version] : []))]) {
      const form = forms.get(of) ?? this.#desired.orderVersion(key, of);
      if (form !== undefined) forms.set(of, form);
    }
    return { forms, numbers, licenceOrders: this.#steps.licenceOrders(key), steps, placedFor, customer };
  }
}
