import { sql } from "kysely";
import { exitCodes } from "../base/errors.ts";
import { openRecords } from "../ledger/records/open-records.ts";
import type { OperationState, OperationTable } from "../ledger/journal/tables.ts";
import { removedThings, type RemovedThing } from "../engine/model/operation.ts";
import { closedRecordCode } from "../engine/plan/owner.ts";
import { standingQuestions } from "./holds.ts";
import { openStates } from "./operations.ts";
import { paused } from "./status.ts";
import { spelled, type ReadOnlyLedger } from "./read-only-ledger.ts";
import { lastReads } from "./runs.ts";

/** Counts and times for monitoring. All texts are codes or names of closed lists. */
export interface LedgerMeasures {
  isPaused: boolean;
  open: { stream: string; standing: string; code: string; count: number; since: string }[];
  operations: { state: OperationState; count: number; oldest: string }[];
  holds: { state: "open" | "approved"; count: number; oldest: string }[];
  held: Record<RemovedThing, number>;
  /** Only requested jobs that have run. */
  ends: ReadonlyMap<string, JobEnds>;
  reads: { source: string; stream: string; complete: boolean; rows: number; finishedAt: string | null }[];
  alerts: { kind: string; count: number }[];
  failing: { kind: "channel" | "switch"; count: number }[];
  differences: { class: string; count: number; oldest: string }[];
}

export interface JobEnds {
  /** Of the last run that is not in progress; 1 also if it was interrupted. */
  exitCode: number | undefined;
  /** The last end with exit code 0, among the last thousand runs. */
  success: string | undefined;
  /** The last end with exit code 0, 3 or 4: the run did all that it could. */
  work: string | undefined;
}

const count = sql<number>`count(*)`.as("count");

/** Reads tallies and open work only, so the cost does not grow with finished work. */
export async function measures(ledger: ReadOnlyLedger, jobs: readonly string[]): Promise<LedgerMeasures> {
  const { db } = ledger;
  return {
    ends: await endsOf(ledger, jobs),
    isPaused: paused(ledger) !== undefined,
    open: openMeasures(ledger),
    operations: await db
      .selectFrom("operation")
      .select(["state", count, ({ fn }) => fn.min("created_at").as("oldest")])
      .where("state", "in", spelled(openStates))
      .groupBy("state")
      .execute(),
    holds: await db
      .selectFrom("question")
      .select(["state", count, ({ fn }) => fn.min("created_at").as("oldest")])
      .where("state", "in", spelled(standingQuestions))
      .groupBy("state")
      .orderBy("state", "desc")
      .$narrowType<{ state: "open" | "approved" }>()
      .execute(),
    held: await held(ledger),
    reads: (await lastReads(ledger)).map(({ source, stream, complete, rows, finishedAt }) => ({
      source,
      stream,
      complete,
      rows,
      finishedAt,
    })),
    alerts: await db
      .selectFrom("alert")
      .select([sql<string>`substr(key, 1, instr(key, ':') - 1)`.as("kind"), count])
      .groupBy("kind")
      .execute(),
    failing: await db
      .selectFrom("delivery")
      .select(["kind", count])
      .where("problem", "is not", null)
      .groupBy("kind")
      .execute(),
    differences: await db
      .selectFrom("difference")
      .select(["class", count, ({ fn }) => fn.min("first_seen").as("oldest")])
      .where("ended_at", "is", null)
      .groupBy("class")
      .execute(),
  };
}

function openMeasures(ledger: ReadOnlyLedger): LedgerMeasures["open"] {
  const groups = new Map<string, LedgerMeasures["open"][number]>();
  for (const { stream, standing, code, counts, count: found, since } of openRecords((statement, parameters) =>
    ledger.all(statement, parameters),
  )) {
    if (!counts) continue;
    const closed = closedRecordCode(code);
    const key = `${stream} ${standing} ${closed}`;
    const known = groups.get(key) ?? { stream, standing, code: closed, count: 0, since };
    groups.set(key, { ...known, count: known.count + found, since: known.since < since ? known.since : since });
  }
  return [...groups.values()];
}

const weighed = (thing: RemovedThing) => sql<number>`coalesce(sum(weight ->> ${sql.lit(`$.${thing}`)}), 0)`.as(thing);

async function held({ db }: ReadOnlyLedger): Promise<LedgerMeasures["held"]> {
  return await db
    .selectFrom("operation")
    .select(removedThings.map(weighed))
    .where("state", "=", sql.lit<OperationTable["state"]>("held"))
    .executeTakeFirstOrThrow();
}

const mostRuns = 1_000;

async function endsOf({ db }: ReadOnlyLedger, jobs: readonly string[]): Promise<Map<string, JobEnds>> {
  const ends = new Map<string, JobEnds>();
  for (const job of jobs) {
    const last = await db
      .selectFrom("run")
      .select("exit_code as exitCode")
      .where("job", "=", job)
      .where("state", "<>", sql.lit("running"))
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    if (last === undefined) continue;
    ends.set(job, {
      exitCode: last.exitCode ?? exitCodes.other,
      success: await lastEnd(db, job, goodExits),
      work: await lastEnd(db, job, workDoneExits),
    });
  }
  return ends;
}

const goodExits: readonly number[] = [exitCodes.ok];
const workDoneExits: readonly number[] = [exitCodes.ok, exitCodes.recordsRejected, exitCodes.held];

async function lastEnd(db: ReadOnlyLedger["db"], job: string, exits: readonly number[]): Promise<string | undefined> {
  const row = await db
    .selectFrom(
      db
        .selectFrom("run")
        .select(["id", "state", "exit_code", "finished_at", "summary"])
        .where("job", "=", job)
        .orderBy("id", "desc")
        .limit(mostRuns)
        .as("r"),
    )
    .select("r.finished_at as at")
    .where("r.state", "=", "done")
    .where("r.exit_code", "in", [...exits])
    .where(sql<boolean>`r.summary ->> '$.exitWithoutHolds' is null`)
    .orderBy("r.id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.at ?? undefined;
}
