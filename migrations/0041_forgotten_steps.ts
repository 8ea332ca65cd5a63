import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * When a step of an order counted for nothing any more, since the ledger was restored from a backup and what stands of
 * the order is otherwise than it knew.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table order_step add column forgotten_at text`.execute(db);
  await sql`create index placed_order_ended on placed_order (customer_namespace, customer_id)
    where to_at is not null`.execute(db);
  await sql`create index staff_link_ended on staff_link (customer_namespace, customer_id)
    where to_at is not null`.execute(db);
}
