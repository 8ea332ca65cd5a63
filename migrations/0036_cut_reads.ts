import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // The settings that a reading was made with: its question, and the mapping that its raw forms are known by. A reading
  // that went on where another was cut names the first of its parts.
  `alter table source_read add column question text`,
  `alter table source_read add column mapping text`,
  `alter table source_read add column continues integer`,
  // How far a reading has come that is not at its end: one for each stream of a source, gone when a reading ends.
  `create table read_checkpoint (
     source text not null, stream text not null, question text not null, position text not null,
     first_read integer not null, rows integer not null, bad integer not null, nameless integer not null,
     began_at text not null, reached_at text not null,
     primary key (source, stream)
   ) strict, without rowid`,
  // The raw forms that it has met as they were, and those that stand of records that it skipped: hashes of 32 bytes,
  // one behind the other.
  `create table read_checkpoint_seen (
     source text not null, stream text not null, part integer not null, hashes blob not null,
     skipped integer not null,
     primary key (source, stream, part)
   ) strict`,
];

/** Where a reading of a source goes on that was cut. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
