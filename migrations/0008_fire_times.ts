import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // When the run of a fire time came to its end; null while it is on, or where its process died or its run failed.
  `alter table fired_slot add column finished_at text`,
  `update fired_slot set finished_at = fired_at`,
  `create index fired_slot_unfinished on fired_slot (job, slot) where finished_at is null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
