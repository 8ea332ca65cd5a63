import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // How often in a row a record came back to the form before its last one.
  `alter table record add column flips integer not null default 0`,
  `alter table record add column previous_hash text`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
