import { recordsIn } from "./operations.ts";
import { sql } from "kysely";
import type { Stream, RecordKey } from "../crm/model.ts";
import { lastReadNumbers } from "../ledger/records/source-reads.ts";
import type { SourceReadTable } from "../ledger/records/tables.ts";
import { endedIfGone, runFromRow, type RunTable } from "../ledger/runs/run-tables.ts";
import { isRunLockHeld } from "../ledger/database/lock.ts";
import type { CutReadFacts, NotAttempted, ReadFacts, RunFacts, RunStory } from "../report/facts.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

export async function runs(
  ledger: ReadOnlyLedger,
  filter: { job?: string; limit?: number; before?: { startedAt: string; id: string } } = {},
): Promise<RunFacts[]> {
  let query = ledger.db
    .selectFrom("run")
    .selectAll()
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .limit(filter.limit ?? 20);
  if (filter.job !== undefined) query = query.where("job", "=", filter.job);
  const { before } = filter;
  if (before !== undefined) query = query.where(sql<boolean>`(started_at, id) < (${before.startedAt}, ${before.id})`);
  return runFacts(ledger, await query.execute());
}

export function runFacts({ path }: ReadOnlyLedger, rows: readonly RunTable[]): RunFacts[] {
  return endedIfGone(rows.map(runFromRow), () => isRunLockHeld(path));
}

/** Records that a read skipped, from its run's summary; null if the run has not ended or kept no count. */
export const skippedInReading = sql<number | null>`(
  select json_extract(one.value, '$.skipped') from run r, json_each(r.summary, '$.sources') one
    where r.id = source_read.run_id and json_extract(one.value, '$.source') = source_read.source
      and json_extract(one.value, '$.stream') = source_read.stream limit 1)`;

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
    doubted: row.doubted === 1,
    absence: row.absence,
    continues: row.continues,
  };
}

async function runById(ledger: ReadOnlyLedger, id: string): Promise<RunFacts | undefined> {
  const rows = await ledger.db.selectFrom("run").selectAll().where("id", "=", id).execute();
  return runFacts(ledger, rows)[0];
}

async function readsOfRun({ db }: ReadOnlyLedger, run: string, most?: number): Promise<ReadFacts[]> {
  let query = db.selectFrom("source_read").selectAll().where("run_id", "=", run).orderBy("number");
  if (most !== undefined) query = query.limit(most);
  return (await query.execute()).map(readFacts);
}

export async function runStory(ledger: ReadOnlyLedger, id: string): Promise<RunStory | undefined> {
  const run = await runById(ledger, id);
  if (run === undefined) return undefined;
  const operations = await ledger.db
    .selectFrom("operation")
    .select(["kind", "state", sql<number>`count(*)`.as("count")])
    .where("run_id", "=", id)
    .groupBy(["kind", "state"])
    .orderBy("kind")
    .orderBy("state")
    .execute();
  const records = await ledger.db
    .selectFrom("record")
    .select(["stream", sql<string>`coalesce(outcome, 'none')`.as("outcome"), sql<number>`count(*)`.as("count")])
    .where((where) =>
      where.or([
        where.and([where("changed_run", "=", id), where("outcome_run", "=", id)]),
        // An index has only records that another run has changed.
        where.and([
          where("outcome_run", "=", id),
          sql<boolean>`outcome_run is not null and outcome_run is not changed_run`,
        ]),
      ]),
    )
    .groupBy(["stream", "outcome"])
    .orderBy("stream")
    .orderBy("outcome")
    .execute();
  return { run, reads: await readsOfRun(ledger, id), operations, records };
}

export async function notAttempted(ledger: ReadOnlyLedger, run: string): Promise<NotAttempted[]> {
  return await ledger.db
    .selectFrom("operation")
    .select(["kind", sql<string>`coalesce(outcome_message, verdict, '')`.as("why"), sql<number>`count(*)`.as("count")])
    .where("run_id", "=", run)
    .where("state", "=", "dropped")
    .groupBy(["kind", "why"])
    .orderBy("count", "desc")
    .execute();
}

/** Streams in the configuration of the last run; all streams before any run recorded them. */
const stillConfigured = sql<boolean>`(not exists (select 1 from source_stream)
  or (source, stream) in (select source, stream from source_stream))`;

export async function lastReads(ledger: ReadOnlyLedger): Promise<ReadFacts[]> {
  const rows = await ledger.db
    .selectFrom("source_read")
    .selectAll()
    .where(sql<boolean>`number in (${sql.raw(lastReadNumbers())})`)
    .where(stillConfigured)
    .orderBy("source")
    .orderBy("stream")
    .execute();
  return rows.map(readFacts);
}

export async function readsOf(
  ledger: ReadOnlyLedger,
  { source, stream, limit }: { source: string; stream: Stream; limit: number },
): Promise<ReadFacts[]> {
  const rows = await ledger.db
    .selectFrom("source_read")
    .selectAll()
    .where("source", "=", source)
    .where("stream", "=", stream)
    .orderBy("number", "desc")
    .limit(limit)
    .execute();
  return rows.map(readFacts);
}

export async function cutReads(ledger: ReadOnlyLedger): Promise<CutReadFacts[]> {
  return await ledger.db
    .selectFrom("read_checkpoint")
    .select(["source", "stream", "rows", "began_at as beganAt", "reached_at as reachedAt"])
    .where(stillConfigured)
    .orderBy("source")
    .orderBy("stream")
    .execute();
}

interface RunOperation {
  id: string;
  place: number;
  kind: string;
  endpoint: string;
  customer: RecordKey;
  subject: string;
  state: string;
  reason: string;
  outcomeCode: string | null;
  outcomeMessage: string | null;
  hold: string | null;
  updatedAt: string;
  records: { stream: Stream; key: RecordKey }[];
}

interface RunGlance {
  run: RunFacts;
  reads: ReadFacts[];
  operations: { state: string; count: number }[];
  counted: number;
  more: boolean;
}

const mostReads = 200;
const mostCounted = 10_000;
const failed = ["rejected", "unknown", "parked"] as const;

const columns = [
  "id",
  "kind",
  "endpoint",
  "customer_namespace as namespace",
  "customer_id as customer",
  "subject",
  "state",
  "reason",
  "outcome_code as outcomeCode",
  "outcome_message as outcomeMessage",
  "question_id as hold",
  "updated_at as updatedAt",
  "records",
] as const;

/** A run, its reads, and states of its newest operations; bounded for runs of any size. */
export async function runGlance(ledger: ReadOnlyLedger, id: string): Promise<RunGlance | undefined> {
  const run = await runById(ledger, id);
  if (run === undefined) return undefined;
  const operations = await ledger.db
    .selectFrom(newest(ledger, id, mostCounted + 1).as("newest"))
    .select(["state", sql<number>`count(*)`.as("count")])
    .groupBy("state")
    .orderBy("state")
    .execute();
  const counted = operations.reduce((sum, { count }) => sum + count, 0);
  const reads = await readsOfRun(ledger, id, mostReads);
  return { run, reads, operations, counted, more: counted > mostCounted };
}

export async function runOperations(
  ledger: ReadOnlyLedger,
  run: string,
  { limit, after = 0 }: { limit: number; after?: number | undefined },
): Promise<RunOperation[]> {
  const rows = await ledger.db
    .selectFrom("operation")
    .select(columns)
    .select(sql<number>`rowid`.as("place"))
    .where("run_id", "=", run)
    .where(sql<boolean>`rowid > ${after}`)
    .orderBy(sql`rowid`)
    .limit(limit)
    .execute();
  return rows.map(operationFromRow);
}

export async function runFailures(ledger: ReadOnlyLedger, run: string, limit: number): Promise<RunOperation[]> {
  const rows = await ledger.db
    .selectFrom("operation")
    .select(columns)
    .select(sql<number>`rowid`.as("place"))
    .where(sql<boolean>`rowid in (select place from ${newest(ledger, run, mostCounted)}
      where state in (${sql.join(failed.map((state) => sql.lit(state)))}) limit ${limit})`)
    .orderBy(sql`rowid`, "desc")
    .execute();
  return rows.map(operationFromRow);
}

function newest({ db }: ReadOnlyLedger, run: string, limit: number) {
  return db
    .selectFrom("operation")
    .select(["state", sql<number>`rowid`.as("place")])
    .where("run_id", "=", run)
    .orderBy(sql`rowid`, "desc")
    .limit(limit);
}

function operationFromRow({
  namespace,
  customer,
  records,
  ...fields
}: Omit<RunOperation, "customer" | "records"> & Record<"namespace" | "customer" | "records", string>): RunOperation {
  return { ...fields, customer: { namespace, id: customer }, records: recordsIn(records) };
}
