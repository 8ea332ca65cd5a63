import { toInstant } from "../../base/clock.ts";
import type { TrustedTime } from "../../base/trusted-time.ts";
import type { Sqlite } from "../database/database.ts";

interface Span {
  from: string;
  to: string;
  aheadMs: number;
}

/** Corrected rows, and the numbers of audit entries with a wrong time. Entries are never changed. */
export interface Correction {
  rows: number;
  first: number | null;
  last: number | null;
  spans: Span[];
}

const proof = ["audit", "audit_tile", "audit_tree", "closed_period", "closed_file", "sign_off", "meta"];
const isStamp = /(?:^|_)(?:at|since|seen)$|^settle_after$|^accepted_until$/u;
/** Columns that may name a future end of a wait. */
const ofTheFuture = ["settle_after", "accepted_until", "probe_at"];
/** A corrected stamp that breaks a unique key moves back by one more millisecond, at most this often. */
const mostMoves = 1_000;

/**
 * Moves stamps after `time` to after the previous audit entry, with their distances. Runs inside the writer's
 * transaction.
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
    // A wait must not end too early: count as if the last stamp of the span was written now.
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
    // A future time may still be in the future afterwards, so it is moved only once.
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

/** In epoch milliseconds. */
interface Ahead {
  from: number;
  to: number;
  aheadMs: number;
}

/** A new span starts where the clock was set. Its first entry counts as written right after the previous entry. */
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

function lastBefore(database: Sqlite, sequence: number): number | undefined {
  const at = database
    .prepare<[number], string>("select at from audit where sequence < ? order by sequence desc limit 1")
    .pluck()
    .get(sequence);
  return at === undefined ? undefined : Date.parse(at);
}

function waitOf(spans: readonly Ahead[], end: number): Ahead {
  const [first = { from: end, to: end, aheadMs: 0 }] = spans;
  return spans.findLast(({ from }) => end >= from) ?? first;
}

/**
 * By its span, or the nearest: a read stamps records before the run's first entry. Never before the entry before its
 * span.
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
