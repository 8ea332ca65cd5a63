import { toInstant } from "../../base/clock.ts";
import type { TrustedTime } from "../../base/trusted-time.ts";
import type { Sqlite } from "../database/database.ts";

/** Stamps from one instant to another that were written while the clock was so many milliseconds ahead. */
interface Span {
  from: string;
  to: string;
  aheadMs: number;
}

/** What was corrected: rows of tables, and audit entries by their numbers, which keep the time that they bear. */
export interface Correction {
  rows: number;
  first: number | null;
  last: number | null;
  spans: Span[];
}

/** Proof is never changed. */
const proof = ["audit", "audit_tile", "audit_tree", "closed_period", "closed_file", "sign_off", "meta"];
const isStamp = /(?:^|_)(?:at|since|seen)$|^settle_after$|^accepted_until$/u;
/** Columns that may name a time to come, until which something waits. */
const ofTheFuture = ["settle_after", "accepted_until", "probe_at"];
/** Rows that would be one with another are moved back by a millisecond more, so often at most. */
const mostMoves = 1_000;

/**
 * Moves the stamps of all tables that lie after `time` to when they were written: behind the audit entry before them,
 * as far apart as they are. Runs inside the writer's transaction.
 */
export function correctStamps(database: Sqlite, time: TrustedTime, newest: number): Correction {
  const now = toInstant(time.epochMs);
  const { entries, spans } = wrongEntries(database, time.epochMs);
  if (spans.length === 0) {
    if (newest <= time.epochMs) return { rows: 0, first: null, last: null, spans: [] };
    const base = lastBefore(database, Number.MAX_SAFE_INTEGER) ?? time.epochMs;
    spans.push({ from: newest, to: newest, aheadMs: newest - base });
  }
  let moved = 0;
  let isOfTheFuture = false;
  database.function("crm_sync_corrected", (stamp): string => {
    const ms = Date.parse(String(stamp));
    // A wait ends no earlier than if the last of them had been written just now.
    if (isOfTheFuture) return toInstant(ms - (waitOf(spans, ms).to - time.epochMs));
    return toInstant(Math.min(time.epochMs, correctedOf(spans, ms)) - moved);
  });
  let rows = 0;
  for (const { table, column } of stampColumns(database)) {
    isOfTheFuture = ofTheFuture.includes(column);
    const after = isOfTheFuture ? toInstant(Math.min(...spans.map(({ from }) => from)) - 1) : now;
    const wrong = `where "${column}" > ? and "${column}" glob '????-??-??T*Z'`;
    const update = database.prepare(
      `update or ignore "${table}" set "${column}" = crm_sync_corrected("${column}") ${wrong}`,
    );
    const left = database.prepare<[string], number>(`select count(*) from "${table}" ${wrong}`).pluck();
    // What names a time to come may do so afterwards too: it is moved once.
    const most = isOfTheFuture ? 1 : mostMoves;
    for (moved = 0; moved < most && (left.get(after) ?? 0) > 0; moved += 1) rows += update.run(after).changes;
  }
  return {
    rows,
    first: entries[0] ?? null,
    last: entries.at(-1) ?? null,
    spans: spans.map(({ from, to, aheadMs }) => ({ from: toInstant(from), to: toInstant(to), aheadMs })),
  };
}

/** A span in epoch milliseconds. */
interface Ahead {
  from: number;
  to: number;
  aheadMs: number;
}

/**
 * The audit entries that bear a time after `now`, by their numbers, and by how much the clock was ahead: a new span
 * begins where the clock was set in between. What was written first of each was written right after the entry before.
 */
function wrongEntries(database: Sqlite, now: number): { entries: number[]; spans: Ahead[] } {
  const wrong = database.prepare<[string], { sequence: number; at: string }>(
    "select sequence, at from audit where at > ? order by sequence",
  );
  const entries: number[] = [];
  const spans: Ahead[] = [];
  let span: Ahead | undefined;
  for (const { sequence, at } of wrong.iterate(toInstant(now))) {
    const ms = Date.parse(at);
    const follows = entries.at(-1) === sequence - 1;
    if (span === undefined || !follows || ms < span.to || ms - span.aheadMs > now) {
      const before: number =
        follows && span !== undefined ? span.to - span.aheadMs : (lastBefore(database, sequence) ?? now);
      span = { from: ms, to: ms, aheadMs: ms - Math.min(before, now) };
      spans.push(span);
    }
    span.to = ms;
    entries.push(sequence);
  }
  return { entries, spans };
}

/** When the entry before one was written; undefined where there is none. */
function lastBefore(database: Sqlite, sequence: number): number | undefined {
  const at = database
    .prepare<[number], string>("select at from audit where sequence < ? order by sequence desc limit 1")
    .pluck()
    .get(sequence);
  return at === undefined ? undefined : Date.parse(at);
}

/** The span in which a wait began that ends then: the last one that began before it ends. */
function waitOf(spans: readonly Ahead[], end: number): Ahead {
  const [first = { from: end, to: end, aheadMs: 0 }] = spans;
  return spans.findLast(({ from }) => end >= from) ?? first;
}

/**
 * By the span that a stamp lies in, or by the nearest: a read stamps records before a run makes its first entry. No
 * stamp comes to lie before the entry that its span follows.
 */
function correctedOf(spans: readonly Ahead[], stamp: number): number {
  const distance = ({ from, to }: Ahead): number => Math.max(from - stamp, stamp - to, 0);
  const { from, aheadMs } = spans.reduce((best, span) => (distance(span) < distance(best) ? span : best));
  return Math.max(stamp, from) - aheadMs;
}

function stampColumns(database: Sqlite): { table: string; column: string }[] {
  return database
    .prepare<[], { table: string; column: string }>(
      `select s.name as "table", c.name as "column" from sqlite_schema s join pragma_table_info(s.name) c
       where s.type = 'table' and c.type = 'TEXT' collate nocase order by s.name, c.cid`,
    )
    .all()
    .filter(({ table, column }) => !proof.includes(table) && isStamp.test(column));
}
