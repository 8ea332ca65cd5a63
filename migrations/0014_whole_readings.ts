import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // The last whole reading of a customer, and what it showed: where the next shows the same, no row of it is written.
  `alter table observation_read add column shown_at text`,
  `alter table observation_read add column shown_hash text`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
