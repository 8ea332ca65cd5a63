import { table } from "../database/statements.ts";

/** One closing of a period. Instants are ISO text in UTC; `to_at` is excluded. */
export interface ClosedPeriodTable {
  period: string;
  /** Starts at 1. Each closing after a reopening adds 1. */
  closing: number;
  zone: string;
  from_at: string;
  to_at: string;
  closed_at: string;
  closed_by: string;
  reason: string | null;
  /** The time of the knowledge behind the figures, and the last audit entry and tree at that time. */
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

export interface ClosedFileTable {
  period: string;
  closing: number;
  name: string;
  kind: string;
  format: string;
  sha256: string;
  bytes: number;
}

export interface SignOffTable {
  period: string;
  blocker: string;
  /** SHA-256 of the facts. Changed facts need a new sign-off. */
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
