import { formatKey } from "../../crm/keys.ts";
import type { LicenseType, RecordKey, Stream } from "../../crm/model.ts";
import { withTree } from "../../operation/desired.ts";
import type { Desired, DesiredCustomer, DesiredOrder, DesiredStaff, OrderWithTree } from "../../operation/desired.ts";
import { markerKey } from "../../operation/references.ts";
import { earlierOrders, hasProducts, standingOf } from "../../operation/order-standing.ts";
import type { OrderHistory, OrderStanding, StandingParts } from "../../operation/order-standing.ts";
import type { Known } from "../../operation/state.ts";
import type { EnterpriseFacts } from "../../operation/state/part.ts";
import type { StaffLink } from "../../operation/state/staff-links.ts";
import type { PlacedOrder } from "../../operation/state/placed-orders.ts";
import { driftName } from "../../plan/drift.ts";
import type { Drift } from "../../plan/drift.ts";
import { leftProfile } from "../../plan/staff-profile.ts";
import type { ClearProfile } from "../../operation/shown-profile.ts";
import type { AwayOrder, CustomerInput, EndedAsset, LeftBehind } from "../../plan/input.ts";
import type { PrivateTables } from "../private/private-tables.ts";
import { desired, nothingInQuarantine } from "./desired.ts";
import type { DesiredRows } from "./desired.ts";
import type { Held } from "./held.ts";
import { knownFrom } from "./registry.ts";
import type { StateRows } from "./registry.ts";
import { wantedForm } from "../../operation/state/order-steps.ts";
import { sharingOrders } from "../../operation/state/asset-numbers.ts";
import { isSameKey } from "../../operation/state/same-key.ts";

/** What one customer is planned from: what the CRM says, what we did, and the private values behind it. Reads only. */
export class KnownTables {
  readonly #rows: StateRows;
  readonly #desired: DesiredRows;
  readonly #private: PrivateTables;

  constructor(tables: { rows: StateRows; desired: DesiredRows; private: PrivateTables }) {
    this.#rows = tables.rows;
    this.#desired = tables.desired;
    this.#private = tables.private;
  }

  /**
   * Everything the ledger holds about one customer, without what the platform shows. Bodies of placed, unchanged orders
   * are left out.
   */
  load(customer: RecordKey, held: Held): Omit<CustomerInput, "observed" | "rejections"> {
    let desiredCustomer: Desired<DesiredCustomer> | undefined;
    const orders: OrderWithTree[] = [];
    const staff: Desired<DesiredStaff>[] = [];
    for (const row of this.#desired.of(customer)) {
      if (row.stream === "customers") desiredCustomer = desired<DesiredCustomer>(row);
      else if (row.stream === "orders") orders.push(withTree(desired<DesiredOrder>(row)));
      else staff.push(desired<DesiredStaff>(row));
    }
    const privateValues = staff.length === 0 ? new Map<string, string>() : this.#private.ofCustomer(customer);
    const known = this.#here(customer, this.known(customer, held), held);
    const standings = this.#standings(customer, known, orders, held.drifted === 1);
    const away = held.moved === 1 ? this.#away(customer, known) : [];
    const mayEnd = standings.size > 0 || away.length > 0;
    const takers = mayEnd ? this.#desired.takers(customer).map((row) => withTree(desired(row))) : [];
    this.#addStandings(standings, customer, known, takers);
    const unclear = held.moved === 1 ? this.#unclear(standings, customer, orders) : [];
    return {
      customer,
      desiredCustomer,
      orders,
      takers,
      staff,
      known: this.#withLogins(known, staff, privateValues),
      standings,
      left: this.#leftBehind(customer, known, orders),
      ...(unclear.length > 0 ? { unclear } : {}),
      away: held.moved === 1 ? away : undefined,
      earlierOwners: this.#earlierOwners(customer, known, orders),
      earlier: this.#earlier(customer, known, orders),
      ended: staff.length === 0 ? undefined : this.#ended(customer, known),
      sealed: this.#sealed(known, orders),
      unbought: staff.length === 0 ? undefined : this.#unbought(customer, known),
      ...((held.drifted === 1 || held.otherwise === 1) && { drift: this.#drift(customer) }),
      privateValues,
      ...(held.rebuilt === 1 ? { rebuilt: true as const } : {}),
      ...(held.unread === 1 ? { unread: true as const } : {}),
      ...(held.quarantined === 1 ? this.#desired.quarantine(customer) : nothingInQuarantine),
    };
  }

  /**
   * Without the accounts and assignments of an enterprise that the customer was linked with before, and with the orders
   * that stand there called so.
   */
  #here(customer: RecordKey, all: Known, held: Held): Known {
    const elsewhere = held.orders === 1 && all.link !== undefined ? this.#rows.placedOrders.elsewhere(customer) : [];
    const placedOrders = new Map(all.placedOrders);
    for (const key of elsewhere.map(formatKey)) {
      const placed = placedOrders.get(key);
      if (placed !== undefined) placedOrders.set(key, { ...placed, elsewhere: true });
    }
    const known = elsewhere.length === 0 ? all : { ...all, placedOrders };
    if (known.link === undefined || held.staff !== 1) return known;
    const accounts = new Set(this.#rows.staffLinks.elsewhere(customer));
    let here = known;
    for (const [name, rows] of this.#rows.resources)
      if (held[name] === 1) here = { ...here, ...rows.ofLink(known, customer) };
    if (accounts.size === 0) return here;
    return { ...here, staffLinks: new Map([...known.staffLinks].filter(([key]) => !accounts.has(key))) };
  }

  /**
   * What stands of placed orders that have to be looked at, and of which the CRM says something else or something was
   * read back otherwise, of those with an asset to be switched, of those that something is transferred from or that
   * something continues, and of those that have an asset number in common with one of them.
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
      const agrees = isHere && (placed.agreedHash ?? placed.bodyHash) === wantedForm({ state, bodyHash });
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
      if ((placed.agreedHash ?? placed.bodyHash) === wantedForm(order)) continue;
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
      const lost = this.#rows.movedOrders.unclear(key, customer);
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
      for (const place of [placed.customer, ...this.#rows.movedOrders.leftAt(key)]) {
        if (isSameKey(place, customer) || left.has(formatKey(key))) continue;
        const lost = this.#rows.movedOrders.unclear(key, place);
        const standing = lost === undefined ? this.#standingOf(placed, place, known) : { lost };
        if ("lost" in standing || hasProducts(standing)) left.set(formatKey(key), { customer: place, standing });
      }
    }
    return left;
  }

  /** The orders that moved away from a customer in the CRM, with what stands of them here still. */
  #away(customer: RecordKey, known: Known): AwayOrder[] {
    return this.#rows.movedOrders.movedFrom(customer).flatMap((key): AwayOrder[] => {
      const row = this.#desired.order(key);
      if (row === undefined) return [];
      const owner = { namespace: row.customer_namespace, id: row.customer_id };
      if (isSameKey(owner, customer)) return [];
      const { movedOrders } = this.#rows;
      const lost = movedOrders.unclear(key, customer);
      const placed = known.placedOrders.get(formatKey(key));
      const standing = lost === undefined ? placed && this.#standingOf(placed, customer, known) : { lost };
      const order = withTree(desired<DesiredOrder>(row));
      const ownerRow = this.#desired.customer(owner);
      const buyer = ownerRow && desired<DesiredCustomer>(ownerRow);
      const [unclear, taken] = [movedOrders.unclear(key, owner), movedOrders.taken(order, owner)];
      return [{ order, owner, standing, unclear, buyer, taken }];
    });
  }

  /** Whose earlier orders are, of the CRM or placed, that an order of this customer names and that are not its own. */
  #earlierOwners(
    customer: RecordKey,
    known: Known,
    orders: readonly Desired<DesiredOrder>[],
  ): CustomerInput["earlierOwners"] {
    const names = new Map<string, RecordKey>();
    for (const { key, body } of orders)
      for (const earlier of earlierOrders(key, body.instances)) names.set(formatKey(earlier), earlier);
    const owners = [...names].flatMap(([name, earlier]) => {
      const owner = known.placedOrders.has(name) ? undefined : this.#desired.customerOf(earlier);
      return owner === undefined || formatKey(owner) === formatKey(customer) ? [] : [[name, owner] as const];
    });
    return owners.length === 0 ? undefined : new Map(owners);
  }

  /** Earlier orders of the customer's own that do not stand as the CRM says, and that nothing has looked at. */
  #earlier(customer: RecordKey, { placedOrders }: Known, orders: readonly OrderWithTree[]): OrderWithTree[] {
    const looked = new Set(orders.map(({ key }) => formatKey(key)));
    const names = new Map<string, RecordKey>();
    for (const { key, body } of orders)
      for (const earlier of earlierOrders(key, body.instances)) names.set(formatKey(earlier), earlier);
    return [...names].flatMap(([name, earlier]): OrderWithTree[] => {
      const placed = looked.has(name) ? undefined : placedOrders.get(name);
      const row = placed === undefined ? undefined : this.#desired.order(earlier);
      if (placed === undefined || row === undefined) return [];
      if (!isSameKey({ namespace: row.customer_namespace, id: row.customer_id }, customer)) return [];
      const order = withTree(desired<DesiredOrder>(row));
      const agrees = (placed.agreedHash ?? placed.bodyHash) === wantedForm(order);
      return agrees && isSameKey(placed.customer, customer) ? [] : [order];
    });
  }

  #ended(customer: RecordKey, { placedOrders }: Known): EndedAsset[] {
    const hasSteps = [...placedOrders.values()].some(({ agreedHash }) => agreedHash !== undefined);
    return hasSteps ? this.#rows.assetNumbers.ended(customer) : [];
  }

  #sealed({ placedOrders }: Known, orders: readonly OrderWithTree[]): ReadonlySet<string> {
    const names = orders.map(({ key }) => formatKey(key)).filter((name) => placedOrders.has(name));
    return new Set(names.filter((name) => this.#private.isSealed(`orders/${name}`)));
  }

  /** A purchase that was refused leaves its numbers fixed: nothing stands under them. */
  #unbought(customer: RecordKey, known: Known): ReadonlySet<string> {
    const unbought = new Set<string>();
    for (const order of this.#rows.orderSteps.withUnusedNumber(customer)) {
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
    for (const { kind, subject, assetId, channelOrderId } of this.#rows.observations.everShown(customer)) {
      if (kind === "member") members.add(subject);
      else if (kind === "asset" && assetId !== null) assets.set(subject, assetId);
      else if (kind === "product" && channelOrderId !== null)
        products.set(subject, (products.get(subject) ?? new Set()).add(channelOrderId));
    }
    const bought = this.#rows.orderSteps.boughtAt(customer);
    return { lasting: this.#lasting(customer), bought, assets, products, members };
  }

  #lasting(customer: RecordKey): Drift["lasting"] {
    const { differences } = this.#rows;
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

  /** What M5 should show of each member of a customer as it was left, by member id; in clear and in memory only. */
  leftProfiles(customer: RecordKey): Map<string, ClearProfile> {
    const { staffLinks } = this.#rows.staffLinks.known(customer);
    const left = new Map<string, ClearProfile>();
    if (staffLinks.size === 0) return left;
    const privateValues = this.#private.ofCustomer(customer);
    for (const row of this.#desired.of(customer)) {
      if (row.stream !== "staff" || row.state !== "current") continue;
      const { key, body } = desired<DesiredStaff>(row);
      const link = staffLinks.get(formatKey(key));
      if (link !== undefined) left.set(link.memberGlobalId, leftProfile(privateValues, body, link.profile));
    }
    return left;
  }

  #standingOf(placed: PlacedOrder, customer: RecordKey, known: Known): OrderStanding | { lost: string } {
    return standingOf(placed, this.#partsOf(placed, customer, known));
  }

  /** Everything that happened to an order that is placed for a customer. */
  orderHistory(customer: RecordKey, order: RecordKey): OrderHistory | undefined {
    const known = this.known(customer);
    const placed = known.placedOrders.get(formatKey(order));
    if (placed === undefined) return undefined;
    const parts = this.#partsOf(placed, customer, known);
    const common = { key: order, since: "", bodyHash: "", state: "current" as const, pending: false };
    const forms = [...parts.forms].map(([version, body]) => [version, withTree({ ...common, version, body })] as const);
    const row = this.#desired.order(order);
    const owner = row && { namespace: row.customer_namespace, id: row.customer_id };
    return { placed, owner, parts, forms: new Map(forms), operations: this.#rows.orderSteps.operationsOf(order) };
  }

  /** Every form that is kept of a record, newest first. */
  forms<Body>(stream: Stream, key: RecordKey): Body[] {
    return this.#desired.forms(stream, key);
  }

  #partsOf(
    { key, version, placedFor }: PlacedOrder,
    customer: RecordKey,
    { numbers }: Pick<Known, "numbers">,
  ): StandingParts {
    const { orderSteps } = this.#rows;
    const steps = orderSteps.of(key);
    const forms = new Map<number, DesiredOrder>();
    for (const of of [version, ...steps.flatMap((step) => (step.kind === "bought" ? [step.version] : []))]) {
      const form = forms.get(of) ?? this.#desired.orderVersion(key, of);
      if (form !== undefined) forms.set(of, form);
    }
    return { forms, numbers, licenceOrders: orderSteps.licenceOrders(key), steps, placedFor, customer };
  }

  /**
   * Who got another account name in the CRM comes with the one that the account was made with, which is put among the
   * private values: M2 needs it.
   */
  #withLogins(known: Known, staff: readonly Desired<DesiredStaff>[], privateValues: Map<string, string>): Known {
    const changed = new Map<string, StaffLink>();
    for (const { key, body } of staff) {
      const name = formatKey(key);
      const link = known.staffLinks.get(name);
      if (link === undefined || link.profile.userName === body.userName.commitment) continue;
      const login = this.#desired.accountName(key, link.profile.userName);
      if (login === undefined) continue;
      const text = this.#private.clearText(login);
      if (text !== undefined) privateValues.set(markerKey(login), text);
      changed.set(name, { ...link, login });
    }
    return changed.size === 0 ? known : { ...known, staffLinks: new Map([...known.staffLinks, ...changed]) };
  }

  known(customer: RecordKey, held = this.held(customer)): Known {
    return knownFrom(this.#rows, customer, held);
  }

  held(customer: RecordKey): Held {
    return this.#rows.held.of(customer);
  }

  /** The licence type of each asset number of the orders that are placed for a customer, also of adopted ones. */
  licenceTypes(customer: RecordKey): Map<string, LicenseType> {
    const { placedOrders, numbers } = this.known(customer);
    const types = new Map<string, LicenseType>();
    for (const { key, version } of placedOrders.values()) {
      const bought = this.#rows.orderSteps.of(key).flatMap((step) => (step.kind === "bought" ? [step.version] : []));
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

  /** What is known of an enterprise, whoever is linked with it. */
  enterpriseFacts(enterpriseGlobalId: string): EnterpriseFacts {
    const rows = this.#rows;
    return {
      ...rows.platformCustomers.known(enterpriseGlobalId),
      ...rows.enterpriseCodes.known(enterpriseGlobalId),
      protectedMembers: rows.protectedMembers.of(enterpriseGlobalId),
    };
  }
}

/** Whether the CRM says of any asset if it is to be disabled: only what stands under its numbers is switched. */
function asksForSwitch({ instances }: DesiredOrder): boolean {
  return instances.some((item) => item.kind === "asset" && item.locked !== undefined);
}
