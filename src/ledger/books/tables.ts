import { table } from "../database/statements.ts";

/** One closing of a period. Instants are ISO text in UTC; `to_at` belongs to the period no more. */
export interface ClosedPeriodTable {
  /** As it is asked for, such as `2026-10`. */
  period: string;
  /** The first is 1; each time it is closed after it was opened again is one more. */
  closing: number;
  zone: string;
  from_at: string;
  to_at: string;
  closed_at: string;
  closed_by: string;
  reason: string | null;
  /** The moment whose knowledge its figures stand on, and the audit entry and the tree that were the last ones then. */
  as_of: string;
  entry: number;
  entry_hash: string;
  tree_size: number;
  tree_root: string;
  /** Version of the program, and SHA-256 of the configuration. */
  program: string;
  configuration: string;
  reopened_at: string | null;
  reopened_by: string | null;
  reopened_reason: string | null;
}

/** The facts of a closing by the names that its audit entry has for them. */
export function closingFactsOf(row: ClosedPeriodTable) {
  return {
    zone: row.zone,
    from: row.from_at,
    to: row.to_at,
    reason: row.reason,
    asOf: row.as_of,
    entry: row.entry,
    hash: row.entry_hash,
    size: row.tree_size,
    root: row.tree_root,
    program: row.program,
    configuration: row.configuration,
  };
}

/** One file of a closing. */
export interface ClosedFileTable {
  period: string;
  closing: number;
  /** The name that it is handed out under, such as `orders-2026-10.csv`. */
  name: string;
  /** The statement, and the format that it was rendered in. */
  kind: string;
  format: string;
  sha256: string;
  bytes: number;
}

/** Something that stood in the way of a closing, and the person who takes it as it is. */
export interface SignOffTable {
  period: string;
  blocker: string;
  /** SHA-256 of what was signed: where the facts are others, it is to be signed anew. */
  facts: string;
  at: string;
  by: string;
  reason: string;
}

export const bookTables = {
  closed_period: table<ClosedPeriodTable>(),
  closed_file: table<ClosedFileTable>(),
  sign_off: table<SignOffTable>(),
};
