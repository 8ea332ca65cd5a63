import type { RecordKey } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { column, prepared, sql, table } from "../database/statements.ts";
import type { Writes } from "../../engine/model/resource.ts";

/** A customer that a rebuild, or a run that found foreign enterprises, could not read. Namespace "" if unknown. */
export interface UnreadCustomerTable {
  namespace: string;
  id: string;
  since: string;
  /** 1: also counts for orders that came later. */
  all_orders: number;
  why: string;
  ended_at: string | null;
}

export const unreadCustomerTables = { unread_customer: table<UnreadCustomerTable>() };

export interface Unread {
  customer: RecordKey;
  why: string;
  count: number;
}

/** Means all customers until a rebuild has read all. Counts for all orders if a source did not send all of them. */
export const notLookedAt: RecordKey = { namespace: "", id: "rebuild" };

export class UnreadCustomerRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  /** Whether the platform has more than this ledger made, as after a rebuild. */
  isAnew(): boolean {
    return this.#statements.anew.get({ ...notLookedAt }) !== undefined;
  }

  /** Whether an order was known at the rebuild, or not all orders were read then. */
  knewBefore({ namespace, id }: RecordKey): boolean {
    const of = { mark: notLookedAt.id, orderNamespace: namespace, order: id };
    return this.isAnew() && this.#statements.knewBefore.get(of) !== undefined;
  }

  all(): RecordKey[] {
    return this.#statements.all.all();
  }

  /** Their CRM record is unusable, so nobody can read them. */
  inQuarantine(): RecordKey[] {
    return this.#statements.inQuarantine.all();
  }

  unnamed(): string[] {
    return this.#statements.unnamed.all();
  }

  /** That may have this order, which must be older than the failure. Enterprises made later cannot have it. */
  before(order: RecordKey, customer: RecordKey): Unread | undefined {
    if (!this.isAnew()) return undefined;
    const row = this.#statements.before.get({
      orderNamespace: order.namespace,
      order: order.id,
      namespace: customer.namespace,
      id: customer.id,
    });
    return row === undefined
      ? undefined
      : { customer: { namespace: row.namespace, id: row.id }, why: row.why, count: row.count };
  }

  readonly writes = {
    "customer-unread": ({ customer: { namespace, id }, why, ofAllOrders }, at) => {
      this.#statements.begin.run(namespace, id, at, ofAllOrders ? 1 : 0, why);
    },
    "customer-read": ({ customer: { namespace, id } }, at) => {
      this.#statements.end.run(at, namespace, id);
    },
  } satisfies Writes;
}

interface OfOrder {
  orderNamespace: string;
  order: string;
  namespace: string;
  id: string;
}

/** When anything of an order was first read, including unusable rows. */
const firstSeen = `(select min(seen) from (
  select first_seen as seen from record where stream = 'orders' and namespace = +@orderNamespace and id = +@order
  union all
  select first_seen from quarantine where state = 'resolved'
    and stream = 'orders' and namespace = +@orderNamespace and record_id = +@order
  union all
  select first_seen from quarantine where state <> 'resolved'
    and stream = 'orders' and namespace = +@orderNamespace and record_id = +@order))`;

const texts = {
  anew: sql<[RecordKey]>`select 1 from unread_customer where namespace = +@namespace and id = +@id`,
  knewBefore: sql<[Pick<OfOrder, "orderNamespace" | "order"> & { mark: string }]>`
    select 1 from unread_customer u where u.namespace = '' and u.id = +@mark
      and (u.ended_at is null or u.all_orders = 1 or u.ended_at >= ${firstSeen})`,
  all: sql<[], RecordKey>`
    select namespace, id from unread_customer where ended_at is null and namespace >= '' order by 1, 2`,
  inQuarantine: sql<[], RecordKey>`select distinct namespace, record_id as id from quarantine
    where stream = 'customers' and state <> 'resolved' and record_id is not null order by 1, 2`,
  unnamed: column<[], string>`select distinct stream from quarantine
    where stream in ('customers', 'orders') and state <> 'resolved' and record_id is null order by 1`,
  before: sql<[OfOrder], RecordKey & { why: string; count: number }>`
    select u.namespace, u.id, u.why, count(*) over () as count from unread_customer u
      where u.ended_at is null and u.namespace >= '' and not (u.namespace = @namespace and u.id = @id)
        and (u.all_orders = 1 or u.since >= ${firstSeen})
        and not exists (select 1 from link l where l.namespace = u.namespace and l.customer_id = u.id
          and l.to_at is null and l.origin = 'created')
      order by 1, 2 limit 1`,
  begin: sql`insert into unread_customer (namespace, id, since, all_orders, why) values (?, ?, ?, ?, ?)
    on conflict do update set since = excluded.since, all_orders = excluded.all_orders, why = excluded.why,
      ended_at = null`,
  end: sql`update unread_customer set ended_at = ? where namespace = +? and id = +? and ended_at is null`,
};
