import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // How often each assumption met reality, and how; a contradiction stands until a person accepts it.
  `create table assumption_met (
     row text not null, verdict text not null check (verdict in ('confirmed', 'contradicted')), count integer not null,
     first_at text not null, last_at text not null, evidence text not null, operation_id text, accepted_at text,
     by text, reason text, primary key (row, verdict)
   ) strict, without rowid`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
