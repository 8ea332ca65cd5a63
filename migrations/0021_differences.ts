import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // In what the platform shows something else than the ledger says, since when, and until when.
  `create table difference (
     namespace text not null, customer_id text not null, level text not null, subject text not null, ` +
    `class text not null check (class in ('missing', 'extra', 'different', 'in-transit', 'not-observable')),
     first_seen text not null, last_seen text not null, detail text not null, ended_at text, ` +
    `primary key (namespace, customer_id, level, subject, class, first_seen)
   ) strict, without rowid`,
  `create unique index difference_live on difference (namespace, customer_id, level, subject, class) ` +
    `where ended_at is null`,
  `create index difference_ended on difference (ended_at) where ended_at is not null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
