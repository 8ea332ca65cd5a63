/**
 * How each table of the ledger is read as of a moment. `:at` stands for that moment as a text of SQL and `:head` for
 * the number of the last audit entry that was there; `t` is the table as it is now.
 */

/** A table as it stood: its rows are copied, or shown through a view where none of its indexes can mean the moment. */
export interface Stood {
  as: "copy" | "view";
  /** Which rows were there. */
  rows: string;
  /** What stands in a column, where it is not what stands there now. */
  columns?: Readonly<Record<string, string>>;
  /** The tables that it is copied from, where `t` alone is not enough. */
  from?: string;
}

/** What is known of a column only as far as is said here. */
type Known = "now" | Stood;

/** What came later was not there. */
const later = (column: string): string => `iif(t.${column} > :at, null, t.${column})`;

/** What was written together with `when`. */
const writtenWith = (when: string, ...columns: readonly string[]): Record<string, string> =>
  Object.fromEntries([when, ...columns].map((column) => [column, `iif(t.${when} > :at, null, t.${column})`]));

/** Versions: each is there from `from` on, and ended where it did by then. */
function versions(from: string, ended?: string, others: Readonly<Record<string, string>> = {}): Stood {
  return {
    as: "copy",
    rows: `t.${from} <= :at`,
    columns: { ...(ended === undefined ? {} : { [ended]: later(ended) }), ...others },
  };
}

/** Rows that are only added. */
function added(at: string): Stood {
  return { as: "view", rows: `t.${at} <= :at` };
}

const theRun = (column: string): string =>
  `iif((select r.started_at from main.run r where r.id = t.${column}) <= :at, t.${column}, null)`;

/** The newest moment by then at which the platform is known to have been read for a customer. */
function lastRead(namespace: string, id: string): string {
  const shown = `main.observation o where o.customer_namespace = t.${namespace} and o.customer_id = t.${id}`;
  const differed = `main.difference d where d.namespace = t.${namespace} and d.customer_id = t.${id}`;
  return `(select max(read.at) from (
    select o.from_at as at from ${shown} and o.from_at <= :at union all
    select o.to_at from ${shown} and o.to_at <= :at union all
    select d.first_seen from ${differed} and d.first_seen <= :at union all
    select d.ended_at from ${differed} and d.ended_at <= :at) read)`;
}

/** The start of the last reading of a stream by then, and its number. */
const readBefore = (what: "started_at" | "number"): string =>
  `(select r.${what} from main.source_read r where r.source = t.source and r.stream = t.stream and r.started_at <= :at
     order by r.number desc limit 1)`;

const isSameVersion = "v.version = t.version";

const openQuarantine = `exists (select 1 from main.quarantine q where q.stream = t.stream and q.namespace = t.namespace
    and q.record_id = t.id and q.state <> 'resolved' and q.first_seen <= :at)
  or exists (select 1 from main.quarantine q where q.stream = t.stream and q.namespace = t.namespace
    and q.record_id = t.id and q.state = 'resolved' and q.first_seen <= :at and q.resolved_at > :at)`;

const isOwnCustomer = `${isSameVersion} or t.stream = 'customers'`;

const deferredBy = "coalesce(t.deferred_since, t.changed_at) <= :at";

/** A record as its version of then has it. What was deferred and is no more is not known. */
const record: Stood = {
  as: "copy",
  from: `main.record t join main.record_version v on v.stream = t.stream and v.namespace = t.namespace and v.id = t.id
    and v.version = (select max(w.version) from main.record_version w where w.stream = t.stream
      and w.namespace = t.namespace and w.id = t.id and w.from_at <= :at)`,
  rows: "t.first_seen <= :at",
  columns: {
    source: `iif(${isSameVersion}, t.source, v.source)`,
    body_hash: `iif(${isSameVersion}, t.body_hash, crm_sync_form_hash(v.body))`,
    version: "v.version",
    customer_namespace: `iif(${isOwnCustomer}, t.customer_namespace,
      coalesce(json_extract(v.body, '$.customerNamespace'), t.namespace))`,
    customer_id: `iif(${isOwnCustomer}, t.customer_id, json_extract(v.body, '$.customerId'))`,
    state: `case when t.state = 'absent' and t.changed_at <= :at then 'absent'
      when ${openQuarantine} then 'quarantined' else 'current' end`,
    last_read: `min(t.last_read, coalesce(${readBefore("number")}, 0))`,
    missed: "iif(t.missed_since > :at, 0, t.missed)",
    missed_since: later("missed_since"),
    deferred_code: `iif(${deferredBy}, t.deferred_code, null)`,
    deferred_reason: `iif(${deferredBy}, t.deferred_reason, null)`,
    deferred_since: later("deferred_since"),
    changed_run: theRun("changed_run"),
    outcome_run: theRun("outcome_run"),
    outcome: `iif((select r.started_at from main.run r where r.id = t.outcome_run) <= :at, t.outcome, null)`,
    changed_at: "iif(t.changed_at > :at, v.from_at, t.changed_at)",
  },
};

/** What was said of an operation by then, in `temp.as_of_operation`, where it changed after that. */
const wasChanged = "s.id is not null";
const operation: Stood = {
  as: "copy",
  from: "main.operation t left join temp.as_of_operation s on s.id = t.id",
  rows: "t.created_at <= :at",
  columns: {
    state: `iif(${wasChanged}, s.state, t.state)`,
    run_id: `iif(${wasChanged}, s.run, t.run_id)`,
    hold_id: `iif(${wasChanged} and s.held_at is null, null, t.hold_id)`,
    wire_hash: `iif(${wasChanged}, s.wire_hash, t.wire_hash)`,
    updated_at: `iif(${wasChanged}, s.at, t.updated_at)`,
    settle_after: `iif(${wasChanged}, null, t.settle_after)`,
    verdict: `iif(${wasChanged}, s.verdict, t.verdict)`,
    evidence: `iif(${wasChanged}, null, t.evidence)`,
    outcome_code: `iif(${wasChanged}, s.code, t.outcome_code)`,
    outcome_message: `iif(${wasChanged}, s.message, t.outcome_message)`,
    answer_ref: `iif(${wasChanged}, (select p.ref from main.private_value p where p.ref = t.answer_ref
      and p.created_at <= :at limit 1), t.answer_ref)`,
  },
};

/** The last word on a hold by then, where another one followed. */
const wordOn = (what: string): string =>
  `(select ${what} from main.audit a where a.subject = 'customer:' || t.customer_namespace || '/' || t.customer_id
     and a.sequence <= :head and (a.kind in ('hold-approved', 'hold-rejected', 'hold-used', 'hold-lapsed')
       or a.kind = 'rejection-taken-back') and json_extract(a.body, '$.hold') = t.id order by a.sequence desc limit 1)`;
const thenOf = (column: string, what: string): string => `iif(t.decided_at > :at, ${wordOn(what)}, t.${column})`;

/** Every table of the ledger. `now`: what stands in it is not of a time, or is known only as it is now. */
export const tablesAsOf: Readonly<Record<string, Known>> = {
  acknowledged: versions("from_at", "to_at"),
  // One that ended since is not known any more.
  alert: versions("since", "sent_at"),
  amendment_number: versions("fixed_at", "used_at"),
  applied_plan: added("at"),
  // One that was approved again since counts from then.
  approved_operation: versions("at", "used_at"),
  asset_number: versions("taken_at", "ended_at", {
    ...writtenWith("fixed_at", "wire_number", "namespace", "order_id", "instance_id", "unit"),
    ...writtenWith("fixed_at", "customer_namespace", "customer_id"),
  }),
  assignment: versions("from_at", undefined, writtenWith("to_at", "ended_by")),
  // How often it was met is known as it is now.
  assumption_met: versions("first_at", undefined, {
    ...writtenWith("accepted_at", "by", "reason"),
    last_at: "min(t.last_at, :at)",
  }),
  attempt: versions("started_at", undefined, writtenWith("finished_at", "outcome", "http_status", "code", "detail")),
  audit: { as: "view", rows: "t.sequence <= :head" },
  // Made from the entries: see `standAsOf`.
  audit_tile: { as: "view", rows: "t.number < (select size / 256 from temp.audit_tree)" },
  audit_tree: { as: "copy", rows: "false" },
  by_hand: versions("at", "ended_at"),
  closed_file: {
    as: "view",
    rows: `(select c.closed_at from main.closed_period c where c.period = t.period and c.closing = t.closing) <= :at`,
  },
  closed_period: versions("closed_at", undefined, writtenWith("reopened_at", "reopened_by", "reopened_reason")),
  clock_note: "now",
  confirmed_correlation: added("confirmed_at"),
  difference: versions("first_seen", "ended_at", {
    last_seen: `iif(t.last_seen > :at, max(t.first_seen, coalesce(${lastRead("namespace", "customer_id")}, '')),
      t.last_seen)`,
  }),
  enterprise_code: added("recorded_at"),
  fired_time: versions("fired_at", "finished_at"),
  head_place: "now",
  hold: versions("created_at", undefined, {
    state: `iif(t.decided_at > :at, coalesce(${wordOn(`case a.kind when 'hold-approved' then 'approved'
      when 'hold-rejected' then 'rejected' when 'hold-used' then 'used' else 'lapsed' end`)}, 'open'), t.state)`,
    decided_at: thenOf("decided_at", "a.at"),
    reason: thenOf("reason", "json_extract(a.body, '$.reason')"),
    decided_by: thenOf("decided_by", "json_extract(a.body, '$.by')"),
  }),
  hold_operation: {
    as: "copy",
    rows: "(select h.created_at from main.hold h where h.id = t.hold_id) <= :at",
    columns: { ended_at: later("ended_at") },
  },
  kysely_migration: "now",
  kysely_migration_lock: "now",
  last_fire_time: versions("fired_at"),
  licence_order: added("at"),
  link: versions("from_at", "to_at"),
  manual_request: versions("from_at", "to_at", {
    ...writtenWith("answered_at", "answer", "operation_id"),
    gone_at: later("gone_at"),
    due: "iif(t.answered_at > :at or (t.to_at > :at and t.answered_at is null), 1, t.due)",
  }),
  meta: "now",
  // An order that left the same customer again counts from the last time.
  moved_order: versions("since", "ended_at"),
  observation: versions("from_at", "to_at", {
    seen_at: `iif(t.seen_at > :at, max(t.from_at, coalesce(${lastRead("customer_namespace", "customer_id")}, '')),
      t.seen_at)`,
  }),
  // Of readings the last one is kept: of one before it is known when something was shown otherwise for the last time.
  observation_read: {
    as: "copy",
    rows: `t.seen_at <= :at or ${lastRead("customer_namespace", "customer_id")} is not null`,
    columns: {
      seen_at: `iif(t.seen_at <= :at, t.seen_at, ${lastRead("customer_namespace", "customer_id")})`,
      complete: "iif(t.seen_at <= :at, t.complete, 1)",
      shown_at: `iif(t.seen_at <= :at, t.shown_at, ${lastRead("customer_namespace", "customer_id")})`,
      shown_hash: "iif(t.seen_at <= :at, t.shown_hash, null)",
    },
  },
  // One that closed since is not known any more.
  open_circuit: versions("since"),
  operation,
  operation_record: {
    as: "copy",
    rows: "(select o.created_at from main.operation o where o.id = t.operation_id) <= :at",
  },
  order_step: added("at"),
  placed_order: versions("from_at", "to_at"),
  plan: added("created_at"),
  platform_customer: "now",
  // What was erased or thinned since is gone.
  private_value: { as: "view", rows: "t.created_at <= :at", columns: { wiped_at: later("wiped_at") } },
  protected_member: added("seen_at"),
  quarantine: versions("first_seen", undefined, {
    ...writtenWith("resolved_at", "resolution"),
    state: "iif(t.resolved_at > :at, 'open', t.state)",
    last_seen: `iif(t.last_seen > :at, max(t.first_seen, coalesce(${readBefore("started_at")}, '')), t.last_seen)`,
    last_read: `min(t.last_read, coalesce(${readBefore("number")}, 0))`,
  }),
  record,
  record_tally: "now",
  record_version: { as: "view", rows: "t.from_at <= :at", columns: { to_at: later("to_at") } },
  // One that was lifted since is not known any more.
  rejection: versions("at"),
  run: versions("started_at", undefined, {
    ...writtenWith("finished_at", "exit_code", "balance", "summary"),
    state: "iif(t.finished_at > :at, 'running', t.state)",
  }),
  shown_licence_type: added("shown_at"),
  sign_off: added("at"),
  source_read: versions("started_at", undefined, {
    ...writtenWith("finished_at", "cursor", "problem", "details", "absence"),
    ...Object.fromEntries(
      ["complete", "whole", "rows", "bad", "shrunk"].map((name) => [name, `iif(t.finished_at > :at, 0, t.${name})`]),
    ),
  }),
  source_stream: "now",
  staff_link: versions("from_at", "to_at"),
  tally: "now",
  unlinked: versions("at", "ended_at"),
  unread_customer: versions("since", "ended_at"),
};

/**
 * What had been said by then of each operation that changed since: by the last audit entry about it, or by an attempt
 * that began after that and was still on.
 */
export const operationsAsOf = `create temp table as_of_operation as
  with changed as (
    select t.id, t.created_at, h.created_at as held_at,
      (select r.id from main.run r where r.id = t.run_id and r.started_at <= :at) as begun_by,
      (select max(a.sequence) from main.audit a where a.subject = t.subject and a.sequence <= :head
        and json_extract(a.body, '$.operation') = t.id and json_extract(a.body, '$.state') is not null) as said,
      (select max(n.number) from main.attempt n where n.operation_id = t.id and n.started_at <= :at) as tried
    from main.operation t left join main.hold h on h.id = t.hold_id and h.created_at <= :at
    where t.updated_at > :at and t.created_at <= :at),
  told as (
    select c.id, c.created_at, c.held_at, c.begun_by, a.at as said_at, a.body, n.started_at, n.wire_hash,
      n.started_at is not null and (n.finished_at is null or n.finished_at > :at)
        and (a.at is null or n.started_at >= a.at) as is_on
    from changed c left join main.audit a on a.sequence = c.said
      left join main.attempt n on n.operation_id = c.id and n.number = c.tried)
  select id, wire_hash, held_at,
    case when is_on then 'sending' when body is not null then json_extract(body, '$.state')
      when held_at is not null then 'held' else 'planned' end as state,
    case when is_on then started_at else coalesce(said_at, held_at, created_at) end as at,
    coalesce(json_extract(body, '$.run'), begun_by) as run, json_extract(body, '$.code') as code,
    json_extract(body, '$.verdict') as verdict,
    coalesce(json_extract(body, '$.reason'), json_extract(body, '$.meaning')) as message
  from told`;
