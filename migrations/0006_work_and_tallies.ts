import { sql } from "kysely";
import type { Kysely } from "kysely";

const open = "state in ('sending', 'unknown', 'parked')";

/** Rows of these tables count while `to_at` is null. */
const versioned = ["link", "placed_order", "staff_link", "assignment"];

const plus = (name: string): string =>
  `insert into tally (name, count) values ('${name}', 1) on conflict (name) do update set count = count + 1;`;
const minus = (name: string): string => `update tally set count = count - 1 where name = '${name}';`;

/**
 * Keeps the number of the rows of a table for which something holds; `holds` reads the columns of the row that it is
 * given the name of.
 */
function counted(name: string, table: string, column: string, holds: (row: string) => string): string[] {
  const label = name.replaceAll(/\W/gu, "_");
  return [
    `insert into tally (name, count) select '${name}', count(*) from ${table} where ${holds(table)}`,
    `create trigger tally_${label}_insert after insert on ${table} when ${holds("new")} begin ${plus(name)} end`,
    `create trigger tally_${label}_delete after delete on ${table} when ${holds("old")} begin ${minus(name)} end`,
    `create trigger tally_${label}_begin after update of ${column} on ${table} ` +
      `when ${holds("new")} and not ${holds("old")} begin ${plus(name)} end`,
    `create trigger tally_${label}_end after update of ${column} on ${table} ` +
      `when ${holds("old")} and not ${holds("new")} begin ${minus(name)} end`,
  ];
}

const recordPlus =
  `insert into record_tally (stream, state, count, pending) ` +
  `values (new.stream, new.state, 1, new.pending)
  on conflict (stream, state) do update set count = count + 1, pending = pending + excluded.pending;`;
const recordMinus =
  `update record_tally set count = count - 1, pending = pending - old.pending ` +
  `where stream = old.stream and state = old.state;`;

const statements = [
  // What is to be done, without what is finished. A statement has to repeat the condition of an index word for word.
  `create index operation_dirty on operation (customer_namespace, customer_id) ` +
    `where state in ('sending', 'unknown', 'planned')`,
  `create index operation_waiting on operation (customer_namespace, customer_id, position, id) ` +
    `where state in ('planned', 'held')`,
  `create index operation_held on operation (hold_id) where state = 'held'`,
  `create index operation_open_order on operation (json_extract(payload, '$.channelOrderId')) ` +
    `where ${open} and kind = 'place-order'`,
  `create index operation_open_enterprise on operation (json_extract(target, '$.channelCustomerId'))
     where ${open} and kind in ('create-enterprise', 'bind-enterprise')`,
  `create index run_running on run (started_at) where state = 'running'`,
  `create index run_by_job on run (job, id)`,
  `create index run_of_job on run (job, started_at, id)`,
  `create index source_read_by_run on source_read (run_id)`,
  `create index hold_rejected on hold (customer_namespace, customer_id, set_hash) where state = 'rejected'`,
  `create index hold_by_customer on hold (customer_namespace, customer_id)`,
  `create index observation_read_by_time on observation_read (seen_at)`,

  // Numbers that people ask for and limits are judged by: counted as rows come and go, so that nobody has to count
  // them.
  `create table tally (name text primary key, count integer not null) strict, without rowid`,
  `create table record_tally (
     stream text not null, state text not null, count integer not null, pending integer not null, ` +
    `primary key (stream, state)
   ) strict, without rowid`,
  ...versioned.flatMap((table) => counted(table, table, "to_at", (row) => `(${row}.to_at is null)`)),
  ...counted("asset_number fixed", "asset_number", "fixed_at", (row) => `(${row}.fixed_at is not null)`),
  ...counted("observation_read", "observation_read", "complete", (row) => `(${row}.complete is not null)`),
  ...counted("observation_read incomplete", "observation_read", "complete", (row) => `(${row}.complete = 0)`),
  `insert into record_tally select stream, state, count(*), sum(pending) from record group by stream, state`,
  `create trigger tally_record_insert after insert on record begin ${recordPlus} end`,
  `create trigger tally_record_delete after delete on record begin ${recordMinus} end`,
  `create trigger tally_record_update after update of state, pending, stream on record
     when old.state <> new.state or old.pending <> new.pending or old.stream <> new.stream ` +
    `begin ${recordMinus} ${recordPlus} end`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
