import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // What happened to an order after it was placed, in the order of the numbers, which no clock moves. An order without
  // a step stands as it was placed.
  `create table order_step (
     number integer primary key, namespace text not null, order_id text not null, customer_namespace text not null,
     customer_id text not null, at text not null, kind text not null check (kind in ('bought', 'removed', 'priced')),
     channel_order_id text, version integer, items text not null, licence_orders text not null default '[]',
     operation_id text, origin text not null check (origin in ('sent', 'by-hand', 'found', 'rebuilt'))
   ) strict`,
  `create index order_step_by_order on order_step (namespace, order_id, number)`,
  `create index order_step_by_customer on order_step (customer_namespace, customer_id)`,
  `create table amendment_number (
     channel_order_id text not null primary key, namespace text not null, order_id text not null, n integer not null,
     hash text not null, fixed_at text not null, used_at text
   ) strict, without rowid`,
  `create unique index amendment_number_by_order on amendment_number (namespace, order_id, n)`,

  // The form of an order with which what stands was last in agreement; none: the one that it was placed with.
  `alter table placed_order add column agreed_hash text`,
  `alter table placed_order add column agreed_version integer`,

  // Whose an asset number is, whoever the CRM says that the order belongs to now, and when its asset ended.
  `alter table asset_number add column customer_namespace text`,
  `alter table asset_number add column customer_id text`,
  `alter table asset_number add column ended_at text`,
  `update asset_number set (customer_namespace, customer_id) = (
     select owner.customer_namespace, owner.customer_id from (
       select 1 as place, customer_namespace, customer_id from placed_order
         where namespace = asset_number.namespace and order_id = asset_number.order_id and to_at is null
       union all
       select 2, customer_namespace, customer_id from record
         where stream = 'orders' and namespace = asset_number.namespace and id = asset_number.order_id
     ) owner order by owner.place limit 1)
   where fixed_at is not null and order_id is not null`,
  `drop index asset_number_by_instance`,
  // A unit has one number at a time, at each customer that the order stands at.
  `create unique index asset_number_by_instance on asset_number ` +
    `(namespace, order_id, instance_id, unit, customer_namespace, customer_id, coalesce(ended_at, '')) ` +
    `where fixed_at is not null`,
  `create index asset_number_by_owner on asset_number (customer_namespace, customer_id) ` +
    `where fixed_at is not null and ended_at is null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
