import type { Stream } from "../../crm/model.ts";
import { column, sql } from "../database/statements.ts";
import type { StandingRecord } from "./seen-forms.ts";
import type { FullRow, Row } from "../tables.ts";

export type RecordRow = Row<
  "record",
  "source" | "raw_hash" | "body_hash" | "version" | "state" | "last_read" | "customer_namespace" | "customer_id"
>;

/** Keeps four earlier hashes of 64 digits, each with a space. */
const keptForms = 4 * 65;

/** `indexed by` is there where the planner would otherwise read all records of a stream. */
export const recordTexts = {
  unchanged: sql<[string, string, string], Row<"record", "raw_hash" | "missed">>`
    select raw_hash, missed from record indexed by record_by_hash
      where source = +? and stream = +? and state = 'current' and raw_hash in (select value from json_each(?))`,
  after: sql<[string, string, string, number], StandingRecord>`
    select namespace, id, source, state, raw_hash, last_read, missed from record
      where stream = +? and (namespace, id) > (+?, +?) order by namespace, id limit ?`,
  version: column<[], string>`select data_version || '/' || total_changes() from pragma_data_version`,
  quarantined: sql<[string, string], Row<"quarantine", "id">>`
    select id from quarantine where source = +? and stream = +? and state <> 'resolved' limit 1`,
  markSeen: sql<[number, string, string, string]>`update record indexed by record_by_hash set last_read = ?, missed = 0
    where source = +? and stream = +? and state = 'current' and raw_hash in (select value from json_each(?))`,
  keepPresent: sql<[number, string, string, string]>`
    update record set last_read = ?, missed = 0 where source = +? and stream = ? and state <> 'absent'
      and (namespace, id) in (select value ->> 'namespace', value ->> 'id' from json_each(?))`,
  // A quarantined row that looks like a missing record may be that record.
  keepTwins: sql<[{ source: string; stream: Stream; first: number; last: number }]>`
    update record set last_read = @last, missed = 0 where stream = +@stream and state <> 'absent'
      and (namespace, id) in (select twin_namespace, twin_id from quarantine
        where source = @source and stream = @stream and twin_id is not null and state <> 'resolved'
          and last_read >= @first)`,
  quarantineUnseen: sql<[string, string, number], Row<"quarantine", "id">>`
    select id from quarantine where source = +? and stream = +? and last_read < +? and state <> 'resolved'
      limit 1`,
  // The form does not decide these rows, so each read judges them again.
  quarantineWaits: sql<[string, string, string], Row<"quarantine", "raw_hash">>`
    select raw_hash from quarantine where source = +? and stream = +? and state = 'open' and state <> 'resolved'
      and code not in ('duplicate-id', 'line-may-have-moved', 'parts-unclear', 'stored-form', 'twin-unclear') and twin_id is null and raw_hash in (select value from json_each(?))`,
  markQuarantineSeen: sql<[number, string, string, string, string], Row<"quarantine", "raw_hash">>`
    update quarantine set last_read = ?, last_seen = ?, of_stored_form = 0
      where source = +? and stream = +? and state = 'open' and state <> 'resolved'
      and raw_hash in (select value from json_each(?)) returning raw_hash`,
  markBlockedSeen: sql`update record indexed by record_quarantined set last_read = ?, missed = 0
    where source = +? and stream = +? and state = 'quarantined'
    and (namespace, id) in (select namespace, record_id from quarantine q
      where q.source = +? and q.stream = record.stream
      and q.state = 'open' and q.state <> 'resolved' and q.record_id is not null
        and q.raw_hash in (select value from json_each(?)))`,
  find: sql<[string, string, string], RecordRow>`
    select source, raw_hash, body_hash, version, state, last_read, customer_namespace, customer_id from record
      where stream = +? and namespace = +? and id = +?`,
  orderNow: sql<
    [string, string],
    Row<"record", "customer_namespace" | "customer_id" | "state" | "body_hash"> & { cancelled: number }
  >`
    select r.customer_namespace, r.customer_id, r.state, r.body_hash,
        json_extract(v.body, '$.cancelled') as cancelled from record r
      join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id
        and v.version = r.version
      where r.stream = 'orders' and r.namespace = +? and r.id = +?`,
  kept: sql<[string, string], { count: number }>`select count(*) as count from record indexed by record_by_hash
    where source = +? and stream = +? and state <> 'absent'`,
  newSince: column<[string, string, number, string, string], number>`
    select count(*) as count from record indexed by record_by_hash where source = +? and stream = +?
      and last_read > ? and state <> 'absent' and (first_seen > ? or exists (select 1 from record_stood s
        where s.stream = record.stream and s.namespace = record.namespace and s.id = record.id
          and s.state = 'absent' and s.to_at > ?))`,
  salt: sql<[string], FullRow<"private_value", "salt">>`
    select salt from private_value where ref = +? and salt is not null order by version desc limit 1`,
  setState: sql`update record set state = ? where stream = +? and namespace = +? and id = +?`,
  // The end of an absence also counts as flapping.
  touch: sql`update record set raw_hash = ?, source = ?, last_read = ?, missed = 0, state = ?,
    flips = flips + (state = 'absent'), changed_run = coalesce(?, changed_run)
    where stream = +? and namespace = +? and id = +?`,
  // The same values may come from another raw form. Erased forms stay erased.
  keepRaw: sql`update private_value set body = ? where ref = +? and version = +? and body <> ?`,
  sealAgain: sql`update private_value set sealed = ?, wiped_at = null where ref = +? and version = +?
    and sealed is null`,
  endVersion: sql`update record_version set to_at = ? where stream = +? and namespace = +? and id = +?
    and to_at is null`,
  insertVersion: sql`insert into record_version (stream, namespace, id, version, from_at, source, place, body,
    date_zones)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  insertPrivate: sql`insert into private_value (ref, version, salt, body, sealed, created_at)
    values (?, ?, ?, ?, ?, ?)`,
  insertForm: sql`insert into private_value (ref, version, salt, body, sealed, created_at, name_key, login_key)
    values (@ref, @version, @salt, @values, @sealed, @now, @nameKey, @loginKey),
      ('raw:' || @ref, @version, null, @raw, null, @now, null, null)`,
  upsert: sql`insert into record (stream, namespace, id, source, raw_hash, body_hash, version, customer_namespace,
      customer_id, state, last_read, pending, changed_run, first_seen, changed_at)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?)
    on conflict (stream, namespace, id) do update set source = excluded.source, raw_hash = excluded.raw_hash,
      body_hash = excluded.body_hash, version = excluded.version, customer_namespace = excluded.customer_namespace,
      customer_id = excluded.customer_id, state = excluded.state,
      changed_run = coalesce(excluded.changed_run, changed_run), last_read = excluded.last_read, missed = 0,
      deferred_code = null, deferred_reason = null, deferred_since = null, changed_at = excluded.changed_at,
      flips = iif(instr(coalesce(previous_hash, ''), excluded.body_hash) > 0, flips + 1, 0),
      previous_hash = substr(body_hash || ' ' || replace(coalesce(previous_hash, ''), body_hash || ' ', ''),
        1, ${keptForms})`,
  // Runs look for the rest at the previous customer until nothing is left there.
  leaveCustomer: sql`insert into moved_order (namespace, order_id, customer_namespace, customer_id, since)
    values (?, ?, ?, ?, ?) on conflict do update set since = excluded.since, ended_at = null, unclear = null
    where ended_at is not null`,
  // With unclear remains, the return of the order does not end the search.
  joinCustomer: sql`update moved_order set ended_at = ? where namespace = +? and order_id = +?
    and customer_namespace = +?
    and customer_id = +? and ended_at is null and unclear is null`,
  insertQuarantine: sql`insert into quarantine (id, source, stream, namespace, record_id, customer_namespace,
    customer_id, place,
      field, code, message, expected, raw_ref, raw_hash, first_seen, last_seen, last_read, of_stored_form,
        twin_namespace,
      twin_id, state)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')
    on conflict (source, stream, raw_hash) where state <> 'resolved' do update
      set place = excluded.place, field = excluded.field, twin_namespace = excluded.twin_namespace,
      twin_id = excluded.twin_id,
      customer_namespace = excluded.customer_namespace, customer_id = excluded.customer_id,
      code = excluded.code, message = excluded.message, expected = excluded.expected, last_seen = excluded.last_seen,
      last_read = excluded.last_read, of_stored_form = min(of_stored_form, excluded.of_stored_form), state = 'open'`,
  quarantineByHash: sql<[string, string, string], Row<"quarantine", "id">>`
    select id from quarantine where source = +? and stream = +? and raw_hash = +?
      and state <> 'resolved'`,
  waits: sql<[string, string | null, string | null, string], { since: string | null }>`
    select min(first_seen) as since from quarantine
      where stream = +? and namespace = +? and record_id = +? and source = +? and state <> 'resolved'`,
  closeOlderQuarantine: sql`update quarantine
    set state = 'resolved', resolved_at = ?, resolution = 'a newer form of the record came'
    where stream = +? and namespace = +? and record_id = +? and source = +? and raw_hash <> ? and state <> 'resolved'
    and code not in ('duplicate-id', 'claimed-twice')`,
  // A row of another source does not make the record seen in its own source.
  blockRecord: sql`update record set state = 'quarantined', last_read = iif(source = @source, @read, last_read),
      missed = iif(source = @source, 0, missed)
    where stream = +@stream and namespace = +@namespace and id = +@id and state <> 'absent'`,
  resolveQuarantine: sql`update quarantine set state = 'resolved', resolved_at = ?, resolution = ?
    where stream = +? and namespace = +? and record_id = +? and source = +? and state <> 'resolved'
      and last_read <> ?
    and code not in ('duplicate-id', 'claimed-twice')`,
  resolveClaim: sql`update quarantine set state = 'resolved', resolved_at = ?,
      resolution = 'no other source has the record any more'
    where stream = +? and namespace = +? and record_id = +? and source = +? and code = 'claimed-twice'
      and state <> 'resolved'`,
  wakeClaims: sql`update quarantine set state = 'retry' where stream = +? and source <> ? and code = 'claimed-twice'
    and state = 'open' and state <> 'resolved'
    and exists (select 1 from record r where r.stream = +? and r.namespace = quarantine.namespace
      and r.id = quarantine.record_id
      and r.source = +? and r.state = 'absent')`,
  inQuarantine: sql<[], Row<"quarantine", "id">>`select id from quarantine where state <> 'resolved' limit 1`,
  openQuarantine: sql<[string, string, string], Row<"quarantine", "id">>`
    select id from quarantine where stream = +? and namespace = +? and record_id = +? and state <> 'resolved'
      limit 1`,
  // A row with a refused stored form waits until its record comes again or is absent.
  releaseQuarantine: sql`update quarantine
    set state = 'resolved', resolved_at = @now, resolution = 'no longer in the source'
    where source = +@source and stream = +@stream and last_read < @first and state <> 'resolved'
      and not (of_stored_form = 1 and exists (
        select 1 from record r where r.stream = quarantine.stream and r.namespace = quarantine.namespace
          and r.id = quarantine.record_id and r.source = quarantine.source and r.last_read < @first
          and r.state <> 'absent'))`,
  release: sql`update record indexed by record_quarantined set state = 'current', changed_run = ?
    where source = +? and stream = +? and last_read = +?
    and state = 'quarantined' and not exists (
      select 1 from quarantine q where q.stream = record.stream and q.namespace = record.namespace
        and q.record_id = record.id
      and q.state <> 'resolved')`,
  unblock: sql`update record indexed by record_quarantined set state = 'current'
    where stream = +? and state = 'quarantined' and not exists (
    select 1 from quarantine q where q.stream = record.stream and q.namespace = record.namespace
      and q.record_id = record.id
    and q.state <> 'resolved')`,
};
