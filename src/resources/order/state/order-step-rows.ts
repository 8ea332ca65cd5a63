import type { RecordKey } from "../../../crm/model.ts";
import type { Writes } from "../../../engine/model/resource.ts";
import { stored } from "../../../ledger/database/damage.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { sqlOf } from "../../../ledger/database/statements.ts";
import type { LedgerRows } from "../../../ledger/state/registry.ts";
import type { BoughtItem, RemovedItem } from "../shapes.ts";
import {
  agreedWithNone,
  type LicenceOrder,
  type OrderBought,
  type OrderRemoved,
  type OrderStep,
  type PricedItem,
  type StepOrigin,
} from "./changes.ts";
import { leave, there } from "./placed-order-rows.ts";

declare module "../../../engine/model/resource.ts" {
  interface ResourceTables {
    order_step: OrderStepTable;
    amendment_number: AmendmentNumberTable;
  }
}

/** `items` and `licence_orders` are JSON. */
interface OrderStepTable {
  number: number;
  namespace: string;
  order_id: string;
  customer_namespace: string;
  customer_id: string;
  at: string;
  kind: OrderStep["kind"];
  channel_order_id: string | null;
  version: number | null;
  items: string;
  licence_orders: string;
  operation_id: string | null;
  origin: StepOrigin;
  /** Set if a restore made the step invalid. */
  forgotten_at: string | null;
}

/** Channel order number of an amendment, fixed before the intent. `used_at`: the amendment was accepted. */
interface AmendmentNumberTable {
  channel_order_id: string;
  namespace: string;
  order_id: string;
  n: number;
  hash: string;
  fixed_at: string;
  used_at: string | null;
}

type StepRow = Omit<OrderStepTable, "at" | "operation_id" | "forgotten_at">;

const texts = {
  of: `select number, namespace, order_id, customer_namespace, customer_id, kind, channel_order_id, version, items,
      licence_orders, origin
    from order_step where namespace = +? and order_id = +? and forgotten_at is null order by number`,
  operationsOf: `select number, operation_id as operation from order_step
    where namespace = +? and order_id = +? and operation_id is not null and forgotten_at is null`,
  licenceOrders: `select sequence, license_type as licenseType, platform_customer_id as platformCustomerId,
      license_order_id as licenseOrderId
    from licence_order where namespace = +? and order_id = +? order by sequence`,
  last: "select max(number) from order_step where namespace = +? and order_id = +? and forgotten_at is null",
  unused: `select channel_order_id from amendment_number
    where namespace = +? and order_id = +? and hash = +? and used_at is null`,
  highest: `select max(n) as n from (
    select n from amendment_number where namespace = +@namespace and order_id = +@id
    union all
    select unixepoch(from_at) from placed_order
      where namespace = +@namespace and order_id = +@id and origin = 'adopted'
    union all
    select unixepoch(g.value ->> 'at') from meta g join placed_order p on p.from_at <= g.value ->> 'at'
      where g.key = 'gap' and p.namespace = +@namespace and p.order_id = +@id)`,
  owner: `select namespace, order_id as id from amendment_number where channel_order_id = +@number
    union all
    select namespace, order_id from placed_order where to_at is null and channel_order_id = +@number
    union all
    select one.value ->> 'namespace', one.value ->> 'id' from operation o join json_each(o.records) one
    where o.state in ('sending', 'unknown', 'parked') and o.claim is not null and o.claim = +@number limit 1`,
  fix: `insert into amendment_number (channel_order_id, namespace, order_id, n, hash, fixed_at)
    values (?, ?, ?, ?, ?, ?)`,
  withUnused: `select p.namespace, p.order_id as id from placed_order p
    where p.to_at is null and p.customer_namespace = +? and p.customer_id = +? and exists (
      select 1 from amendment_number a
      where a.namespace = p.namespace and a.order_id = p.order_id and a.used_at is null)`,
  note: `insert into amendment_number (channel_order_id, namespace, order_id, n, hash, fixed_at, used_at)
    values (?, ?, ?, ?, ?, ?, ?)
    on conflict do update set used_at = coalesce(used_at, excluded.used_at)`,
  amendment:
    "select channel_order_id, namespace, order_id, n, used_at from amendment_number where channel_order_id = +?",
  use: "update amendment_number set used_at = ? where channel_order_id = +? and used_at is null",
  agree: `update placed_order set agreed_hash = ?, agreed_version = ?
    where namespace = +? and order_id = +? and to_at is null`,
  end: "update asset_number set ended_at = ? where wire_number = +? and fixed_at is not null and ended_at is null",
  leave,
  step: `insert into order_step (namespace, order_id, customer_namespace, customer_id, at, kind, channel_order_id,
      version, items, licence_orders, operation_id, origin)
    values (@namespace, @order_id, @customer_namespace, @customer_id, @at, @kind, @channel_order_id,
      @version, @items, @licence_orders, @operation_id, @origin)`,
  happened: `with of as (select ? as namespace, ? as id)
    update placed_order set products = max(0, products + ?),
      agreed_hash = iif((customer_namespace, customer_id) = (of.namespace, of.id), '${agreedWithNone}', agreed_hash),
      agreed_version = iif((customer_namespace, customer_id) = (of.namespace, of.id), null, agreed_version)
    from of where placed_order.namespace = +? and order_id = +? and to_at is null`,
};

export class OrderStepRows {
  readonly #sql;
  readonly #ledger: Pick<LedgerRows, "requests" | "differences">;

  constructor(database: Sqlite, ledger: Pick<LedgerRows, "requests" | "differences">) {
    this.#sql = sqlOf(database, texts);
    this.#ledger = ledger;
  }

  of({ namespace, id }: RecordKey): OrderStep[] {
    return this.#sql.rows<StepRow>("of", [namespace, id]).map(stepOf);
  }

  operationsOf({ namespace, id }: RecordKey): Map<number, string> {
    const rows = this.#sql.rows<{ number: number; operation: string }>("operationsOf", [namespace, id]);
    return new Map(rows.map(({ number, operation }) => [number, operation]));
  }

  licenceOrders({ namespace, id }: RecordKey) {
    return this.#sql.rows<LicenceOrder>("licenceOrders", [namespace, id]);
  }

  /** 0: nothing happened since the placing. */
  last({ namespace, id }: RecordKey): number {
    return this.#sql.value<number | null>("last", [namespace, id]) ?? 0;
  }

  /** Returns the number already fixed for the same content and not used, otherwise the next free one. */
  fixNumber(
    { namespace, id }: RecordKey,
    hash: string,
    make: (n: number) => string,
    at: string,
  ): { number: string } | { takenBy: RecordKey; number: string } {
    const fixed = this.#sql.value<string>("unused", [namespace, id, hash]);
    if (fixed !== undefined) return { number: fixed };
    // An adopted order may have used amendment numbers that the platform no longer shows. So this ledger counts from
    // the
    // second of the adoption. The same holds after a restore: the lost changes may have used the next numbers.
    const highest = this.#sql.value<number | null>("highest", { namespace, id });
    for (let n = (highest ?? 0) + 1; ; n += 1) {
      const number = make(n);
      const owner = this.#sql.row<RecordKey>("owner", { number });
      if (owner === undefined) {
        this.#sql.change("fix", [number, namespace, id, n, hash, at]);
        return { number };
      }
      // A template without n always gives the same taken number.
      if (make(n + 1) === number) return { takenBy: owner, number };
    }
  }

  /** Placed orders with a fixed number that no call used. */
  withUnusedNumber({ namespace, id }: RecordKey) {
    return this.#sql.rows<RecordKey>("withUnused", [namespace, id]);
  }

  noteNumber({ namespace, id }: RecordKey, { n, channelOrderId }: { n: number; channelOrderId: string }, at: string) {
    this.#sql.change("note", [channelOrderId, namespace, id, n, `shown ${n}`, at, at]);
  }

  amendment(number: string) {
    return this.#sql.row<Omit<AmendmentNumberTable, "hash" | "fixed_at">>("amendment", [number]);
  }

  readonly writes = {
    "order-bought": (change, at) => {
      this.#happened(change, at, change.products);
      this.#sql.change("use", [at, change.channelOrderId]);
      this.#sql.change("leave", { ...there(change.order, change.customer), at });
    },
    "order-removed": (change, at) => {
      this.#happened(change, at, -change.products);
      for (const { number, product } of change.origin === "sent" ? change.items : [])
        if (number !== null) this.#ledger.differences.removed(change.customer, { number, product }, at);
    },
    "order-priced": (change, at) => {
      const items = JSON.stringify(change.items);
      const none = { channel_order_id: null, licence_orders: "[]", operation_id: null };
      this.#insert({ ...whose(change), ...none, at, kind: "priced", version: change.version, items, origin: "sent" });
    },
    "order-agreed": ({ order: { namespace, id }, version, bodyHash }) => {
      this.#sql.change("agree", [bodyHash, version, namespace, id]);
    },
    "numbers-ended": ({ numbers }, at) => {
      for (const number of numbers) this.#sql.change("end", [at, number]);
      this.#ledger.requests.endGone(numbers, at);
    },
  } satisfies Writes;

  #insert(step: Omit<OrderStepTable, "number" | "forgotten_at">): void {
    this.#sql.change("step", { ...step });
  }

  /** Also clears the agreement with the CRM, so that the order is compared again. */
  #happened(change: OrderBought | OrderRemoved, at: string, products: number): void {
    const { order, customer, operationId: operation_id, origin } = change;
    const bought = change.type === "order-bought" ? change : undefined;
    this.#insert({
      ...whose(change),
      at,
      kind: bought === undefined ? "removed" : "bought",
      channel_order_id: bought?.channelOrderId ?? null,
      version: bought?.version ?? null,
      items: JSON.stringify(change.items),
      licence_orders: JSON.stringify(bought?.licenceOrders ?? []),
      operation_id,
      origin,
    });
    // Steps at another customer do not change the state here.
    this.#sql.change("happened", [customer.namespace, customer.id, products, order.namespace, order.id]);
  }
}

function whose({ order, customer }: { order: RecordKey; customer: RecordKey }) {
  return {
    namespace: order.namespace,
    order_id: order.id,
    customer_namespace: customer.namespace,
    customer_id: customer.id,
  };
}

export function stepOf(row: StepRow): OrderStep {
  const { number, kind, origin, channel_order_id: channelOrderId, version } = row;
  const of = {
    number,
    origin,
    order: { namespace: row.namespace, id: row.order_id },
    customer: { namespace: row.customer_namespace, id: row.customer_id },
  };
  if (kind === "removed") return { ...of, kind, items: stored<RemovedItem[]>(row.items) };
  if (kind === "priced") return { ...of, kind, version: version ?? 0, items: stored<PricedItem[]>(row.items) };
  const items = stored<BoughtItem[]>(row.items);
  const licenceOrders = stored<LicenceOrder[]>(row.licence_orders);
  return { ...of, kind, channelOrderId: channelOrderId ?? "", version: version ?? 0, items, licenceOrders };
}
