import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * When a step of an order counted for nothing any more, since the ledger was restored from a backup and what stands of
 * the order is otherwise than it knew.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table order_step add column forgotten_at text`.execute(db);
}
