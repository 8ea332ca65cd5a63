import type { Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { RunTable } from "./tables.ts";

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
    last: () =>
      database.prepare<[number], RunTable>(`select ${runColumns} from run order by started_at desc, id desc limit ?`),
    lastByJob: () =>
      database.prepare<[], RunTable>(`select ${runColumns} from run where id in (${lastRunIds}) order by job`),
    operationCounts: () =>
      database.prepare<[string], { state: string; count: number }>(
        "select state, count(*) as count from operation where run_id = +? group by state",
      ),
    recordCounts: () =>
      database.prepare<
        [{ run: string }],
        {
          stream: Stream;
          planned: number;
          deferred: number;
          rejected: number;
          quarantined: number;
          again: number;
          changed: number;
          lost: number;
        }
      >(
        `select stream,
         sum(outcome_run = @run and outcome = 'planned') as planned,
         sum(outcome_run = @run and outcome = 'deferred') as deferred,
         sum(outcome_run = @run and outcome = 'rejected') as rejected,
         sum(changed_run = @run and state = 'quarantined' and outcome_run is not @run) as quarantined,
         sum(outcome_run = @run and changed_run is not @run) as again,
         sum(changed_run = @run) as changed,
         sum(changed_run = @run and state <> 'quarantined' and outcome_run is not @run) as lost
       from record
       where changed_run = +@run or (outcome_run = +@run and outcome_run is not null and outcome_run is not changed_run)
       group by stream`,
      ),
  });
}
