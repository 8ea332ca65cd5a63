import { toInstant } from "../../base/clock.ts";
import type { TrustedTime } from "../../base/trusted-time.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { column, prepared, sql } from "../database/statements.ts";
import type { SeenForms } from "./seen-forms.ts";
import { removedStreams, type ReadOf, type ReadParts } from "./source-reads.ts";

const page = 2_000;

export interface Met {
  seen: SeenForms;
  /** A lower bound of the records met, each counted once. */
  records: number;
  skipped?: SeenForms | undefined;
  nameless?: number;
}

/** A missing record is absent after this many complete reads in a row, over this time. */
export interface AbsenceRule {
  reads: number;
  ms: number;
  /** Undefined if the clock is not trusted: then the read does not count. */
  time: () => Promise<TrustedTime | undefined>;
}

export type AbsenceNow = Omit<AbsenceRule, "time"> & { time: TrustedTime | undefined; isLacking: boolean };

export type AreStaged = (keys: readonly RecordKey[]) => number;

/** Judges records that are missing from full reads. Runs inside the writer's transaction. */
export class AbsenceTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  /**
   * Counts missing records, and makes those absent that `rule` allows. Nothing counts in a plan, with an untrusted
   * clock, or if a row without readable id may be the missing record. The read keeps the reason.
   */
  judge(read: ReadParts, rule: AbsenceNow | undefined, met?: Met): { missed: number; absent: number } {
    const { source, stream, first } = read;
    const nameless = this.#statements.nameless.get(source, stream, first);
    const why = whyNot(nameless?.count ?? 0, nameless?.codes ?? "", met?.nameless ?? 0, rule);
    this.#statements.say.run(why ?? "judged", read.read);
    if (rule?.time === undefined || why !== undefined) return { missed: 0, absent: 0 };
    const at = rule.time.epochMs;
    const now = toInstant(at);
    let missed = 0;
    for (const hashes of this.#unseen(read, met))
      missed += this.#statements.miss.run(now, now, source, stream, JSON.stringify(hashes), first).changes;
    const since = toInstant(at - rule.ms);
    return { missed, absent: this.#statements.makeAbsent.run(now, source, stream, first, rule.reads, since).changes };
  }

  /** How many records this part lacks, without those of `isStaged`. Ids may have changed since earlier parts or reads. */
  missing(of: ReadOf, met: Met, isStaged: AreStaged): number {
    const { source, stream, read } = of;
    let missing = 0;
    for (const hashes of this.#unseen(of, met, true)) {
      const rows = this.#statements.missing.all(source, stream, JSON.stringify(hashes), read);
      missing += rows.length - isStaged(rows);
    }
    return missing;
  }

  /** How many records of other sources nobody sends now: their source lacks them, or was removed. */
  left(source: string, stream: Stream): number {
    return this.#statements.left.get({ source, stream }) ?? 0;
  }

  isLacking(read: ReadParts, met?: Met): boolean {
    const { source, stream, first } = read;
    if (this.#isEveryRecordMet(stream, met?.records ?? 0)) return false;
    for (const hashes of this.#unseen(read, met))
      if (this.#statements.lacking.get(source, stream, JSON.stringify(hashes), first) !== undefined) return true;
    return false;
  }

  /** Then none is missing, because each record was counted once. */
  #isEveryRecordMet(stream: Stream, met: number): boolean {
    return met > 0 && met === this.#statements.there.get(stream);
  }

  *#unseen({ source, stream }: ReadOf, { seen, skipped }: Partial<Met> = {}, isOfPart = false): Iterable<string[]> {
    const met = seen?.inOrder(isOfPart) ?? [].values();
    try {
      let next = met.next();
      for (let last = ""; ;) {
        const rows = this.#statements.forms.all(source, stream, last, page);
        const end = rows.at(-1);
        if (end === undefined) return;
        last = end;
        const unseen: string[] = [];
        for (const hash of rows) {
          while (next.done !== true && next.value < hash) next = met.next();
          if (next.done !== true && next.value === hash) continue;
          if (skipped?.[isOfPart ? "has" : "hasMet"](hash) !== true) unseen.push(hash);
        }
        if (unseen.length > 0) yield unseen;
      }
    } finally {
      // An iterator that is not finished would keep its database from closing.
      met.return?.();
    }
  }
}

function whyNot(nameless: number, codes: string, skipped: number, rule: AbsenceNow | undefined): string | undefined {
  if (nameless > 0) {
    const rows = nameless === 1 ? "1 row" : `${nameless} rows`;
    return `${rows} (${codes}) may be any record that is missing: \`crm-sync quarantine list\``;
  }
  if (skipped > 0) {
    const rows = skipped === 1 ? "1 skipped row has an id" : `${skipped} skipped rows have ids`;
    return `${rows} that cannot be read, and may be any record that is missing`;
  }
  if (rule === undefined) return "a plan does not judge absence";
  return rule.isLacking && rule.time === undefined ? "the clock was not trusted" : undefined;
}

/** A quarantined row may be the record. */
const hasNoTwin = `not exists (select 1 from quarantine q where q.stream = record.stream
        and q.twin_namespace = record.namespace and q.twin_id = record.id and q.twin_id is not null
        and q.state <> 'resolved')`;

const texts = {
  nameless: sql<[string, string, number], { count: number; codes: string | null }>`
    select count(*) as count, group_concat(distinct code) as codes from quarantine
      where source = +? and stream = +? and last_read >= +? and record_id is null and state <> 'resolved'`,
  say: sql`update source_read set absence = ? where number = +?`,
  there: column<[string], number>`select sum(count) from record_tally where stream = +? and state <> 'absent'`,
  forms: column<[string, string, string, number], string>`
    select raw_hash from record indexed by record_by_hash where source = +? and stream = +? and raw_hash > +?
      order by raw_hash limit ?`,
  missing: sql<[string, string, string, number], RecordKey>`select namespace, id from record indexed by record_by_hash
    where source = +? and stream = +? and raw_hash in (select value from json_each(?)) and last_read < ?
      and state <> 'absent' and ${hasNoTwin}`,
  left: column<[{ source: string; stream: Stream }], number>`with recursive ${removedStreams}
    select (select count(*) from record indexed by record_missing where stream = @stream and source <> @source
        and missed > 0 and state <> 'absent' and ${hasNoTwin}
        and exists (select 1 from source_stream c where c.source = record.source and c.stream = record.stream))
      + (select count(*) from removed cross join record indexed by record_by_hash
          on record.source = removed.source and record.stream = removed.stream
        where removed.stream = @stream and removed.source <> @source and state <> 'absent' and ${hasNoTwin})`,
  lacking: sql<[string, string, string, number]>`select 1 from record indexed by record_by_hash
    where source = +? and stream = +? and raw_hash in (select value from json_each(?)) and last_read < ?
      and state <> 'absent' limit 1`,
  miss: sql`update record indexed by record_by_hash
      set missed = missed + 1, missed_since = iif(missed > 0, coalesce(missed_since, ?), ?)
    where source = +? and stream = +? and raw_hash in (select value from json_each(?)) and last_read < ?
      and state <> 'absent'`,
  makeAbsent: sql`update record indexed by record_missing
      set state = 'absent', deferred_code = null, deferred_reason = null,
      deferred_since = null, changed_at = ?
    where source = +? and stream = +? and last_read < ? and missed > 0 and missed >= ? and missed_since <= ?
      and state <> 'absent'`,
};
