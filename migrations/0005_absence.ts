import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // When a record was first missing from a whole read of a run; it counts only while `missed` is not 0.
  `alter table record add column missed_since text`,
  // Whether a complete read was not believed because it lost too much; and what it said about what is gone: 'judged',
  // or why not.
  `alter table source_read add column shrunk integer not null default 0`,
  `alter table source_read add column absence text`,
  `create index source_read_whole on source_read (source, stream, number) where complete = 1 and whole = 1`,
  `create index record_missing on record (source, stream) where missed > 0 and state <> 'absent'`,
  `create index record_quarantined_by_customer on record (customer_namespace, customer_id) where state = 'quarantined'`,
  `create index quarantine_of_nobody on quarantine (source, stream) where state <> 'resolved' and customer_id is null`,
  // The streams that the configuration of the last run had, and the job that reads each.
  `create table source_stream (source text not null, stream text not null, job text, ` +
    `primary key (source, stream)) strict, without rowid`,
];

/** What absence is counted by, and which streams are configured. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
