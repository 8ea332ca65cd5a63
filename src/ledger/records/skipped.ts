import { toInstant } from "../../base/clock.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import type { Row } from "../tables.ts";
import type { ReadOf } from "./source-reads.ts";

/** A record that a stream leaves out, on its way into the ledger. */
export interface SkippedRecord {
  /** Which record it is, where that can be read. */
  key: RecordKey | undefined;
  /** It may be any record, since it names one in a way that cannot be used. */
  isNameless: boolean;
}

/** What the ledger has of records that are skipped. */
export interface SkippedStanding {
  /** The forms in which they were known before: they are not missed. */
  forms: string[];
  /** Those for which something is to be written: they were missed before, or a bad form of them waits. */
  touched: RecordKey[];
}

type StandingRow = Row<"record", "raw_hash" | "missed">;

/** Records that a stream leaves out: what is known of them stays as it was last. */
export class SkippedTables {
  readonly #now: () => number;
  readonly #statements;

  constructor(database: Sqlite, now: () => number) {
    this.#now = now;
    this.#statements = prepareStatements(database);
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

  /**
   * The record is not missed, and a bad form of it that an earlier reading met waits no more: what was known before
   * goes on. One that `read` itself met stays. Runs inside the writer's transaction.
   */
  leave({ source, stream, read }: Omit<ReadOf, "run">, { namespace, id }: RecordKey): void {
    this.#statements.see.run(stream, namespace, id, source);
    this.#statements.resolve.run(toInstant(this.#now()), stream, namespace, id, source, read);
    this.#statements.unblock.run(stream, namespace, id);
  }
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    find: () =>
      database.prepare<[string, string, string, string], StandingRow>(
        `select raw_hash, missed from record
          where stream = +? and namespace = +? and id = +? and source = +? and state <> 'absent'`,
      ),
    waits: () =>
      database.prepare<[string, string, string, string], Row<"quarantine", "id">>(
        `select id from quarantine where stream = +? and namespace = +? and record_id = +? and source = +?
          and state <> 'resolved' limit 1`,
      ),
    see: () =>
      database.prepare(
        `update record set missed = 0, missed_since = null
          where stream = +? and namespace = +? and id = +? and source = +? and missed > 0 and state <> 'absent'`,
      ),
    resolve: () =>
      database.prepare(
        `update quarantine set state = 'resolved', resolved_at = ?, resolution = 'the record is skipped now'
          where stream = +? and namespace = +? and record_id = +? and source = +? and state <> 'resolved'
            and last_read <> ? and code not in ('duplicate-id', 'claimed-twice')`,
      ),
    unblock: () =>
      database.prepare(
        `update record set state = 'current'
          where stream = +? and namespace = +? and id = +? and state = 'quarantined' and not exists (
            select 1 from quarantine q where q.stream = record.stream and q.namespace = record.namespace
              and q.record_id = record.id and q.state <> 'resolved')`,
      ),
  });
}
