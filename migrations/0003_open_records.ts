import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // What is open is counted in every run, whatever has been finished.
  `create index record_quarantined on record (stream, namespace, id) where state = 'quarantined'`,
  // Rows whose customer was not read are mapped anew: whose they are is asked of them once more.
  `update quarantine set state = 'retry' where state = 'open' and customer_id is null`,
];

/** What is not done: found without a scan, and by its customer. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
