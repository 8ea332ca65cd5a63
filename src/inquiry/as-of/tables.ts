/** Tables as of a moment. `:at`: the moment as SQL text; `:head`: its last audit entry; `t`: the present table. */

/** Rows are copied. A view is enough if no index of the table depends on the moment. */
export interface Stood {
  as: "copy" | "view";
  rows: string;
  /** Columns whose past value differs from the present one. */
  columns?: Readonly<Record<string, string>>;
  from?: string;
}

type Known = "now" | Stood;

const later = (column: string): string => `iif(t.${column} > :at, null, t.${column})`;

const writtenWith = (when: string, ...columns: readonly string[]): Record<string, string> =>
  Object.fromEntries([when, ...columns].map((column) => [column, `iif(t.${when} > :at, null, t.${column})`]));

/** Rows that exist from `from` on and may end. */
function versions(from: string, ended?: string, others: Readonly<Record<string, string>> = {}): Stood {
  return {
    as: "copy",
    rows: `t.${from} <= :at`,
    columns: { ...(ended === undefined ? {} : { [ended]: later(ended) }), ...others },
  };
}

function added(at: string): Stood {
  return { as: "view", rows: `t.${at} <= :at` };
}

const theRun = (column: string): string =>
  `iif((select r.started_at from main.run r where r.id = t.${column}) <= :at, t.${column}, null)`;

function lastReading(what: "seen_at" | "complete" | "shown_at", namespace: string, id: string): string {
  return `(select c.${what} from main.customer_reading c where c.customer_namespace = t.${namespace}
    and c.customer_id = t.${id} and c.seen_at <= :at order by c.seen_at desc limit 1)`;
}

const readBefore = (what: "started_at" | "number"): string =>
  `(select r.${what} from main.source_read r where r.source = t.source and r.stream = t.stream and r.started_at <= :at
     order by r.number desc limit 1)`;

const isSameVersion = "v.version = t.version";

const isOwnCustomer = `${isSameVersion} or t.stream = 'customers'`;

/** The past row of `t`; the newest, if the clock was set back. */
const stoodThen = (table: string, ...key: readonly string[]): string => {
  const isOf = (row: string): string => key.map((name) => `${row}.${name} = t.${name}`).join(" and ");
  return `left join main.${table} s on ${isOf("s")} and s.from_at = (select max(w.from_at) from main.${table} w
    where ${isOf("w")} and w.from_at <= :at and (w.to_at is null or w.to_at > :at))`;
};

const record: Stood = {
  as: "copy",
  from: `main.record t join main.record_version v on v.stream = t.stream and v.namespace = t.namespace and v.id = t.id
    and v.version = (select max(w.version) from main.record_version w where w.stream = t.stream
      and w.namespace = t.namespace and w.id = t.id and w.from_at <= :at)
    ${stoodThen("record_stood", "stream", "namespace", "id")}`,
  rows: "t.first_seen <= :at",
  columns: {
    source: `iif(${isSameVersion}, t.source, v.source)`,
    body_hash: `iif(${isSameVersion}, t.body_hash, crm_sync_sha256(v.body))`,
    version: "v.version",
    customer_namespace: `iif(${isOwnCustomer}, t.customer_namespace,
      coalesce(json_extract(v.body, '$.customerNamespace'), t.namespace))`,
    customer_id: `iif(${isOwnCustomer}, t.customer_id, json_extract(v.body, '$.customerId'))`,
    state: "coalesce(s.state, 'current')",
    last_read: `min(t.last_read, coalesce(${readBefore("number")}, 0))`,
    missed: "iif(t.missed_since > :at, 0, t.missed)",
    missed_since: later("missed_since"),
    deferred_code: "s.deferred_code",
    deferred_reason: "s.deferred_reason",
    deferred_since: "s.deferred_since",
    changed_run: theRun("changed_run"),
    outcome_run: theRun("outcome_run"),
    outcome: `iif((select r.started_at from main.run r where r.id = t.outcome_run) <= :at, t.outcome, null)`,
    changed_at: "iif(t.changed_at > :at, v.from_at, t.changed_at)",
  },
};

/** A bad row may be known as waiting before a form of it came. */
const quarantine: Stood = {
  as: "copy",
  from: `main.quarantine t ${stoodThen("quarantine_stood", "id")}`,
  rows: "s.id is not null or t.resolved_at <= :at",
  columns: {
    ...Object.fromEntries(
      ["place", "field", "code", "message", "expected", "customer_namespace", "customer_id", "state"].map((name) => [
        name,
        `iif(s.id is null, t.${name}, s.${name})`,
      ]),
    ),
    ...writtenWith("resolved_at", "resolution"),
    last_seen: `iif(t.last_seen > :at, max(t.first_seen, coalesce(${readBefore("started_at")}, '')), t.last_seen)`,
    last_read: `min(t.last_read, coalesce(${readBefore("number")}, 0))`,
  },
};

const ofCustomer = (what: "seen_at" | "complete" | "shown_at"): string =>
  lastReading(what, "customer_namespace", "customer_id");

/** Of a changed operation: the kept row (the newest, if the clock was set back), otherwise `temp.as_of_operation`. */
const wasChanged = "s.id is not null";
const keptOr = (column: string, otherwise: string): string =>
  `case when w.operation_id is not null then w.${column} when ${wasChanged} then ${otherwise} else t.${column} end`;
const operation: Stood = {
  as: "copy",
  from: `main.operation t left join temp.as_of_operation s on s.id = t.id
    left join main.operation_stood w on w.operation_id = t.id and w.from_at = (select max(o.from_at)
      from main.operation_stood o where o.operation_id = t.id and o.from_at <= :at and o.to_at > :at)`,
  rows: "t.created_at <= :at",
  columns: {
    state: keptOr("state", "s.state"),
    run_id: keptOr("run_id", "s.run"),
    question_id: `iif(${wasChanged} and s.held_at is null, null, t.question_id)`,
    wire_hash: `iif(${wasChanged}, s.wire_hash, t.wire_hash)`,
    updated_at: `coalesce(w.from_at, iif(${wasChanged}, s.at, t.updated_at))`,
    settle_after: keptOr("settle_after", "null"),
    verdict: keptOr("verdict", "s.verdict"),
    evidence: keptOr("evidence", "null"),
    outcome_code: keptOr("outcome_code", "s.code"),
    outcome_message: keptOr("outcome_message", "s.message"),
    answer_ref: keptOr(
      "answer_ref",
      "(select p.ref from main.private_value p where p.ref = t.answer_ref and p.created_at <= :at limit 1)",
    ),
  },
};

/** The last decision on a hold by the moment, if another one followed. */
const wordOn = (what: string): string =>
  `(select ${what} from main.audit a where a.subject = 'customer:' || t.customer_namespace || '/' || t.customer_id
     and a.sequence <= :head and (a.kind in ('hold-approved', 'hold-rejected', 'hold-used', 'hold-moot')
       or a.kind = 'rejection-taken-back') and json_extract(a.body, '$.hold') = t.id order by a.sequence desc limit 1)`;
const thenOf = (column: string, what: string): string => `iif(t.decided_at > :at, ${wordOn(what)}, t.${column})`;

/** The state of an open hold at the moment. */
const decidedBy = `coalesce((select case d.verdict when 'approve' then 'approved' when 'reject' then 'rejected' end
  from main.decision d where d.hold_id = t.id and d.at <= :at order by d.id desc limit 1), 'asked')`;

/** The unit of a number at the moment. */
const fixedThen = (column: string): string =>
  `iif(t.fixed_at > :at, (select e.${column} from main.earlier_number e where e.wire_number = t.wire_number
     and e.fixed_at <= :at and e.left_at > :at order by e.left_at limit 1), t.${column})`;
const assetNumber = versions("taken_at", undefined, {
  ...Object.fromEntries(
    ["wire_number", "fixed_at", "namespace", "order_id", "instance_id"].map((name) => [name, fixedThen(name)]),
  ),
  ...Object.fromEntries(["unit", "customer_namespace", "customer_id"].map((name) => [name, fixedThen(name)])),
  ended_at: `(select iif(said.ended > :at, null, said.ended) from (select ${fixedThen("ended_at")} as ended) said)`,
});

/** Customers whose audit entries may say where a moved order was. */
const sayers = `(select 'customer:' || t.customer_namespace || '/' || t.customer_id
  union select 'customer:' || t.placed_for_namespace || '/' || t.placed_for_id
  union select 'customer:' || m.customer_namespace || '/' || m.customer_id from main.moved_order m
    where m.namespace = t.namespace and m.order_id = t.order_id
  union select 'customer:' || coalesce(json_extract(f.body, '$.customerNamespace'), f.namespace) || '/' ||
      json_extract(f.body, '$.customerId')
    from main.record_version f where f.stream = 'orders' and f.namespace = t.namespace and f.id = t.order_id)`;

/** From the audit log about moves of order `t`: the last entry by the moment, or the first after it. */
const moveSaid = (what: string, entries: string, order: "asc" | "desc"): string =>
  `(select json_extract(c.value, '$.${what}') from main.audit a, json_each(a.body, '$.changes') c
     where a.subject in ${sayers} and ${entries} and a.kind = 'learned'
       and json_extract(c.value, '$.type') = 'order-moved'
       and json_extract(c.value, '$.order.namespace') = t.namespace
       and json_extract(c.value, '$.order.id') = t.order_id
     order by a.sequence ${order}, c.key ${order} limit 1)`;

/** The customer of an order at the moment: of its last move until then, otherwise the one it left first afterwards. */
const stoodFor = (column: "customer_namespace" | "customer_id", of: "namespace" | "id"): string =>
  `iif(t.placed_for_id is null, t.${column}, coalesce(${moveSaid(`customer.${of}`, "a.sequence <= :head", "desc")},
    ${moveSaid(`from.${of}`, "a.sequence > :head", "asc")}, t.${column}))`;

const ofOrder = "f.stream = 'orders' and f.namespace = t.namespace and f.id = t.order_id and f.from_at <= :at";

/** When an order had left customer `t` by the moment, if it came back and left again later; otherwise null. */
const leftBefore = `(select min(f.from_at) from main.record_version f where ${ofOrder} and f.version > (
  select max(f.version) from main.record_version f where ${ofOrder} and json_extract(f.body, '$.customerId') =
    t.customer_id and coalesce(json_extract(f.body, '$.customerNamespace'), f.namespace) = t.customer_namespace))`;

/** A customer that an order left. If it left again later: it counts while something of the order existed there. */
const movedOrder: Stood = {
  as: "copy",
  rows: `t.since <= :at or ${leftBefore} is not null and not exists (
    select 1 from main.audit a, json_each(a.body, '$.changes') c
    where a.subject = 'customer:' || t.customer_namespace || '/' || t.customer_id and a.sequence <= :head
      and a.kind = 'learned' and a.at >= ${leftBefore} and json_extract(c.value, '$.type') = 'order-left'
      and json_extract(c.value, '$.order.namespace') = t.namespace
      and json_extract(c.value, '$.order.id') = t.order_id)`,
  columns: { since: `iif(t.since > :at, ${leftBefore}, t.since)`, ended_at: later("ended_at") },
};

/** Every table of the ledger. `now`: it has no time, or only its present content is known. */
export const tablesAsOf: Readonly<Record<string, Known>> = {
  acknowledged: versions("from_at", "to_at"),
  // An alert that ended since is no longer known.
  alert: versions("since", "sent_at"),
  alert_told: "now",
  amendment_number: versions("fixed_at", "used_at"),
  applied_plan: added("at"),
  asset_number: assetNumber,
  assignment: versions("from_at", undefined, writtenWith("to_at", "ended_by")),
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
  customer_reading: added("seen_at"),
  delivery: "now",
  difference: versions("first_seen", "ended_at"),
  earlier_number: added("left_at"),
  enterprise_code: added("recorded_at"),
  fired_time: versions("fired_at", "finished_at"),
  head_place: "now",
  decision: added("at"),
  hold: versions("asked_at", "ended_at", {
    state: `iif(t.ended_at > :at or t.ended_at is null, ${decidedBy}, t.state)`,
    ended_why: "iif(t.ended_at > :at, null, t.ended_why)",
  }),
  question: versions("created_at", undefined, {
    state: `iif(t.decided_at > :at or t.decided_at is null, coalesce(${wordOn(`case a.kind when 'hold-approved' then 'approved'
      when 'hold-rejected' then 'rejected' when 'hold-used' then 'used' when 'hold-moot' then 'moot' else 'open' end`)}, 'open'), t.state)`,
    decided_at: thenOf("decided_at", "a.at"),
    reason: thenOf("reason", "json_extract(a.body, '$.reason')"),
    decided_by: thenOf("decided_by", "json_extract(a.body, '$.by')"),
  }),
  last_fire_time: versions("fired_at"),
  licence_order: added("at"),
  link: versions("from_at", "to_at"),
  manual_request: versions("from_at", "to_at", {
    ...writtenWith("answered_at", "answer", "operation_id"),
    gone_at: later("gone_at"),
    due: "iif(t.answered_at > :at or (t.to_at > :at and t.answered_at is null), 1, t.due)",
  }),
  meta: "now",
  moved_order: movedOrder,
  // A complete reading shows everything that exists.
  observation: versions("from_at", "to_at", {
    seen_at: `iif(t.seen_at > :at, max(t.from_at, coalesce(${ofCustomer("shown_at")}, '')), t.seen_at)`,
  }),
  observation_read: {
    as: "copy",
    rows: `${ofCustomer("seen_at")} is not null`,
    columns: {
      seen_at: ofCustomer("seen_at"),
      complete: ofCustomer("complete"),
      shown_at: ofCustomer("shown_at"),
      shown_hash: "iif(t.seen_at <= :at, t.shown_hash, null)",
    },
  },
  // A circuit that closed since is no longer known.
  open_circuit: versions("since"),
  operation,
  operation_stood: added("to_at"),
  operation_record: {
    as: "copy",
    rows: "(select o.created_at from main.operation o where o.id = t.operation_id) <= :at",
  },
  order_step: { as: "view", rows: "t.at <= :at", columns: { forgotten_at: later("forgotten_at") } },
  placed_order: versions("from_at", "to_at", {
    customer_namespace: stoodFor("customer_namespace", "namespace"),
    customer_id: stoodFor("customer_id", "id"),
  }),
  platform_customer: "now",
  // Values erased or thinned since are missing.
  private_value: { as: "view", rows: "t.created_at <= :at", columns: { wiped_at: later("wiped_at") } },
  protected_member: added("seen_at"),
  quarantine,
  quarantine_stood: versions("from_at", "to_at"),
  // A read that continued or ended since is no longer known.
  read_checkpoint: versions("reached_at"),
  read_checkpoint_seen: "now",
  record,
  record_stood: versions("from_at", "to_at"),
  record_tally: "now",
  record_version: { as: "view", rows: "t.from_at <= :at", columns: { to_at: later("to_at") } },
  // A rejection that was withdrawn since is no longer known.
  rejection: versions("at"),
  rejection_stood: versions("from_at", "to_at"),
  run: versions("started_at", undefined, {
    ...writtenWith("finished_at", "exit_code", "balance", "summary"),
    state: "iif(t.finished_at > :at, 'running', t.state)",
  }),
  shown_licence_type: added("shown_at"),
  sign_off: added("at"),
  source_read: versions("started_at", undefined, {
    ...writtenWith("finished_at", "cursor", "problem", "details", "absence", "shape"),
    ...Object.fromEntries(
      ["complete", "whole", "rows", "bad", "doubted"].map((name) => [name, `iif(t.finished_at > :at, 0, t.${name})`]),
    ),
  }),
  source_stream: "now",
  staff_link: versions("from_at", undefined, writtenWith("to_at", "ended_by")),
  tally: "now",
  unlinked: versions("at", "ended_at"),
  unread_customer: versions("since", "ended_at"),
};

/** The past state of operations that changed since: from the last audit entry, or from a later attempt in progress. */
export const operationsAsOf = `create temp table as_of_operation as
  with changed as (
    select t.id, t.created_at, h.created_at as held_at,
      (select r.id from main.run r where r.id = t.run_id and r.started_at <= :at) as begun_by,
      (select max(a.sequence) from main.audit a where a.subject = t.subject and a.sequence <= :head
        and json_extract(a.body, '$.operation') = t.id and json_extract(a.body, '$.state') is not null) as said,
      (select max(n.number) from main.attempt n where n.operation_id = t.id and n.started_at <= :at) as tried
    from main.operation t left join main.question h on h.id = t.question_id and h.created_at <= :at
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
