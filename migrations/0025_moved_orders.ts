import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * An order that moves to another customer in the CRM stands for that one from then on; whom it was placed for stays
 * known. Customers that an order moved away from are kept while something of it may stand for them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    `alter table placed_order add column placed_for_namespace text`,
    `alter table placed_order add column placed_for_id text`,
    `create table moved_order (namespace text not null, order_id text not null, customer_namespace text not null, ` +
      `customer_id text not null, since text not null, ended_at text, ` +
      `primary key (namespace, order_id, customer_namespace, customer_id)) strict, without rowid`,
    `create index moved_order_from on moved_order (customer_namespace, customer_id) where ended_at is null`,
    `insert into moved_order (namespace, order_id, customer_namespace, customer_id, since) ` +
      `select p.namespace, p.order_id, p.customer_namespace, p.customer_id, r.changed_at from placed_order p ` +
      `join record r on r.stream = 'orders' and r.namespace = p.namespace and r.id = p.order_id ` +
      `where p.to_at is null and (r.customer_namespace <> p.customer_namespace or r.customer_id <> p.customer_id)`,
    `update record set pending = 1 where stream = 'customers' and state <> 'quarantined' and exists (` +
      `select 1 from moved_order m where m.customer_namespace = record.namespace and m.customer_id = record.id)`,
  ])
    await sql.raw(statement).execute(db);
}
