import type Database from "better-sqlite3";
import type { JsonObject } from "../../base/canonical-json.ts";
import { canonicalJson, sha256 } from "../../base/canonical-json.ts";
import type { AuditTable } from "./tables.ts";

/** One link of the chain as it stands in the table. */
export type AuditRow = AuditTable;

export interface AuditHead {
  sequence: number;
  hash: string;
}

const format = 1;

/**
 * The hash of an entry: SHA-256 over the JSON array of its fields and the hash before it. A JSON array cannot be read
 * in two ways.
 */
export function auditHash(row: Omit<AuditRow, "hash">): string {
  return sha256(JSON.stringify([row.format, row.sequence, row.at, row.kind, row.subject, row.body, row.previous]));
}

/** Appends entries inside the caller's transaction; the head is read there and never remembered. */
export class AuditLog {
  readonly #head;
  readonly #hashAt;
  readonly #insert;

  constructor(database: Database.Database) {
    this.#head = database.prepare<[], AuditHead>("select sequence, hash from audit order by sequence desc limit 1");
    this.#hashAt = database.prepare<[number], Pick<AuditTable, "hash">>("select hash from audit where sequence = +?");
    this.#insert = database.prepare(
      "insert into audit (sequence, format, at, kind, subject, body, previous, hash) values (?, ?, ?, ?, ?, ?, ?, ?)",
    );
  }

  append(entry: { at: string; kind: string; subject: string; body: JsonObject }): AuditHead {
    const head = this.#head.get();
    const row = {
      sequence: (head?.sequence ?? 0) + 1,
      format,
      at: entry.at,
      kind: entry.kind,
      subject: entry.subject,
      body: canonicalJson(entry.body),
      previous: head?.hash ?? "",
    };
    const hash = auditHash(row);
    this.#insert.run(row.sequence, row.format, row.at, row.kind, row.subject, row.body, row.previous, hash);
    return { sequence: row.sequence, hash };
  }

  head(): AuditHead | undefined {
    return this.#head.get();
  }

  hashAt(sequence: number): string | undefined {
    return this.#hashAt.get(sequence)?.hash;
  }
}

export type AuditVerdict =
  | { good: true; entries: number; head: AuditHead | undefined; keptHeads: number }
  | { good: false; entries: number; firstBad: number; why: string };

/**
 * Walks the whole chain and compares it with the heads that were kept outside the database. Finds every edit, insert,
 * deletion, swap, and every cut up to the last kept head; the first bad entry is named. A cut after the last kept head
 * cannot be seen by anyone. In one piece: one walk, and each way in which an entry can be wrong.
 */
export function verifyChain(rows: Iterable<AuditRow>, keptHeads: readonly AuditHead[]): AuditVerdict {
  const kept = new Map<number, Set<string>>();
  for (const { sequence, hash } of keptHeads) kept.set(sequence, (kept.get(sequence) ?? new Set()).add(hash));
  let previous = "";
  let entries = 0;
  let head: AuditHead | undefined;
  for (const row of rows) {
    const expected = entries + 1;
    if (row.sequence !== expected) {
      return {
        good: false,
        entries,
        firstBad: expected,
        why: `entry ${expected} is missing: the next one is ${row.sequence}`,
      };
    }
    if (row.format !== format) {
      return {
        good: false,
        entries,
        firstBad: expected,
        why: `entry ${expected} has the unknown format ${row.format}`,
      };
    }
    if (row.previous !== previous) {
      return { good: false, entries, firstBad: expected, why: `entry ${expected} does not follow the entry before it` };
    }
    if (auditHash(row) !== row.hash) {
      return {
        good: false,
        entries,
        firstBad: expected,
        why: `entry ${expected} was changed: its hash does not fit its content`,
      };
    }
    const keptHere = kept.get(expected);
    if (keptHere !== undefined && [...keptHere].some((hash) => hash !== row.hash)) {
      return {
        good: false,
        entries,
        firstBad: expected,
        why: `entry ${expected} is not the one whose hash was kept outside the ledger: the chain was written anew`,
      };
    }
    previous = row.hash;
    entries = expected;
    head = { sequence: row.sequence, hash: row.hash };
  }
  const last = keptHeads.reduce((longest, candidate) => Math.max(longest, candidate.sequence), 0);
  if (last > entries) {
    return {
      good: false,
      entries,
      firstBad: entries + 1,
      why:
        `the chain ends at entry ${entries}, but the head of entry ${last} was kept outside the ledger: ` +
        "entries were cut off",
    };
  }
  return { good: true, entries, head, keptHeads: kept.size };
}
