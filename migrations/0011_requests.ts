import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // What people asked for of a thing of a customer, and what the service answered last. `due`: it is still to be sent.
  `create table manual_request (
    of text not null, about text not null, from_at text not null, to_at text, ` +
    `customer_namespace text not null, customer_id text not null,
    wanted text not null, details text not null, asked_by text not null, reason text not null,
    answer text, answered_at text, operation_id text,
    due integer not null check (due in (0, 1)), primary key (of, about, from_at)
  ) strict, without rowid`,
  `create unique index manual_request_live on manual_request (of, about) where to_at is null`,
  `create index manual_request_of_customer on manual_request (customer_namespace, customer_id, to_at)`,
  `create index manual_request_due on manual_request (customer_namespace, customer_id)
    where to_at is null and due = 1`,
  // By its end, so that what became too old is found without a look at what is younger.
  "create index manual_request_ended on manual_request (to_at) where to_at is not null",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
