import type { RecordKey, Stream } from "../../crm/model.ts";
import type { LedgerContext } from "../context.ts";
import { prepared, sql } from "../database/statements.ts";
import type { Row } from "../tables.ts";
import type { RecordTables } from "./record-tables.ts";
import type { SourceReadTables, SkippedRecord, SkippedTables } from "./source-reads.ts";
import type { MappedRow } from "./staged-records.ts";

/** `raw` is JSON without secrets; null if it is no longer kept. */
export interface StoredForm {
  key: RecordKey;
  raw: string | null;
  /** Covers the raw form and its mapping. */
  rawHash: string;
  /** The record is missing, and this form was refused when it was mapped again. */
  isRefused: boolean;
}

export interface MappedForm {
  key: RecordKey;
  item: MappedRow;
}

type Became = "changed" | "unchanged" | "quarantined";
type RawRow = RecordKey & { raw: string | null; rawHash: string; refused: number };

/** Maps stored raw forms again. Nothing was read, so no record counts as seen or missing. */
export class Remapping {
  readonly #context: LedgerContext;
  readonly #records: RecordTables;
  readonly #reads: SourceReadTables;
  readonly #statements;

  constructor(context: LedgerContext, records: RecordTables, reads: SourceReadTables) {
    this.#context = context;
    this.#records = records;
    this.#reads = reads;
    const { database } = context;
    this.#statements = prepared(database, {
      missing: sql<[{ source: string; stream: Stream; namespace: string; id: string; limit: number }], RawRow>`
        select r.namespace, r.id, r.raw_hash as rawHash, p.body as raw, r.state = 'quarantined' as refused
          from record r indexed by record_missing
          left join private_value p on p.ref = 'raw:' || r.stream || '/' || r.namespace || '/' || r.id
            and p.version = r.version
          where r.stream = @stream and r.source = @source and r.missed > 0 and r.state <> 'absent'
            and (r.state = 'current' or exists (
              select 1 from quarantine q where q.stream = r.stream and q.namespace = r.namespace
                and q.record_id = r.id and q.source = r.source and q.state <> 'resolved' and q.of_stored_form = 1))
            and (r.namespace, r.id) > (@namespace, @id)
          order by r.namespace, r.id limit @limit`,
      seenLast: sql<[string, string, string], Row<"record", "last_read" | "missed">>`
        select last_read, missed from record where stream = +? and namespace = +? and id = +?`,
      keepMissed: sql`update record set missed = ? where stream = +? and namespace = +? and id = +?`,
    });
  }

  /** Missing records with their stored forms, including refused ones, by key, at most `limit` after `after`. */
  async storedForms(
    source: string,
    stream: Stream,
    after: RecordKey | undefined,
    limit: number,
  ): Promise<StoredForm[]> {
    const { namespace = "", id = "" } = after ?? {};
    const rows = this.#context.read(() => this.#statements.missing.all({ source, stream, namespace, id, limit }));
    return rows.map(({ raw, rawHash, refused, ...key }) => ({ key, raw, rawHash, isRefused: refused === 1 }));
  }

  async mappingsOf(source: string, stream: Stream): Promise<string[]> {
    return this.#context.read(() => this.#reads.mappingsOf(source, stream));
  }

  async take(source: string, stream: Stream, forms: readonly MappedForm[]): Promise<Record<Became, number>> {
    return await this.#context.write(() => {
      const counts = { changed: 0, unchanged: 0, quarantined: 0 };
      for (const form of forms) counts[this.#takeOne(source, stream, form)] += 1;
      return counts;
    });
  }

  /** Keeps when the record was last seen, and how often it was missed. */
  #takeOne(source: string, stream: Stream, { key, item }: MappedForm): Became {
    const { namespace, id } = key;
    const row = this.#statements.seenLast.get(stream, namespace, id);
    if (row === undefined) return "unchanged";
    const of = { source, stream, read: row.last_read, run: null };
    let became: Became = "quarantined";
    if ("rejection" in item) this.#records.reject(of, item.rejection, true);
    else became = this.#records.ingest(of, item.record, { isRetried: true }).became;
    if (row.missed > 0) this.#statements.keepMissed.run(row.missed, stream, namespace, id);
    return became;
  }
}

export interface WaitingRow {
  id: string;
  source: string;
  stream: Stream;
  place: string;
  code: string;
  /** Null if the row was no record at all. */
  expected: string | null;
  rawHash: string;
  raw: string | null;
}

type QuarantineRow = Row<
  "quarantine",
  "id" | "source" | "stream" | "place" | "code" | "expected" | "raw_hash" | "last_read" | "of_stored_form"
> &
  Row<"private_value", "body">;

export class QuarantineRetry {
  readonly #context: LedgerContext;
  readonly #records: RecordTables;
  readonly #skipped: SkippedTables;
  readonly #statements;

  constructor(context: LedgerContext, records: RecordTables, skipped: SkippedTables) {
    const { database } = context;
    this.#context = context;
    this.#records = records;
    this.#skipped = skipped;
    this.#statements = prepared(database, {
      find: sql<[string], QuarantineRow>`
        select q.id, q.source, q.stream, q.place, q.code, q.expected, q.raw_hash, q.last_read,
            q.of_stored_form, p.body
          from quarantine q
          left join private_value p on p.ref = q.raw_ref and p.version = 1 where q.id = +? and q.state <> 'resolved'`,
      mark: sql`update quarantine set state = 'retry' where id = +? and state = 'open'`,
      resolve: sql`update quarantine set state = 'resolved', resolved_at = ?, resolution = ?
        where id = +? and state <> 'resolved'`,
    });
  }

  async waiting(id: string): Promise<WaitingRow | undefined> {
    const row = this.#context.read(() => this.#statements.find.get(id));
    if (row === undefined) return undefined;
    const { raw_hash: rawHash, last_read: _read, of_stored_form: _stored, body: raw, ...rest } = row;
    return { ...rest, rawHash, raw };
  }

  /** The next read of its source maps the row again. False if it is not open. */
  async mark(id: string, by: string): Promise<boolean> {
    return await this.#context.write(() => {
      const isMarked = this.#statements.mark.run(id).changes === 1;
      if (isMarked) this.#audit(id, by);
      return isMarked;
    });
  }

  /** Counts as of the row's read. False if somebody resolved the row meanwhile. */
  async settle(id: string, item: MappedRow | { skipped: SkippedRecord }, by: string): Promise<boolean> {
    return await this.#context.write(() => {
      const row = this.#statements.find.get(id);
      if (row === undefined) return false;
      this.#takeUp(row, item, this.#context.now);
      this.#audit(id, by);
      return true;
    });
  }

  #audit(id: string, by: string): void {
    const { audit, now } = this.#context;
    audit.append({ at: now, kind: "quarantine-retry", subject: `quarantine:${id}`, body: { by } });
  }

  #takeUp(row: QuarantineRow, item: MappedRow | { skipped: SkippedRecord }, now: string): void {
    const { id, source, stream } = row;
    const of = { source, stream, read: row.last_read, run: null };
    if ("skipped" in item) {
      this.#statements.resolve.run(now, "the record is skipped now", id);
      const { key } = item.skipped;
      // No read is in progress, so every bad form of the record is an older one.
      if (key !== undefined) this.#skipped.leave({ source, stream, read: -1 }, key);
      return;
    }
    if ("record" in item) {
      if (this.#records.readSince(of, item.record.key)) {
        this.#statements.resolve.run(now, "a newer form of the record came", id);
        return;
      }
      this.#statements.resolve.run(now, "mapped anew", id);
      this.#records.ingest(of, item.record, { isRetried: true });
      return;
    }
    if (item.rejection.rawHash !== row.raw_hash)
      this.#statements.resolve.run(now, "mapped anew, and still not usable", id);
    this.#records.reject(of, item.rejection, row.of_stored_form === 1);
  }
}
