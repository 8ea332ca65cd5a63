import { type RecordKey, type Stream, streams } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { column, prepared, sql } from "../database/statements.ts";
import { rowShapeSchema, type RowShape } from "../../source/shape.ts";
import type { SourceReadTable, SourceStreamTable } from "./tables.ts";
import { toInstant } from "../../base/clock.ts";
import type { Row } from "../tables.ts";
import type { LedgerContext } from "../context.ts";

export type SourceReadRow = Omit<SourceReadTable, "run_id" | "absence">;

export interface MadeWith {
  question?: string | undefined;
  mapping?: string | undefined;
  continues?: number | undefined;
}

/** `run` plans the changes of the read; null if no run does. */
export interface ReadOf {
  read: number;
  run: string | null;
  source: string;
  stream: Stream;
}

/** An interrupted read has several parts: `first` is the number of the first one, `read` of the last. */
export interface ReadParts extends ReadOf {
  first: number;
}

export interface FinishedRead {
  complete: boolean;
  whole: boolean;
  rows: number;
  bad: number;
  cursor?: string | undefined;
  problem?: string | undefined;
  details?: Readonly<Record<string, number>> | undefined;
  doubted?: boolean | undefined;
  shape?: RowShape | undefined;
}

export interface ConfiguredStream {
  source: string;
  stream: Stream;
  job: string | undefined;
}

const readColumns =
  "number, source, stream, started_at, finished_at, complete, whole, rows, bad, cursor, problem, details, doubted, " +
  "question, mapping, continues, shape";

/** SQL: the last read of each stream for which `condition` holds. One index step for each stream. */
export function lastReadNumbers(condition = ""): string {
  return `with recursive each_source (source) as (
      select min(source) from source_read
      union all select (select min(source) from source_read where source > each_source.source) from each_source
        where each_source.source is not null),
    each_stream (source, stream) as (
      select source, (select min(stream) from source_read s where s.source = each_source.source) from each_source
        where source is not null
      union all select source, (select min(stream) from source_read s
        where s.source = each_stream.source and s.stream > each_stream.stream)
        from each_stream where each_stream.stream is not null)
    select (select r.number from source_read r where r.source = each_stream.source
      and r.stream = each_stream.stream ${condition}
      order by r.number desc limit 1) from each_stream where stream is not null`;
}

export interface EarlierRead extends Pick<SourceReadRow, "rows" | "details"> {
  name: string;
}

/** Reads, and the configured streams. Writes run inside the writer's transaction. */
export class SourceReadTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  startRead({ run, source, stream }: Omit<ReadOf, "read">, at: string, made: MadeWith): number {
    const { question = null, mapping = null, continues = null } = made;
    const { startRead } = this.#statements;
    return Number(startRead.run(run, source, stream, at, question, mapping, continues).lastInsertRowid);
  }

  beginsAnew(number: number): void {
    this.#statements.beginsAnew.run(number);
  }

  mappingsOf(source: string, stream: Stream): string[] {
    return this.#statements.mappings.all(source, stream);
  }

  finishRead(number: number, fields: FinishedRead, at: string): void {
    this.#statements.finishRead.run(
      at,
      fields.complete ? 1 : 0,
      fields.whole ? 1 : 0,
      fields.rows,
      fields.bad,
      fields.cursor ?? null,
      fields.problem ?? null,
      fields.details === undefined ? null : JSON.stringify(fields.details),
      fields.doubted === true ? 1 : 0,
      fields.shape === undefined ? null : JSON.stringify(fields.shape),
      number,
    );
  }

  lastCompleteRead(source: string, stream: Stream): SourceReadRow | undefined {
    return this.#statements.lastComplete.get(source, stream);
  }

  /** Without reads of plans, which judge nothing. */
  lastWholeRead(source: string, stream: Stream): SourceReadRow | undefined {
    return this.#statements.lastWhole.get(source, stream);
  }

  /** The shape of rows in the newest complete full read of a run that has one. */
  lastShape(source: string, stream: Stream): RowShape | undefined {
    const row = this.#statements.lastShape.get(source, stream);
    return row === undefined ? undefined : rowShapeSchema.parse(JSON.parse(row.shape));
  }

  /** Includes reads of plans. */
  newestWholeRead(source: string, stream: Stream): SourceReadRow | undefined {
    return this.#statements.newestWhole.get(source, stream);
  }

  wasAskedOtherwise(source: string, stream: Stream, after: number, question: string): boolean {
    return this.#statements.askedOtherwise.get(source, stream, after, question) !== undefined;
  }

  /** `kept` counts the records of the source, if no full read exists. */
  toCompare(source: string, stream: Stream, kept: () => number): EarlierRead[] {
    const newest = this.newestWholeRead(source, stream);
    if (newest === undefined)
      return [{ rows: kept(), details: null, name: "earlier reads, none of which was complete" }];
    const ofRun = this.lastWholeRead(source, stream);
    return [ofRun, newest.number === ofRun?.number ? undefined : newest]
      .filter((row) => row !== undefined)
      .map(({ rows, details }) => ({ rows, details, name: "the last complete read" }));
  }

  lastRead(source: string, stream: Stream): SourceReadRow | undefined {
    return this.#statements.lastRead.get(source, stream);
  }

  streamsDiffer(streams: readonly ConfiguredStream[]): boolean {
    const name = (row: { source: string; stream: string; job?: string | null | undefined }): string =>
      JSON.stringify([row.source, row.stream, row.job ?? null]);
    const known = this.#statements.streams.all().map(name).sort();
    return known.join() !== streams.map(name).sort().join();
  }

  /** Removed streams: resolves their quarantine rows, unblocks their records, retries other sources' claims. */
  configureStreams(streams: readonly ConfiguredStream[], now: string): void {
    const run = this.#statements;
    run.forgetStreams.run();
    for (const { source, stream, job } of streams) run.addStream.run(source, stream, job ?? null);
    if (streams.length === 0) return;
    run.resolveUnconfigured.run(now);
    run.wakeClaims.run();
    run.unblock.run();
  }

  /** Before the first run every source counts as configured. */
  isConfigured(source: string, stream: Stream): boolean {
    return this.#statements.configured.get(source, stream)?.configured !== 0;
  }

  reads(run: string): SourceReadRow[] {
    return this.#statements.reads.all(run);
  }

  troubledReads(): SourceReadRow[] {
    return this.#statements.troubledReads.all();
  }
}

const texts = {
  startRead: sql`insert into source_read (run_id, source, stream, started_at, question, mapping, continues)
    values (?, ?, ?, ?, ?, ?, ?)`,
  beginsAnew: sql`update source_read set continues = null where number = +?`,
  askedOtherwise: sql<[string, string, number, string], { number: number }>`
    select number from source_read where source = +? and stream = +? and number > ? and question <> ? limit 1`,
  mappings: column<[string, string], string>`select mapping from (select mapping, number from source_read
      where source = +? and stream = +? and mapping is not null order by number desc limit 1000)
    group by mapping order by max(number) desc`,
  finishRead: sql`update source_read set finished_at = ?, complete = ?, whole = ?, rows = ?, bad = ?, cursor = ?,
    problem = ?,
      details = ?, doubted = ?, shape = ?
    where number = +?`,
  lastComplete: sql<[string, string], SourceReadRow>`select ${readColumns} from source_read
    where source = +? and stream = +? and complete = 1 order by number desc limit 1`,
  lastWhole: sql<[string, string], SourceReadRow>`
    select ${readColumns} from source_read where source = +? and stream = +? and complete = 1 and whole = 1
      and not exists (select 1 from run where run.id = source_read.run_id and run.kind = 'plan')
        order by number desc limit 1`,
  lastShape: sql<[string, string], { shape: string }>`
    select shape from source_read where source = +? and stream = +? and complete = 1 and whole = 1
      and shape is not null
      and not exists (select 1 from run where run.id = source_read.run_id and run.kind = 'plan')
        order by number desc limit 1`,
  newestWhole: sql<[string, string], SourceReadRow>`
    select ${readColumns} from source_read where source = +? and stream = +? and complete = 1 and whole = 1
      order by number desc limit 1`,
  lastRead: sql<[string, string], SourceReadRow>`
    select ${readColumns} from source_read where source = +? and stream = +? order by number desc limit 1`,
  streams: sql<[], SourceStreamTable>`select source, stream, job from source_stream`,
  forgetStreams: sql`delete from source_stream`,
  addStream: sql`insert into source_stream (source, stream, job) values (?, ?, ?)`,
  configured: sql<[string, string], { configured: number }>`select not exists (select 1 from source_stream)
    or exists (select 1 from source_stream where source = +? and stream = +?) as configured`,
  resolveUnconfigured: sql`update quarantine
    set state = 'resolved', resolved_at = ?, resolution = 'its source is configured no longer'
    where state <> 'resolved' and (source, stream) not in (select source, stream from source_stream)`,
  wakeClaims: sql`update quarantine set state = 'retry' where code = 'claimed-twice' and state = 'open'
    and state <> 'resolved'
    and exists (select 1 from record r where r.stream = quarantine.stream and r.namespace = quarantine.namespace
      and r.id = quarantine.record_id
      and (r.source, r.stream) not in (select source, stream from source_stream))`,
  unblock: sql`update record indexed by record_quarantined set state = 'current'
    where state = 'quarantined' and not exists (
    select 1 from quarantine q where q.stream = record.stream and q.namespace = record.namespace
      and q.record_id = record.id
    and q.state <> 'resolved')`,
  reads: sql<[string], SourceReadRow>`select ${readColumns} from source_read
    where run_id = +? order by number`,
  troubledReads: sql<[], SourceReadRow>`select ${readColumns} from source_read
    where number in (${lastReadNumbers("and r.finished_at is not null")}) and complete = 0
      and (not exists (select 1 from source_stream)
        or (source, stream) in (select source, stream from source_stream))
    order by source, stream`,
};

export interface SkippedRecord {
  key: RecordKey | undefined;
  /** Its id is unreadable, so it may be any record. */
  isNameless: boolean;
}

export interface SkippedStanding {
  forms: string[];
  /** Records that need a write: they were missed, or have an open bad form. */
  touched: RecordKey[];
}

type StandingRow = Row<"record", "raw_hash" | "missed">;

/** Records that a stream skips. Their last state stays. */
export class SkippedTables {
  readonly #now: () => number;
  readonly #statements;

  constructor(database: Sqlite, now: () => number) {
    this.#now = now;
    this.#statements = prepared(database, skippedTexts);
  }

  standing(source: string, stream: Stream, keys: readonly RecordKey[]): SkippedStanding {
    const found: SkippedStanding = { forms: [], touched: [] };
    for (const key of keys) {
      const row = this.#statements.find.get(stream, key.namespace, key.id, source);
      if (row !== undefined) found.forms.push(row.raw_hash);
      const waits = this.#statements.waits.get(stream, key.namespace, key.id, source) !== undefined;
      if (waits || (row !== undefined && row.missed > 0)) found.touched.push(key);
    }
    return found;
  }

  /** Resolves bad forms of earlier reads, but not of `read` itself. Runs inside the writer's transaction. */
  leave({ source, stream, read }: Omit<ReadOf, "run">, { namespace, id }: RecordKey): void {
    this.#statements.see.run(stream, namespace, id, source);
    this.#statements.resolve.run(toInstant(this.#now()), stream, namespace, id, source, read);
    this.#statements.unblock.run(stream, namespace, id);
  }
}

const skippedTexts = {
  find: sql<[string, string, string, string], StandingRow>`select raw_hash, missed from record
    where stream = +? and namespace = +? and id = +? and source = +? and state <> 'absent'`,
  waits: sql<[string, string, string, string], Row<"quarantine", "id">>`
    select id from quarantine where stream = +? and namespace = +? and record_id = +? and source = +?
      and state <> 'resolved' limit 1`,
  see: sql`update record set missed = 0, missed_since = null
    where stream = +? and namespace = +? and id = +? and source = +? and missed > 0 and state <> 'absent'`,
  resolve: sql`update quarantine set state = 'resolved', resolved_at = ?, resolution = 'the record is skipped now'
    where stream = +? and namespace = +? and record_id = +? and source = +? and state <> 'resolved'
      and last_read <> ? and code not in ('duplicate-id', 'claimed-twice')`,
  unblock: sql`update record set state = 'current'
    where stream = +? and namespace = +? and id = +? and state = 'quarantined' and not exists (
      select 1 from quarantine q where q.stream = record.stream and q.namespace = record.namespace
        and q.record_id = record.id and q.state <> 'resolved')`,
};

/** Replaces the source of records that a person let go. No configuration can have this name. */
export const nobody = "(nobody)";

/** SQL: streams with records but without a configured source. One index step for each source. */
export const removedStreams = `
  each_source(source) as (
    select min(source) from record
    union all select (select min(source) from record where source > each_source.source) from each_source
      where each_source.source is not null),
  removed(source, stream, since) as (
    select e.source, named.value, (select started_at from source_read
      where source_read.source = e.source and source_read.stream = named.value order by number desc limit 1)
    from each_source e, json_each('${JSON.stringify(streams)}') named
    where e.source is not null and e.source <> '${nobody}' and exists (select 1 from source_stream)
      and not exists (select 1 from source_stream c where c.source = e.source and c.stream = named.value))`;

export interface Unread {
  source: string;
  stream: Stream;
  count: number;
}

export class RemovedSources {
  readonly #context: LedgerContext;
  readonly #statements;

  constructor(context: LedgerContext) {
    this.#context = context;
    const { database } = context;
    this.#statements = prepared(database, {
      unread: sql<[], Unread>`with recursive ${removedStreams}, theirs as (
          select source, stream, (select count(*) from record indexed by record_by_hash
            where record.source = removed.source and record.stream = removed.stream and state <> 'absent') as count
          from removed)
        select * from theirs where count > 0`,
      reassign: sql`update record indexed by record_by_hash set source = ?, missed = 0, missed_since = null
        where source = +? and stream = +?`,
    });
  }

  async unread(): Promise<Unread[]> {
    return this.#context.read(() => this.#statements.unread.all());
  }

  /** The next full reads of `to` may miss the records. Without `to` they stay until a source sends them. */
  async reassign(
    unread: readonly Unread[],
    to: string | undefined,
    { by, reason }: { by: string; reason: string },
  ): Promise<void> {
    await this.#context.write(() => {
      for (const { source, stream, count } of unread) {
        this.#statements.reassign.run(to ?? nobody, source, stream);
        this.#context.audit.append({
          at: this.#context.now,
          kind: to === undefined ? "source-let-go" : "source-reassigned",
          subject: `source:${source}`,
          body: { stream, records: count, ...(to === undefined ? {} : { to }), by, reason },
        });
      }
    });
  }
}
