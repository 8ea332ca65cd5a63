import { sql } from "kysely";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { OperationTable } from "../ledger/journal/tables.ts";
import type { QuarantineTable } from "../ledger/records/tables.ts";
import { causeOf, heldBy, isOfRemoved, standingBefore } from "../ledger/records/open-records.ts";
import { removedStreams } from "../ledger/records/source-reads.ts";
import { sourceRemoved } from "../report/open.ts";
import { parseKey } from "../crm/keys.ts";
import { whatIsAsked } from "../ledger/decisions/what-is-asked.ts";
import { namesWhere } from "../engine/model/registry.ts";
import { countedStored } from "../engine/model/operation.ts";
import type { FoundException } from "../report/statement/exception-row.ts";
import { holdFacts } from "./holds.ts";
import { openStates, operationFacts } from "./operations.ts";
import { quarantineFacts } from "./quarantine.ts";
import { spelled, type ReadOnlyLedger } from "./read-only-ledger.ts";
import { readFacts } from "./runs.ts";
import { runFromRow } from "../ledger/runs/run-tables.ts";
import { stored } from "../ledger/database/damage.ts";
import type { StatusFacts } from "../report/status.ts";

type Time = Readonly<Record<"from" | "to", string>>;

/**
 * Everything that was open in a time, in its state at the end, and everything that ended badly in the time.
 * `from` is included, `to` is not. By kind, then by time.
 */
export async function* exceptions(ledger: ReadOnlyLedger, time: Time): AsyncGenerator<FoundException, void, void> {
  yield* quarantined(ledger, time);
  yield* deferred(ledger, time);
  yield* ofRemovedSources(ledger, time);
  const told = async (found: OperationTable) => {
    const row = await operationFacts(ledger, found);
    return { row, count: countedStored(row.kind, row.payload) ?? null };
  };
  for (const { ended_at: at, how, ...found } of ledger.rows(refusedOperations(time))) {
    yield { facts: { kind: "rejected", ...(await told(found)) }, ended: at === null ? null : { at, how } };
  }
  for (const { stood, ...found } of ledger.rows(operationsInDoubt(time))) {
    const { row, count } = await told(found);
    const ended = openStates.includes(row.state) ? null : { at: row.updatedAt, how: `it is ${row.state} since` };
    yield { facts: { kind: "unknown", row, count, stood }, ended };
  }
  for (const kind of ["settled", "numbers-lost"] as const) {
    for (const found of ledger.rows(operationsOf(ledger, kind, time))) {
      const { row, count } = await told(found);
      yield { facts: { kind, row, count }, ended: { at: row.updatedAt, how: null } };
    }
  }
  yield* byHand(ledger, time);
  yield* held(ledger, time);
  yield* sources(ledger, time);
  yield* runs(ledger, time);
}

/** Bad rows as they were known at the end of the time, or last in it. */
function* quarantined(ledger: ReadOnlyLedger, time: Time): Generator<FoundException, void, void> {
  const query = sql<QuarantineTable>`
    select q.id, q.source, q.stream, q.namespace, q.record_id, q.raw_ref, q.raw_hash, q.first_seen, q.last_seen,
      q.last_read, q.resolved_at, q.resolution, q.state, s.place, s.field, s.code, s.message, s.expected,
      s.customer_namespace, s.customer_id
    from quarantine q join quarantine_stood s on s.id = q.id and s.from_at = (select max(w.from_at)
      from quarantine_stood w where w.id = q.id and w.from_at < ${time.to})
    where q.resolved_at is null or q.resolved_at >= ${time.from}
    order by q.first_seen, q.source, q.stream, s.place, s.from_at, q.id`;
  for (const row of ledger.rows(query)) {
    const { resolved_at: at, resolution: how } = row;
    yield { facts: { kind: "quarantined", row: quarantineFacts(row) }, ended: at === null ? null : { at, how } };
  }
}

interface DeferredRow extends RecordKey {
  stream: Stream;
  customer_namespace: string;
  customer_id: string;
  deferred_code: string;
  deferred_reason: string | null;
  since: string;
  ended_at: string | null;
  cause: string;
  hold: string | null;
}

/** Waiting records with their last reason for each code. One ended when the same wait no longer existed. */
function* deferred(ledger: ReadOnlyLedger, time: Time): Generator<FoundException, void, void> {
  const isSame = sql`w.stream = s.stream and w.namespace = s.namespace and w.id = s.id
    and w.deferred_code = s.deferred_code and w.deferred_since is s.deferred_since`;
  // If the record moved to another customer later, its form of that time names the customer.
  const isOwnNow = sql`(v.version is null or v.version = r.version or s.stream = 'customers')`;
  const then = standingBefore("(select at from moment)");
  const query = sql<DeferredRow>`
    with moment(at) as (select ${time.to})
    select record.*, ${sql.raw(causeOf(then))} as cause, q.id as hold from (
      select s.stream, s.namespace, s.id, coalesce(v.version, r.version) as version,
        iif(${isOwnNow}, r.customer_namespace, coalesce(v.body ->> '$.customerNamespace', v.namespace))
          as customer_namespace,
        iif(${isOwnNow}, r.customer_id, v.body ->> '$.customerId') as customer_id, s.deferred_code, s.deferred_reason,
        coalesce(s.deferred_since, s.from_at) as since,
        iif(exists (select 1 from record_stood w where ${isSame} and w.to_at is null), null,
          (select max(w.to_at) from record_stood w where ${isSame})) as ended_at
      from record_stood s join record r on r.stream = s.stream and r.namespace = s.namespace and r.id = s.id
      left join record_version v on v.stream = s.stream and v.namespace = s.namespace and v.id = s.id
        and v.version = (select max(f.version) from record_version f where f.stream = s.stream
          and f.namespace = s.namespace and f.id = s.id and f.from_at < ${time.to}
          and (s.to_at is null or s.to_at >= ${time.to} or f.from_at <= s.from_at))
      where s.deferred_code is not null and s.from_at < ${time.to} and (s.to_at is null or s.to_at > s.from_at)
        and not exists (select 1 from record_stood w where ${isSame} and w.from_at > s.from_at
          and w.from_at < ${time.to} and (w.to_at is null or w.to_at > w.from_at))) record
    left join question q on q.number = ${sql.raw(heldBy(then))}
    where ended_at is null or ended_at >= ${time.from}
    order by stream, namespace, id, since, deferred_code`;
  for (const row of ledger.rows(query)) {
    const facts = {
      kind: "deferred" as const,
      stream: row.stream,
      key: { namespace: row.namespace, id: row.id },
      customer: { namespace: row.customer_namespace, id: row.customer_id },
      code: row.deferred_code,
      reason: row.deferred_reason ?? "",
      since: row.since,
      cause: row.cause,
      holds: row.hold === null ? [] : [row.hold],
    };
    yield { facts, ended: row.ended_at === null ? null : { at: row.ended_at, how: "it waits for that no more" } };
  }
}

/** Records of sources that are no longer configured, as the last configuration has it. */
function* ofRemovedSources(ledger: ReadOnlyLedger, { to }: Time): Generator<FoundException, void, void> {
  const query = sql<RecordKey & { stream: Stream; customer: string; code: string; source: string; since: string }>`
    with recursive ${sql.raw(removedStreams)}
    select record.stream, record.namespace, record.id, ${sourceRemoved} as code, removed.source, removed.since,
      record.customer_namespace || '/' || record.customer_id as customer
    from removed cross join record indexed by record_by_hash on ${sql.raw(isOfRemoved("removed"))}
    where removed.since < ${to}
    order by record.stream, record.namespace, record.id`;
  for (const { stream, namespace, id, customer, code, source, since } of ledger.rows(query)) {
    const whose = { stream, key: { namespace, id }, customer: parseKey(customer) };
    const why = { reason: "", since, cause: source, holds: [] };
    yield { facts: { kind: "deferred", code, ...whose, ...why }, ended: null };
  }
}

/**
 * Rejected operations that were neither repeated in another form nor done by the end. Without a kept rejection, they
 * count only in the time of the refusal.
 */
function refusedOperations(time: Time) {
  const never = sql`'~'`;
  const again = sql`n.subject = o.subject and n.kind = o.kind and n.id <> o.id and n.created_at >= o.updated_at
    and n.state in ('done', 'rejected', 'sending', 'unknown', 'parked')`;
  return sql<OperationTable & { ended_at: string | null; how: string | null }>`
    select * from (
      select o.*, nullif(coalesce(
          (select max(min(coalesce(s.to_at, ${never}),
              coalesce((select min(v.from_at) from record_version v where v.stream = s.stream
                and v.namespace = s.namespace and v.id = s.record_id and v.version > s.version), ${never}),
              iif(r.state = 'absent' and r.changed_at > s.from_at, r.changed_at, ${never})))
            from rejection_stood s left join record r on r.stream = s.stream and r.namespace = s.namespace
              and r.id = s.record_id where s.operation_id = o.id),
          (select min(iif(n.state = 'done', n.updated_at, n.created_at)) from operation n where ${again}),
          ${never}), ${never}) as ended_at,
        coalesce((select 'done since by ' || n.id from operation n where ${again} and n.state = 'done'
            order by n.created_at limit 1),
          (select 'tried again by ' || n.id from operation n where ${again} order by n.created_at limit 1),
          'it is no longer wanted in the form that was refused') as how,
        exists (select 1 from rejection_stood s where s.operation_id = o.id) as is_kept
      from operation o where o.state = 'rejected' and o.updated_at < ${time.to})
    where (ended_at is null and is_kept = 1) or ended_at >= ${time.from} or updated_at >= ${time.from}
    order by created_at, id`;
}

/** Operations with an open outcome at the end of the time. `stood`: their state then. */
function operationsInDoubt({ to }: Time) {
  const open = sql.join(spelled(openStates));
  return sql<OperationTable & { stood: OperationTable["state"] }>`
    select * from (
      select o.*, iif(o.updated_at < ${to}, o.state, coalesce(
          (select 'sending' from attempt a where a.operation_id = o.id and a.started_at < ${to}
            and (a.finished_at is null or a.finished_at >= ${to})),
          (select s.state from operation_stood s where s.operation_id = o.id and s.from_at < ${to}
            and s.to_at >= ${to}),
          (select json_extract(e.body, '$.state') from audit e where e.subject = o.subject and e.at < ${to}
            and json_extract(e.body, '$.operation') = o.id and json_extract(e.body, '$.state') is not null
            order by e.sequence desc limit 1), 'planned')) as stood
      from operation o where o.created_at < ${to} and (o.state in (${open}) or o.updated_at >= ${to}
        and exists (select 1 from attempt a where a.operation_id = o.id and a.started_at < ${to}
          and (a.outcome = 'unknown' or a.finished_at is null or a.finished_at >= ${to}))))
    where stood in (${open})
    order by created_at, id`;
}

/** `settled`: ended after an unknown outcome; `numbers-lost`: the pool lost the numbers of the call. */
function operationsOf(ledger: ReadOnlyLedger, kind: "settled" | "numbers-lost", time: Time) {
  const isLost = kind === "numbers-lost";
  const lost = namesWhere(({ onUnknown }) => onUnknown.by === "lost");
  const proof = isLost
    ? sql<boolean>`exists (select 1 from audit a where a.subject = 'pool' and a.kind = 'numbers-lost'
        and json_extract(a.body, '$.operation') = operation.id)`
    : sql<boolean>`exists (select 1 from attempt a where a.operation_id = operation.id and a.outcome = 'unknown')`;
  return ledger.db
    .selectFrom("operation")
    .selectAll()
    .where("updated_at", ">=", time.from)
    .where("updated_at", "<", time.to)
    .where("state", "in", isLost ? ["dropped"] : ["done", "dropped"])
    .where("kind", isLost ? "in" : "not in", lost)
    .where(proof)
    .orderBy("created_at")
    .orderBy("id")
    .$castTo<OperationTable>();
}

function* held(ledger: ReadOnlyLedger, time: Time): Generator<FoundException, void, void> {
  const query = ledger.db
    .selectFrom("question")
    .selectAll()
    .select(sql<number>`0`.as("operations"))
    .where("created_at", "<", time.to)
    .where((where) => where.or([where("decided_at", "is", null), where("decided_at", ">=", time.from)]))
    .orderBy("number");
  for (const found of ledger.rows(query)) {
    const row = holdFacts(ledger, found);
    const ended = row.decidedAt === null ? null : { at: row.decidedAt, how: null };
    const stood = whatIsAsked((statement, parameters) => ledger.all(statement, parameters), row.id, time.to);
    yield { facts: { kind: "held", row, stood }, ended };
  }
}

/** Reads that did not end completely. They are over and wait for nothing. */
function* sources(ledger: ReadOnlyLedger, time: Time): Generator<FoundException, void, void> {
  const query = ledger.db
    .selectFrom("source_read")
    .selectAll()
    .where("started_at", ">=", time.from)
    .where("started_at", "<", time.to)
    .where("finished_at", "is not", null)
    .where((where) => where.or([where("complete", "=", 0), where("problem", "is not", null)]))
    .orderBy("number");
  for (const found of ledger.rows(query)) {
    const row = readFacts(found);
    yield { facts: { kind: "source-incomplete", row }, ended: { at: row.finishedAt ?? row.startedAt, how: null } };
  }
}

/** Runs that ended badly. They are over; an interrupted run may have no end time. */
function* runs(ledger: ReadOnlyLedger, time: Time): Generator<FoundException, void, void> {
  const query = ledger.db
    .selectFrom("run")
    .selectAll()
    .where("started_at", ">=", time.from)
    .where("started_at", "<", time.to)
    .where((where) => where.or([where("state", "in", ["failed", "interrupted"]), where("exit_code", "=", 6)]))
    .orderBy("started_at")
    .orderBy("id");
  for (const found of ledger.rows(query)) {
    const row = runFromRow(found);
    yield { facts: { kind: "run", row }, ended: { at: row.finishedAt ?? row.startedAt, how: null } };
  }
}

export function notedByHand({ db }: Pick<ReadOnlyLedger, "db">) {
  return db
    .selectFrom("by_hand")
    .innerJoin("record", (join) =>
      join
        .onRef("record.stream", "=", "by_hand.stream")
        .onRef("record.namespace", "=", "by_hand.namespace")
        .onRef("record.id", "=", "by_hand.id")
        .onRef("record.body_hash", "=", "by_hand.body_hash"),
    )
    .where("by_hand.ended_at", "is", null);
}

function notReadBack(ledger: Pick<ReadOnlyLedger, "db">) {
  return notedByHand(ledger).where("by_hand.unseen", "<>", "[]");
}

interface ByHandRow {
  stream: Stream;
  namespace: string;
  id: string;
  at: string;
  by: string;
  reason: string;
  unseen: string;
  customer_namespace: string;
  customer_id: string;
  ended_at: string | null;
}

function* byHand(
  ledger: ReadOnlyLedger,
  { from, to }: { from: string; to: string },
): Generator<FoundException, void, void> {
  const query = sql<ByHandRow>`
    select * from (
      select b.stream, b.namespace, b.id, b.at, b."by", b.reason, b.unseen, r.customer_namespace, r.customer_id,
        coalesce(b.ended_at, iif(r.body_hash = b.body_hash, null, (select min(v.from_at) from record_version v
          where v.stream = b.stream and v.namespace = b.namespace and v.id = b.id and v.from_at > b.at))) as ended_at
      from by_hand b join record r on r.stream = b.stream and r.namespace = b.namespace and r.id = b.id
      where b.unseen <> '[]' and b.at < ${to})
    where ended_at is null or ended_at >= ${from}
    order by stream, namespace, id, at`;
  for (const row of ledger.rows(query)) {
    const { stream, namespace, id, at, by, reason, unseen, ended_at: end } = row;
    const customer = { namespace: row.customer_namespace, id: row.customer_id };
    const told = { at, by, reason, unseen: stored<string[]>(unseen) };
    const facts = { kind: "by-hand" as const, stream, key: { namespace, id }, customer, row: told };
    yield { facts, ended: end === null ? null : { at: end, how: "it stands by that no more" } };
  }
}

export async function byHandCounts(ledger: ReadOnlyLedger): Promise<StatusFacts["byHand"]> {
  return await notReadBack(ledger)
    .select(["by_hand.stream", ({ fn }) => fn.countAll<number>().as("count")])
    .select(({ fn }) => fn.min("by_hand.at").as("oldest"))
    .groupBy("by_hand.stream")
    .orderBy("by_hand.stream")
    .execute();
}
