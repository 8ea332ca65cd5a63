import type { JsonObject } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { formatKey } from "../crm/keys.ts";
import type {
  Assignment,
  CustomerInput,
  Desired,
  DesiredCustomer,
  DesiredOrder,
  DesiredStaff,
  FixedNumber,
  Known,
  KnownPlatformCustomer,
  Link,
  PlacedOrder,
  RecordState,
  StaffLink,
} from "../plan/input.ts";
import type { PrivateMarker } from "../plan/operation.ts";
import { markerKey } from "../plan/operation.ts";
import type { Sqlite } from "./database.ts";
import { commitmentTo } from "./private.ts";
import type { SealingKey } from "./private.ts";

export interface RecordOutcome {
  stream: Stream;
  key: RecordKey;
  outcome: "planned" | "deferred";
  /** For a deferral: a dotted code and the reason in words. */
  code?: string;
  reason?: string;
  /** Whether the record is looked at again in each run (true), or only when it changes. */
  again?: boolean;
}

interface DesiredRow {
  stream: Stream;
  namespace: string;
  id: string;
  version: number;
  body_hash: string;
  state: RecordState;
  pending: number;
  body: string;
}

/** Reads and marks what has to be worked on. Reads run on any connection; writes inside the writer's transaction. */
export class WorkTables {
  readonly #statements;
  readonly #seal: SealingKey | undefined;

  constructor(database: Sqlite, seal: SealingKey | undefined) {
    this.#statements = prepareStatements(database);
    this.#seal = seal;
  }

  /** Customers with something to do, in key order after `after`: pending records, or operations whose outcome is open. */
  dirtyCustomers(after: RecordKey | undefined, limit: number): RecordKey[] {
    return this.#statements.dirty
      .all(after?.namespace ?? "", after?.id ?? "", limit)
      .map((row) => ({ namespace: row.ns, id: row.id }));
  }

  linkedCustomers(after: RecordKey | undefined, limit: number): RecordKey[] {
    return this.#statements.linked
      .all(after?.namespace ?? "", after?.id ?? "", limit)
      .map((row) => ({ namespace: row.ns, id: row.id }));
  }

  dirtyCount(): number {
    return this.#statements.dirtyCount.get()?.count ?? 0;
  }

  markPending(scope: { customer?: RecordKey; order?: RecordKey; source?: string; since?: string }): number {
    const run = this.#statements;
    if (scope.customer !== undefined)
      return run.pendingCustomer.run(scope.customer.namespace, scope.customer.id).changes;
    if (scope.order !== undefined) return run.pendingOrder.run(scope.order.namespace, scope.order.id).changes;
    if (scope.source !== undefined) return run.pendingSource.run(scope.source, scope.since ?? "").changes;
    return 0;
  }

  /** Everything the ledger holds about one customer, without what the platform shows. Bodies of placed, unchanged orders are left out. */
  load(customer: RecordKey): Omit<CustomerInput, "observed"> {
    const { namespace, id } = customer;
    const rows = this.#statements.desired.all(namespace, id);
    const privateValues = new Map<string, string>();
    let desiredCustomer: Desired<DesiredCustomer> | undefined;
    const orders: Desired<DesiredOrder>[] = [];
    const staff: Desired<DesiredStaff>[] = [];
    for (const row of rows) {
      if (row.stream === "customers") desiredCustomer = desired<DesiredCustomer>(row);
      else if (row.stream === "orders") orders.push(desired<DesiredOrder>(row));
      else staff.push(desired<DesiredStaff>(row));
      if (row.stream !== "orders") this.#reveal(row, privateValues);
    }
    return {
      customer,
      desiredCustomer,
      orders,
      staff,
      known: this.known(customer),
      privateValues,
      quarantinedInScope: this.#statements.quarantined.get(namespace, id)?.count ?? 0,
    };
  }

  #reveal(row: DesiredRow, into: Map<string, string>): void {
    const ref = `${row.stream}/${row.namespace}/${row.id}`;
    const stored = this.#statements.privateBody.get(ref, row.version);
    if (stored?.body === null || stored === undefined) return;
    const values = parse<JsonObject>(stored.body);
    for (const [field, value] of Object.entries(values)) {
      if (typeof value === "string") into.set(markerKey({ $private: ref, field, version: row.version }), value);
    }
  }

  known(customer: RecordKey): Known {
    const { namespace, id } = customer;
    const run = this.#statements;
    const linkRow = run.link.get(namespace, id);
    const link: Link | undefined =
      linkRow === undefined
        ? undefined
        : {
            enterpriseGlobalId: linkRow.enterprise_global_id,
            channelCode: linkRow.channel_code,
            channelCustomerId: linkRow.channel_customer_id,
            origin: linkRow.origin,
            examined: linkRow.examined === 1,
          };
    const acknowledged = run.acknowledged.get(namespace, id);
    const enterprise = link?.enterpriseGlobalId ?? "";
    return {
      link,
      platformCustomers: run.platformCustomers.all(enterprise).map((row): KnownPlatformCustomer => ({
        customerId: row.customer_id,
        isDefault: row.is_default === 1,
        channelCode: row.channel_code,
        channelCustomerId: row.channel_customer_id,
      })),
      acknowledged:
        acknowledged === undefined ? undefined : parse<NonNullable<Known["acknowledged"]>>(acknowledged.fields),
      placedOrders: new Map(
        run.placedOrders.all(namespace, id).map((row): [string, PlacedOrder] => {
          const key = { namespace: row.namespace, id: row.order_id };
          return [
            formatKey(key),
            {
              key,
              channelOrderId: row.channel_order_id,
              bodyHash: row.body_hash,
              version: row.version,
              origin: row.origin,
            },
          ];
        }),
      ),
      numbers: run.numbers.all(namespace, id).map((row): FixedNumber => ({
        number: row.number,
        namespace: row.namespace,
        orderId: row.order_id,
        instanceId: row.instance_id,
        slot: row.slot,
      })),
      staffLinks: new Map(
        run.staffLinks.all(namespace, id).map((row): [string, StaffLink] => {
          const key = { namespace: row.namespace, id: row.staff_id };
          return [
            formatKey(key),
            {
              key,
              memberGlobalId: row.member_global_id,
              origin: row.origin,
              nameCommitments: parse<StaffLink["nameCommitments"]>(row.name_commitments),
            },
          ];
        }),
      ),
      assignments: run.assignments.all(namespace, id).map((row): Assignment => ({
        assetNumber: row.asset_number,
        staff: { namespace: row.namespace, id: row.staff_id },
        memberGlobalId: row.member_global_id,
        origin: row.origin,
      })),
      protectedMembers: new Set(run.protectedMembers.all(enterprise).map((row) => row.member_global_id)),
      enterpriseCode: run.enterpriseCode.get(enterprise)?.code,
    };
  }

  /** The value behind a marker, with secrets opened, or undefined where it was erased or wiped, or does not fit its commitment. */
  privateValue(marker: PrivateMarker): JsonObject[string] {
    const row = this.#statements.privateBody.get(marker.$private, marker.version);
    if (row === undefined || row.salt === null) return undefined;
    let value = row.body === null ? undefined : parse<JsonObject>(row.body)[marker.field];
    if (value === undefined && row.sealed !== null && this.#seal !== undefined) {
      value = parse<JsonObject>(this.#seal.open(row.sealed))[marker.field];
    }
    if (value === undefined || commitmentTo(row.salt, marker.field, value) !== marker.commitment) return undefined;
    return value;
  }

  /**
   * Fixes numbers to the slots of instances that have none yet: those the CRM gave, else free ones of the pool. Returns how many are lacking
   * (0: all fixed) and which given numbers belong to another instance already.
   */
  fixNumbers(
    order: RecordKey,
    wanted: { instanceId: string; quantity: number; given: string[]; wireNumber: (digits: string) => string }[],
    at: string,
  ): { lacking: number; clashing: string[] } {
    const run = this.#statements;
    let lacking = 0;
    const clashing: string[] = [];
    for (const item of wanted) {
      const fixed = run.fixedOf.all(order.namespace, order.id, item.instanceId);
      const slots = new Set(fixed.map((row) => row.slot));
      for (let slot = 0; slot < item.quantity; slot += 1) {
        if (slots.has(slot)) continue;
        const given = item.given[slot];
        if (given !== undefined) {
          if (run.byWire.get(given, given) !== undefined) clashing.push(given);
          else run.fixGiven.run(given, at, at, given, order.namespace, order.id, item.instanceId, slot);
          continue;
        }
        const free = run.freeNumber.get();
        if (free === undefined) lacking += 1;
        else
          run.fix.run(at, item.wireNumber(free.number), order.namespace, order.id, item.instanceId, slot, free.number);
      }
    }
    return { lacking, clashing };
  }

  /** The order that has this channel order number, placed or on its way. */
  channelOrderOwner(channelOrderId: string): RecordKey | undefined {
    const row = this.#statements.channelOrderOwner.get(channelOrderId);
    return row === undefined ? undefined : { namespace: row.namespace, id: row.order_id };
  }

  customerOfEnterprise(enterpriseGlobalId: string): RecordKey | undefined {
    const row = this.#statements.customerOfEnterprise.get(enterpriseGlobalId);
    return row === undefined ? undefined : { namespace: row.namespace, id: row.customer_id };
  }

  poolSize(): number {
    return this.#statements.poolSize.get()?.count ?? 0;
  }

  recordOutcomes(runId: string, outcomes: readonly RecordOutcome[], at: string): void {
    const run = this.#statements;
    for (const item of outcomes) {
      if (item.outcome === "planned") {
        run.planned.run(runId, item.stream, item.key.namespace, item.key.id);
      } else {
        run.deferred.run({
          run: runId,
          pending: item.again === true ? 1 : 0,
          at,
          code: item.code ?? "deferred",
          reason: item.reason ?? "",
          stream: item.stream,
          namespace: item.key.namespace,
          id: item.key.id,
        });
      }
    }
  }

  deferPending(run: string, customer: RecordKey | undefined, code: string, reason: string, at: string): number {
    if (customer === undefined) return this.#statements.deferChanged.run(run, code, reason, at, run, run).changes;
    return this.#statements.deferOf.run(run, code, reason, at, customer.namespace, customer.id, run).changes;
  }

  customerOfOrder(order: RecordKey): RecordKey | undefined {
    const row = this.#statements.customerOfOrder.get(order.namespace, order.id);
    return row === undefined ? undefined : { namespace: row.ns, id: row.id };
  }

  /** Records stay pending (their operation was not carried to its end) and are taken up again by the next run. */
  keepPending(outcomes: readonly { stream: Stream; key: RecordKey }[]): void {
    for (const item of outcomes) this.#statements.keepPending.run(item.stream, item.key.namespace, item.key.id);
  }
}

function parse<T>(text: string): T {
  return JSON.parse(text) as T;
}

function desired<Body>(row: DesiredRow): Desired<Body> {
  return {
    key: { namespace: row.namespace, id: row.id },
    version: row.version,
    bodyHash: row.body_hash,
    state: row.state,
    pending: row.pending === 1,
    body: parse<Body>(row.body),
  };
}

function prepareStatements(database: Sqlite) {
  return {
    dirty: database.prepare<[string, string, number], { ns: string; id: string }>(
      `select customer_namespace as ns, customer_id as id from (
         select customer_namespace, customer_id from record where pending = 1 and state <> 'quarantined'
         union
         select customer_namespace, customer_id from operation where state in ('sending', 'unknown', 'planned') and customer_id <> '')
       where (customer_namespace, customer_id) > (?, ?) order by 1, 2 limit ?`,
    ),
    linked: database.prepare<[string, string, number], { ns: string; id: string }>(
      `select namespace as ns, customer_id as id from link where to_at is null and (namespace, customer_id) > (?, ?)
       order by namespace, customer_id limit ?`,
    ),
    dirtyCount: database.prepare<[], { count: number }>(
      `select count(*) as count from (
         select customer_namespace, customer_id from record where pending = 1 and state <> 'quarantined'
         union
         select customer_namespace, customer_id from operation where state in ('sending', 'unknown', 'planned') and customer_id <> '')`,
    ),
    pendingCustomer: database.prepare(
      "update record set pending = 1 where customer_namespace = ? and customer_id = ? and state <> 'quarantined'",
    ),
    pendingOrder: database.prepare(
      "update record set pending = 1 where stream = 'orders' and namespace = ? and id = ? and state <> 'quarantined'",
    ),
    pendingSource: database.prepare(
      "update record set pending = 1 where source = ? and changed_at >= ? and state <> 'quarantined'",
    ),
    desired: database.prepare<[string, string], DesiredRow>(
      `select r.stream, r.namespace, r.id, r.version, r.body_hash, r.state, r.pending, v.body from record r
       join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id and v.version = r.version
       where r.customer_namespace = ? and r.customer_id = ? and (r.stream <> 'orders' or r.pending = 1)
       order by r.stream, r.namespace, r.id`,
    ),
    privateBody: database.prepare<
      [string, number],
      { salt: string | null; body: string | null; sealed: string | null }
    >("select salt, body, sealed from private_value where ref = ? and version = ?"),
    quarantined: database.prepare<[string, string], { count: number }>(
      "select count(*) as count from quarantine where customer_namespace = ? and customer_id = ? and state <> 'resolved'",
    ),
    link: database.prepare<
      [string, string],
      {
        enterprise_global_id: string;
        channel_code: string;
        channel_customer_id: string;
        origin: Link["origin"];
        examined: number;
      }
    >(
      `select enterprise_global_id, channel_code, channel_customer_id, origin, examined from link
       where namespace = ? and customer_id = ? and to_at is null`,
    ),
    acknowledged: database.prepare<[string, string], { fields: string }>(
      "select fields from acknowledged where namespace = ? and customer_id = ? and to_at is null",
    ),
    platformCustomers: database.prepare<
      [string],
      { customer_id: string; is_default: number; channel_code: string; channel_customer_id: string }
    >(
      `select customer_id, is_default, channel_code, channel_customer_id from platform_customer where enterprise_global_id = ?
       order by customer_id`,
    ),
    placedOrders: database.prepare<
      [string, string],
      {
        namespace: string;
        order_id: string;
        channel_order_id: string;
        body_hash: string;
        version: number;
        origin: PlacedOrder["origin"];
      }
    >(
      `select namespace, order_id, channel_order_id, body_hash, version, origin from placed_order
       where customer_namespace = ? and customer_id = ? and to_at is null order by namespace, order_id`,
    ),
    numbers: database.prepare<
      [string, string],
      { number: string; namespace: string; order_id: string; instance_id: string; slot: number }
    >(
      `select n.wire_number as number, n.namespace, n.order_id, n.instance_id, n.slot from asset_number n
       join record r on r.stream = 'orders' and r.namespace = n.namespace and r.id = n.order_id
       where r.customer_namespace = ? and r.customer_id = ? and n.fixed_at is not null
       order by n.namespace, n.order_id, n.instance_id, n.slot`,
    ),
    staffLinks: database.prepare<
      [string, string],
      {
        namespace: string;
        staff_id: string;
        member_global_id: string;
        origin: StaffLink["origin"];
        name_commitments: string;
      }
    >(
      `select namespace, staff_id, member_global_id, origin, name_commitments from staff_link
       where customer_namespace = ? and customer_id = ? and to_at is null order by namespace, staff_id`,
    ),
    assignments: database.prepare<
      [string, string],
      {
        asset_number: string;
        namespace: string;
        staff_id: string;
        member_global_id: string;
        origin: Assignment["origin"];
      }
    >(
      `select asset_number, namespace, staff_id, member_global_id, origin from assignment
       where customer_namespace = ? and customer_id = ? and to_at is null order by asset_number`,
    ),
    protectedMembers: database.prepare<[string], { member_global_id: string }>(
      "select member_global_id from protected_member where enterprise_global_id = ?",
    ),
    enterpriseCode: database.prepare<[string], { code: string }>(
      "select code from enterprise_code where enterprise_global_id = ?",
    ),
    fixedOf: database.prepare<[string, string, string], { slot: number; number: string }>(
      "select slot, number from asset_number where namespace = ? and order_id = ? and instance_id = ? and fixed_at is not null",
    ),
    fixGiven: database.prepare(
      `insert into asset_number (number, origin, taken_at, fixed_at, wire_number, namespace, order_id, instance_id, slot)
       values (?, 'crm', ?, ?, ?, ?, ?, ?, ?)`,
    ),
    byWire: database.prepare<[string, string], { number: string }>(
      "select number from asset_number where number = ? or (wire_number = ? and fixed_at is not null)",
    ),
    freeNumber: database.prepare<[], { number: string }>(
      "select number from asset_number where fixed_at is null order by number limit 1",
    ),
    fix: database.prepare(
      "update asset_number set fixed_at = ?, wire_number = ?, namespace = ?, order_id = ?, instance_id = ?, slot = ? where number = ? and fixed_at is null",
    ),
    customerOfEnterprise: database.prepare<[string], { namespace: string; customer_id: string }>(
      "select namespace, customer_id from link where enterprise_global_id = ? and to_at is null",
    ),
    channelOrderOwner: database.prepare<[string], { namespace: string; order_id: string }>(
      "select namespace, order_id from placed_order where channel_order_id = ? and to_at is null",
    ),
    poolSize: database.prepare<[], { count: number }>(
      "select count(*) as count from asset_number where fixed_at is null",
    ),
    planned: database.prepare(
      `update record set outcome_run = ?, outcome = 'planned', pending = 0, deferred_code = null, deferred_reason = null, deferred_since = null
       where stream = ? and namespace = ? and id = ?`,
    ),
    deferred: database.prepare(
      `update record set outcome_run = @run, outcome = 'deferred', pending = @pending,
         deferred_since = case when deferred_since is not null and deferred_code = @code then deferred_since else @at end,
         deferred_code = @code, deferred_reason = @reason
       where stream = @stream and namespace = @namespace and id = @id`,
    ),
    deferChanged: database.prepare(
      `update record set outcome_run = ?, outcome = 'deferred', deferred_code = ?, deferred_reason = ?,
         deferred_since = coalesce(deferred_since, ?)
       where changed_run = ? and pending = 1 and state <> 'quarantined' and outcome_run is not ?`,
    ),
    deferOf: database.prepare(
      `update record set outcome_run = ?, outcome = 'deferred', deferred_code = ?, deferred_reason = ?,
         deferred_since = coalesce(deferred_since, ?)
       where customer_namespace = ? and customer_id = ? and pending = 1 and state <> 'quarantined' and outcome_run is not ?`,
    ),
    customerOfOrder: database.prepare<[string, string], { ns: string; id: string }>(
      "select customer_namespace as ns, customer_id as id from record where stream = 'orders' and namespace = ? and id = ?",
    ),
    keepPending: database.prepare("update record set pending = 1 where stream = ? and namespace = ? and id = ?"),
  };
}
