/**
 * What the migrations up to this one make of an empty database, in one step: a new ledger begins with it, and the
 * migrations after it are applied to it as to any other. A test compares the two ways.
 */
export const upTo = "0023_links_of_customers";

export const statements: readonly string[] = [
  `CREATE TABLE "kysely_migration" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null)`,
  `CREATE TABLE "kysely_migration_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not
    null)`,
  `CREATE TABLE meta (key text primary key, value text not null) strict, without rowid`,
  `CREATE TABLE private_value ( ref text not null, version integer not null, salt text, body text, sealed text,
    created_at text not null, wiped_at text, primary key (ref, version) ) strict, without rowid`,
  `CREATE TABLE record ( stream text not null, namespace text not null, id text not null, source text not null,
    raw_hash text not null, body_hash text not null, version integer not null, customer_namespace text not null,
    customer_id text not null, state text not null check (state in ('current', 'quarantined', 'absent')), last_read
    integer not null, missed integer not null default 0, pending integer not null default 0, deferred_code text,
    deferred_reason text, deferred_since text, changed_run text, outcome_run text, outcome text, first_seen text
    not null, changed_at text not null, missed_since text, flips integer not null default 0, previous_hash text,
    primary key (stream, namespace, id) ) strict, without rowid`,
  `CREATE INDEX record_by_hash on record (source, stream, raw_hash)`,
  `CREATE INDEX record_by_customer on record (customer_namespace, customer_id, stream)`,
  `CREATE INDEX record_pending on record (customer_namespace, customer_id) where pending = 1`,
  `CREATE INDEX record_deferred on record (stream, namespace, id) where deferred_code is not null`,
  `CREATE INDEX record_by_change on record (changed_run) where changed_run is not null`,
  `CREATE TABLE source_read ( number integer primary key, run_id text, source text not null, stream text not null,
    started_at text not null, finished_at text, complete integer not null default 0, whole integer not null default
    0, rows integer not null default 0, bad integer not null default 0, cursor text, problem text , details text,
    shrunk integer not null default 0, absence text) strict`,
  `CREATE INDEX source_read_by_stream on source_read (source, stream, number)`,
  `CREATE TABLE quarantine ( id text primary key, source text not null, stream text not null, namespace text,
    record_id text, customer_namespace text, customer_id text, place text not null, field text not null, code text
    not null, message text not null, expected text, raw_ref text not null, raw_hash text not null, first_seen text
    not null, last_seen text not null, last_read integer not null, state text not null check (state in ('open',
    'retry', 'resolved')), resolved_at text, resolution text ) strict, without rowid`,
  `CREATE UNIQUE INDEX quarantine_open on quarantine (source, stream, raw_hash) where state <> 'resolved'`,
  `CREATE INDEX quarantine_by_record on quarantine (stream, namespace, record_id) where state <> 'resolved'`,
  `CREATE INDEX quarantine_by_customer on quarantine (customer_namespace, customer_id) where state <> 'resolved'`,
  `CREATE TABLE link ( namespace text not null, customer_id text not null, from_at text not null, to_at text,
    enterprise_global_id text not null, channel_code text not null, channel_customer_id text not null, origin text
    not null check (origin in ('created', 'bound', 'adopted')), examined integer not null default 0, primary key
    (namespace, customer_id, from_at) ) strict, without rowid`,
  `CREATE UNIQUE INDEX link_by_enterprise on link (enterprise_global_id) where to_at is null`,
  `CREATE TABLE platform_customer ( enterprise_global_id text not null, customer_id text not null, is_default
    integer not null, channel_code text not null, channel_customer_id text not null, seen_at text not null, primary
    key (enterprise_global_id, customer_id) ) strict, without rowid`,
  `CREATE TABLE acknowledged ( namespace text not null, customer_id text not null, from_at text not null, to_at
    text, fields text not null, primary key (namespace, customer_id, from_at) ) strict, without rowid`,
  `CREATE TABLE placed_order ( namespace text not null, order_id text not null, from_at text not null, to_at text,
    customer_namespace text not null, customer_id text not null, channel_order_id text not null, body_hash text not
    null, version integer not null, operation_id text, origin text not null check (origin in ('placed',
    'adopted')), products integer, agreed_hash text, agreed_version integer, primary key (namespace, order_id,
    from_at) ) strict, without rowid`,
  `CREATE UNIQUE INDEX placed_order_current on placed_order (namespace, order_id) where to_at is null`,
  `CREATE INDEX placed_order_by_customer on placed_order (customer_namespace, customer_id) where to_at is null`,
  `CREATE UNIQUE INDEX placed_order_by_channel on placed_order (channel_order_id) where to_at is null`,
  `CREATE TABLE licence_order ( namespace text not null, order_id text not null, sequence integer not null,
    license_type text not null, platform_customer_id text not null, license_order_id text not null, at text not
    null, primary key (namespace, order_id, sequence) ) strict, without rowid`,
  `CREATE TABLE asset_number ( number text primary key, origin text not null check (origin in ('pool', 'crm')),
    operation_id text, taken_at text not null, fixed_at text, wire_number text, namespace text, order_id text,
    instance_id text, unit integer , customer_namespace text, customer_id text, ended_at text) strict, without
    rowid`,
  `CREATE INDEX asset_number_free on asset_number (number) where fixed_at is null`,
  `CREATE UNIQUE INDEX asset_number_by_wire on asset_number (wire_number) where fixed_at is not null`,
  `CREATE INDEX asset_number_by_instance_id on asset_number (namespace, instance_id) where fixed_at is not null`,
  `CREATE TABLE staff_link ( namespace text not null, staff_id text not null, from_at text not null, to_at text,
    customer_namespace text not null, customer_id text not null, enterprise_global_id text not null,
    member_global_id text not null, origin text not null check (origin in ('created', 'adopted')), profile text not
    null, primary key (namespace, staff_id, from_at) ) strict, without rowid`,
  `CREATE UNIQUE INDEX staff_link_by_member on staff_link (member_global_id) where to_at is null`,
  `CREATE INDEX staff_link_by_customer on staff_link (customer_namespace, customer_id) where to_at is null`,
  `CREATE TABLE enterprise_code (enterprise_global_id text primary key, code text not null, recorded_at text not
    null) strict, without rowid`,
  `CREATE TABLE assignment ( asset_number text not null, from_at text not null, to_at text, namespace text not
    null, staff_id text not null, customer_namespace text not null, customer_id text not null, member_global_id
    text not null, origin text not null check (origin in ('granted', 'adopted')), operation_id text, ended_by text,
    primary key (asset_number, from_at) ) strict, without rowid`,
  `CREATE UNIQUE INDEX assignment_current on assignment (asset_number) where to_at is null`,
  `CREATE INDEX assignment_by_customer on assignment (customer_namespace, customer_id) where to_at is null`,
  `CREATE TABLE observation ( customer_namespace text not null, customer_id text not null, kind text not null,
    subject text not null, from_at text not null, to_at text, seen_at text not null, body text not null, body_hash
    text not null, primary key (customer_namespace, customer_id, kind, subject, from_at) ) strict, without rowid`,
  `CREATE UNIQUE INDEX observation_current on observation (customer_namespace, customer_id, kind, subject) where
    to_at is null`,
  `CREATE TABLE observation_read ( customer_namespace text not null, customer_id text not null, seen_at text not
    null, complete integer not null, shown_at text, shown_hash text, primary key (customer_namespace, customer_id)
    ) strict, without rowid`,
  `CREATE TABLE operation_record ( stream text not null, namespace text not null, record_id text not null,
    operation_id text not null, primary key (stream, namespace, record_id, operation_id) ) strict, without rowid`,
  `CREATE TABLE attempt ( operation_id text not null, number integer not null, nonce text not null, wire_hash text
    not null, started_at text not null, finished_at text, outcome text, http_status integer, code text, detail
    text, primary key (operation_id, number) ) strict, without rowid`,
  `CREATE TABLE hold ( id text primary key, scope text not null, customer_namespace text not null, customer_id text
    not null, count integer not null, allowed integer not null, total integer not null, set_hash text not null,
    state text not null check (state in ('open', 'approved', 'rejected', 'used', 'lapsed')), explanation text not
    null, created_at text not null, decided_at text, reason text, decided_by text ) strict, without rowid`,
  `CREATE UNIQUE INDEX hold_open on hold (customer_namespace, customer_id) where state in ('open', 'approved')`,
  `CREATE TABLE "last_fire_time" (job text primary key, fire_time text not null, fired_at text not null) strict,
    without rowid`,
  `CREATE TABLE "fired_time" (job text not null, fire_time text not null, fired_at text not null, finished_at text,
    primary key (job, fire_time)) strict, without rowid`,
  `CREATE TABLE "alert" (key text primary key, since text not null, body text not null, sent_at text) strict,
    without rowid`,
  `CREATE TABLE plan (id text primary key, created_at text not null, header text not null, run_id text) strict,
    without rowid`,
  `CREATE TABLE audit ( sequence integer primary key, format integer not null, at text not null, kind text not
    null, subject text not null, body text not null, previous text not null, hash text not null ) strict`,
  `CREATE INDEX audit_by_subject on audit (subject, sequence)`,
  `CREATE TRIGGER audit_refuses_update before update on audit begin select raise(abort,
    'audit entries are never changed'); end`,
  `CREATE TRIGGER audit_refuses_delete before delete on audit begin select raise(abort,
    'audit entries are never deleted'); end`,
  `CREATE TRIGGER audit_appends_only before insert on audit when new.sequence <> (select coalesce(max(sequence), 0)
    + 1 from audit) or new.previous <> coalesce((select hash from audit order by sequence desc limit 1), '') begin
    select raise(abort, 'audit entries are only appended'); end`,
  `CREATE TABLE "open_circuit" (service text primary key, since text not null, reason text not null, probe_at text
    not null) strict, without rowid`,
  `CREATE INDEX link_by_channel on link (channel_customer_id) where to_at is null`,
  `CREATE INDEX record_quarantined on record (stream, namespace, id) where state = 'quarantined'`,
  `CREATE TABLE rejection ( stream text not null, namespace text not null, record_id text not null, kind text not
    null, hash text not null, customer_namespace text not null, customer_id text not null, version integer not
    null, settings text not null, operation_id text not null, code text not null, reason text not null, at text not
    null, shared integer not null default 0, asked integer not null default 0, tries integer not null default 1,
    primary key (stream, namespace, record_id, kind, hash) ) strict, without rowid`,
  `CREATE INDEX rejection_by_customer on rejection (customer_namespace, customer_id)`,
  `CREATE INDEX rejection_standing on rejection (settings) where asked = 0`,
  `CREATE INDEX source_read_whole on source_read (source, stream, number) where complete = 1 and whole = 1`,
  `CREATE INDEX record_missing on record (source, stream) where missed > 0 and state <> 'absent'`,
  `CREATE INDEX record_quarantined_by_customer on record (customer_namespace, customer_id) where state =
    'quarantined'`,
  `CREATE INDEX quarantine_of_nobody on quarantine (source, stream) where state <> 'resolved' and customer_id is
    null`,
  `CREATE TABLE source_stream (source text not null, stream text not null, job text, primary key (source, stream))
    strict, without rowid`,
  `CREATE INDEX source_read_by_run on source_read (run_id)`,
  `CREATE INDEX hold_rejected on hold (customer_namespace, customer_id, set_hash) where state = 'rejected'`,
  `CREATE INDEX hold_by_customer on hold (customer_namespace, customer_id)`,
  `CREATE INDEX observation_read_by_time on observation_read (seen_at)`,
  `CREATE TABLE tally (name text primary key, count integer not null) strict, without rowid`,
  `CREATE TABLE record_tally ( stream text not null, state text not null, count integer not null, pending integer
    not null, primary key (stream, state) ) strict, without rowid`,
  `CREATE TRIGGER tally_link_insert after insert on link when (new.to_at is null) begin insert into tally (name,
    count) values ('link', 1) on conflict (name) do update set count = count + 1; end`,
  `CREATE TRIGGER tally_link_delete after delete on link when (old.to_at is null) begin update tally set count =
    count - 1 where name = 'link'; end`,
  `CREATE TRIGGER tally_link_begin after update of to_at on link when (new.to_at is null) and not (old.to_at is
    null) begin insert into tally (name, count) values ('link', 1) on conflict (name) do update set count = count +
    1; end`,
  `CREATE TRIGGER tally_link_end after update of to_at on link when (old.to_at is null) and not (new.to_at is null)
    begin update tally set count = count - 1 where name = 'link'; end`,
  `CREATE TRIGGER tally_placed_order_insert after insert on placed_order when (new.to_at is null) begin insert into
    tally (name, count) values ('placed_order', 1) on conflict (name) do update set count = count + 1; end`,
  `CREATE TRIGGER tally_placed_order_delete after delete on placed_order when (old.to_at is null) begin update
    tally set count = count - 1 where name = 'placed_order'; end`,
  `CREATE TRIGGER tally_placed_order_begin after update of to_at on placed_order when (new.to_at is null) and not
    (old.to_at is null) begin insert into tally (name, count) values ('placed_order', 1) on conflict (name) do
    update set count = count + 1; end`,
  `CREATE TRIGGER tally_placed_order_end after update of to_at on placed_order when (old.to_at is null) and not
    (new.to_at is null) begin update tally set count = count - 1 where name = 'placed_order'; end`,
  `CREATE TRIGGER tally_staff_link_insert after insert on staff_link when (new.to_at is null) begin insert into
    tally (name, count) values ('staff_link', 1) on conflict (name) do update set count = count + 1; end`,
  `CREATE TRIGGER tally_staff_link_delete after delete on staff_link when (old.to_at is null) begin update tally
    set count = count - 1 where name = 'staff_link'; end`,
  `CREATE TRIGGER tally_staff_link_begin after update of to_at on staff_link when (new.to_at is null) and not
    (old.to_at is null) begin insert into tally (name, count) values ('staff_link', 1) on conflict (name) do update
    set count = count + 1; end`,
  `CREATE TRIGGER tally_staff_link_end after update of to_at on staff_link when (old.to_at is null) and not
    (new.to_at is null) begin update tally set count = count - 1 where name = 'staff_link'; end`,
  `CREATE TRIGGER tally_assignment_insert after insert on assignment when (new.to_at is null) begin insert into
    tally (name, count) values ('assignment', 1) on conflict (name) do update set count = count + 1; end`,
  `CREATE TRIGGER tally_assignment_delete after delete on assignment when (old.to_at is null) begin update tally
    set count = count - 1 where name = 'assignment'; end`,
  `CREATE TRIGGER tally_assignment_begin after update of to_at on assignment when (new.to_at is null) and not
    (old.to_at is null) begin insert into tally (name, count) values ('assignment', 1) on conflict (name) do update
    set count = count + 1; end`,
  `CREATE TRIGGER tally_assignment_end after update of to_at on assignment when (old.to_at is null) and not
    (new.to_at is null) begin update tally set count = count - 1 where name = 'assignment'; end`,
  `CREATE TRIGGER tally_asset_number_fixed_insert after insert on asset_number when (new.fixed_at is not null)
    begin insert into tally (name, count) values ('asset_number fixed', 1) on conflict (name) do update set count =
    count + 1; end`,
  `CREATE TRIGGER tally_asset_number_fixed_delete after delete on asset_number when (old.fixed_at is not null)
    begin update tally set count = count - 1 where name = 'asset_number fixed'; end`,
  `CREATE TRIGGER tally_asset_number_fixed_begin after update of fixed_at on asset_number when (new.fixed_at is not
    null) and not (old.fixed_at is not null) begin insert into tally (name, count) values ('asset_number fixed', 1)
    on conflict (name) do update set count = count + 1; end`,
  `CREATE TRIGGER tally_asset_number_fixed_end after update of fixed_at on asset_number when (old.fixed_at is not
    null) and not (new.fixed_at is not null) begin update tally set count = count - 1 where name =
    'asset_number fixed'; end`,
  `CREATE TRIGGER tally_observation_read_insert after insert on observation_read when (new.complete is not null)
    begin insert into tally (name, count) values ('observation_read', 1) on conflict (name) do update set count =
    count + 1; end`,
  `CREATE TRIGGER tally_observation_read_delete after delete on observation_read when (old.complete is not null)
    begin update tally set count = count - 1 where name = 'observation_read'; end`,
  `CREATE TRIGGER tally_observation_read_begin after update of complete on observation_read when (new.complete is
    not null) and not (old.complete is not null) begin insert into tally (name, count) values ('observation_read',
    1) on conflict (name) do update set count = count + 1; end`,
  `CREATE TRIGGER tally_observation_read_end after update of complete on observation_read when (old.complete is not
    null) and not (new.complete is not null) begin update tally set count = count - 1 where name =
    'observation_read'; end`,
  `CREATE TRIGGER tally_observation_read_incomplete_insert after insert on observation_read when (new.complete = 0)
    begin insert into tally (name, count) values ('observation_read incomplete', 1) on conflict (name) do update
    set count = count + 1; end`,
  `CREATE TRIGGER tally_observation_read_incomplete_delete after delete on observation_read when (old.complete = 0)
    begin update tally set count = count - 1 where name = 'observation_read incomplete'; end`,
  `CREATE TRIGGER tally_observation_read_incomplete_begin after update of complete on observation_read when
    (new.complete = 0) and not (old.complete = 0) begin insert into tally (name, count) values
    ('observation_read incomplete', 1) on conflict (name) do update set count = count + 1; end`,
  `CREATE TRIGGER tally_observation_read_incomplete_end after update of complete on observation_read when
    (old.complete = 0) and not (new.complete = 0) begin update tally set count = count - 1 where name =
    'observation_read incomplete'; end`,
  `CREATE TRIGGER tally_record_insert after insert on record begin insert into record_tally (stream, state, count,
    pending) values (new.stream, new.state, 1, new.pending) on conflict (stream, state) do update set count = count
    + 1, pending = pending + excluded.pending; end`,
  `CREATE TRIGGER tally_record_delete after delete on record begin update record_tally set count = count - 1,
    pending = pending - old.pending where stream = old.stream and state = old.state; end`,
  `CREATE INDEX quarantine_resolved on quarantine (resolved_at) where state = 'resolved'`,
  `CREATE INDEX observation_ended on observation (to_at) where to_at is not null`,
  `CREATE INDEX rejection_passing on rejection (tries) where asked = 0 and code = 'staff.refused'`,
  `CREATE TABLE confirmed_correlation (correlation text primary key, confirmed_at text not null) strict, without
    rowid`,
  `CREATE TABLE shown_licence_type (license_type text not null, shown_by text not null check (shown_by in ('asset',
    'product')), shown_at text not null, primary key (shown_by, license_type)) strict, without rowid`,
  `CREATE TABLE clock_note (subject text primary key, future integer not null, met_at integer not null) strict,
    without rowid`,
  `CREATE INDEX fired_time_unfinished on fired_time (job, fire_time) where finished_at is null`,
  `CREATE TABLE "run" ( id text primary key, job text not null, kind text not null, trigger text not null, scope
    text, started_at text not null, finished_at text, state text not null check (state in ('running', 'done',
    'stopped', 'failed', 'interrupted')), exit_code integer, balance text, summary text, header text not null )
    strict, without rowid`,
  `CREATE INDEX run_by_job on run (job, id)`,
  `CREATE INDEX run_by_start on run (started_at)`,
  `CREATE INDEX run_of_job on run (job, started_at, id)`,
  `CREATE INDEX run_running on run (started_at) where state = 'running'`,
  `CREATE TABLE manual_request ( of text not null, about text not null, from_at text not null, to_at text,
    customer_namespace text not null, customer_id text not null, wanted text not null, details text not null,
    asked_by text not null, reason text not null, answer text, answered_at text, operation_id text, due integer not
    null check (due in (0, 1)), primary key (of, about, from_at) ) strict, without rowid`,
  `CREATE UNIQUE INDEX manual_request_live on manual_request (of, about) where to_at is null`,
  `CREATE INDEX manual_request_of_customer on manual_request (customer_namespace, customer_id, to_at)`,
  `CREATE INDEX manual_request_due on manual_request (customer_namespace, customer_id) where to_at is null and due
    = 1`,
  `CREATE INDEX manual_request_ended on manual_request (to_at) where to_at is not null`,
  `CREATE TABLE "operation" ( id text not null primary key, run_id text, plan_id text, customer_namespace text not
    null, customer_id text not null, kind text not null, endpoint text not null, stage text not null, subject text
    not null, hash text not null, state text not null check (state in ('planned', 'sending', 'unknown', 'parked',
    'held', 'done', 'rejected', 'dropped')), target text not null, payload text not null, wire_hash text, context
    text not null, reason text not null, before text not null, after text not null, takes_away integer not null
    default 0, hold_id text, position integer not null default 0, created_at text not null, updated_at text not
    null, settle_after text, verdict text, evidence text, outcome_code text, outcome_message text, answer_ref text
    , records text not null default '[]', claim text, weight text, approved integer not null default 0) strict`,
  `CREATE INDEX operation_by_subject on operation (subject)`,
  `CREATE INDEX operation_held on operation (hold_id) where state = 'held'`,
  `CREATE UNIQUE INDEX operation_open on operation (customer_namespace, customer_id, subject) where state in
    ('sending', 'unknown', 'parked')`,
  `CREATE INDEX operation_waiting on operation (customer_namespace, customer_id, position, id) where state in
    ('planned', 'held')`,
  `CREATE TABLE "record_version" ( stream text not null, namespace text not null, id text not null, version integer
    not null, from_at text not null, to_at text, source text not null, place text not null, body text not null,
    primary key (stream, namespace, id, version) ) strict`,
  `CREATE INDEX record_version_ended on record_version (to_at) where to_at is not null`,
  `CREATE INDEX operation_of_pool on operation (created_at) where customer_id = ''`,
  `CREATE INDEX operation_by_run on operation (run_id)`,
  `CREATE INDEX record_by_later_outcome on record (outcome_run) where outcome_run is not null and outcome_run is
    not changed_run`,
  `CREATE TABLE "protected_member" ( enterprise_global_id text not null, member_global_id text not null, reason
    text not null, seen_at text not null, primary key (enterprise_global_id, member_global_id) ) strict, without
    rowid`,
  `CREATE TRIGGER tally_record_pending after update of pending on record when old.pending <> new.pending and
    old.state = new.state and old.stream = new.stream begin update record_tally set pending = pending + new.pending
    - old.pending where stream = new.stream and state = new.state; end`,
  `CREATE TRIGGER tally_record_moved after update of state, stream on record when old.state <> new.state or
    old.stream <> new.stream begin update record_tally set count = count - 1, pending = pending - old.pending where
    stream = old.stream and state = old.state; insert into record_tally (stream, state, count, pending) values
    (new.stream, new.state, 1, new.pending) on conflict (stream, state) do update set count = count + 1, pending =
    pending + excluded.pending; end`,
  `CREATE INDEX operation_open_claim on operation (claim) where state in ('sending', 'unknown', 'parked') and claim
    is not null`,
  `CREATE TABLE hold_operation ( hold_id text not null, hash text not null, kind text not null, scope text not
    null, reason text not null, primary key (hold_id, hash) ) strict, without rowid`,
  `CREATE TABLE approved_operation ( kind text not null, hash text not null, hold_id text not null, at text not
    null, by text not null, used_at text, primary key (kind, hash) ) strict, without rowid`,
  `CREATE INDEX operation_taking on operation (updated_at) where takes_away > 0 and approved = 0 and state in
    ('sending', 'unknown', 'parked', 'done')`,
  `CREATE TRIGGER tally_product_insert after insert on placed_order when iif(new.to_at is null,
    coalesce(new.products, 0), 0) <> 0 begin update tally set count = count + iif(new.to_at is null,
    coalesce(new.products, 0), 0) where name = 'product'; end`,
  `CREATE TRIGGER tally_product_delete after delete on placed_order when iif(old.to_at is null,
    coalesce(old.products, 0), 0) <> 0 begin update tally set count = count + (0 - iif(old.to_at is null,
    coalesce(old.products, 0), 0)) where name = 'product'; end`,
  `CREATE TRIGGER tally_product_update after update of to_at, products on placed_order when iif(new.to_at is null,
    coalesce(new.products, 0), 0) <> iif(old.to_at is null, coalesce(old.products, 0), 0) begin update tally set
    count = count + (iif(new.to_at is null, coalesce(new.products, 0), 0) - iif(old.to_at is null,
    coalesce(old.products, 0), 0)) where name = 'product'; end`,
  `CREATE TRIGGER tally_staff_link_adopted_insert after insert on staff_link when new.to_at is null and new.origin
    = 'adopted' begin update tally set count = count + 1 where name = 'staff_link adopted'; end`,
  `CREATE TRIGGER tally_staff_link_adopted_delete after delete on staff_link when old.to_at is null and old.origin
    = 'adopted' begin update tally set count = count - 1 where name = 'staff_link adopted'; end`,
  `CREATE TRIGGER tally_staff_link_adopted_end after update of to_at on staff_link when old.to_at is null and
    new.to_at is not null and new.origin = 'adopted' begin update tally set count = count - 1 where name =
    'staff_link adopted'; end`,
  `CREATE TRIGGER tally_staff_link_adopted_begin after update of to_at on staff_link when new.to_at is null and
    old.to_at is not null and new.origin = 'adopted' begin update tally set count = count + 1 where name =
    'staff_link adopted'; end`,
  `CREATE TABLE order_step ( number integer primary key, namespace text not null, order_id text not null,
    customer_namespace text not null, customer_id text not null, at text not null, kind text not null check (kind
    in ('bought', 'removed', 'priced')), channel_order_id text, version integer, items text not null,
    licence_orders text not null default '[]', operation_id text, origin text not null check (origin in ('sent',
    'by-hand', 'found', 'rebuilt')) ) strict`,
  `CREATE INDEX order_step_by_order on order_step (namespace, order_id, number)`,
  `CREATE INDEX order_step_by_customer on order_step (customer_namespace, customer_id)`,
  `CREATE TABLE amendment_number ( channel_order_id text not null primary key, namespace text not null, order_id
    text not null, n integer not null, hash text not null, fixed_at text not null, used_at text ) strict, without
    rowid`,
  `CREATE UNIQUE INDEX amendment_number_by_order on amendment_number (namespace, order_id, n)`,
  `CREATE UNIQUE INDEX asset_number_by_instance on asset_number (namespace, order_id, instance_id, unit,
    customer_namespace, customer_id, coalesce(ended_at, '')) where fixed_at is not null`,
  `CREATE INDEX asset_number_by_owner on asset_number (customer_namespace, customer_id) where fixed_at is not null
    and ended_at is null`,
  `CREATE TABLE by_hand ( namespace text not null, id text not null, stream text not null, body_hash text not null,
    at text not null, by text not null, reason text not null, unseen text not null default '[]', ended_at text,
    primary key (stream, namespace, id, at) ) strict, without rowid`,
  `CREATE UNIQUE INDEX by_hand_live on by_hand (stream, namespace, id) where ended_at is null`,
  `CREATE TABLE unlinked ( namespace text not null, customer_id text not null, at text not null, by text not null,
    reason text not null, enterprise_global_id text not null, ended_at text, primary key (namespace, customer_id,
    at) ) strict, without rowid`,
  `CREATE UNIQUE INDEX unlinked_live on unlinked (namespace, customer_id) where ended_at is null`,
  `CREATE TABLE assumption_met ( row text not null, verdict text not null check (verdict in ('confirmed',
    'contradicted')), count integer not null, first_at text not null, last_at text not null, evidence text not
    null, operation_id text, accepted_at text, by text, reason text, primary key (row, verdict) ) strict, without
    rowid`,
  `CREATE TABLE applied_plan ( plan text not null, hash text not null, run_id text not null, at text not null,
    primary key (plan, hash) ) strict, without rowid`,
  `CREATE TABLE difference ( namespace text not null, customer_id text not null, level text not null, subject text
    not null, class text not null check (class in ('missing', 'extra', 'different', 'in-transit',
    'not-observable')), first_seen text not null, last_seen text not null, detail text not null, ended_at text,
    primary key (namespace, customer_id, level, subject, class, first_seen) ) strict, without rowid`,
  `CREATE UNIQUE INDEX difference_live on difference (namespace, customer_id, level, subject, class) where ended_at
    is null`,
  `CREATE INDEX difference_ended on difference (ended_at) where ended_at is not null`,
  `CREATE UNIQUE INDEX staff_link_current on staff_link (namespace, staff_id, customer_namespace, customer_id)
    where to_at is null`,
  `insert into kysely_migration_lock (id, is_locked) values ('migration_lock', 0)`,
  `insert into tally (name, count) values ('asset_number fixed', 0), ('assignment', 0), ('link', 0),
    ('observation_read', 0), ('observation_read incomplete', 0), ('placed_order', 0), ('product', 0),
    ('staff_link', 0), ('staff_link adopted', 0)`,
];
