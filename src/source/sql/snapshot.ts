/** What a column holds, whatever the database calls it. */
export type ColumnKind =
  | "integer"
  | "decimal"
  | "float"
  | "boolean"
  | "date"
  /** A date and time without zone. */
  | "local"
  /** A moment: a date and time with a zone. */
  | "instant"
  | "json"
  | "binary"
  | "text"
  /** Each value says for itself what it is. */
  | "any";

export interface Column {
  name: string;
  kind: ColumnKind;
  /** What the database calls its type. */
  type: string;
}

/** A value as a database hands it over: text as the database writes it, or a value that lost nothing. */
export type Cell = string | number | bigint | Uint8Array | null;

/** One view of a database at one moment, from its opening until it is closed, in a session that may only read. */
export interface Snapshot {
  /** The time of the database when it was opened, in ISO with Z. */
  readonly openedAt: string;
  /** The condition that a column is at least a time of the form `2026-11-20 08:00:00`, or nothing to compare with it. */
  atLeast(column: string, time: string): string;
  /** The columns that a statement gives, without running it. Throws a DatabaseFailure for more than one statement. */
  columns(statement: string): Promise<Column[]>;
  /**
   * The rows of a statement, at most so many at a time; no more are asked for than are taken. Throws a DatabaseFailure
   * for one that writes, and for more than one.
   */
  rows(statement: string, size: number): AsyncGenerator<Cell[][], void, void>;
  /** Ends it, in the middle of a statement too. */
  close(): Promise<void>;
}

export interface SessionLimits {
  connectTimeoutMs: number;
  statementTimeoutMs: number;
}
