import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * Orders are looked for under their numbers in what every customer showed. Customers that a rebuild could not look at
 * are kept until they are: an order may stand for one of them. Of what an order left it may not be known what it is.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    `create index observation_of_order on observation (subject) where kind = 'order' and to_at is null`,
    `create table unread_customer (namespace text not null, id text not null, since text not null, ` +
      `all_orders integer not null, why text not null, ended_at text, primary key (namespace, id)) ` +
      `strict, without rowid`,
    `create index unread_customer_open on unread_customer (namespace, id) where ended_at is null`,
    `create index quarantine_was on quarantine (stream, namespace, record_id) where state = 'resolved'`,
    `alter table moved_order add column unclear text`,
  ])
    await sql.raw(statement).execute(db);
}
