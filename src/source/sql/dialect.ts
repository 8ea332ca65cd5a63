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
  /** The column holds lists of that kind. */
  isList: boolean;
  /** What the database calls its type. */
  type: string;
}

/** A value as a dialect hands it over: text as the database writes it, or a value that lost nothing. */
export type Cell = string | number | bigint | boolean | Uint8Array | null;

/** A value of a column that a statement compares with, as it was read. */
export interface Bound {
  kind: ColumnKind;
  text: string;
}

/**
 * Stands for a value in the SQL that is put around a query. It is no character of any text, so that no query has it.
 */
export const placeOfValue = "\u{F0001}";

/** A statement; each `placeOfValue` in it stands for the next of the values. */
export interface Statement {
  text: string;
  values: readonly Bound[];
}

/** One view of a database at one moment, from its opening until it is closed. */
export interface Snapshot {
  /** The time of the database when it was opened, in ISO with Z. */
  readonly openedAt: string;
  /** The columns that a statement gives, without running it. */
  columns(statement: Statement): Promise<Column[]>;
  /** The rows of a statement, at most so many at a time; no more are asked for than are taken. */
  rows(statement: Statement, columns: readonly Column[], size: number): AsyncGenerator<Cell[][], void, void>;
  /** Whether it can still be asked; what lost its connection cannot. */
  readonly isOpen: boolean;
  /** Ends it, in the middle of a statement too. */
  close(): Promise<void>;
}

/** How a database is reached, with its secret. */
export interface Server {
  host: string;
  port: number | undefined;
  database: string;
  user: string;
  password: string | undefined;
  /** undefined: without TLS. */
  tls: { ca: string | undefined; serverName: string | undefined } | undefined;
}

export interface SessionLimits {
  connectTimeoutMs: number;
  statementTimeoutMs: number;
}

/** Why there is no TLS that can be trusted. */
export type TlsFault = "none-offered" | "expired" | "not-yet-valid" | "other-name" | "unknown-authority" | "other";

/** Why a database did not do what it was asked for, in words that hold no value of a row. */
export interface Failure {
  kind: "missing" | "down" | "lost" | "login" | "tls" | "forbidden" | "writes" | "timed-out" | "query" | "row";
  /** Of `tls`: what is wrong with it. */
  tls?: TlsFault | undefined;
  /** Of `tls`: the name that the certificate had to bear; of `missing`: the file. */
  name?: string | undefined;
  /** SQLSTATE or the number of the error, where there is one. */
  code?: string | undefined;
  /** Line of the statement, from 1. */
  line?: number | undefined;
  /** The database's own words, given only where they can name nothing but parts of the query and of the schema. */
  words?: string | undefined;
}

/** What every call of a dialect throws. The driver's own error is not kept: it may quote values of rows. */
export class DatabaseFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.words ?? failure.code ?? failure.kind);
    this.failure = failure;
  }
}

/** One kind of database. */
export interface Dialect {
  quoted(name: string): string;
  /**
   * The condition that a column is at least the value of the statement that `placeOfValue` stands for, or is nothing
   * that can be compared with it.
   */
  atLeast(column: string, kind: ColumnKind): string;
  /** Opens a session that may only read, and in it a view of one moment. */
  open(): Promise<Snapshot>;
}

/** `atLeast`, where a column has values of its one kind or none. */
export function atLeastOrNone(column: string): string {
  return `(${column} >= ${placeOfValue} or ${column} is null)`;
}

/** The text of a statement with the places of its values written as a dialect does. */
export function written({ text }: Statement, place: (index: number) => string): string {
  return text.split(placeOfValue).reduce((before, after, index) => `${before}${place(index - 1)}${after}`);
}
