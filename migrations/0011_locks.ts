import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // What people asked for of a lock, and what the service said last of it (E6, E7). `due`: it is still to be sent.
  `create table lock_wish (
    asset_number text not null, from_at text not null, to_at text, customer_namespace text not null, ` +
    `customer_id text not null,
    wanted text not null check (wanted in ('locked', 'unlocked')), license_type text not null, ` +
    `large_customer integer not null check (large_customer in (0, 1)),
    asked_by text not null, reason text not null, status integer check (status between 1 and 4), answered_at text, ` +
    `operation_id text,
    due integer not null check (due in (0, 1)), primary key (asset_number, from_at)
  ) strict, without rowid`,
  `create unique index lock_wish_live on lock_wish (asset_number) where to_at is null`,
  `create index lock_wish_of_customer on lock_wish (customer_namespace, customer_id) where to_at is null`,
  `create index lock_wish_due on lock_wish (customer_namespace, customer_id) where to_at is null and due = 1`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
