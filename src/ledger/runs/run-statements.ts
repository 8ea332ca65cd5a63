import { streams } from "../../crm/model.ts";
import type { Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { stateCounts } from "../journal/state-counts.ts";
import type { StateCounts } from "../journal/state-counts.ts";
import type { RunTable } from "./tables.ts";

/** What is counted of the records that a run changed or that have their outcome from it. */
const countedRecords = {
  workedOn: "outcome_run = @run and outcome = 'planned'",
  deferred: "outcome_run = @run and outcome = 'deferred'",
  rejected: "outcome_run = @run and outcome = 'rejected'",
  quarantinedLate: "changed_run = @run and state = 'quarantined' and outcome_run is not @run",
  takenUpAgain: "outcome_run = @run and changed_run is not @run",
  changed: "changed_run = @run",
  lost: "changed_run = @run and state <> 'quarantined' and outcome_run is not @run",
} as const;

/** Counts of each stream as columns of one row: grouped rows would be sorted in memory first. */
const recordCounts = streams
  .flatMap((stream) => [
    `sum(stream = '${stream}') as ${stream}_found`,
    ...Object.entries(countedRecords).map(
      ([name, counted]) => `sum(stream = '${stream}' and (${counted})) as ${stream}_${name}`,
    ),
  ])
  .join(", ");

/** The counts of each stream of which there is a record. */
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

/** The ids of the last run of each job: a step for each job, however many runs there are. */
export const lastRunIds = `with recursive each_job (job) as (
    select min(job) from run union all select (select min(job) from run where job > each_job.job) from each_job
      where each_job.job is not null)
  select (select max(id) from run where run.job = each_job.job) from each_job where each_job.job is not null`;

/** Everything that is asked of and written into runs. */
export function runStatements(database: Sqlite) {
  return statements.onUse({
    newest: () => database.prepare<[], string | null>("select max(id) from run").pluck(),
    start: () =>
      database.prepare(
        `insert into run (id, job, kind, trigger, scope, started_at, state, header)
          values (?, ?, ?, ?, ?, ?, 'running', ?)`,
      ),
    finish: () =>
      database.prepare(
        "update run set state = ?, exit_code = ?, balance = ?, summary = ?, finished_at = ? where id = +?",
      ),
    running: () =>
      database.prepare<[], RunTable>(`select ${runColumns} from run where state = 'running' order by started_at`),
    byId: () => database.prepare<[string], RunTable>(`select ${runColumns} from run where id = +?`),
    lastOf: () =>
      database.prepare<[string, number], RunTable>(
        `select ${runColumns} from run where job = +? order by id desc limit ?`,
      ),
    lastByJob: () =>
      database.prepare<[], RunTable>(`select ${runColumns} from run where id in (${lastRunIds}) order by job`),
    operationCounts: () =>
      database.prepare<[string], StateCounts>(`select ${stateCounts} from operation where run_id = +?`),
    recordCounts: () =>
      database.prepare<[{ run: string }], Record<string, number | null>>(
        `select ${recordCounts} from (
         select stream, state, changed_run, outcome_run, outcome from record where changed_run = +@run
         union all select stream, state, changed_run, outcome_run, outcome from record
           where outcome_run = +@run and outcome_run is not null and outcome_run is not changed_run)`,
      ),
  });
}
