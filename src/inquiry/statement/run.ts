import { sql } from "kysely";
import { stored } from "../../ledger/database/damage.ts";
import { balanceFigures } from "../../report/runs.ts";
import { readingProblem, runRow, streamRow } from "../../report/statement/run.ts";
import type { RunBalance } from "../../report/statement/run.ts";
import type { PartRow, StatementRequest } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { skippedInReading } from "../runs.ts";

/** The runs that began in a period: each with its balance, then their streams, then what they read. */
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
  for (const { balance, sources, ...run } of ledger.rows({ compile: () => query.compile(ledger.db) })) {
    const kept = balance === null ? undefined : balanceFigures(stored(balance));
    yield {
      ...run,
      sources: stored<string[]>(sources),
      streams: kept?.streams ?? [],
      operations: kept?.operations ?? null,
    };
  }
}

/** Of the runs, and by nobody's run: what was mapped again by hand reads as well. */
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
