import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // What a person did on the platform and took note of; `unseen` is what could not be read back. It ends when the
  // record changes.
  `create table by_hand (
     namespace text not null, id text not null, stream text not null, body_hash text not null, at text not null,
     by text not null, reason text not null, unseen text not null default '[]', ended_at text,
     primary key (stream, namespace, id, at)
   ) strict, without rowid`,
  `create unique index by_hand_live on by_hand (stream, namespace, id) where ended_at is null`,
  // Customers whose link a person took away: nothing is sent for them until a person links them again.
  `create table unlinked (
     namespace text not null, customer_id text not null, at text not null, by text not null, reason text not null,
     enterprise_global_id text not null, ended_at text, primary key (namespace, customer_id, at)
   ) strict, without rowid`,
  `create unique index unlinked_live on unlinked (namespace, customer_id) where ended_at is null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
