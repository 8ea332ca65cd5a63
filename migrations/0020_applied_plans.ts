import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // Each operation of a saved plan is applied once: its row is written with the intent to send it.
  `create table applied_plan (
     plan text not null, hash text not null, run_id text not null, at text not null, primary key (plan, hash)
   ) strict, without rowid`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
