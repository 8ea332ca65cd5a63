import {
  column,
  type Column,
  type PartRow,
  type StatementShape,
  type StatementRequest,
} from "../../report/statement/shape.ts";
import { sql } from "kysely";
import { stored } from "../../ledger/database/damage.ts";
import { balanceFigures, type BalanceFigures } from "../../report/runs.ts";
import { readingProblem } from "../../report/statement/exception-row.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { skippedInReading } from "../runs.ts";

const run: Column = column("text", "run", "Run", "The run.");
const begun: Column = column("instant", "at", "Begun", "When the run began.");

const counted = (name: string, title: string, about: string): Column =>
  column("integer", name, title, about, { total: true });

export const runStatement: StatementShape = {
  kind: "run",
  version: 4,
  title: "Runs",
  about:
    "What each run of the period was handed and what became of it, in records and in operations: each side is " +
    "added up " +
    "here, and `balances` says whether both are the same.",
  parts: [
    {
      name: "run",
      title: "Runs",
      about: "One row for each run that began in the period: planned + carried in = what became of it.",
      groupBy: "state",
      columns: [
        run,
        begun,
        column("instant", "ended", "Ended", "When it ended; empty while it is on."),
        column("integer", "duration_ms", "Duration", "How long it took, in milliseconds."),
        column("text", "job", "Job", "The job that was run."),
        column("text", "kind", "Kind", "What the job does."),
        column("text", "trigger", "Trigger", "`schedule` or `hand`."),
        column("text", "scope", "Scope", "The limits of the run, if it had any."),
        column("text", "state", "State", "`running`, `done`, `stopped`, `failed` or `interrupted`."),
        column("integer", "exit_code", "Exit code", "How it ended, as the command line says it."),
        counted("planned", "Planned", "Operations that it planned."),
        counted("carried_in", "Carried in", "Operations of earlier runs that were still open."),
        counted("done", "Done", "Operations that were carried out."),
        counted("rejected", "Rejected", "Operations that a service refused."),
        counted("unknown", "Unknown", "Operations whose outcome was open when it ended."),
        counted("held", "Held", "Operations that waited for a person."),
        counted("not_attempted", "Not attempted", "Operations that were given up before they were sent."),
        column(
          "boolean",
          "balances",
          "Balances",
          "Whether operations and every stream add up; empty for a run that has no balance.",
        ),
        column("list", "sources", "Sources", "The sources that it read."),
        column("integer", "audit_sequence", "Audit entry", "The audit entry of its end."),
      ],
    },
    {
      name: "stream",
      title: "Streams",
      about:
        "One row for each stream of a run, in records: extracted + carried in = unchanged + worked on + quarantined + " +
        "deferred + rejected + skipped. Where a customer is worked on, all its records are.",
      groupBy: "stream",
      columns: [
        run,
        begun,
        column("text", "stream", "Stream", "The kind of record."),
        counted("extracted", "Extracted", "Records that were read."),
        counted("carried_in", "Carried in", "Records that did not change and whose customer was worked on."),
        counted("unchanged", "Unchanged", "Records that were as before."),
        counted(
          "worked_on",
          "Worked on",
          "Records whose customer was worked on, also where nothing was planned for them.",
        ),
        counted("quarantined", "Quarantined", "Records that could not be used."),
        counted("deferred", "Deferred", "Good records that wait for something else."),
        counted("rejected", "Rejected", "Records that a service refused."),
        counted("skipped", "Skipped", "Records that the run left out."),
        column("boolean", "balances", "Balances", "Whether both sides are the same."),
      ],
    },
    {
      name: "read",
      title: "Readings of sources",
      about: "One row for each reading of a stream of a source.",
      groupBy: "source",
      columns: [
        run,
        column("integer", "read", "Reading", "The number of the reading."),
        column("instant", "at", "Begun", "When the reading began."),
        column("instant", "ended", "Ended", "When it ended; empty where it did not."),
        column("text", "source", "Source", "The source."),
        column("text", "stream", "Stream", "The kind of record."),
        column("boolean", "complete", "Complete", "Whether it came to its end."),
        column("boolean", "whole", "Whole", "Whether everything was read, not changes alone."),
        counted("rows", "Rows", "Rows that were read."),
        counted("bad", "Bad rows", "Rows that could not be used."),
        counted("skipped", "Skipped", "Records that the stream left out; empty until its run has ended."),
        column(
          "text",
          "problem",
          "Problem",
          "`unfinished`, `broken-off`, `lost-too-much` (complete, and not believed), `incomplete`, or `noted` " +
            "(complete, with something to say); `crm-sync run show RUN` says it in words.",
        ),
      ],
    },
  ],
};

type StreamFigures = BalanceFigures["streams"][number];
type OperationFigures = BalanceFigures["operations"];

export interface RunBalance {
  run: string;
  at: string;
  ended: string | null;
  job: string;
  kind: string;
  trigger: string;
  scope: string | null;
  state: string;
  exitCode: number | null;
  streams: readonly StreamFigures[];
  operations: OperationFigures | null;
  sources: readonly string[];
  auditSequence: number | null;
}

export function streamBalances(sums: StreamFigures): boolean {
  const { extracted, takenUpAgain, unchanged, workedOn, quarantined, deferred, rejected, skipped, adds } = sums;
  return adds && extracted + takenUpAgain === unchanged + workedOn + quarantined + deferred + rejected + skipped;
}

function operationsBalance(sums: OperationFigures): boolean {
  const { planned, carriedIn, done, rejected, unknown, held, notAttempted, adds } = sums;
  return adds && planned + carriedIn === done + rejected + unknown + held + notAttempted;
}

export function runRow({ exitCode, auditSequence, operations, streams, ...of }: RunBalance): PartRow {
  const { planned, carriedIn, done, rejected, unknown, held, notAttempted } = operations ?? noOperations;
  return {
    part: "run",
    row: {
      ...of,
      duration_ms: of.ended === null ? null : Date.parse(of.ended) - Date.parse(of.at),
      exit_code: exitCode,
      planned,
      carried_in: carriedIn,
      done,
      rejected,
      unknown,
      held,
      not_attempted: notAttempted,
      balances: operations === null ? null : operationsBalance(operations) && streams.every(streamBalances),
      audit_sequence: auditSequence,
    },
  };
}

const noOperations: Record<keyof Omit<OperationFigures, "adds">, number | null> = {
  planned: null,
  carriedIn: null,
  done: null,
  rejected: null,
  unknown: null,
  held: null,
  notAttempted: null,
};

export function streamRow({ run: id, at }: Pick<RunBalance, "run" | "at">, sums: StreamFigures): PartRow {
  const { takenUpAgain, workedOn, adds: _, ...counts } = sums;
  return {
    part: "stream",
    row: { run: id, at, ...counts, carried_in: takenUpAgain, worked_on: workedOn, balances: streamBalances(sums) },
  };
}

export function* runRows(ledger: ReadOnlyLedger, request: StatementRequest): Generator<PartRow, void, void> {
  for (const balance of balances(ledger, request)) yield runRow(balance);
  for (const balance of balances(ledger, request)) for (const sums of balance.streams) yield streamRow(balance, sums);
  yield* reads(ledger, request);
}

type Row = Omit<RunBalance, "streams" | "operations" | "sources"> & { balance: string | null; sources: string };

function* balances(ledger: ReadOnlyLedger, { period, filters }: StatementRequest): Generator<RunBalance, void, void> {
  const source = filters.source ?? null;
  const query = sql<Row>`
    with sources as materialized (select run_id, json_group_array(source order by source) as sources
      from (select distinct run_id, source from source_read where started_at >= ${period.from}) group by run_id)
    select r.id as run, r.started_at as at, r.finished_at as ended, r.job, r.kind, r."trigger", r.scope, r.state,
      r.exit_code as exitCode, r.balance, (select max(a.sequence) from audit a where a.subject = 'run:' || r.id
        and a.kind = 'run') as auditSequence,
      coalesce(s.sources, '[]') as sources
    from run r left join sources s on s.run_id = r.id
    where r.started_at >= ${period.from} and r.started_at < ${period.to}
      and (${source} is null or exists (select 1 from json_each(s.sources) one where one.value = ${source}))
    order by r.started_at, r.id`;
  for (const { balance, sources, ...run } of ledger.rows(query)) {
    const kept = balance === null ? undefined : balanceFigures(stored(balance));
    yield {
      ...run,
      sources: stored<string[]>(sources),
      streams: kept?.streams ?? [],
      operations: kept?.operations ?? null,
    };
  }
}

/** Includes reads without a run: rows mapped again manually. */
function* reads(ledger: ReadOnlyLedger, { period, filters }: StatementRequest): Generator<PartRow, void, void> {
  let query = ledger.db
    .selectFrom("source_read")
    .selectAll()
    .select(skippedInReading.as("skipped"))
    .where("started_at", ">=", period.from)
    .where("started_at", "<", period.to)
    .orderBy("number");
  if (filters.source !== undefined) query = query.where("source", "=", filters.source);
  for (const row of ledger.rows(query))
    yield {
      part: "read",
      row: {
        run: row.run_id,
        read: row.number,
        at: row.started_at,
        ended: row.finished_at,
        source: row.source,
        stream: row.stream,
        complete: row.complete === 1,
        whole: row.whole === 1,
        rows: row.rows,
        bad: row.bad,
        skipped: row.skipped,
        problem: readingProblem({
          finishedAt: row.finished_at,
          complete: row.complete === 1,
          doubted: row.doubted === 1,
          problem: row.problem,
        }),
      },
    };
}
