import { sql } from "kysely";
import type { JsonObject } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { QuarantineFacts, ReadFacts, RunFacts, RunStory } from "../report/facts.ts";
import type { Reading } from "./reading.ts";
import { keyOf } from "./reading.ts";
import { stored, storedOrNull } from "../ledger/database/stored.ts";
import { lastReadNumbers } from "../ledger/runs/run-statements.ts";
import type { QuarantineTable, RunTable, SourceReadTable } from "../ledger/tables.ts";

/** Which quarantine rows are asked for; everything that is given must hold. Without `all`, those that wait. */
export interface QuarantineFilter {
  all?: boolean;
  source?: string;
  stream?: Stream;
  code?: string;
  customer?: RecordKey;
  record?: { stream: Stream; key: RecordKey };
  limit?: number;
}

/** Records in quarantine, by source, stream and place. */
export function* quarantine(reading: Reading, filter: QuarantineFilter): Generator<QuarantineFacts, void, void> {
  let query = reading.db
    .selectFrom("quarantine")
    .selectAll()
    .orderBy("source")
    .orderBy("stream")
    .orderBy("first_seen")
    .orderBy("id");
  if (filter.all !== true) query = query.where("state", "<>", sql.lit("resolved"));
  if (filter.source !== undefined) query = query.where("source", "=", filter.source);
  if (filter.stream !== undefined) query = query.where("stream", "=", filter.stream);
  if (filter.code !== undefined) query = query.where("code", "=", filter.code);
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  if (filter.customer !== undefined) {
    query = query
      .where("customer_namespace", "=", filter.customer.namespace)
      .where("customer_id", "=", filter.customer.id);
  }
  if (filter.record !== undefined) {
    query = query
      .where("stream", "=", filter.record.stream)
      .where("namespace", "=", filter.record.key.namespace)
      .where("record_id", "=", filter.record.key.id);
  }
  for (const row of reading.rows(query)) yield quarantineFacts(row);
}

export async function quarantineById(reading: Reading, id: string): Promise<QuarantineFacts | undefined> {
  const row = await reading.db.selectFrom("quarantine").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : quarantineFacts(row);
}

export function quarantineFacts(row: QuarantineTable): QuarantineFacts {
  return {
    id: row.id,
    source: row.source,
    stream: row.stream,
    key: keyOf(row.namespace, row.record_id),
    customer: keyOf(row.customer_namespace, row.customer_id),
    place: row.place,
    field: row.field,
    code: row.code,
    message: row.message,
    expected: row.expected,
    firstSeen: row.first_seen,
    lastSeen: row.last_seen,
    state: row.state,
    resolvedAt: row.resolved_at,
    resolution: row.resolution,
    rawRef: row.raw_ref,
  };
}

/** Runs, newest first. */
export async function runs(
  reading: Reading,
  filter: { job?: string; limit: number; before?: { startedAt: string; id: string } },
): Promise<RunFacts[]> {
  let query = reading.db
    .selectFrom("run")
    .selectAll()
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .limit(filter.limit);
  if (filter.job !== undefined) query = query.where("job", "=", filter.job);
  const { before } = filter;
  if (before !== undefined) query = query.where(sql<boolean>`(started_at, id) < (${before.startedAt}, ${before.id})`);
  return (await query.execute()).map(runFacts);
}

export function runFacts(row: RunTable): RunFacts {
  return {
    id: row.id,
    job: row.job,
    kind: row.kind,
    trigger: row.trigger,
    scope: row.scope,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    state: row.state,
    exitCode: row.exit_code,
    balance: storedOrNull(row.balance),
    summary: storedOrNull(row.summary),
    header: stored<JsonObject>(row.header),
  };
}

export function readFacts(row: SourceReadTable): ReadFacts {
  return {
    number: row.number,
    runId: row.run_id,
    source: row.source,
    stream: row.stream,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    complete: row.complete === 1,
    whole: row.whole === 1,
    rows: row.rows,
    bad: row.bad,
    cursor: row.cursor,
    problem: row.problem,
    shrunk: row.shrunk === 1,
    absence: row.absence,
  };
}

/** One run with what it read and what became of its operations and records. */
export async function runStory(reading: Reading, id: string): Promise<RunStory | undefined> {
  const row = await reading.db.selectFrom("run").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) return undefined;
  const reads = await reading.db
    .selectFrom("source_read")
    .selectAll()
    .where("run_id", "=", id)
    .orderBy("number")
    .execute();
  const operations = await reading.db
    .selectFrom("operation")
    .select(["kind", "state", sql<number>`count(*)`.as("count")])
    .where("run_id", "=", id)
    .groupBy(["kind", "state"])
    .orderBy("kind")
    .orderBy("state")
    .execute();
  const records = await reading.db
    .selectFrom("record")
    .select(["stream", sql<string>`coalesce(outcome, 'none')`.as("outcome"), sql<number>`count(*)`.as("count")])
    .where("outcome_run", "=", id)
    .groupBy(["stream", "outcome"])
    .orderBy("stream")
    .orderBy("outcome")
    .execute();
  return { run: runFacts(row), reads: reads.map(readFacts), operations, records };
}

/** Streams that the configuration of the last run had; all, before a run has said so. */
const stillConfigured = sql<boolean>`(not exists (select 1 from source_stream)
  or (source, stream) in (select source, stream from source_stream))`;

/** The newest reading of each stream of each source that is configured. */
export async function lastReads(reading: Reading): Promise<ReadFacts[]> {
  const rows = await reading.db
    .selectFrom("source_read")
    .selectAll()
    .where(sql<boolean>`number in (${sql.raw(lastReadNumbers())})`)
    .where(stillConfigured)
    .orderBy("source")
    .orderBy("stream")
    .execute();
  return rows.map(readFacts);
}
