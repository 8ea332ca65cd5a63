import { toInstant } from "../../base/clock.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import type { Row } from "../tables.ts";
import type { ReadOf } from "./source-reads.ts";

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
    this.#statements = prepared(database, texts);
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

const texts = {
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
