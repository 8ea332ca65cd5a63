import { type Stream, streams as allStreams } from "../../crm/model.ts";
import { counts, ownerOf, ownerOfQuarantine, waitsForNextRun } from "../../engine/plan/owner.ts";
import { operationParked, operationSettled, requestOpen, sourceRemoved, type OpenRecords } from "../../report/open.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import { holdStood, questionStood } from "../decisions/what-is-asked.ts";
import { removedStreams } from "./source-reads.ts";

export interface OpenScope {
  streams?: readonly Stream[] | undefined;
  sources?: readonly string[] | undefined;
  /** Also the records that this run decided on, of any stream. */
  run?: string | undefined;
}

interface OpenParameters {
  sources: string | null;
  streams: string;
  run: string | null;
}

interface OpenRow {
  standing: OpenRecords["standing"];
  stream: Stream;
  code: string;
  cause: string;
  count: number;
  since: string;
  newest: string;
  /** JSON: the three oldest, with the `hold` that a person must decide or rejected. */
  examples: string;
}

/** SQL for the states that a `record` waits for: of its customer, the question `k`, the hold `h`, the move `m`. */
interface Standing {
  customer: string;
  question: (of: string) => string;
  hold: string;
  isMoving: string;
}

const ofCustomer = `c.stream = 'customers' and c.namespace = record.customer_namespace and c.id = record.customer_id`;

const now: Standing = {
  customer: `record c where ${ofCustomer}`,
  question: (of) => `${of}.state`,
  hold: "h.state",
  isMoving: "m.ended_at is null",
};

export function standingBefore(to: string): Standing {
  return {
    customer: `record_stood c where ${ofCustomer} and c.from_at < ${to} and (c.to_at is null or c.to_at >= ${to})`,
    question: (of) => questionStood(of, to),
    hold: holdStood(to),
    isMoving: `(m.ended_at is null or m.ended_at >= ${to})`,
  };
}

/** SQL for the newest undecided or rejected hold that the `record` waits for. */
export function heldBy({ question, hold, isMoving }: Standing): string {
  const isAbout = (stream: string, namespace: string, id: string): string =>
    `k.of_undo = 0 and ${question("k")} in ('open', 'rejected') and exists (
      select 1 from hold h, json_each(h.records) named
      where h.question_id = k.id and ${hold} in ('asked', 'rejected') and named.value ->> '$.stream' = ${stream}
        and named.value ->> '$.namespace' = ${namespace} and named.value ->> '$.id' = ${id})`;
  const ofRecord = "k.customer_namespace = record.customer_namespace and k.customer_id = record.customer_id";
  return `case deferred_code
  when 'order.moving' then (
    select max(k.number) from moved_order m join question k on k.customer_namespace = m.customer_namespace
      and k.customer_id = m.customer_id
    where m.namespace = record.namespace and m.order_id = record.id and ${isMoving}
      and ${isAbout("'orders'", "record.namespace", "record.id")})
  when 'asset.ending' then (
    select max(k.number) from record_version v, json_each(v.body, '$.assets') claim
      join asset_number n on n.customer_namespace = record.customer_namespace and n.customer_id = record.customer_id
        and n.fixed_at is not null and n.ended_at is null
        and (claim.value ->> '$.assetNumber' in (n.number, n.wire_number)
          or n.namespace = record.namespace and n.instance_id = claim.value ->> '$.instanceId')
      join question k on ${ofRecord}
    where v.stream = record.stream and v.namespace = record.namespace and v.id = record.id
      and v.version = record.version and ${isAbout("'orders'", "n.namespace", "n.order_id")})
  when 'revokes.rejected' then (
    select max(k.number) from question k where ${ofRecord} and k.of_undo = 0 and ${question("k")} = 'rejected'
      and (record.stream = 'customers' or ${isAbout("record.stream", "record.namespace", "record.id")}))
  end`;
}

/** SQL for the code of the real cause, which determines the owner. `q` is the hold, if there is one. */
export function causeOf({ customer, question }: Standing): string {
  return `case deferred_code
    when 'customer.blocked' then coalesce(
      (select case c.state when 'quarantined' then 'customer.quarantined' else c.deferred_code end from ${customer}),
      'customer.unknown')
    when 'revokes.rejected' then deferred_code
    else coalesce('hold.' || ${question("q")}, deferred_code) end`;
}

/** The current reason of a `record` that waited for an operation: it needs a person, or is settled. */
const reasonByNow = `case when deferred_code = 'operation.open' then (
  select case when count(*) = 0 then '${operationSettled}' when max(o.state = 'parked') then '${operationParked}' end
  from operation o indexed by operation_open
  where o.state in ('sending', 'unknown', 'parked') and o.customer_namespace = record.customer_namespace
    and o.customer_id = record.customer_id) end`;

/**
 * Every record that is not done, once, by state and reason, including open requests. It uses partial indexes on open
 * rows and never reads finished ones. Of several quarantine rows the oldest one counts.
 */
const statement = `
  with mine(source) as (select value from json_each(@sources)),
  streams(stream) as (select value from json_each(@streams)),
  open as (
    select case when outcome = 'rejected' or deferred_code in ('operation.rejected', 'staff.refused') then 'rejected'
      else 'deferred' end
        as standing,
      stream, deferred_code as code,
      ${causeOf(now)} as cause,
      coalesce(deferred_since, changed_at) as since, coalesce(${reasonByNow}, deferred_reason, '') as reason,
      namespace || '/' || record.id as record, q.id as hold
    from record left join question q on q.number = ${heldBy(now)}
    where deferred_code is not null and record.state <> 'quarantined'
      and (outcome_run = +@run or (+stream in streams and (@sources is null or source in mine)))
    union all
    select 'deferred', 'customers', '${requestOpen}', '${requestOpen}', min(from_at),
      'requests that are not done: ' || count(*) || ' (' || group_concat(distinct of) ||
        '); the next run sends those that were not refused',
      m.customer_namespace || '/' || m.customer_id, null
    from manual_request m indexed by manual_request_due
    where m.to_at is null and m.due = 1 and 'customers' in streams and (@sources is null or exists (
      select 1 from record r where r.stream = 'customers' and r.namespace = m.customer_namespace
      and r.id = m.customer_id and r.source in mine)) and not exists (
      select 1 from record r where r.stream = 'customers' and r.namespace = m.customer_namespace
      and r.id = m.customer_id and r.deferred_code is not null)
    group by m.customer_namespace, m.customer_id
    union all
    select 'quarantined', stream, code, code, min(first_seen), message, namespace || '/' || record_id, null
    from quarantine
    where state <> 'resolved' and record_id is not null and +stream in streams
      and (@sources is null or source in mine or exists (
      select 1 from record r where r.stream = quarantine.stream and r.namespace = quarantine.namespace
        and r.id = quarantine.record_id
      and r.source in mine))
    group by stream, namespace, record_id
    union all
    select 'quarantined', stream, code, code, first_seen, message, place, null
    from quarantine
    where state <> 'resolved' and record_id is null and +stream in streams and (@sources is null or source in mine)
  ),
  numbered as (
    select *, row_number() over (partition by standing, stream, code, cause order by since, record) as number from open
  )
  select standing, stream, code, cause, count(*) as count, min(since) as since, max(since) as newest,
    json_group_array(json_object('record', record, 'reason', reason, 'since', since, 'hold', hold))
      filter (where number <= 3) as examples
  from numbered group by standing, stream, code, cause order by count desc, standing, stream, code, cause`;

/** Records of removed sources; the cause is the source. In every scope if no job reads their stream. */
const removedStatement = `
  with recursive ${removedStreams},
  theirs as (
    select source, stream, since, (${ofRemoved("count(*)")}) as count
    from removed
    where removed.stream in (select value from json_each(@streams))
      or not exists (select 1 from source_stream c where c.stream = removed.stream and c.job is not null)
  )
  select 'deferred' as standing, stream, '${sourceRemoved}' as code, source as cause, count, since, since as newest,
    (select json_group_array(json_object('record', record, 'since', since, 'reason',
        'its source ' || source || ' is configured no longer: nobody reads it, and nobody would miss it'))
      from (${ofRemoved("namespace || '/' || id as record", "theirs")} limit 3)) as examples
  from theirs where count > 0 order by count desc, source, stream`;

function ofRemoved(what: string, of = "removed"): string {
  return `select ${what} from record indexed by record_by_hash where ${isOfRemoved(of)}`;
}

/** SQL: whether the `record` waits for nothing else. */
export function isOfRemoved(of: string): string {
  return `record.source = ${of}.source and record.stream = ${of}.stream
      and record.state not in ('absent', 'quarantined') and deferred_code is null`;
}

/** `newest`: since when the last of them waits. */
export type OpenNewest = OpenRecords & { newest: string };

/** All records that are not done. `all` runs a statement with named parameters on a connection to the ledger. */
export function openRecords(
  all: (statement: string, parameters: OpenParameters) => readonly unknown[],
  scope: OpenScope = {},
): OpenRecords[] {
  return openNewest(all, scope).map(({ newest: _newest, ...group }) => group);
}

function openNewest(
  all: (statement: string, parameters: OpenParameters) => readonly unknown[],
  scope: OpenScope,
): OpenNewest[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statements above say what a row is
  const rows = [statement, removedStatement].flatMap((text) =>
    all(text, {
      sources: scope.sources === undefined ? null : JSON.stringify(scope.sources),
      streams: JSON.stringify(scope.streams ?? allStreams),
      run: scope.run ?? null,
    }),
  ) as readonly OpenRow[];
  return rows.map(({ examples, ...row }) => {
    const inQuarantine = row.standing === "quarantined";
    return {
      ...row,
      owner: inQuarantine ? ownerOfQuarantine(row.code) : ownerOf(row.code === sourceRemoved ? row.code : row.cause),
      counts: inQuarantine || counts(row.code),
      nextRun: !inQuarantine && waitsForNextRun(row.code),
      examples: examplesOf(examples),
    };
  });
}

function examplesOf(text: string): OpenRecords["examples"] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement above makes them
  const examples = JSON.parse(text) as (Omit<OpenRecords["examples"][number], "hold"> & { hold?: string | null })[];
  return examples.map(({ hold = null, ...example }) => (hold === null ? example : { ...example, hold }));
}

export class OpenTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, {
      open: sql<[OpenParameters], OpenRow>`${statement}`,
      removed: sql<[OpenParameters], OpenRow>`${removedStatement}`,
    });
  }

  readonly #all = (text: string, parameters: OpenParameters): readonly unknown[] =>
    this.#statements[text === statement ? "open" : "removed"].all(parameters);

  records(scope: OpenScope): OpenRecords[] {
    return openRecords(this.#all, scope);
  }

  newest(): OpenNewest[] {
    return openNewest(this.#all, {});
  }
}
