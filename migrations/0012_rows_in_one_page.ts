import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * Tables whose rows hold what is sent or said. A table without a rowid keeps a row of more than about 1,000 bytes in
 * two pages of 4,096, one of its own for the rest; with a rowid several such rows share a page. So what a customer
 * takes in the ledger, and what each commit writes, is less than half.
 */
const statements = [
  `create table operation_anew (
    id text not null primary key, run_id text, plan_id text, customer_namespace text not null, ` +
    `customer_id text not null, kind text not null, endpoint text not null, stage text not null, ` +
    `subject text not null, hash text not null,
    state text not null check (state in ` +
    `('planned', 'sending', 'unknown', 'parked', 'held', 'done', 'rejected', 'dropped')),
    target text not null, payload text not null, wire_hash text, context text not null, reason text not null, ` +
    `before text not null, after text not null, takes_away integer not null default 0, hold_id text, ` +
    `position integer not null default 0, created_at text not null, updated_at text not null, settle_after text, ` +
    `verdict text, evidence text, outcome_code text, outcome_message text, answer_ref text
  ) strict`,
  `insert into operation_anew (id, run_id, plan_id, customer_namespace, customer_id, kind, endpoint, stage, subject, ` +
    `hash, state, target, payload, wire_hash, context, reason, before, after, takes_away, hold_id, position, ` +
    `created_at, updated_at, settle_after, verdict, evidence, outcome_code, outcome_message, answer_ref)
   select id, run_id, plan_id, customer_namespace, customer_id, kind, endpoint, stage, subject, ` +
    `hash, state, target, payload, wire_hash, context, reason, before, after, takes_away, hold_id, position, ` +
    `created_at, updated_at, settle_after, verdict, evidence, outcome_code, outcome_message, answer_ref
   from operation order by id`,
  `drop table operation`,
  `alter table operation_anew rename to operation`,
  `create index operation_by_customer on operation (customer_namespace, customer_id, created_at)`,
  `create index operation_by_run on operation (run_id, state)`,
  `create index operation_by_state on operation (state, customer_namespace, customer_id) ` +
    `where state in ('planned', 'sending', 'unknown', 'parked', 'held')`,
  `create index operation_by_subject on operation (subject)`,
  `create index operation_dirty on operation (customer_namespace, customer_id) ` +
    `where state in ('sending', 'unknown', 'planned')`,
  `create index operation_held on operation (hold_id) where state = 'held'`,
  `create unique index operation_open on operation (customer_namespace, customer_id, subject) ` +
    `where state in ('sending', 'unknown', 'parked')`,
  `create index operation_open_enterprise on operation (json_extract(target, '$.channelCustomerId'))
     where state in ('sending', 'unknown', 'parked') and kind in ('create-enterprise', 'bind-enterprise')`,
  `create index operation_open_order on operation (json_extract(payload, '$.channelOrderId')) ` +
    `where state in ('sending', 'unknown', 'parked') and kind = 'place-order'`,
  `create index operation_waiting on operation (customer_namespace, customer_id, position, id) ` +
    `where state in ('planned', 'held')`,

  `create table record_version_anew (
    stream text not null, namespace text not null, id text not null, version integer not null, ` +
    `from_at text not null, to_at text, source text not null, place text not null, body text not null, ` +
    `primary key (stream, namespace, id, version)
  ) strict`,
  `insert into record_version_anew (stream, namespace, id, version, from_at, to_at, source, place, body)
   select stream, namespace, id, version, from_at, to_at, source, place, body from record_version ` +
    `order by stream, namespace, id, version`,
  `drop table record_version`,
  `alter table record_version_anew rename to record_version`,
  `create index record_version_ended on record_version (to_at) where to_at is not null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
