/** The schema of the ledger, as one migration: each table with its purpose, its indexes and its triggers. */
export const schema = `
-- Facts about the ledger itself: its name, its platform, the count of commits.
create table meta (key text primary key, value text not null) strict, without rowid;

-- Personal data and secrets of records, the only place where they are; erased by overwriting.
create table private_value (ref text not null, version integer not null, salt text, body text, sealed text,
  created_at text not null, wiped_at text, name_key text, login_key text, primary key (ref, version)) strict,
  without rowid;
create index private_value_by_login on private_value (login_key) where login_key is not null;
create index private_value_by_name on private_value (name_key) where name_key is not null;

-- Each reading of a stream: how far it came, and whether it was complete.
create table source_read (number integer primary key, run_id text, source text not null, stream text not null,
  started_at text not null, finished_at text, complete integer not null default 0, whole integer not null default 0,
  rows integer not null default 0, bad integer not null default 0, cursor text, problem text, details text, doubted
  integer not null default 0, absence text, question text, mapping text, continues integer, shape text) strict;
create index source_read_by_run on source_read (run_id);
create index source_read_by_stream on source_read (source, stream, number);
create index source_read_whole on source_read (source, stream, number) where complete = 1 and whole = 1;

-- The streams that a configured source gave so far, and how they looked.
create table source_stream (source text not null, stream text not null, job text, primary key (source, stream))
  strict, without rowid;

-- How far a reading came that was cut off, so that the next one can go on.
create table read_checkpoint (source text not null, stream text not null, question text not null, position text not
  null, first_read integer not null, rows integer not null, bad integer not null, nameless integer not null,
  began_at text not null, reached_at text not null, primary key (source, stream)) strict, without rowid;

-- Which records such a reading has met.
create table read_checkpoint_seen (source text not null, stream text not null, part integer not null, hashes blob
  not null, skipped integer not null, primary key (source, stream, part)) strict;

-- The CRM records as they are now: one row for each.
create table record (stream text not null, namespace text not null, id text not null, source text not null, raw_hash
  text not null, body_hash text not null, version integer not null, customer_namespace text not null, customer_id
  text not null, state text not null check (state in ('current', 'quarantined', 'absent')), last_read integer not
  null, missed integer not null default 0, pending integer not null default 0, deferred_code text, deferred_reason
  text, deferred_since text, changed_run text, outcome_run text, outcome text, first_seen text not null, changed_at
  text not null, missed_since text, flips integer not null default 0, previous_hash text, primary key (stream,
  namespace, id)) strict, without rowid;
create index record_by_change on record (changed_run) where changed_run is not null;
create index record_by_customer on record (customer_namespace, customer_id, stream);
create index record_by_hash on record (source, stream, raw_hash);
create index record_by_later_outcome on record (outcome_run) where outcome_run is not null and outcome_run is not
  changed_run;
create index record_deferred on record (stream, namespace, id) where deferred_code is not null;
create index record_missing on record (source, stream) where missed > 0 and state <> 'absent';
create index record_pending on record (customer_namespace, customer_id) where pending = 1;
create index record_quarantined on record (stream, namespace, id) where state = 'quarantined';
create index record_quarantined_by_customer on record (customer_namespace, customer_id) where state = 'quarantined';
create trigger record_stood_begin after insert on record when new.state <> 'current' or new.deferred_code is not
  null begin insert into record_stood (stream, namespace, id, from_at, state, deferred_code, deferred_reason,
  deferred_since) select new.stream, new.namespace, new.id, coalesce((select value from meta where key = 'moment'),
  ''), new.state, new.deferred_code, new.deferred_reason, new.deferred_since where new.state <> 'current' or
  new.deferred_code is not null on conflict (stream, namespace, id, from_at) do update set to_at = null, state =
  excluded.state, deferred_code = excluded.deferred_code, deferred_reason = excluded.deferred_reason, deferred_since
  = excluded.deferred_since; end;
create trigger record_stood_change after update of state, deferred_code, deferred_reason, deferred_since on record
  when (old.state, old.deferred_code, old.deferred_reason, old.deferred_since) is not (new.state, new.deferred_code,
  new.deferred_reason, new.deferred_since) begin update record_stood set to_at = max(from_at, coalesce((select value
  from meta where key = 'moment'), '')) where stream = old.stream and namespace = old.namespace and id = old.id and
  to_at is null; insert into record_stood (stream, namespace, id, from_at, state, deferred_code, deferred_reason,
  deferred_since) select new.stream, new.namespace, new.id, coalesce((select value from meta where key = 'moment'),
  ''), new.state, new.deferred_code, new.deferred_reason, new.deferred_since where new.state <> 'current' or
  new.deferred_code is not null on conflict (stream, namespace, id, from_at) do update set to_at = null, state =
  excluded.state, deferred_code = excluded.deferred_code, deferred_reason = excluded.deferred_reason, deferred_since
  = excluded.deferred_since; end;
create trigger record_stood_end after delete on record begin update record_stood set to_at = max(from_at,
  coalesce((select value from meta where key = 'moment'), '')) where stream = old.stream and namespace =
  old.namespace and id = old.id and to_at is null; end;
create trigger tally_record_delete after delete on record begin update record_tally set count = count - 1, pending =
  pending - old.pending where stream = old.stream and state = old.state; end;
create trigger tally_record_insert after insert on record begin insert into record_tally (stream, state, count,
  pending) values (new.stream, new.state, 1, new.pending) on conflict (stream, state) do update set count = count +
  1, pending = pending + excluded.pending; end;
create trigger tally_record_moved after update of state, stream on record when old.state <> new.state or old.stream
  <> new.stream begin update record_tally set count = count - 1, pending = pending - old.pending where stream =
  old.stream and state = old.state; insert into record_tally (stream, state, count, pending) values (new.stream,
  new.state, 1, new.pending) on conflict (stream, state) do update set count = count + 1, pending = pending +
  excluded.pending; end;
create trigger tally_record_pending after update of pending on record when old.pending <> new.pending and old.state
  = new.state and old.stream = new.stream begin insert into record_tally (stream, state, count, pending) values
  (new.stream, new.state, 0, new.pending - old.pending) on conflict (stream, state) do update set pending = pending +
  excluded.pending; end;
-- A record that changed is looked at, and so is what waits at the customer that it is, the customer that it left, and
-- every other one of whom something of it was refused.
create trigger record_looked_at after update of state, version on record when new.state <> 'quarantined' and
  (old.state, old.version) is not (new.state, new.version) begin update record set pending = 1 where pending = 0 and
  stream = new.stream and namespace = new.namespace and id = new.id; update record set pending = 1 where new.stream =
  'customers' and customer_namespace = new.namespace and customer_id = new.id and stream <> 'customers' and pending =
  0 and deferred_code is not null and state = 'current'; update record set pending = 1 where stream = 'customers' and
  pending = 0 and state <> 'quarantined' and (namespace, id) in (select customer_namespace, customer_id from rejection
  where stream = new.stream and namespace = new.namespace and record_id = new.id and (customer_namespace, customer_id)
  is not (new.customer_namespace, new.customer_id)); end;
create trigger record_left_looked_at after update of customer_namespace, customer_id on record when
  (old.customer_namespace, old.customer_id) is not (new.customer_namespace, new.customer_id) begin update record set
  pending = 1 where stream = 'customers' and namespace = old.customer_namespace and id = old.customer_id and pending
  = 0 and state <> 'quarantined'; end;

-- Every version of a record, oldest first.
create table record_version (stream text not null, namespace text not null, id text not null, version integer not
  null, from_at text not null, to_at text, source text not null, place text not null, body text not null, date_zones
  text, primary key (stream, namespace, id, version)) strict;
create index record_version_ended on record_version (to_at) where to_at is not null;

-- How long a record was in a state before it changed.
create table record_stood (stream text not null, namespace text not null, id text not null, from_at text not null,
  to_at text, state text not null, deferred_code text, deferred_reason text, deferred_since text, primary key
  (stream, namespace, id, from_at)) strict, without rowid;

-- How many records each stream has, by state.
create table record_tally (stream text not null, state text not null, count integer not null, pending integer not
  null, primary key (stream, state)) strict, without rowid;

-- Rows of a source that cannot be used, each with its reason.
create table quarantine (id text primary key, source text not null, stream text not null, namespace text, record_id
  text, customer_namespace text, customer_id text, place text not null, field text not null, code text not null,
  message text not null, expected text, raw_ref text not null, raw_hash text not null, first_seen text not null,
  last_seen text not null, last_read integer not null, state text not null check (state in ('open', 'retry',
  'resolved')), resolved_at text, resolution text, of_stored_form integer not null default 0, twin_namespace text,
  twin_id text) strict, without rowid;
create index quarantine_of_twin on quarantine (stream, twin_namespace, twin_id) where twin_id is not null and state <>
  'resolved';
create index quarantine_by_customer on quarantine (customer_namespace, customer_id) where state <> 'resolved';
create index quarantine_by_record on quarantine (stream, namespace, record_id) where state <> 'resolved';
create index quarantine_of_nobody on quarantine (source, stream) where state <> 'resolved' and customer_id is null;
create unique index quarantine_open on quarantine (source, stream, raw_hash) where state <> 'resolved';
create index quarantine_resolved on quarantine (resolved_at) where state = 'resolved';
create index quarantine_was on quarantine (stream, namespace, record_id) where state = 'resolved';
create trigger quarantine_stood_begin after insert on quarantine begin insert into quarantine_stood (id, from_at,
  place, field, code, message, expected, customer_namespace, customer_id, state) select new.id, coalesce((select
  value from meta where key = 'moment'), ''), new.place, new.field, new.code, new.message, new.expected,
  new.customer_namespace, new.customer_id, new.state where new.state <> 'resolved' on conflict (id, from_at) do
  update set to_at = null, place = excluded.place, field = excluded.field, code = excluded.code, message =
  excluded.message, expected = excluded.expected, customer_namespace = excluded.customer_namespace, customer_id =
  excluded.customer_id, state = excluded.state; end;
create trigger quarantine_stood_change after update of place, field, code, message, expected, customer_namespace,
  customer_id, state on quarantine when (old.place, old.field, old.code, old.message, old.expected,
  old.customer_namespace, old.customer_id, old.state) is not (new.place, new.field, new.code, new.message,
  new.expected, new.customer_namespace, new.customer_id, new.state) begin update quarantine_stood set to_at =
  max(from_at, coalesce((select value from meta where key = 'moment'), '')) where id = old.id and to_at is null;
  insert into quarantine_stood (id, from_at, place, field, code, message, expected, customer_namespace, customer_id,
  state) select new.id, coalesce((select value from meta where key = 'moment'), ''), new.place, new.field, new.code,
  new.message, new.expected, new.customer_namespace, new.customer_id, new.state where new.state <> 'resolved' on
  conflict (id, from_at) do update set to_at = null, place = excluded.place, field = excluded.field, code =
  excluded.code, message = excluded.message, expected = excluded.expected, customer_namespace =
  excluded.customer_namespace, customer_id = excluded.customer_id, state = excluded.state; end;

-- How long a row was in quarantine before it changed.
create table quarantine_stood (id text not null, from_at text not null, to_at text, place text not null, field text
  not null, code text not null, message text not null, expected text, customer_namespace text, customer_id text,
  state text not null, primary key (id, from_at)) strict, without rowid;

-- Which enterprise of the platform a customer is.
create table link (namespace text not null, customer_id text not null, from_at text not null, to_at text,
  enterprise_global_id text not null, channel_code text not null, channel_customer_id text not null, origin text not
  null check (origin in ('created', 'bound', 'adopted')), examined integer not null default 0, primary key
  (namespace, customer_id, from_at)) strict, without rowid;
create index link_by_channel on link (channel_customer_id) where to_at is null;
create unique index link_by_enterprise on link (enterprise_global_id) where to_at is null;
create trigger tally_link_begin after update of to_at on link when (new.to_at is null) and not (old.to_at is null)
  begin insert into tally (name, count) values ('link', 1) on conflict (name) do update set count = count + 1; end;
create trigger tally_link_delete after delete on link when (old.to_at is null) begin update tally set count = count
  - 1 where name = 'link'; end;
create trigger tally_link_end after update of to_at on link when (old.to_at is null) and not (new.to_at is null)
  begin update tally set count = count - 1 where name = 'link'; end;
create trigger tally_link_insert after insert on link when (new.to_at is null) begin insert into tally (name, count)
  values ('link', 1) on conflict (name) do update set count = count + 1; end;

-- Links that a person ended.
create table unlinked (namespace text not null, customer_id text not null, at text not null, by text not null,
  reason text not null, enterprise_global_id text not null, ended_at text, primary key (namespace, customer_id, at))
  strict, without rowid;
create unique index unlinked_live on unlinked (namespace, customer_id) where ended_at is null;

-- The customers that E3 shows for an enterprise.
create table platform_customer (enterprise_global_id text not null, customer_id text not null, is_default integer
  not null, channel_code text not null, channel_customer_id text not null, seen_at text not null, primary key
  (enterprise_global_id, customer_id)) strict, without rowid;

-- The suffix that an enterprise adds to user names, as M1 showed it.
create table enterprise_code (enterprise_global_id text primary key, code text not null, recorded_at text not null)
  strict, without rowid;

-- Accounts that E2 made, which are never deleted.
create table protected_member (enterprise_global_id text not null, member_global_id text not null, reason text not
  null, seen_at text not null, primary key (enterprise_global_id, member_global_id)) strict, without rowid;

-- Name, branch and address that the platform acknowledged last.
create table acknowledged (namespace text not null, customer_id text not null, from_at text not null, to_at text,
  fields text not null, primary key (namespace, customer_id, from_at)) strict, without rowid;

-- Customers whom E3 showed after an accepted E2.
create table confirmed_correlation (correlation text primary key, confirmed_at text not null) strict, without rowid;

-- Customers whom a rebuild could not look at.
create table unread_customer (namespace text not null, id text not null, since text not null, all_orders integer not
  null, why text not null, ended_at text, primary key (namespace, id)) strict, without rowid;
create index unread_customer_open on unread_customer (namespace, id) where ended_at is null;

-- Orders that were placed or adopted, and for whom.
create table placed_order (namespace text not null, order_id text not null, from_at text not null, to_at text,
  customer_namespace text not null, customer_id text not null, channel_order_id text not null, body_hash text not
  null, version integer not null, operation_id text, origin text not null check (origin in ('placed', 'adopted')),
  products integer not null, agreed_hash text, agreed_version integer, placed_for_namespace text, placed_for_id
  text, primary key (namespace, order_id, from_at)) strict, without rowid;
create unique index placed_order_by_channel on placed_order (channel_order_id) where to_at is null;
create index placed_order_by_customer on placed_order (customer_namespace, customer_id) where to_at is null;
create unique index placed_order_current on placed_order (namespace, order_id) where to_at is null;
create index placed_order_empty on placed_order (namespace, order_id) where to_at is null and products = 0;
create index placed_order_ended on placed_order (customer_namespace, customer_id) where to_at is not null;
create trigger tally_placed_order_begin after update of to_at on placed_order when (new.to_at is null) and not
  (old.to_at is null) begin insert into tally (name, count) values ('placed_order', 1) on conflict (name) do update
  set count = count + 1; end;
create trigger tally_placed_order_delete after delete on placed_order when (old.to_at is null) begin update tally
  set count = count - 1 where name = 'placed_order'; end;
create trigger tally_placed_order_end after update of to_at on placed_order when (old.to_at is null) and not
  (new.to_at is null) begin update tally set count = count - 1 where name = 'placed_order'; end;
create trigger tally_placed_order_insert after insert on placed_order when (new.to_at is null) begin insert into
  tally (name, count) values ('placed_order', 1) on conflict (name) do update set count = count + 1; end;
create trigger tally_product_delete after delete on placed_order when iif(old.to_at is null, old.products, 0) <> 0
  begin update tally set count = count + (0 - iif(old.to_at is null, old.products, 0)) where name = 'product'; end;
create trigger tally_product_insert after insert on placed_order when iif(new.to_at is null, new.products, 0) <> 0
  begin update tally set count = count + iif(new.to_at is null, new.products, 0) where name = 'product'; end;
create trigger tally_product_update after update of to_at, products on placed_order when iif(new.to_at is null,
  new.products, 0) <> iif(old.to_at is null, old.products, 0) begin update tally set count = count + (iif(new.to_at
  is null, new.products, 0) - iif(old.to_at is null, old.products, 0)) where name = 'product'; end;

-- The licence orders that the platform made of a placed order.
create table licence_order (namespace text not null, order_id text not null, sequence integer not null, license_type
  text not null, platform_customer_id text not null, license_order_id text not null, at text not null, primary key
  (namespace, order_id, sequence)) strict, without rowid;
create index licence_order_by_number on licence_order (license_order_id);

-- What was bought, ended, priced or found of an order since it was placed.
create table order_step (number integer primary key, namespace text not null, order_id text not null,
  customer_namespace text not null, customer_id text not null, at text not null, kind text not null check (kind in
  ('bought', 'removed', 'priced')), channel_order_id text, version integer, items text not null, licence_orders text
  not null default '[]', operation_id text, origin text not null check (origin in ('sent', 'by-hand', 'found',
  'rebuilt')), forgotten_at text) strict;
create index order_step_by_customer on order_step (customer_namespace, customer_id);
create index order_step_by_order on order_step (namespace, order_id, number);

-- Orders that moved to another customer, and what is left of them where they were.
create table moved_order (namespace text not null, order_id text not null, customer_namespace text not null,
  customer_id text not null, since text not null, ended_at text, unclear text, primary key (namespace, order_id,
  customer_namespace, customer_id)) strict, without rowid;
create index moved_order_from on moved_order (customer_namespace, customer_id) where ended_at is null;
-- The customer that an order left is looked at until nothing of the order exists there, and then the order is.
create trigger moved_order_begin after insert on moved_order when new.ended_at is null begin update record set pending
  = 1 where stream = 'customers' and namespace = new.customer_namespace and id = new.customer_id and pending = 0 and
  state <> 'quarantined'; end;
create trigger moved_order_change after update of ended_at, unclear on moved_order when (old.ended_at, old.unclear) is
  not (new.ended_at, new.unclear) begin update record set pending = 1 where new.ended_at is null and stream =
  'customers' and namespace = new.customer_namespace and id = new.customer_id and pending = 0 and state <>
  'quarantined'; update record set pending = 1 where new.ended_at is not null and stream = 'orders' and namespace =
  new.namespace and id = new.order_id and pending = 0 and state <> 'quarantined'; end;

-- Channel order numbers of amendments, fixed before they are sent.
create table amendment_number (channel_order_id text not null primary key, namespace text not null, order_id text
  not null, n integer not null, hash text not null, fixed_at text not null, used_at text) strict, without rowid;
create unique index amendment_number_by_order on amendment_number (namespace, order_id, n);

-- Asset numbers: in the pool, fixed for a unit of an order, or ended.
create table asset_number (number text primary key, origin text not null check (origin in ('pool', 'crm')),
  operation_id text, taken_at text not null, fixed_at text, wire_number text, namespace text, order_id text,
  instance_id text, unit integer, customer_namespace text, customer_id text, ended_at text) strict, without rowid;
create unique index asset_number_by_instance on asset_number (namespace, order_id, instance_id, unit,
  customer_namespace, customer_id, coalesce(ended_at, '')) where fixed_at is not null;
create index asset_number_by_instance_id on asset_number (namespace, instance_id) where fixed_at is not null;
create index asset_number_by_owner on asset_number (customer_namespace, customer_id) where fixed_at is not null and
  ended_at is null;
create unique index asset_number_by_wire on asset_number (wire_number) where fixed_at is not null;
create index asset_number_free on asset_number (number) where fixed_at is null;
create trigger tally_asset_number_in_use_begin after update of fixed_at, ended_at on asset_number when (new.fixed_at is
  not null and new.ended_at is null) and not (old.fixed_at is not null and old.ended_at is null) begin insert into
  tally (name, count) values ('asset_number in use', 1) on conflict (name) do update set count = count + 1; end;
create trigger tally_asset_number_in_use_delete after delete on asset_number when (old.fixed_at is not null and
  old.ended_at is null) begin update tally set count = count - 1 where name = 'asset_number in use'; end;
create trigger tally_asset_number_in_use_end after update of fixed_at, ended_at on asset_number when (old.fixed_at is
  not null and old.ended_at is null) and not (new.fixed_at is not null and new.ended_at is null) begin update tally
  set count = count - 1 where name = 'asset_number in use'; end;
create trigger tally_asset_number_in_use_insert after insert on asset_number when (new.fixed_at is not null and
  new.ended_at is null) begin insert into tally (name, count) values ('asset_number in use', 1) on conflict (name) do
  update set count = count + 1; end;

-- Numbers that a unit had before.
create table earlier_number (wire_number text not null, left_at text not null, fixed_at text not null, ended_at
  text, namespace text not null, order_id text not null, instance_id text not null, unit integer, customer_namespace
  text not null, customer_id text not null, primary key (wire_number, left_at)) strict, without rowid;
create index earlier_number_of_order on earlier_number (namespace, order_id);

-- Licence types that M6 was seen to show.
create table shown_licence_type (license_type text not null, shown_by text not null check (shown_by in ('asset',
  'product')), shown_at text not null, primary key (shown_by, license_type)) strict, without rowid;

-- Which account of the member-center a person is.
create table staff_link (namespace text not null, staff_id text not null, from_at text not null, to_at text,
  customer_namespace text not null, customer_id text not null, enterprise_global_id text not null, member_global_id
  text not null, origin text not null check (origin in ('created', 'adopted')), profile text not null, ended_by text,
  primary key (namespace, staff_id, from_at)) strict, without rowid;
create index staff_link_by_customer on staff_link (customer_namespace, customer_id) where to_at is null;
create unique index staff_link_by_member on staff_link (member_global_id) where to_at is null;
create unique index staff_link_current on staff_link (namespace, staff_id, customer_namespace, customer_id) where
  to_at is null;
create index staff_link_ended on staff_link (customer_namespace, customer_id) where to_at is not null;
create trigger tally_staff_link_adopted_begin after update of to_at on staff_link when new.to_at is null and
  old.to_at is not null and new.origin = 'adopted' begin update tally set count = count + 1 where name =
  'staff_link adopted'; end;
create trigger tally_staff_link_adopted_delete after delete on staff_link when old.to_at is null and old.origin =
  'adopted' begin update tally set count = count - 1 where name = 'staff_link adopted'; end;
create trigger tally_staff_link_adopted_end after update of to_at on staff_link when old.to_at is null and new.to_at
  is not null and new.origin = 'adopted' begin update tally set count = count - 1 where name = 'staff_link adopted';
  end;
create trigger tally_staff_link_adopted_insert after insert on staff_link when new.to_at is null and new.origin =
  'adopted' begin update tally set count = count + 1 where name = 'staff_link adopted'; end;
create trigger tally_staff_link_begin after update of to_at on staff_link when (new.to_at is null) and not
  (old.to_at is null) begin insert into tally (name, count) values ('staff_link', 1) on conflict (name) do update
  set count = count + 1; end;
create trigger tally_staff_link_delete after delete on staff_link when (old.to_at is null) begin update tally set
  count = count - 1 where name = 'staff_link'; end;
create trigger tally_staff_link_end after update of to_at on staff_link when (old.to_at is null) and not (new.to_at
  is null) begin update tally set count = count - 1 where name = 'staff_link'; end;
create trigger tally_staff_link_insert after insert on staff_link when (new.to_at is null) begin insert into tally
  (name, count) values ('staff_link', 1) on conflict (name) do update set count = count + 1; end;

-- Which person holds which asset number, since when.
create table assignment (asset_number text not null, from_at text not null, to_at text, namespace text not null,
  staff_id text not null, customer_namespace text not null, customer_id text not null, member_global_id text not
  null, origin text not null check (origin in ('granted', 'adopted')), operation_id text, ended_by text, primary key
  (asset_number, from_at)) strict, without rowid;
create index assignment_by_customer on assignment (customer_namespace, customer_id) where to_at is null;
create index assignment_by_staff on assignment (namespace, staff_id);
create unique index assignment_current on assignment (asset_number) where to_at is null;
create trigger tally_assignment_begin after update of to_at on assignment when (new.to_at is null) and not
  (old.to_at is null) begin insert into tally (name, count) values ('assignment', 1) on conflict (name) do update
  set count = count + 1; end;
create trigger tally_assignment_delete after delete on assignment when (old.to_at is null) begin update tally set
  count = count - 1 where name = 'assignment'; end;
create trigger tally_assignment_end after update of to_at on assignment when (old.to_at is null) and not (new.to_at
  is null) begin update tally set count = count - 1 where name = 'assignment'; end;
create trigger tally_assignment_insert after insert on assignment when (new.to_at is null) begin insert into tally
  (name, count) values ('assignment', 1) on conflict (name) do update set count = count + 1; end;

-- What people asked for: locks, loans, passwords.
create table manual_request (of text not null, about text not null, from_at text not null, to_at text,
  customer_namespace text not null, customer_id text not null, wanted text not null, details text not null, asked_by
  text not null, reason text not null, answer text, answered_at text, operation_id text, due integer not null check
  (due in (0, 1)), gone_at text, primary key (of, about, from_at)) strict, without rowid;
create index manual_request_due on manual_request (customer_namespace, customer_id) where to_at is null and due = 1;
create index manual_request_ended on manual_request (to_at) where to_at is not null;
create unique index manual_request_live on manual_request (of, about) where to_at is null;
create index manual_request_of_customer on manual_request (customer_namespace, customer_id, to_at);

-- What people did on the platform themselves.
create table by_hand (namespace text not null, id text not null, stream text not null, body_hash text not null, at
  text not null, by text not null, reason text not null, unseen text not null default '[]', ended_at text, primary
  key (stream, namespace, id, at)) strict, without rowid;
create unique index by_hand_live on by_hand (stream, namespace, id) where ended_at is null;

-- Each run of a job, with its balance and its exit code.
create table run (id text primary key, job text not null, kind text not null, trigger text not null, scope text,
  started_at text not null, finished_at text, state text not null check (state in ('running', 'done', 'stopped',
  'failed', 'interrupted')), exit_code integer, balance text, summary text, header text not null) strict, without
  rowid;
create index run_by_job on run (job, id);
create index run_by_start on run (started_at);
create index run_running on run (started_at) where state = 'running';

-- Every change that was planned, with its payload, state and outcome.
create table operation (id text not null primary key, run_id text, plan_id text, customer_namespace text not null,
  customer_id text not null, kind text not null, endpoint text not null, stage text not null, subject text not null,
  hash text not null, state text not null check (state in ('planned', 'sending', 'unknown', 'parked', 'held',
  'done', 'rejected', 'dropped')), target text not null, payload text not null, wire_hash text, context text not
  null, reason text not null, before text not null, after text not null, takes_away integer not null default 0,
  question_id text, position integer not null default 0, created_at text not null, updated_at text not null,
  settle_after text, verdict text, evidence text, outcome_code text, outcome_message text, answer_ref text, records
  text not null default '[]', claim text, weight text, approved integer not null default 0) strict;
create index operation_by_run on operation (run_id);
create index operation_by_subject on operation (subject);
create index operation_held on operation (question_id) where state = 'held';
create index operation_of_pool on operation (created_at) where customer_id = '';
create unique index operation_open on operation (customer_namespace, customer_id, subject) where state in
  ('sending', 'unknown', 'parked');
create index operation_open_claim on operation (claim) where state in ('sending', 'unknown', 'parked') and claim is
  not null;
create index operation_taking on operation (updated_at) where (takes_away > 0 or weight is not null) and approved =
  0 and state in ('sending', 'unknown', 'parked', 'done');
create index operation_waiting on operation (customer_namespace, customer_id, position, id) where state in
  ('planned', 'held');
create trigger operation_stood_change after update of updated_at on operation when old.updated_at < new.updated_at
  and (old.outcome_message is not null or old.verdict is not null or old.outcome_code is not null or old.state in
  ('held', 'unknown', 'parked', 'rejected')) begin insert into operation_stood (operation_id, from_at, to_at, state, run_id,
  settle_after, verdict, evidence, outcome_code, outcome_message, answer_ref) values (old.id, old.updated_at,
  new.updated_at, old.state, old.run_id, old.settle_after, old.verdict, old.evidence, old.outcome_code,
  old.outcome_message, old.answer_ref) on conflict (operation_id, from_at) do update set to_at = excluded.to_at; end;

-- The records that an operation is about.
create table operation_record (stream text not null, namespace text not null, record_id text not null, operation_id
  text not null, primary key (stream, namespace, record_id, operation_id)) strict, without rowid;

-- How long an operation was in a state before it changed.
create table operation_stood (operation_id text not null, from_at text not null, to_at text not null, state text not
  null, run_id text, settle_after text, verdict text, evidence text, outcome_code text, outcome_message text,
  answer_ref text, primary key (operation_id, from_at)) strict, without rowid;

-- Each call that was made for an operation.
create table attempt (operation_id text not null, number integer not null, nonce text not null, wire_hash text not
  null, started_at text not null, holder text, accepted_until text, finished_at text, outcome text, http_status integer, code text, detail text,
  primary key (operation_id, number)) strict, without rowid;

-- Operations that a service refused, until their record or a person changes something.
create table rejection (stream text not null, namespace text not null, record_id text not null, kind text not null,
  hash text not null, customer_namespace text not null, customer_id text not null, version integer not null,
  settings text not null, operation_id text not null, code text not null, reason text not null, at text not null,
  shared integer not null default 0, asked integer not null default 0, tries integer not null default 1, primary key
  (stream, namespace, record_id, kind, hash)) strict, without rowid;
create index rejection_by_customer on rejection (customer_namespace, customer_id);
create index rejection_passing on rejection (tries) where asked = 0 and code = 'staff.refused';
create index rejection_standing on rejection (settings) where asked = 0;
create trigger rejection_stood_begin after insert on rejection begin insert into rejection_stood (operation_id,
  stream, namespace, record_id, kind, hash, version, from_at) values (new.operation_id, new.stream, new.namespace,
  new.record_id, new.kind, new.hash, new.version, new.at) on conflict (operation_id, stream, namespace, record_id,
  kind, hash) do update set to_at = null, version = excluded.version; end;
create trigger rejection_stood_change after update of operation_id on rejection when old.operation_id <>
  new.operation_id begin update rejection_stood set to_at = max(from_at, coalesce((select value from meta where key
  = 'moment'), '')) where operation_id = old.operation_id and stream = old.stream and namespace = old.namespace and
  record_id = old.record_id and kind = old.kind and hash = old.hash and to_at is null; insert into rejection_stood
  (operation_id, stream, namespace, record_id, kind, hash, version, from_at) values (new.operation_id, new.stream,
  new.namespace, new.record_id, new.kind, new.hash, new.version, new.at) on conflict (operation_id, stream,
  namespace, record_id, kind, hash) do update set to_at = null, version = excluded.version; end;
create trigger rejection_stood_end after delete on rejection begin update rejection_stood set to_at = max(from_at,
  coalesce((select value from meta where key = 'moment'), '')) where operation_id = old.operation_id and stream =
  old.stream and namespace = old.namespace and record_id = old.record_id and kind = old.kind and hash = old.hash and
  to_at is null; end;

-- How long a rejection stood.
create table rejection_stood (operation_id text not null, stream text not null, namespace text not null, record_id
  text not null, kind text not null, hash text not null, version integer not null, from_at text not null, to_at
  text, primary key (operation_id, stream, namespace, record_id, kind, hash)) strict, without rowid;

-- Operations of plan files that were applied, each once.
create table applied_plan (plan text not null, hash text not null, run_id text not null, at text not null, primary
  key (plan, hash)) strict, without rowid;

-- What a person is asked of one customer, for one reason. The operations that it is about never change.
create table question (number integer primary key, id text not null unique, scope text not null, policy text, to_earn
  integer, customer_namespace text not null, customer_id text not null, state text not null check (state in ('open',
  'approved', 'rejected', 'used', 'moot')), created_at text not null, decided_at text, reason text, decided_by text,
  of_undo integer not null default 0) strict;
create index question_by_customer on question (customer_namespace, customer_id);
create index question_standing on question (number) where state in ('open', 'approved');
create index question_rejected on question (number) where state = 'rejected';

-- One operation that waits for a person: what the person was shown of it, and how it stands.
create table hold (id integer primary key, question_id text not null, operation_id text not null, customer_namespace
  text not null, customer_id text not null, of_undo integer not null default 0, kind text not null, hash text not
  null, subject text not null, policy text, scope text not null, reason text not null, records text not null, removes text not null, state
  text not null check (state in ('asked', 'approved', 'rejected', 'used', 'expired', 'moot')), asked_at text not null,
  ended_at text, ended_why text) strict;
create unique index hold_standing on hold (customer_namespace, customer_id, of_undo, kind, hash) where state in
  ('asked', 'approved', 'rejected');
create index hold_of_question on hold (question_id);
create index hold_used on hold (customer_namespace, customer_id) where state = 'used';
create index hold_of_operation on hold (operation_id);
create index hold_asked on hold (scope) where state = 'asked';
create index hold_approved on hold (customer_namespace, customer_id) where state = 'approved' and of_undo = 0;

-- What a person decided of a hold.
create table decision (id integer primary key, at text not null, by text not null, who text not null, verdict text not
  null check (verdict in ('approve', 'reject', 'withdraw')), hold_id integer not null, policy text, customer_namespace
  text not null, customer_id text not null, reason text not null) strict;
create index decision_of_hold on decision (hold_id);
create index decision_of_policy on decision (policy) where verdict = 'approve';

-- Which of the assumptions A1-A43 reality contradicted.
create table assumption_met (row text primary key, count integer not null, first_at text not null, last_at text not
  null, evidence text not null, operation_id text, accepted_at text, by text, reason text) strict, without rowid;

-- What the platform showed of an enterprise, last reading by reading.
create table observation (customer_namespace text not null, customer_id text not null, kind text not null, subject
  text not null, from_at text not null, to_at text, seen_at text not null, body text not null, body_hash text not
  null, primary key (customer_namespace, customer_id, kind, subject, from_at)) strict, without rowid;
create unique index observation_current on observation (customer_namespace, customer_id, kind, subject) where to_at
  is null;
create index observation_ended on observation (to_at) where to_at is not null;
create index observation_of_order on observation (subject) where kind = 'order' and to_at is null;

-- When an enterprise was read back last.
create table observation_read (customer_namespace text not null, customer_id text not null, seen_at text not null,
  complete integer not null, shown_at text, shown_hash text, primary key (customer_namespace, customer_id)) strict,
  without rowid;
create index observation_read_by_time on observation_read (seen_at);
create trigger customer_reading_begin after insert on observation_read begin insert into customer_reading
  (customer_namespace, customer_id, seen_at, complete, shown_at) values (new.customer_namespace, new.customer_id,
  new.seen_at, new.complete, new.shown_at) on conflict (customer_namespace, customer_id, seen_at) do update set
  complete = excluded.complete, shown_at = excluded.shown_at; end;
create trigger customer_reading_change after update of seen_at, complete, shown_at on observation_read when
  (old.seen_at, old.complete, old.shown_at) is not (new.seen_at, new.complete, new.shown_at) begin insert into
  customer_reading (customer_namespace, customer_id, seen_at, complete, shown_at) values (new.customer_namespace,
  new.customer_id, new.seen_at, new.complete, new.shown_at) on conflict (customer_namespace, customer_id, seen_at)
  do update set complete = excluded.complete, shown_at = excluded.shown_at; end;
create trigger tally_observation_read_begin after update of complete on observation_read when (new.complete is not
  null) and not (old.complete is not null) begin insert into tally (name, count) values ('observation_read', 1) on
  conflict (name) do update set count = count + 1; end;
create trigger tally_observation_read_delete after delete on observation_read when (old.complete is not null) begin
  update tally set count = count - 1 where name = 'observation_read'; end;
create trigger tally_observation_read_end after update of complete on observation_read when (old.complete is not
  null) and not (new.complete is not null) begin update tally set count = count - 1 where name = 'observation_read';
  end;
create trigger tally_observation_read_incomplete_begin after update of complete on observation_read when
  (new.complete = 0) and not (old.complete = 0) begin insert into tally (name, count) values
  ('observation_read incomplete', 1) on conflict (name) do update set count = count + 1; end;
create trigger tally_observation_read_incomplete_delete after delete on observation_read when (old.complete = 0)
  begin update tally set count = count - 1 where name = 'observation_read incomplete'; end;
create trigger tally_observation_read_incomplete_end after update of complete on observation_read when (old.complete
  = 0) and not (new.complete = 0) begin update tally set count = count - 1 where name =
  'observation_read incomplete'; end;
create trigger tally_observation_read_incomplete_insert after insert on observation_read when (new.complete = 0)
  begin insert into tally (name, count) values ('observation_read incomplete', 1) on conflict (name) do update set
  count = count + 1; end;
create trigger tally_observation_read_insert after insert on observation_read when (new.complete is not null) begin
  insert into tally (name, count) values ('observation_read', 1) on conflict (name) do update set count = count + 1;
  end;

-- Every time an enterprise was read back.
create table customer_reading (customer_namespace text not null, customer_id text not null, seen_at text not null,
  complete integer not null, shown_at text, primary key (customer_namespace, customer_id, seen_at)) strict, without
  rowid;
create index customer_reading_by_time on customer_reading (seen_at);

-- What the platform shows otherwise than it was left.
create table difference (namespace text not null, customer_id text not null, level text not null, subject text not
  null, class text not null check (class in ('missing', 'extra', 'different', 'in-transit', 'not-observable')),
  first_seen text not null, detail text not null, ended_at text, primary key (namespace,
  customer_id, level, subject, class, first_seen)) strict, without rowid;
create index difference_ended on difference (ended_at) where ended_at is not null;
create unique index difference_live on difference (namespace, customer_id, level, subject, class) where ended_at is
  null;

-- Services that are not called for a while.
create table open_circuit (service text primary key, since text not null, reason text not null, probe_at text not
  null) strict, without rowid;

-- When each job fired last.
create table last_fire_time (job text primary key, fire_time text not null, fired_at text not null) strict, without
  rowid;

-- Fire times that were taken.
create table fired_time (job text not null, fire_time text not null, fired_at text not null, finished_at text,
  primary key (job, fire_time)) strict, without rowid;
create index fired_time_unfinished on fired_time (job, fire_time) where finished_at is null;

-- What needs a person, since when.
create table alert (key text primary key, since text not null, body text not null, sent_at text) strict, without
  rowid;

-- Who was told of an alert.
create table alert_told (channel text not null, key text not null, since text not null, body text not null, told_at text
  not null, primary key (channel, key)) strict, without rowid;

-- Whether a channel of telling people works.
create table delivery (kind text not null check (kind in ('channel', 'switch')), name text not null, done_at text,
  problem text, failing_since text, primary key (kind, name)) strict, without rowid;

-- When the clock was found to have been set back.
create table clock_note (subject text primary key, future integer not null, met_at integer not null) strict, without
  rowid;

-- The audit log: one entry for each change, chained by hashes.
create table audit (sequence integer primary key, format integer not null, at text not null, kind text not null,
  subject text not null, body text not null, previous text not null, hash text not null, salt text not null)
  strict;
create index audit_by_subject on audit (subject, sequence);
create trigger audit_appends_only before insert on audit when new.sequence <> (select coalesce(max(sequence), 0) + 1
  from audit) or new.previous <> coalesce((select hash from audit order by sequence desc limit 1), '') begin select
  raise(abort, 'audit entries are only appended'); end;
create trigger audit_refuses_delete before delete on audit begin select raise(abort,
  'audit entries are never deleted'); end;
create trigger audit_needs_salt before insert on audit when new.format <> 2 or length(new.salt) <> 32 begin select
  raise(abort, 'audit entries have a salt'); end;
create trigger audit_refuses_update before update on audit begin select raise(abort,
  'audit entries are never changed'); end;

-- The Merkle tree over the audit log, in tiles.
create table audit_tile (number integer primary key, root text not null) strict;
create trigger audit_tile_refuses_delete before delete on audit_tile begin select raise(abort,
  'the audit tree only grows'); end;
create trigger audit_tile_refuses_update before update on audit_tile begin select raise(abort,
  'the audit tree only grows'); end;

-- Size and root of that tree.
create table audit_tree (only_one integer primary key check (only_one = 1), size integer not null, roots text not
  null) strict;
insert into audit_tree (only_one, size, roots) values (1, 0, '[]');
create trigger audit_tree_only_grows before update on audit_tree when new.size <= old.size begin select raise(abort,
  'the audit tree only grows'); end;
create trigger audit_tree_refuses_delete before delete on audit_tree begin select raise(abort,
  'the audit tree only grows'); end;

-- Places outside that heads of the audit log are written to.
create table head_place (place text primary key, sequence integer, kept_at text, problem text, failing_since text)
  strict, without rowid;

-- Closed periods, with the head that they stand on.
create table closed_period (period text not null, closing integer not null, zone text not null, from_at text not
  null, to_at text not null, closed_at text not null, closed_by text not null, reason text, as_of text not null,
  entry integer not null, entry_hash text not null, tree_size integer not null, tree_root text not null, program
  text not null, configuration text not null, reopened_at text, reopened_by text, reopened_reason text, primary key
  (period, closing)) strict, without rowid;
create unique index closed_period_live on closed_period (period) where reopened_at is null;
create trigger closed_period_only_reopens before update on closed_period when old.reopened_at is not null or
  new.reopened_at is null or new.reopened_by is null or new.reopened_reason is null or new.period <> old.period or
  new.closing <> old.closing or new.zone <> old.zone or new.from_at <> old.from_at or new.to_at <> old.to_at or
  new.closed_at <> old.closed_at or new.closed_by <> old.closed_by or new.reason is not old.reason or new.as_of <>
  old.as_of or new.entry <> old.entry or new.entry_hash <> old.entry_hash or new.tree_size <> old.tree_size or
  new.tree_root <> old.tree_root or new.program <> old.program or new.configuration <> old.configuration begin
  select raise(abort, 'closed periods are only opened again'); end;
create trigger closed_period_refuses_delete before delete on closed_period begin select raise(abort,
  'closed periods are never deleted'); end;

-- The files of a closed period, by hash.
create table closed_file (period text not null, closing integer not null, name text not null, kind text not null,
  format text not null, sha256 text not null, bytes integer not null, primary key (period, closing, name)) strict,
  without rowid;
create trigger closed_file_refuses_delete before delete on closed_file begin select raise(abort,
  'closed periods are never deleted'); end;
create trigger closed_file_refuses_update before update on closed_file begin select raise(abort,
  'closed periods are never changed'); end;

-- Blockers and exceptions that a person accepted.
create table sign_off (period text not null, blocker text not null, facts text not null, at text not null, by text
  not null, reason text not null, primary key (period, blocker, facts)) strict, without rowid;
create trigger sign_off_refuses_delete before delete on sign_off begin select raise(abort,
  'what was signed off is never deleted'); end;
create trigger sign_off_refuses_update before update on sign_off begin select raise(abort,
  'what was signed off is never changed'); end;

-- Running counts of what status shows.
create table tally (name text primary key, count integer not null) strict, without rowid;
insert into tally (name, count) values ('asset_number in use', 0), ('assignment', 0), ('link', 0),
  ('observation_read', 0), ('observation_read incomplete', 0), ('placed_order', 0), ('product', 0), ('staff_link',
  0), ('staff_link adopted', 0);
`;
