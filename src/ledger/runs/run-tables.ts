import { type Json, type JsonObject, parseJson, parseJsonObject } from "../../base/canonical-json.ts";
import { sortedAfter } from "../../base/ids.ts";
import { type Stream, streams } from "../../crm/model.ts";
import type { RunFacts } from "../../report/facts.ts";
import { unreadableRow } from "../database/damage.ts";
import type { Sqlite } from "../database/database.ts";
import { foundStates, stateCounts, type StateCounts } from "../journal/journal-row.ts";
import { column, prepared, sql, table } from "../database/statements.ts";

export interface RunCounts {
  records: {
    stream: Stream;
    workedOn: number;
    deferred: number;
    rejected: number;
    quarantinedLate: number;
    takenUpAgain: number;
    changed: number;
    lost: number;
  }[];
  operations: Record<string, number>;
}

export class RunTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  /** Returns the id. It always sorts after earlier ids, even if the clock was set back. */
  start(run: {
    id: string;
    job: string;
    kind: string;
    trigger: string;
    scope: string | null;
    at: string;
    header: JsonObject;
  }): string {
    const id = sortedAfter(run.id, this.#statements.newest.get() ?? undefined);
    this.#statements.start.run(id, run.job, run.kind, run.trigger, run.scope, run.at, JSON.stringify(run.header));
    return id;
  }

  finish(id: string, fields: { state: RunState; exitCode: number; balance: Json; summary: Json; at: string }): void {
    this.#statements.finish.run(
      fields.state,
      fields.exitCode,
      JSON.stringify(fields.balance),
      JSON.stringify(fields.summary),
      fields.at,
      id,
    );
  }

  /** Runs still `running` of a dead process. Only valid while the caller holds the run lock. */
  interrupted(): RunFacts[] {
    return this.#statements.running.all().map(runFromRow);
  }

  byId(id: string): RunFacts | undefined {
    const row = this.#statements.byId.get(id);
    return row === undefined ? undefined : runFromRow(row);
  }

  lastOf(job: string, limit: number): RunFacts[] {
    return this.#statements.lastOf.all(job, limit).map(runFromRow);
  }

  onlyPlansBefore(run: string): boolean {
    const last = [...this.lastByJob().values()];
    const own = last.find(({ id }) => id === run);
    const before = own === undefined ? [] : this.lastOf(own.job, 2);
    return [...last, ...before].every(({ id, kind }) => id === run || kind === "plan");
  }

  lastByJob(): Map<string, RunFacts> {
    return new Map(this.#statements.lastByJob.all().map((row) => [row.job, runFromRow(row)]));
  }

  counts(run: string): RunCounts {
    return {
      records: countsByStream(this.#statements.recordCounts.get({ run })),
      operations: foundStates(this.#statements.operationCounts.get(run)),
    };
  }
}

/** Throws a Problem (exit code 65) if a column is damaged. */
export function runFromRow(row: RunTable): RunFacts {
  const parsed = <T>(column: "balance" | "summary" | "header", parse: (text: string) => T, text: string): T => {
    try {
      return parse(text);
    } catch (error) {
      throw unreadableRow("run", row.id, column, error);
    }
  };
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
    balance: row.balance === null ? null : parsed("balance", parseJson, row.balance),
    summary: row.summary === null ? null : parsed("summary", parseJson, row.summary),
    header: parsed("header", parseJsonObject, row.header),
  };
}

/** If nobody holds the run lock, the process of a `running` run is gone. The next run stores that. */
export function endedIfGone(runs: RunFacts[], isRunOn: () => boolean): RunFacts[] {
  if (runs.every(({ state }) => state !== "running") || isRunOn()) return runs;
  return runs.map((run) => (run.state === "running" ? { ...run, state: "interrupted" } : run));
}

const countedRecords = {
  workedOn: "outcome_run = @run and outcome = 'planned'",
  deferred: "outcome_run = @run and outcome = 'deferred'",
  rejected: "outcome_run = @run and outcome = 'rejected'",
  quarantinedLate: "changed_run = @run and state = 'quarantined' and outcome_run is not @run",
  takenUpAgain: "outcome_run = @run and changed_run is not @run",
  changed: "changed_run = @run",
  lost: "changed_run = @run and state <> 'quarantined' and outcome_run is not @run",
} as const;

/** Counts as columns of one row: grouped rows would be sorted in memory first. */
const recordCounts = streams
  .flatMap((stream) => [
    `sum(stream = '${stream}') as ${stream}_found`,
    ...Object.entries(countedRecords).map(
      ([name, counted]) => `sum(stream = '${stream}' and (${counted})) as ${stream}_${name}`,
    ),
  ])
  .join(", ");

export function countsByStream(row: Record<string, number | null> | undefined) {
  const count = (stream: Stream, name: keyof typeof countedRecords | "found"): number =>
    row?.[`${stream}_${name}`] ?? 0;
  return streams
    .filter((stream) => count(stream, "found") > 0)
    .map((stream) => ({
      stream,
      workedOn: count(stream, "workedOn"),
      deferred: count(stream, "deferred"),
      rejected: count(stream, "rejected"),
      quarantinedLate: count(stream, "quarantinedLate"),
      takenUpAgain: count(stream, "takenUpAgain"),
      changed: count(stream, "changed"),
      lost: count(stream, "lost"),
    }));
}

const runColumns = "id, job, kind, trigger, scope, started_at, finished_at, state, exit_code, balance, summary, header";

/** The last run of each job, in one index step for each job. */
export const lastRunIds = `with recursive each_job (job) as (
    select min(job) from run union all select (select min(job) from run where job > each_job.job) from each_job
      where each_job.job is not null)
  select (select max(id) from run where run.job = each_job.job) from each_job where each_job.job is not null`;

const texts = {
  newest: column<[], string | null>`select max(id) from run`,
  start: sql`insert into run (id, job, kind, trigger, scope, started_at, state, header)
    values (?, ?, ?, ?, ?, ?, 'running', ?)`,
  finish: sql`update run set state = ?, exit_code = ?, balance = ?, summary = ?, finished_at = ? where id = +?`,
  running: sql<[], RunTable>`select ${runColumns} from run where state = 'running' order by started_at`,
  byId: sql<[string], RunTable>`select ${runColumns} from run where id = +?`,
  lastOf: sql<[string, number], RunTable>`select ${runColumns} from run where job = +? order by id desc limit ?`,
  lastByJob: sql<[], RunTable>`select ${runColumns} from run where id in (${lastRunIds}) order by job`,
  operationCounts: sql<[string], StateCounts>`select ${stateCounts} from operation where run_id = +?`,
  recordCounts: sql<[{ run: string }], Record<string, number | null>>`select ${recordCounts} from (
    select stream, state, changed_run, outcome_run, outcome from record where changed_run = +@run
    union all select stream, state, changed_run, outcome_run, outcome from record
      where outcome_run = +@run and outcome_run is not null and outcome_run is not changed_run)`,
};

export type RunState = "running" | "done" | "stopped" | "failed" | "interrupted";

export interface RunTable {
  id: string;
  job: string;
  kind: string;
  trigger: string;
  scope: string | null;
  started_at: string;
  finished_at: string | null;
  state: RunState;
  exit_code: number | null;
  balance: string | null;
  summary: string | null;
  header: string;
}

export const runTables = {
  run: table<RunTable>(),
};
