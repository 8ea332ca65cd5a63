import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { parseJson, parseJsonObject } from "../../base/canonical-json.ts";
import { sortedAfter } from "../../base/ids.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { runStatements } from "./run-statements.ts";
import type { RunState, RunTable } from "./tables.ts";
import type { SourceReadRow } from "./run-statements.ts";

export interface RunRow {
  id: string;
  job: string;
  kind: string;
  trigger: string;
  scope: string | null;
  startedAt: string;
  finishedAt: string | null;
  state: RunState;
  exitCode: number | null;
  balance: Json;
  summary: Json;
  header: JsonObject;
}

/** A stream of a source as the configuration has it, with the job that reads it. */
export interface ConfiguredStream {
  source: string;
  stream: Stream;
  job: string | undefined;
}

/** Counts that tie records and operations of one run together. */
export interface RunCounts {
  records: {
    stream: Stream;
    planned: number;
    deferred: number;
    rejected: number;
    quarantinedLate: number;
    takenUpAgain: number;
    changed: number;
    lost: number;
  }[];
  operations: Record<string, number>;
}

/** Runs and the reads of their sources. */
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
  interrupted(): RunRow[] {
    return this.#statements.running.all().map(runFromRow);
  }

  byId(id: string): RunRow | undefined {
    const row = this.#statements.byId.get(id);
    return row === undefined ? undefined : runFromRow(row);
  }

  last(limit: number): RunRow[] {
    return this.#statements.last.all(limit).map(runFromRow);
  }

  lastByJob(): Map<string, RunRow> {
    return new Map(this.#statements.lastByJob.all().map((row) => [row.job, runFromRow(row)]));
  }

  startRead(run: string | null, source: string, stream: Stream, at: string): number {
    return Number(this.#statements.startRead.run(run, source, stream, at).lastInsertRowid);
  }

  finishRead(
    number: number,
    fields: {
      complete: boolean;
      whole: boolean;
      rows: number;
      bad: number;
      cursor?: string | undefined;
      problem?: string | undefined;
      details?: Readonly<Record<string, number>> | undefined;
      shrunk?: boolean | undefined;
      at: string;
    },
  ): void {
    this.#statements.finishRead.run(
      fields.at,
      fields.complete ? 1 : 0,
      fields.whole ? 1 : 0,
      fields.rows,
      fields.bad,
      fields.cursor ?? null,
      fields.problem ?? null,
      fields.details === undefined ? null : JSON.stringify(fields.details),
      fields.shrunk === true ? 1 : 0,
      number,
    );
  }

  lastCompleteRead(source: string, stream: Stream): SourceReadRow | undefined {
    return this.#statements.lastComplete.get(source, stream);
  }

  /** The newest whole, complete read of a stream that a run made: a plan's read judges nothing. */
  lastWholeRead(source: string, stream: Stream): SourceReadRow | undefined {
    return this.#statements.lastWhole.get(source, stream);
  }

  /** The newest whole, complete read of a stream, also where a plan made it. */
  newestWholeRead(source: string, stream: Stream): SourceReadRow | undefined {
    return this.#statements.newestWhole.get(source, stream);
  }

  /** The newest read of a stream, whatever became of it, also where its process died. */
  lastRead(source: string, stream: Stream): SourceReadRow | undefined {
    return this.#statements.lastRead.get(source, stream);
  }

  /** Keeps which streams are configured; a write only where that has changed. */
  streamsDiffer(streams: readonly ConfiguredStream[]): boolean {
    const name = (row: { source: string; stream: string; job?: string | null | undefined }): string =>
      JSON.stringify([row.source, row.stream, row.job ?? null]);
    const known = this.#statements.streams.all().map(name).sort();
    return known.join() !== streams.map(name).sort().join();
  }

  configureStreams(streams: readonly ConfiguredStream[]): void {
    this.#statements.forgetStreams.run();
    for (const { source, stream, job } of streams) this.#statements.addStream.run(source, stream, job ?? null);
  }

  reads(run: string): SourceReadRow[] {
    return this.#statements.reads.all(run);
  }

  troubledReads(): SourceReadRow[] {
    return this.#statements.troubledReads.all();
  }

  writingCalls(run: string): number {
    return this.#statements.writingCalls.get(run)?.count ?? 0;
  }

  hasRecord(stream: Stream, key: RecordKey): boolean {
    return this.#statements.hasRecord.get(stream, key.namespace, key.id) !== undefined;
  }

  counts(run: string): RunCounts {
    const operations: Record<string, number> = {};
    for (const row of this.#statements.operationCounts.all(run)) operations[row.state] = row.count;
    return {
      records: this.#statements.recordCounts.all({ run }).map((row) => ({
        stream: row.stream,
        planned: row.planned,
        deferred: row.deferred,
        rejected: row.rejected,
        quarantinedLate: row.quarantined,
        takenUpAgain: row.again,
        changed: row.changed,
        lost: row.lost,
      })),
      operations,
    };
  }

  operationStates(run: string, carriedIn: readonly string[]): Record<string, number> {
    const states: Record<string, number> = {};
    for (const row of this.#statements.operationStates.all(run, JSON.stringify(carriedIn)))
      states[row.state] = row.count;
    return states;
  }
}

function parse(text: string): Json {
  return parseJson(text);
}

function runFromRow(row: RunTable): RunRow {
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
    balance: row.balance === null ? null : parse(row.balance),
    summary: row.summary === null ? null : parse(row.summary),
    header: parseJsonObject(row.header),
  };
}
