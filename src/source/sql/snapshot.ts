export type ColumnKind =
  | "integer"
  | "decimal"
  | "float"
  | "boolean"
  | "date"
  | "local"
  | "instant"
  | "json"
  | "binary"
  | "text"
  /** Each value has its own type. */
  | "any";

export interface Column {
  name: string;
  kind: ColumnKind;
  type: string;
}

/** Text as the database writes it, or a value without loss. */
export type Cell = string | number | bigint | Uint8Array | null;

/** A read-only view of a database at one moment. */
export interface Snapshot {
  /** Time of the database at opening, ISO in UTC. */
  readonly openedAt: string;
  /** SQL: the column is at least this time (`2026-11-20 08:00:00`), or has a value that cannot be compared with it. */
  atLeast(column: string, time: string): string;
  /** The columns of a statement, without running it. Throws a DatabaseFailure for several statements. */
  columns(statement: string): Promise<Column[]>;
  /** At most `size` rows at a time, fetched on demand. Throws a DatabaseFailure for a write or several statements. */
  rows(statement: string, size: number): AsyncGenerator<Cell[][], void, void>;
  close(): Promise<void>;
}

export interface SessionLimits {
  connectTimeoutMs: number;
  statementTimeoutMs: number;
}
