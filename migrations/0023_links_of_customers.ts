import { sql } from "kysely";
import type { Kysely } from "kysely";

/** A person who moved keeps the account at the customer before until it is deleted there: a link for each customer. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    `drop index staff_link_current`,
    `create unique index staff_link_current on staff_link ` +
      `(namespace, staff_id, customer_namespace, customer_id) where to_at is null`,
  ])
    await sql.raw(statement).execute(db);
}
