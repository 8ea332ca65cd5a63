import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * Whether a row of the quarantine came of a stored form that was mapped anew, and of no reading: it waits as long as
 * its record is missing. Of rows before it nothing is known; a whole reading releases them as it did.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table quarantine add column of_stored_form integer not null default 0`.execute(db);
}
