import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * What the first rows of a whole reading looked like (JSON: rows, and how often each place that the mapping reads was
 * filled, with which types). Of readings before it nothing is known: the next whole one begins it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table source_read add column shape text`.execute(db);
}
