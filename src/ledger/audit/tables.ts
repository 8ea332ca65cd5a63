import { table } from "../database/statements.ts";
import type { Sqlite } from "../database/database.ts";
import type { AuditRow } from "./audit-log.ts";

export interface AuditTable {
  sequence: number;
  format: number;
  at: string;
  kind: string;
  subject: string;
  body: string;
  previous: string;
  hash: string;
  /** 32 random hexadecimal characters; part of the hash. */
  salt: string;
}

export interface AuditTreeTable {
  only_one: 1;
  size: number;
  /** The roots of the complete subtrees, largest first, as a JSON list. */
  roots: string;
}

/** The root of the complete subtree of the leaves `number` × 256 to `number` × 256 + 255. */
export interface AuditTileTable {
  number: number;
  root: string;
}

export interface HeadPlaceTable {
  place: string;
  sequence: number | null;
  kept_at: string | null;
  problem: string | null;
  failing_since: string | null;
}

export const auditTables = {
  audit: table<AuditTable>(),
  audit_tree: table<AuditTreeTable>(),
  audit_tile: table<AuditTileTable>(),
  head_place: table<HeadPlaceTable>(),
};

/** Reading single entries takes a third longer; larger pages gain little. */
const entriesInPage = 500;

/** All entries in order, read in pages. The caller must hold one transaction. */
export function* entriesOf(database: Sqlite): Generator<AuditRow, void, void> {
  const after = database.prepare<[number], AuditRow>(
    `select sequence, format, at, kind, subject, body, previous, hash, salt from audit
     where sequence > +? order by sequence limit ${entriesInPage}`,
  );
  let last: number | undefined = Number.MIN_SAFE_INTEGER;
  // A larger sequence is not exact, and its page would repeat for ever.
  while (last !== undefined && last <= Number.MAX_SAFE_INTEGER) {
    const page: AuditRow[] = after.all(last);
    yield* page;
    last = page.length < entriesInPage ? undefined : page.at(-1)?.sequence;
  }
}
