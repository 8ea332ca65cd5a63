import type { Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { LedgerTables, Row } from "../tables.ts";
import type { RunTable } from "./tables.ts";
import type { SourceReadTable } from "../records/tables.ts";

export type SourceReadRow = Omit<SourceReadTable, "run_id" | "absence">;

const readColumns =
  "number, source, stream, started_at, finished_at, complete, whole, rows, bad, cursor, problem, details, shrunk";
const runColumns = "id, job, kind, trigger, scope, started_at, finished_at, state, exit_code, balance, summary, header";

/** The ids of the last run of each job: a step for each job, however many runs there are. */
export const lastRunIds = `with recursive each_job (job) as (
    select min(job) from run union all select (select min(job) from run where job > each_job.job) from each_job where each_job.job is not null)
  select (select max(id) from run where run.job = each_job.job) from each_job where each_job.job is not null`;

/**
 * The numbers of the last reading of each stream of each source, of those for which `condition` holds: a step for each
 * stream.
 */
export function lastReadNumbers(condition = ""): string {
  return `with recursive each_source (source) as (
      select min(source) from source_read
      union all select (select min(source) from source_read where source > each_source.source) from each_source where each_source.source is not null),
    each_stream (source, stream) as (
      select source, (select min(stream) from source_read s where s.source = each_source.source) from each_source where source is not null
      union all select source, (select min(stream) from source_read s where s.source = each_stream.source and s.stream > each_stream.stream)
        from each_stream where each_stream.stream is not null)
    select (select r.number from source_read r where r.source = each_stream.source and r.stream = each_stream.stream ${condition}
      order by r.number desc limit 1) from each_stream where stream is not null`;
}

/** Everything that is asked of and written into runs and reads of sources. */
export function runStatements(database: Sqlite) {
  return statements.onUse({
    newest: () => database.prepare<[], string | null>("select max(id) from run").pluck(),
    start: () =>
      database.prepare(
        "insert into run (id, job, kind, trigger, scope, started_at, state, header) values (?, ?, ?, ?, ?, ?, 'running', ?)",
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
    startRead: () =>
      database.prepare("insert into source_read (run_id, source, stream, started_at) values (?, ?, ?, ?)"),
    finishRead: () =>
      database.prepare(
        `update source_read set finished_at = ?, complete = ?, whole = ?, rows = ?, bad = ?, cursor = ?, problem = ?, details = ?, shrunk = ?
       where number = +?`,
      ),
    lastComplete: () =>
      database.prepare<[string, string], SourceReadRow>(
        `select ${readColumns} from source_read
       where source = +? and stream = +? and complete = 1 order by number desc limit 1`,
      ),
    lastWhole: () =>
      database.prepare<[string, string], SourceReadRow>(
        `select ${readColumns} from source_read where source = +? and stream = +? and complete = 1 and whole = 1
         and not exists (select 1 from run where run.id = source_read.run_id and run.kind = 'plan') order by number desc limit 1`,
      ),
    newestWhole: () =>
      database.prepare<[string, string], SourceReadRow>(
        `select ${readColumns} from source_read where source = +? and stream = +? and complete = 1 and whole = 1
       order by number desc limit 1`,
      ),
    lastRead: () =>
      database.prepare<[string, string], SourceReadRow>(
        `select ${readColumns} from source_read where source = +? and stream = +? order by number desc limit 1`,
      ),
    streams: () => database.prepare<[], LedgerTables["source_stream"]>("select source, stream, job from source_stream"),
    forgetStreams: () => database.prepare("delete from source_stream"),
    addStream: () => database.prepare("insert into source_stream (source, stream, job) values (?, ?, ?)"),
    reads: () =>
      database.prepare<[string], SourceReadRow>(
        `select ${readColumns} from source_read
       where run_id = +? order by number`,
      ),
    troubledReads: () =>
      database.prepare<[], SourceReadRow>(
        `select ${readColumns} from source_read
       where number in (${lastReadNumbers("and r.finished_at is not null")}) and complete = 0
         and (not exists (select 1 from source_stream) or (source, stream) in (select source, stream from source_stream))
       order by source, stream`,
      ),
    writingCalls: () =>
      database.prepare<[string], { count: number }>(
        // Orders of asset numbers (E9) belong to the pool and to no run: those made since it began are its own, as it
        // holds the lock.
        `select count(*) as count from run r join operation o on o.run_id = r.id
         or (o.customer_namespace = '' and o.customer_id = '' and o.created_at >= r.started_at)
       join attempt a on a.operation_id = o.id
       where r.id = +? and a.started_at >= r.started_at and (a.outcome is null or a.outcome <> 'not-sent')`,
      ),
    hasRecord: () =>
      database.prepare<[string, string, string], Row<"record", "id">>(
        "select id from record where stream = +? and namespace = +? and id = +?",
      ),
    operationStates: () =>
      database.prepare<[string, string], { state: string; count: number }>(
        `select state, count(*) as count from (
         select id, state from operation where run_id = +? union select id, state from operation where id in (select value from json_each(?)))
       group by state`,
      ),
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
       from record where changed_run = @run or outcome_run = @run group by stream`,
      ),
  });
}
