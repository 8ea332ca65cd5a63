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
  /** 32 hexadecimal characters of chance, which are part of the hash. */
  salt: string;
}

/** The Merkle tree over the entries, as far as it has grown. One row. */
export interface AuditTreeTable {
  only_one: 1;
  /** How many leaves it has: one for each entry. */
  size: number;
  /** The roots of its complete subtrees, the largest first, as a JSON list. */
  roots: string;
}

/** The root of the complete subtree of the leaves `number` × 256 to `number` × 256 + 255. */
export interface AuditTileTable {
  number: number;
  root: string;
}

/** A place outside the database, and the head that it got last; `problem` where it does not get newer ones. */
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

/** Entries that are read together: to read them one by one takes a third longer, and more of them gain little. */
const entriesInPage = 500;

/** The entries of a record in their order, in pages; the caller holds one state of the database. */
export function* entriesOf(database: Sqlite): Generator<AuditRow, void, void> {
  const after = database.prepare<[number], AuditRow>(
    `select sequence, format, at, kind, subject, body, previous, hash, salt from audit
     where sequence > +? order by sequence limit ${entriesInPage}`,
  );
  let last: number | undefined = Number.MIN_SAFE_INTEGER;
  // No number beyond those that are told apart is one of ours, and the next page would begin with it again.
  while (last !== undefined && last <= Number.MAX_SAFE_INTEGER) {
    const page: AuditRow[] = after.all(last);
    yield* page;
    last = page.length < entriesInPage ? undefined : page.at(-1)?.sequence;
  }
}
