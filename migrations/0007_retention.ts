import { sql } from "kysely";
import type { Kysely } from "kysely";

/** What has ended, by its end: so that what became too old is found without a look at what is younger. */
const statements = [
  "create index record_version_ended on record_version (to_at) where to_at is not null",
  "create index quarantine_resolved on quarantine (resolved_at) where state = 'resolved'",
  "create index observation_ended on observation (to_at) where to_at is not null",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
