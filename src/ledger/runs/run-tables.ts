import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { parseJson, parseJsonObject } from "../../base/canonical-json.ts";
import { sortedAfter } from "../../base/ids.ts";
import type { Stream } from "../../crm/model.ts";
import type { RunFacts } from "../../report/facts.ts";
import { unreadableRow } from "../database/damage.ts";
import type { Sqlite } from "../database/database.ts";
import { foundStates } from "../journal/state-counts.ts";
import { countsByStream, runStatements } from "./run-statements.ts";
import type { RunState, RunTable } from "./tables.ts";

/** Counts that tie records and operations of one run together. */
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

/** Runs and what they came to. */
export class RunTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = runStatements(database);
  }

  /** Answers the id: the last run of a job is the one with the newest, also where the clock was set back since. */
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

  /** Runs of a process that died: still `running` although nobody holds the lock. */
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

/** A run as people and programs get it. Throws a Problem (exit code 65) where a column is not what was written. */
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
