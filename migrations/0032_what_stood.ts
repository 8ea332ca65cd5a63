import { sql } from "kysely";
import type { Kysely } from "kysely";

/** The moment of the transaction that is on: see `LedgerContext`. */
const now = "coalesce((select value from meta where key = 'moment'), '')";

/** What a row of `record` says of how it stands, where that is more than that it is there. */
const standing = ["state", "deferred_code", "deferred_reason", "deferred_since"];
/** What another form of a bad row may say otherwise. */
const form = ["place", "field", "code", "message", "expected", "customer_namespace", "customer_id", "state"];
/** What is resolved by now was not until then. */
const wasOpen = "iif(state = 'resolved', 'open', state)";

/** What is said of an operation. */
const told = [
  "state",
  "run_id",
  "settle_after",
  "verdict",
  "evidence",
  "outcome_code",
  "outcome_message",
  "answer_ref",
];

const of = (row: "new" | "old", columns: readonly string[]): string =>
  columns.map((column) => `${row}.${column}`).join(", ");
const taken = (columns: readonly string[]): string =>
  columns.map((column) => `${column} = excluded.${column}`).join(", ");
const endRecord =
  `update record_stood set to_at = max(from_at, ${now}) where stream = old.stream and namespace = old.namespace ` +
  `and id = old.id and to_at is null;`;
const beginRecord =
  `insert into record_stood (stream, namespace, id, from_at, ${standing.join(", ")}) ` +
  `select new.stream, new.namespace, new.id, ${now}, ${of("new", standing)} ` +
  `where new.state <> 'current' or new.deferred_code is not null ` +
  `on conflict (stream, namespace, id, from_at) do update set to_at = null, ${taken(standing)};`;
const beginForm =
  `insert into quarantine_stood (id, from_at, ${form.join(", ")}) select new.id, ${now}, ${of("new", form)} ` +
  `where new.state <> 'resolved' on conflict (id, from_at) do update set to_at = null, ${taken(form)};`;
const refused = "operation_id, stream, namespace, record_id, kind, hash, version";
const endRejection =
  `update rejection_stood set to_at = max(from_at, ${now}) where operation_id = old.operation_id ` +
  `and stream = old.stream and namespace = old.namespace and record_id = old.record_id and kind = old.kind ` +
  `and hash = old.hash and to_at is null;`;
const beginRejection =
  `insert into rejection_stood (${refused}, from_at) values (${refused.replaceAll(/\w+/gu, "new.$&")}, new.at) ` +
  `on conflict (operation_id, stream, namespace, record_id, kind, hash) do update set to_at = null, ` +
  `version = excluded.version;`;
const keepReading =
  `insert into customer_reading (customer_namespace, customer_id, seen_at, complete, shown_at) values ` +
  `(new.customer_namespace, new.customer_id, new.seen_at, new.complete, new.shown_at) ` +
  `on conflict (customer_namespace, customer_id, seen_at) do update set complete = excluded.complete, ` +
  `shown_at = excluded.shown_at;`;

const statements = [
  // How a record stood, from when to when: absent, in quarantine, or waiting, and why. Where there is no row it was
  // there, and waited for nothing.
  `create table record_stood (
     stream text not null, namespace text not null, id text not null, from_at text not null, to_at text,
     state text not null, deferred_code text, deferred_reason text, deferred_since text,
     primary key (stream, namespace, id, from_at)
   ) strict, without rowid`,
  `create trigger record_stood_begin after insert on record
     when new.state <> 'current' or new.deferred_code is not null begin ${beginRecord} end`,
  `create trigger record_stood_change after update of ${standing.join(", ")} on record
     when (${of("old", standing)}) is not (${of("new", standing)}) begin ${endRecord} ${beginRecord} end`,
  `create trigger record_stood_end after delete on record begin ${endRecord} end`,
  // What was said of a bad row, from when to when. What it was resolved with stands in the row.
  `create table quarantine_stood (
     id text not null, from_at text not null, to_at text, place text not null, field text not null, code text not null,
     message text not null, expected text, customer_namespace text, customer_id text, state text not null,
     primary key (id, from_at)
   ) strict, without rowid`,
  `create trigger quarantine_stood_begin after insert on quarantine begin ${beginForm} end`,
  `create trigger quarantine_stood_change after update of ${form.join(", ")} on quarantine
     when (${of("old", form)}) is not (${of("new", form)}) begin
     update quarantine_stood set to_at = max(from_at, ${now}) where id = old.id and to_at is null; ${beginForm} end`,
  // From when to when what was refused was not sent again.
  `create table rejection_stood (
     operation_id text not null, stream text not null, namespace text not null, record_id text not null,
     kind text not null, hash text not null, version integer not null, from_at text not null, to_at text,
     primary key (operation_id, stream, namespace, record_id, kind, hash)
   ) strict, without rowid`,
  `create trigger rejection_stood_begin after insert on rejection begin ${beginRejection} end`,
  `create trigger rejection_stood_change after update of operation_id on rejection
     when old.operation_id <> new.operation_id begin ${endRejection} ${beginRejection} end`,
  `create trigger rejection_stood_end after delete on rejection begin ${endRejection} end`,
  // How an operation stood that was not sent for the first time, or had words of its own, until it changed.
  `create table operation_stood (
     operation_id text not null, from_at text not null, to_at text not null, state text not null, run_id text,
     settle_after text, verdict text, evidence text, outcome_code text, outcome_message text, answer_ref text,
     primary key (operation_id, from_at)
   ) strict, without rowid`,
  `create trigger operation_stood_change after update of updated_at on operation
     when old.updated_at < new.updated_at and (old.outcome_message is not null or old.verdict is not null
       or old.outcome_code is not null or old.state in ('unknown', 'parked', 'rejected')) begin
     insert into operation_stood (operation_id, from_at, to_at, ${told.join(", ")})
       values (old.id, old.updated_at, new.updated_at, ${of("old", told)})
       on conflict (operation_id, from_at) do update set to_at = excluded.to_at; end`,
  // Each reading of a customer; \`shown_at\`: the last whole one by then.
  `create table customer_reading (
     customer_namespace text not null, customer_id text not null, seen_at text not null, complete integer not null,
     shown_at text,
     primary key (customer_namespace, customer_id, seen_at)
   ) strict, without rowid`,
  `create index customer_reading_by_time on customer_reading (seen_at)`,
  `create trigger customer_reading_begin after insert on observation_read begin ${keepReading} end`,
  `create trigger customer_reading_change after update of seen_at, complete, shown_at on observation_read
     when (old.seen_at, old.complete, old.shown_at) is not (new.seen_at, new.complete, new.shown_at) begin
     ${keepReading} end`,
  // What stands by now, as far back as is known of it.
  `insert into record_stood (stream, namespace, id, from_at, ${standing.join(", ")})
     select stream, namespace, id,
       max(iif(state = 'absent', changed_at, ''), iif(deferred_code is null, '', coalesce(deferred_since, changed_at)),
         iif(state = 'quarantined', coalesce((select min(q.first_seen) from quarantine q where q.stream = record.stream
           and q.namespace = record.namespace and q.record_id = record.id and q.state <> 'resolved'), changed_at), '')),
       ${standing.join(", ")} from record where state <> 'current' or deferred_code is not null`,
  `insert into quarantine_stood (id, from_at, to_at, ${form.join(", ")})
     select id, first_seen, resolved_at, ${form.map((name) => (name === "state" ? wasOpen : name)).join(", ")}
       from quarantine`,
  `insert into rejection_stood (${refused}, from_at) select ${refused}, at from rejection`,
  `insert into customer_reading select customer_namespace, customer_id, seen_at, complete, shown_at
     from observation_read`,
  // What was so before and by now is not any more, nobody wrote down: it is known from here on.
  `insert into meta (key, value) select 'stood since', at from (select max(at) as at from (
     select max(at) as at from audit union all select max(started_at) from run
     union all select max(finished_at) from run union all select max(finished_at) from source_read
     union all select max(changed_at) from record
     union all select max(deferred_since) from record union all select max(last_seen) from quarantine
     union all select max(resolved_at) from quarantine union all select max(seen_at) from observation_read
     union all select max(updated_at) from operation)) where at is not null`,
];

/** From when to when records waited, rows were in quarantine and refusals stood, and each reading of a customer. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
