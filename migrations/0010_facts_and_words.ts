import { sql } from "kysely";
import type { Kysely } from "kysely";

/** Facts that stood in `meta` under keys with a prefix; `<` ends where the prefix does. */
const facts = [
  // Templates of channel numbers under which E3 has shown an enterprise that an accepted E2 of this ledger made (A8).
  `create table confirmed_correlation (correlation text primary key, confirmed_at text not null) strict, without rowid`,
  `insert into confirmed_correlation (correlation, confirmed_at)
     select substr(key, length('correlation ') + 1), value from meta ` +
    `where key >= 'correlation ' and key < 'correlation!'`,
  // Licence types that the platform ever showed: by an asset (A43), or by a product of an observation that was thinned.
  `create table shown_licence_type (license_type text not null, shown_by text not null ` +
    `check (shown_by in ('asset', 'product')), shown_at text not null,
     primary key (shown_by, license_type)) strict, without rowid`,
  `insert into shown_licence_type (license_type, shown_by, shown_at)
     select substr(key, length('licence-type-shown ') + 1), 'asset', value from meta ` +
    `where key >= 'licence-type-shown ' and key < 'licence-type-shown!'`,
  `insert into shown_licence_type (license_type, shown_by, shown_at)
     select substr(key, length('licence-type-observed ') + 1), 'product', value from meta
     where key >= 'licence-type-observed ' and key < 'licence-type-observed!'`,
  // Times of ours that lay in the future when they were met, because the clock was set back. Epoch milliseconds.
  `create table clock_note (subject text primary key, future integer not null, met_at integer not null) ` +
    `strict, without rowid`,
  `insert into clock_note (subject, future, met_at)
     select substr(key, length('clock-set-back ') + 1), cast(substr(value, 1, instr(value, ' ') - 1) as integer),
       cast(substr(value, instr(value, ' ') + 1) as integer)
     from meta where key >= 'clock-set-back ' and key < 'clock-set-back!'`,
  `delete from meta where (key >= 'correlation ' and key < 'correlation!') ` +
    `or (key >= 'licence-type-shown ' and key < 'licence-type-shown!')
     or (key >= 'licence-type-observed ' and key < 'licence-type-observed!') ` +
    `or (key >= 'clock-set-back ' and key < 'clock-set-back!')`,
];

const words = [
  `alter table service_left rename to open_circuit`,
  `alter table notice rename to alert`,
  `alter table slot rename to last_fire_time`,
  `alter table last_fire_time rename column last_slot to fire_time`,
  `alter table fired_slot rename to fired_time`,
  `alter table fired_time rename column slot to fire_time`,
  `drop index fired_slot_unfinished`,
  `create index fired_time_unfinished on fired_time (job, fire_time) where finished_at is null`,
  `alter table asset_number rename column slot to unit`,
  `alter table staff_link rename column particulars to profile`,
  `alter table enterprise_code rename column learned_at to recorded_at`,
];

// A check of a column can only be changed by making the table anew.
const interrupted = [
  `create table run_anew (
    id text primary key, job text not null, kind text not null, trigger text not null, scope text, ` +
    `started_at text not null, finished_at text,
    state text not null check (state in ('running', 'done', 'stopped', 'failed', 'interrupted')), ` +
    `exit_code integer, balance text, summary text, header text not null
  ) strict, without rowid`,
  `insert into run_anew (id, job, kind, trigger, scope, started_at, finished_at, state, ` +
    `exit_code, balance, summary, header)
     select id, job, kind, trigger, scope, started_at, finished_at, iif(state = 'cut-off', 'interrupted', state), ` +
    `exit_code, balance, summary, header from run`,
  `drop table run`,
  `alter table run_anew rename to run`,
  `create index run_by_job on run (job, id)`,
  `create index run_by_start on run (started_at)`,
  `create index run_of_job on run (job, started_at, id)`,
  `create index run_running on run (started_at) where state = 'running'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...facts, ...words, ...interrupted]) await sql.raw(statement).execute(db);
}
