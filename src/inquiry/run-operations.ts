import { sql } from "kysely";
import type { RecordKey, Stream } from "../crm/model.ts";
import { stored } from "../ledger/database/damage.ts";
import { runFromRow } from "../ledger/runs/run-tables.ts";
import type { ReadFacts, RunFacts } from "../report/facts.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { readFacts } from "./runs.ts";

/** An operation of a run on one line. */
export interface RunOperation {
  id: string;
  /** Where a page that begins after it goes on. */
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

/** A run as far as it can be told however much it did. `of`: how many of its operations were counted. */
export interface RunGlance {
  run: RunFacts;
  reads: ReadFacts[];
  operations: { state: string; count: number }[];
  counted: number;
  /** It did more than was counted: these are the newest. */
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

/** A run, what it read, and how the newest of its operations stand. */
export async function runGlance(ledger: ReadOnlyLedger, id: string): Promise<RunGlance | undefined> {
  const { db } = ledger;
  const row = await db.selectFrom("run").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) return undefined;
  const reads = await db
    .selectFrom("source_read")
    .selectAll()
    .where("run_id", "=", id)
    .orderBy("number")
    .limit(mostReads)
    .execute();
  const operations = await db
    .selectFrom(newest(ledger, id, mostCounted + 1).as("newest"))
    .select(["state", sql<number>`count(*)`.as("count")])
    .groupBy("state")
    .orderBy("state")
    .execute();
  const counted = operations.reduce((sum, { count }) => sum + count, 0);
  return { run: runFromRow(row), reads: reads.map(readFacts), operations, counted, more: counted > mostCounted };
}

/** Operations of a run in the order in which it planned them. */
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

/** What failed of the newest operations of a run, the newest first. */
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

function operationFromRow(row: {
  id: string;
  place: number;
  kind: string;
  endpoint: string;
  namespace: string;
  customer: string;
  subject: string;
  state: string;
  reason: string;
  outcomeCode: string | null;
  outcomeMessage: string | null;
  hold: string | null;
  updatedAt: string;
  records: string;
}): RunOperation {
  const { namespace, customer, records, ...fields } = row;
  return {
    ...fields,
    customer: { namespace, id: customer },
    records: stored<{ stream: Stream; namespace: string; id: string }[]>(records).map(
      ({ stream, namespace: of, id }) => ({ stream, key: { namespace: of, id } }),
    ),
  };
}
