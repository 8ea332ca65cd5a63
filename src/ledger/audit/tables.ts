import { table } from "../database/table.ts";

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
