import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // A period whose figures were frozen, as often as it was closed. What was said of it is never changed; that it was
  // opened again is said once.
  `create table closed_period (
     period text not null, closing integer not null, zone text not null, from_at text not null, to_at text not null,
     closed_at text not null, closed_by text not null, reason text,
     as_of text not null, entry integer not null, entry_hash text not null, tree_size integer not null,
     tree_root text not null, program text not null, configuration text not null,
     reopened_at text, reopened_by text, reopened_reason text,
     primary key (period, closing)
   ) strict, without rowid`,
  `create unique index closed_period_live on closed_period (period) where reopened_at is null`,
  // The files of a closing, by the SHA-256 of their bytes.
  `create table closed_file (
     period text not null, closing integer not null, name text not null, kind text not null, format text not null,
     sha256 text not null, bytes integer not null,
     primary key (period, closing, name)
   ) strict, without rowid`,
  // What stood in the way of a closing, and who takes it as it is. \`facts\`: what was signed; other facts are new.
  `create table sign_off (
     period text not null, blocker text not null, facts text not null, at text not null, by text not null,
     reason text not null,
     primary key (period, blocker, facts)
   ) strict, without rowid`,
  `create trigger closed_period_refuses_delete before delete on closed_period begin ` +
    `select raise(abort, 'closed books are never deleted'); end`,
  `create trigger closed_period_only_reopens before update on closed_period when old.reopened_at is not null
     or new.reopened_at is null or new.reopened_by is null or new.reopened_reason is null
     or new.period <> old.period or new.closing <> old.closing or new.zone <> old.zone
     or new.from_at <> old.from_at or new.to_at <> old.to_at or new.closed_at <> old.closed_at
     or new.closed_by <> old.closed_by or new.reason is not old.reason or new.as_of <> old.as_of
     or new.entry <> old.entry or new.entry_hash <> old.entry_hash or new.tree_size <> old.tree_size
     or new.tree_root <> old.tree_root or new.program <> old.program or new.configuration <> old.configuration begin ` +
    `select raise(abort, 'closed books are only opened again'); end`,
  `create trigger closed_file_refuses_delete before delete on closed_file begin ` +
    `select raise(abort, 'closed books are never deleted'); end`,
  `create trigger closed_file_refuses_update before update on closed_file begin ` +
    `select raise(abort, 'closed books are never changed'); end`,
  `create trigger sign_off_refuses_delete before delete on sign_off begin ` +
    `select raise(abort, 'what was signed off is never deleted'); end`,
  `create trigger sign_off_refuses_update before update on sign_off begin ` +
    `select raise(abort, 'what was signed off is never changed'); end`,
];

/** Books that are closed, the files of them, and what was signed off. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
