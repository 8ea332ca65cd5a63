import type { LicenseType, RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import { usable } from "../../operation/state.ts";
import type { Assignment, EnterpriseFacts, FixedNumber, Known, PlacedOrder, StaffLink } from "../../operation/state.ts";
import type { CustomerInput } from "../../plan/input.ts";
import { withTree } from "../../operation/desired.ts";
import type { Desired, DesiredCustomer, DesiredOrder, DesiredStaff, OrderWithTree } from "../../operation/desired.ts";
import type { ShownOrder } from "../../plan/adoption.ts";
import { markerKey } from "../../operation/references.ts";
import { stored } from "../database/stored.ts";
import type { Sqlite } from "../database/database.ts";
import { EnterpriseTables } from "./enterprise.ts";
import { LockTables } from "./locks.ts";
import type { PrivateTables } from "../private/private-tables.ts";
import { statements } from "../database/statements.ts";
import type { FullRow, Row } from "../tables.ts";
import type { PlacedOrderTable } from "./tables.ts";

type DesiredRow = Row<"record", "stream" | "namespace" | "id" | "version" | "body_hash" | "state" | "pending"> &
  Row<"record_version", "body">;

/** Under which kind the orders are observed that an enterprise showed which somebody else made. */
export const shownOrderKind = "order";

/** What one customer is planned from: what the CRM says, what we did, and the private values behind it. Reads only. */
export class KnownTables {
  readonly #statements;
  readonly #private: PrivateTables;
  readonly #enterprises: EnterpriseTables;
  readonly #locks: LockTables;

  constructor(database: Sqlite, privateTables: PrivateTables) {
    this.#statements = prepareStatements(database);
    this.#enterprises = new EnterpriseTables(database);
    this.#locks = new LockTables(database);
    this.#private = privateTables;
  }

  /**
   * Everything the ledger holds about one customer, without what the platform shows. Bodies of placed, unchanged orders
   * are left out.
   */
  load(customer: RecordKey): Omit<CustomerInput, "observed" | "rejections"> {
    const { namespace, id } = customer;
    const rows = this.#statements.desired.all(namespace, id);
    const privateValues = new Map<string, string>();
    let desiredCustomer: Desired<DesiredCustomer> | undefined;
    const orders: OrderWithTree[] = [];
    const staff: Desired<DesiredStaff>[] = [];
    for (const row of rows) {
      if (row.stream === "customers") desiredCustomer = desired<DesiredCustomer>(row);
      else if (row.stream === "orders") orders.push(withTree(desired<DesiredOrder>(row)));
      else staff.push(desired<DesiredStaff>(row));
      if (row.stream !== "orders") this.#reveal(row, privateValues);
    }
    return {
      customer,
      desiredCustomer,
      orders,
      staff,
      known: this.#withPlacedBodies(this.known(customer), orders),
      privateValues,
      customerInQuarantine: this.#statements.customerInQuarantine.get(namespace, id) !== undefined,
      quarantinedInScope: this.#statements.quarantined.get({ namespace, id })?.count ?? 0,
      sourceWithStrayRecord: this.#statements.stray.get({ namespace, id }),
    };
  }

  /**
   * An order that the CRM has changed since it was placed comes with its form of then, so that what changed can be
   * told.
   */
  #withPlacedBodies(known: Known, orders: readonly Desired<DesiredOrder>[]): Known {
    const changed = new Map<string, PlacedOrder>();
    for (const { key, bodyHash } of orders) {
      const placed = known.placedOrders.get(formatKey(key));
      if (placed === undefined || placed.bodyHash === bodyHash) continue;
      const row = this.#statements.orderVersion.get(key.namespace, key.id, placed.version);
      if (row !== undefined) changed.set(formatKey(key), { ...placed, body: stored<DesiredOrder>(row.body) });
    }
    return changed.size === 0 ? known : { ...known, placedOrders: new Map([...known.placedOrders, ...changed]) };
  }

  #reveal(row: DesiredRow, into: Map<string, string>): void {
    const ref = `${row.stream}/${row.namespace}/${row.id}`;
    for (const [field, value] of Object.entries(this.#private.values(ref, row.version))) {
      if (typeof value === "string") into.set(markerKey({ $private: ref, field, version: row.version }), value);
    }
  }

  /** What is known of one customer. In one piece: a field for each thing known. */
  known(customer: RecordKey): Known {
    const { namespace, id } = customer;
    const run = this.#statements;
    const { link, linkUnusable } = this.#enterprises.link(customer);
    const acknowledged = run.acknowledged.get(namespace, id);
    const enterprise = link?.enterpriseGlobalId ?? "";
    return {
      link,
      linkUnusable,
      platformCustomers: this.#enterprises.platformCustomers(enterprise),
      acknowledged:
        acknowledged === undefined ? undefined : stored<NonNullable<Known["acknowledged"]>>(acknowledged.fields),
      placedOrders: new Map(
        run.placedOrders.all({ namespace, id }).map((row): [string, PlacedOrder] => {
          const key = { namespace: row.namespace, id: row.order_id };
          return [
            formatKey(key),
            {
              key,
              channelOrderId: row.channel_order_id,
              bodyHash: row.body_hash,
              version: row.version,
              origin: row.origin,
              customer: { namespace: row.customer_namespace, id: row.customer_id },
            },
          ];
        }),
      ),
      numbers: run.numbers.all(namespace, id).map((row): FixedNumber => ({
        number: row.number,
        namespace: row.namespace,
        orderId: row.order_id,
        instanceId: row.instance_id,
        unit: row.unit,
      })),
      staffLinks: new Map(
        run.staffLinks
          .all(namespace, id)
          .filter((row) => usable(row.member_global_id))
          .map((row): [string, StaffLink] => {
            const key = { namespace: row.namespace, id: row.staff_id };
            return [
              formatKey(key),
              {
                key,
                memberGlobalId: row.member_global_id,
                origin: row.origin,
                profile: stored<StaffLink["profile"]>(row.profile),
              },
            ];
          }),
      ),
      assignments: run.assignments
        .all(namespace, id)
        .filter((row) => usable(row.member_global_id))
        .map((row): Assignment => ({
          assetNumber: row.asset_number,
          staff: { namespace: row.namespace, id: row.staff_id },
          memberGlobalId: row.member_global_id,
          origin: row.origin,
        })),
      protectedMembers: new Set(run.protectedMembers.all(namespace, id).map((row) => row.member_global_id)),
      enterpriseCode: this.#enterprises.code(enterprise),
      locks: this.#locks.of(customer),
    };
  }

  /** The licence type of each asset number of the orders that are placed for a customer, also of adopted ones. */
  licenceTypes(customer: RecordKey): Map<string, LicenseType> {
    const { placedOrders, numbers } = this.known(customer);
    const types = new Map<string, LicenseType>();
    for (const { key, version } of placedOrders.values()) {
      const row = this.#statements.orderVersion.get(key.namespace, key.id, version);
      for (const instance of row === undefined ? [] : stored<DesiredOrder>(row.body).instances) {
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
    return this.#enterprises.facts(enterpriseGlobalId);
  }

  /** What an adopted enterprise showed under a channel order number when it was examined. */
  shownOrder(customer: RecordKey, channelOrderId: string): ShownOrder | undefined {
    const row = this.#statements.shownOrder.get(customer.namespace, customer.id, shownOrderKind, channelOrderId);
    if (row === undefined) return undefined;
    const { licenceOrders, products } = stored<{
      licenceOrders: Record<string, string>;
      products?: Record<string, string[]>;
    }>(row.body);
    return {
      licenceOrders: new Map(Object.entries(licenceOrders)),
      products: products === undefined ? undefined : new Map(Object.entries(products)),
    };
  }

  /** Whether an order is placed under a channel order number, whosoever it is. */
  isPlaced(channelOrderId: string): boolean {
    return this.#statements.placedUnder.get(channelOrderId) !== undefined;
  }
}

function desired<Body>(row: DesiredRow): Desired<Body> {
  return {
    key: { namespace: row.namespace, id: row.id },
    version: row.version,
    bodyHash: row.body_hash,
    state: row.state,
    pending: row.pending === 1,
    body: stored<Body>(row.body),
  };
}

/**
 * A row of a source that was taken out of the configuration blocks nothing. Before a run has said what is configured,
 * every row does.
 */
const configured = `(not exists (select 1 from source_stream)
  or exists (select 1 from source_stream s where s.source = q.source and s.stream = q.stream))`;

/** What is asked of the tables. In one piece: a table of statements. */
function prepareStatements(database: Sqlite) {
  return statements.onUse({
    desired: () =>
      database.prepare<[string, string], DesiredRow>(
        `select r.stream, r.namespace, r.id, r.version, r.body_hash, r.state, r.pending, v.body from record r
       join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id
         and v.version = r.version
       where r.customer_namespace = +? and r.customer_id = +? and (r.stream <> 'orders' or r.pending = 1)
       order by r.stream, r.namespace, r.id`,
      ),
    shownOrder: () =>
      database.prepare<[string, string, string, string], Row<"observation", "body">>(
        `select body from observation where customer_namespace = +? and customer_id = +? and kind = +? and subject = +?
          and to_at is null`,
      ),
    placedUnder: () =>
      database.prepare<[string], Row<"placed_order", "order_id">>(
        "select order_id from placed_order where channel_order_id = +? and to_at is null",
      ),
    orderVersion: () =>
      database.prepare<[string, string, number], Row<"record_version", "body">>(
        "select body from record_version where stream = 'orders' and namespace = +? and id = +? and version = +?",
      ),
    customerInQuarantine: () =>
      database.prepare<[string, string], Row<"quarantine", "id">>(
        `select id from quarantine where stream = 'customers' and namespace = +? and record_id = +?
          and state <> 'resolved' limit 1`,
      ),
    // Rows of this customer, and those of records that were this customer's in their last good form.
    quarantined: () =>
      database.prepare<[{ namespace: string; id: string }], { count: number }>(
        `select count(*) as count from (
         select q.id from quarantine q where q.customer_namespace = +@namespace and q.customer_id = +@id
           and q.state <> 'resolved'
           and ${configured}
         union
         select q.id from record r join quarantine q on q.stream = r.stream and q.namespace = r.namespace
           and q.record_id = r.id
         where r.customer_namespace = +@namespace and r.customer_id = +@id and r.state = 'quarantined'
           and q.state <> 'resolved'
           and ${configured})`,
      ),
    // A source of this customer's staff, or of people who hold assets here, that gave a row of which nobody can tell
    // whose it is.
    stray: () =>
      database.prepare<[{ namespace: string; id: string }], { source: string; row: string }>(
        `select own.source, q.id as row from (
         select source from record where customer_namespace = +@namespace and customer_id = +@id and +stream = 'staff'
         union
         select r.source from assignment a join record r on r.stream = 'staff' and r.namespace = a.namespace
           and r.id = a.staff_id
         where a.customer_namespace = +@namespace and a.customer_id = +@id and a.to_at is null) own
       join quarantine q on q.source = own.source and q.stream = 'staff' and q.customer_id is null
         and q.state <> 'resolved' and ${configured}
       limit 1`,
      ),
    acknowledged: () =>
      database.prepare<[string, string], Row<"acknowledged", "fields">>(
        "select fields from acknowledged where namespace = +? and customer_id = +? and to_at is null",
      ),
    placedOrders: () =>
      database.prepare<
        [{ namespace: string; id: string }],
        Omit<PlacedOrderTable, "from_at" | "to_at" | "operation_id">
      >(
        `select p.namespace, p.order_id, p.channel_order_id, p.body_hash, p.version, p.origin, p.customer_namespace,
         p.customer_id
       from placed_order p where p.to_at is null and p.customer_namespace = +@namespace and p.customer_id = +@id
       union
       select p.namespace, p.order_id, p.channel_order_id, p.body_hash, p.version, p.origin, p.customer_namespace,
         p.customer_id
       from record r join placed_order p on p.namespace = r.namespace and p.order_id = r.id and p.to_at is null
       where r.stream = 'orders' and r.customer_namespace = +@namespace and r.customer_id = +@id
       order by 1, 2`,
      ),
    numbers: () =>
      database.prepare<
        [string, string],
        FullRow<"asset_number", "number" | "namespace" | "order_id" | "instance_id" | "unit">
      >(
        `select n.wire_number as number, n.namespace, n.order_id, n.instance_id, n.unit from asset_number n
       join record r on r.stream = 'orders' and r.namespace = n.namespace and r.id = n.order_id
       where r.customer_namespace = +? and r.customer_id = +? and n.fixed_at is not null
       order by n.namespace, n.order_id, n.instance_id, n.unit`,
      ),
    staffLinks: () =>
      database.prepare<
        [string, string],
        Row<"staff_link", "namespace" | "staff_id" | "member_global_id" | "origin" | "profile">
      >(
        `select namespace, staff_id, member_global_id, origin, profile from staff_link
       where customer_namespace = +? and customer_id = +? and to_at is null order by namespace, staff_id`,
      ),
    assignments: () =>
      database.prepare<
        [string, string],
        Row<"assignment", "asset_number" | "namespace" | "staff_id" | "member_global_id" | "origin">
      >(
        `select asset_number, namespace, staff_id, member_global_id, origin from assignment
       where customer_namespace = +? and customer_id = +? and to_at is null order by asset_number`,
      ),
    // Of every enterprise that the customer was ever linked with, also under an id that could not be used.
    protectedMembers: () =>
      database.prepare<[string, string], Row<"protected_member", "member_global_id">>(
        `select p.member_global_id from link l
       join protected_member p on p.enterprise_global_id = l.enterprise_global_id
       where l.namespace = +? and l.customer_id = +?`,
      ),
  });
}
