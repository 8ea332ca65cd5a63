import type { Kysely } from "kysely";
import { sql } from "kysely";

const statements = [
  `create table meta (key text primary key, value text not null) strict, without rowid`,

  // Values that no other table may hold in clear. One row for each version of a record; \`sealed\` holds what needs the
  // sealing key.
  `create table private_value (
    ref text not null, version integer not null, salt text, body text, sealed text,
    created_at text not null, wiped_at text,
    primary key (ref, version)
  ) strict, without rowid`,

  // Canonical records: one row a record, its versions beside it.
  `create table record (
    stream text not null, namespace text not null, id text not null,
    source text not null, raw_hash text not null, body_hash text not null, version integer not null,
    customer_namespace text not null, customer_id text not null,
    state text not null check (state in ('current', 'quarantined', 'absent')),
    last_read integer not null, missed integer not null default 0,
    pending integer not null default 0,
    deferred_code text, deferred_reason text, deferred_since text,
    changed_run text, outcome_run text, outcome text, first_seen text not null, changed_at text not null,
    primary key (stream, namespace, id)
  ) strict, without rowid`,
  `create index record_by_hash on record (source, stream, raw_hash)`,
  `create index record_by_customer on record (customer_namespace, customer_id, stream)`,
  `create index record_pending on record (customer_namespace, customer_id) where pending = 1`,
  `create index record_deferred on record (stream, namespace, id) where deferred_code is not null`,
  `create index record_by_outcome on record (outcome_run) where outcome_run is not null`,
  `create index record_by_change on record (changed_run) where changed_run is not null`,
  `create table record_version (
    stream text not null, namespace text not null, id text not null, version integer not null,
    from_at text not null, to_at text, source text not null, place text not null, body text not null,
    primary key (stream, namespace, id, version)
  ) strict, without rowid`,

  `create table source_read (
    number integer primary key, run_id text, source text not null, stream text not null,
    started_at text not null, finished_at text, complete integer not null default 0, whole integer not null default 0,
    rows integer not null default 0, bad integer not null default 0, cursor text, problem text
  ) strict`,
  `create index source_read_by_stream on source_read (source, stream, number)`,

  `create table quarantine (
    id text primary key, source text not null, stream text not null, namespace text, record_id text,
    customer_namespace text, customer_id text, place text not null, field text not null, code text not null,
    message text not null, expected text, raw_ref text not null, raw_hash text not null,
    first_seen text not null, last_seen text not null, last_read integer not null,
    state text not null check (state in ('open', 'retry', 'resolved')), resolved_at text, resolution text
  ) strict, without rowid`,
  `create unique index quarantine_open on quarantine (source, stream, raw_hash) where state <> 'resolved'`,
  `create index quarantine_by_record on quarantine (stream, namespace, record_id) where state <> 'resolved'`,
  `create index quarantine_by_customer on quarantine (customer_namespace, customer_id) where state <> 'resolved'`,

  // Known: what we did on the platform, as versions.
  `create table link (
    namespace text not null, customer_id text not null, from_at text not null, to_at text,
    enterprise_global_id text not null, channel_code text not null, channel_customer_id text not null,
    origin text not null check (origin in ('created', 'bound', 'adopted')), examined integer not null default 0,
    primary key (namespace, customer_id, from_at)
  ) strict, without rowid`,
  `create unique index link_current on link (namespace, customer_id) where to_at is null`,
  `create unique index link_by_enterprise on link (enterprise_global_id) where to_at is null`,
  `create table platform_customer (
    enterprise_global_id text not null, customer_id text not null, is_default integer not null, ` +
    `channel_code text not null,
    channel_customer_id text not null, seen_at text not null,
    primary key (enterprise_global_id, customer_id)
  ) strict, without rowid`,
  // What the platform acknowledged last for fields no endpoint reads back (E2, E4): commitments, never values.
  `create table acknowledged (
    namespace text not null, customer_id text not null, from_at text not null, to_at text, fields text not null,
    primary key (namespace, customer_id, from_at)
  ) strict, without rowid`,
  `create unique index acknowledged_current on acknowledged (namespace, customer_id) where to_at is null`,
  `create table protected_member (
    member_global_id text primary key, enterprise_global_id text not null, reason text not null, seen_at text not null
  ) strict, without rowid`,
  `create table placed_order (
    namespace text not null, order_id text not null, from_at text not null, to_at text,
    customer_namespace text not null, customer_id text not null, channel_order_id text not null,
    body_hash text not null, version integer not null, operation_id text, ` +
    `origin text not null check (origin in ('placed', 'adopted')),
    primary key (namespace, order_id, from_at)
  ) strict, without rowid`,
  `create unique index placed_order_current on placed_order (namespace, order_id) where to_at is null`,
  `create index placed_order_by_customer on placed_order (customer_namespace, customer_id) where to_at is null`,
  `create unique index placed_order_by_channel on placed_order (channel_order_id) where to_at is null`,
  `create table licence_order (
    namespace text not null, order_id text not null, sequence integer not null, license_type text not null,
    platform_customer_id text not null, license_order_id text not null, at text not null,
    primary key (namespace, order_id, sequence)
  ) strict, without rowid`,
  // Asset numbers: from the pool (E9) or from the CRM; once fixed to an instance they stay there.
  `create table asset_number (
    number text primary key, origin text not null check (origin in ('pool', 'crm')), operation_id text,
    taken_at text not null, fixed_at text, wire_number text, namespace text, order_id text, instance_id text, ` +
    `slot integer
  ) strict, without rowid`,
  `create index asset_number_free on asset_number (number) where fixed_at is null`,
  `create unique index asset_number_by_instance on asset_number (namespace, order_id, instance_id, slot) ` +
    `where fixed_at is not null`,
  `create unique index asset_number_by_wire on asset_number (wire_number) where fixed_at is not null`,
  `create index asset_number_by_instance_id on asset_number (namespace, instance_id) where fixed_at is not null`,
  `create table staff_link (
    namespace text not null, staff_id text not null, from_at text not null, to_at text,
    customer_namespace text not null, customer_id text not null, enterprise_global_id text not null,
    member_global_id text not null, origin text not null check (origin in ('created', 'adopted')),
    particulars text not null,
    primary key (namespace, staff_id, from_at)
  ) strict, without rowid`,
  `create unique index staff_link_current on staff_link (namespace, staff_id) where to_at is null`,
  `create unique index staff_link_by_member on staff_link (member_global_id) where to_at is null`,
  `create index staff_link_by_customer on staff_link (customer_namespace, customer_id) where to_at is null`,
  `create table enterprise_code (enterprise_global_id text primary key, code text not null, ` +
    `learned_at text not null) strict, without rowid`,
  `create table assignment (
    asset_number text not null, from_at text not null, to_at text, namespace text not null, staff_id text not null,
    customer_namespace text not null, customer_id text not null, member_global_id text not null,
    origin text not null check (origin in ('granted', 'adopted')), operation_id text, ended_by text,
    primary key (asset_number, from_at)
  ) strict, without rowid`,
  `create unique index assignment_current on assignment (asset_number) where to_at is null`,
  `create index assignment_by_customer on assignment (customer_namespace, customer_id) where to_at is null`,

  // What the platform showed last, by kind and subject.
  `create table observation (
    customer_namespace text not null, customer_id text not null, kind text not null, subject text not null,
    from_at text not null, to_at text, seen_at text not null, body text not null, body_hash text not null,
    primary key (customer_namespace, customer_id, kind, subject, from_at)
  ) strict, without rowid`,
  `create unique index observation_current on observation (customer_namespace, customer_id, kind, subject) ` +
    `where to_at is null`,
  `create table observation_read (
    customer_namespace text not null, customer_id text not null, seen_at text not null, complete integer not null,
    primary key (customer_namespace, customer_id)
  ) strict, without rowid`,

  // The journal.
  `create table operation (
    id text primary key, run_id text, plan_id text, customer_namespace text not null, customer_id text not null,
    kind text not null, endpoint text not null, stage text not null, subject text not null, hash text not null,
    state text not null ` +
    `check (state in ('planned', 'sending', 'unknown', 'parked', 'held', 'done', 'rejected', 'dropped')),
    target text not null, payload text not null, wire_hash text, context text not null,
    reason text not null, before text not null, after text not null, takes_away integer not null default 0,
    hold_id text, position integer not null default 0, created_at text not null, updated_at text not null,
    settle_after text, verdict text, evidence text, outcome_code text, outcome_message text, answer_ref text
  ) strict, without rowid`,
  `create unique index operation_open on operation (customer_namespace, customer_id, subject) ` +
    `where state in ('sending', 'unknown', 'parked')`,
  `create index operation_by_state on operation (state, customer_namespace, customer_id) ` +
    `where state in ('planned', 'sending', 'unknown', 'parked', 'held')`,
  `create index operation_by_customer on operation (customer_namespace, customer_id, created_at)`,
  `create index operation_by_subject on operation (subject)`,
  `create index operation_by_run on operation (run_id, state)`,
  `create table operation_record (
    stream text not null, namespace text not null, record_id text not null, operation_id text not null,
    primary key (stream, namespace, record_id, operation_id)
  ) strict, without rowid`,
  `create index operation_record_by_operation on operation_record (operation_id)`,
  `create table attempt (
    operation_id text not null, number integer not null, nonce text not null, wire_hash text not null, ` +
    `started_at text not null,
    finished_at text, outcome text, http_status integer, code text, detail text,
    primary key (operation_id, number)
  ) strict, without rowid`,
  `create table hold (
    id text primary key, scope text not null, customer_namespace text not null, customer_id text not null, ` +
    `count integer not null, allowed integer not null, total integer not null,
    set_hash text not null, state text not null check (state in ('open', 'approved', 'rejected', 'used', 'lapsed')),
    explanation text not null, created_at text not null, decided_at text, reason text, decided_by text
  ) strict, without rowid`,
  `create unique index hold_open on hold (customer_namespace, customer_id) where state in ('open', 'approved')`,

  `create table run (
    id text primary key, job text not null, kind text not null, trigger text not null, scope text, ` +
    `started_at text not null, finished_at text,
    state text not null check (state in ('running', 'done', 'stopped', 'failed', 'cut-off')), exit_code integer, ` +
    `balance text, summary text, header text not null
  ) strict, without rowid`,
  `create index run_by_start on run (started_at)`,
  `create table slot (job text primary key, last_slot text not null, fired_at text not null) strict, without rowid`,
  // Every slot that fired, also those after a last slot that was set back together with the clock.
  `create table fired_slot (job text not null, slot text not null, fired_at text not null, ` +
    `primary key (job, slot)) strict, without rowid`,
  `create table notice (key text primary key, since text not null, body text not null, sent_at text) ` +
    `strict, without rowid`,
  `create table plan (id text primary key, created_at text not null, header text not null, run_id text) ` +
    `strict, without rowid`,

  // The audit chain: append-only, and the database itself refuses anything else.
  `create table audit (
    sequence integer primary key, format integer not null, at text not null, kind text not null, subject text not null,
    body text not null, previous text not null, hash text not null
  ) strict`,
  `create index audit_by_subject on audit (subject, sequence)`,
  `create trigger audit_refuses_update before update on audit begin ` +
    `select raise(abort, 'audit entries are never changed'); end`,
  `create trigger audit_refuses_delete before delete on audit begin ` +
    `select raise(abort, 'audit entries are never deleted'); end`,
  `create trigger audit_appends_only before insert on audit
    when new.sequence <> (select coalesce(max(sequence), 0) + 1 from audit)
      or new.previous <> coalesce((select hash from audit order by sequence desc limit 1), '')
    begin select raise(abort, 'audit entries are only appended'); end`,
];

/** The first shape of the ledger. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
