import type { Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
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

/** Maps a row of the quarantine anew without its source. Methods that write run inside the writer's transaction. */
export class QuarantineRetry {
  readonly #records: RecordTables;
  readonly #skipped: SkippedTables;
  readonly #statements;

  constructor(database: Sqlite, records: RecordTables, skipped: SkippedTables) {
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

  waiting(id: string): WaitingRow | undefined {
    const row = this.#statements.find.get(id);
    if (row === undefined) return undefined;
    const { raw_hash: rawHash, last_read: _read, of_stored_form: _stored, body: raw, ...rest } = row;
    return { ...rest, rawHash, raw };
  }

  /** Has the row mapped anew when its source is read. False where no such row is open. */
  mark(id: string): boolean {
    return this.#statements.mark.run(id).changes === 1;
  }

  /** Takes up what the row maps to now, as of the read that it came in. False: somebody resolved it meanwhile. */
  settle(id: string, item: MappedRow | { skipped: SkippedRecord }, now: string): boolean {
    const row = this.#statements.find.get(id);
    if (row === undefined) return false;
    const { source, stream } = row;
    const of = { source, stream, read: row.last_read, run: null };
    if ("skipped" in item) {
      this.#statements.resolve.run(now, "the record is skipped now", id);
      const { key } = item.skipped;
      // No reading is under way: every bad form of it that waits is of an earlier one.
      if (key !== undefined) this.#skipped.leave({ source, stream, read: -1 }, key);
      return true;
    }
    if ("record" in item) {
      if (this.#records.readSince(of, item.record.key)) {
        this.#statements.resolve.run(now, "a newer form of the record came", id);
        return true;
      }
      this.#statements.resolve.run(now, "mapped anew", id);
      this.#records.ingest(of, item.record, { isRetried: true });
      return true;
    }
    if (item.rejection.rawHash !== row.raw_hash)
      this.#statements.resolve.run(now, "mapped anew, and still not usable", id);
    this.#records.reject(of, item.rejection, row.of_stored_form === 1);
    return true;
  }
}
