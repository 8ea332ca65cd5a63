import type { Stream } from "../../crm/model.ts";
import type { LedgerContext } from "../context.ts";
import type { RecordTables } from "./record-tables.ts";
import type { SkippedRecord, SkippedTables } from "./skipped.ts";
import type { MappedRow } from "./staged-records.ts";
import { statements } from "../database/statements.ts";
import type { Row } from "../tables.ts";

/** A row of the quarantine that waits, with the raw form it came in. */
export interface WaitingRow {
  id: string;
  source: string;
  stream: Stream;
  place: string;
  code: string;
  /** Null where what came was no record at all. */
  expected: string | null;
  rawHash: string;
  /** JSON with its secrets blanked; null where it was erased. */
  raw: string | null;
}

type QuarantineRow = Row<
  "quarantine",
  "id" | "source" | "stream" | "place" | "code" | "expected" | "raw_hash" | "last_read" | "of_stored_form"
> &
  Row<"private_value", "body">;

/** Maps a row of the quarantine anew without its source. */
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
    this.#statements = statements.onUse({
      find: () =>
        database.prepare<[string], QuarantineRow>(
          `select q.id, q.source, q.stream, q.place, q.code, q.expected, q.raw_hash, q.last_read,
           q.of_stored_form, p.body
         from quarantine q
         left join private_value p on p.ref = q.raw_ref and p.version = 1 where q.id = +? and q.state <> 'resolved'`,
        ),
      mark: () => database.prepare("update quarantine set state = 'retry' where id = +? and state = 'open'"),
      resolve: () =>
        database.prepare(
          `update quarantine set state = 'resolved', resolved_at = ?, resolution = ?
            where id = +? and state <> 'resolved'`,
        ),
    });
  }

  /** A row of the quarantine that waits. */
  async waiting(id: string): Promise<WaitingRow | undefined> {
    const row = this.#context.read(() => this.#statements.find.get(id));
    if (row === undefined) return undefined;
    const { raw_hash: rawHash, last_read: _read, of_stored_form: _stored, body: raw, ...rest } = row;
    return { ...rest, rawHash, raw };
  }

  /** A person has the row mapped anew when its source is read. False where no such row is open. */
  async mark(id: string, by: string): Promise<boolean> {
    return await this.#context.write(() => {
      const isMarked = this.#statements.mark.run(id).changes === 1;
      if (isMarked) this.#audit(id, by);
      return isMarked;
    });
  }

  /**
   * Takes up what the row maps to now, as of the read that it came in, because a person asked for it. False: somebody
   * resolved it meanwhile.
   */
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
      // No reading is under way: every bad form of it that waits is of an earlier one.
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
