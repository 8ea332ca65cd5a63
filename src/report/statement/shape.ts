import type { TreeHeadFacts } from "../facts.ts";

/**
 * What a statement is made of, whatever format it is written in. A statement has parts, each a table whose columns have
 * a type; its rows come part by part, in the order of the parts. Names and types of columns are a promise: a change of
 * one raises the version of the statement.
 */

/**
 * What stands in the cells of a column, and how it is held in memory:
 *
 * - `text`, `list` (texts in their order), `integer`, `boolean`; whole numbers with more digits than a number holds are
 *   bigints
 * - `money`: a whole number of the minor unit of the currency in the column `currencyIn` of the same row
 * - `date`: a local date such as `2026-10-01`, as the CRM gave it or in the zone of the statement
 * - `instant`: an ISO instant in UTC; shown in the zone of the statement
 */
export type ColumnType = "text" | "list" | "integer" | "boolean" | "money" | "date" | "instant";

export interface Column {
  /** As it stands in CSV and JSON: lower case, words joined by `_`. */
  name: string;
  type: ColumnType;
  /** Its heading for people. */
  title: string;
  /** What stands in it, in one sentence. */
  about: string;
  /** Of money: the column with its currency (ISO 4217). */
  currencyIn?: string;
  /** It is added up over the part: integers as they are, money for each currency by itself. */
  total?: true;
}

/** One table of a statement. */
export interface Part {
  name: string;
  title: string;
  about: string;
  columns: readonly Column[];
  /** The column by whose values rows are counted and totals are grouped, such as the verdict. */
  groupBy?: string;
}

/** A kind of statement: its parts in their order. */
export interface StatementShape {
  kind: string;
  version: number;
  title: string;
  about: string;
  parts: readonly [Part, ...Part[]];
  /** What it says depends on tolerances: they are printed on it. */
  tolerates?: true;
}

export type Cell = string | number | bigint | boolean | null | readonly string[];

/** One row: its cells by the names of the columns; a column that is left out is empty. */
export type Row = Readonly<Record<string, Cell>>;

/** A row and the part that it stands in. */
export interface PartRow {
  part: string;
  row: Row;
}

/**
 * The time a statement is about: `from` belongs to it and `to` does not (ISO instants in UTC); `label` is what was
 * asked for, such as `2026-10`.
 */
export interface Period {
  label: string;
  zone: string;
  from: string;
  to: string;
  /** It begins where the period closed before it ended, in another zone, and not where `label` does in `zone`. */
  joined?: true;
}

/** Which date puts a row into the period: when it happened here, or the date that the CRM gives the order. */
export type PeriodBy = "happened" | "crm-date";

/** What a statement is limited to; what is left out limits nothing. */
export interface Filters {
  source?: string | undefined;
  /** A customer's key, such as `crm/ALFKI`. */
  customer?: string | undefined;
  /** The code of a branch. */
  branch?: string | undefined;
  /** A product number (gmsPid) or application key. */
  product?: string | undefined;
}

/**
 * Up to how much two values may differ and still count as equal; without it they are equal or different. And how old
 * what is open may be before it counts as missing, or as old.
 */
export interface Tolerances {
  /** Minor units by currency. */
  money?: Readonly<Record<string, number>> | undefined;
  /** Seconds between two dates of a term. */
  seconds?: number | undefined;
  /** What was sent fewer days ago and is not shown counts as on its way. */
  transitDays?: number | undefined;
  /** Days at which the classes of ages end. */
  ageing?: readonly number[] | undefined;
}

/** What is asked for. */
export interface StatementRequest {
  period: Period;
  by: PeriodBy;
  filters: Filters;
  /** The moment in the past whose knowledge is asked for (ISO instant in UTC); without it all that the ledger knows. */
  asOf?: string | undefined;
  tolerances?: Tolerances | undefined;
}

/** The head of the audit log that a statement stands on: the last entry, and the Merkle tree that ends with it. */
export interface StatementHead extends TreeHeadFacts {
  /** When that entry was written. */
  at: string;
  /** The same as a checkpoint, signed; undefined where nothing signed it. */
  checkpoint?: string | undefined;
}

/** What a statement was made from. It holds no time of its making: the same ledger gives the same bytes. */
export interface StatementHeader {
  kind: string;
  version: number;
  title: string;
  period: Period;
  by: PeriodBy;
  filters: Filters;
  /** The moment whose knowledge it stands on: what was asked for, or when the ledger last learned something. */
  asOf: string | null;
  /** The period was not over then. */
  provisional: boolean;
  ledger: string | null;
  auditHead: StatementHead | null;
  /** What was tolerated, where what it says depends on that. */
  tolerances?: Tolerances | undefined;
  /** Version of the program. */
  program: string;
}

/** The kinds of statements, as a configuration names them; those that are made have their rows in the inquiry. */
export const statementKinds = ["orders", "entitlements", "reconciliation", "exceptions", "run"] as const;

/** A column in one line of a shape: its type, name and heading, and what stands in it. */
export function column(
  type: ColumnType,
  name: string,
  title: string,
  about: string,
  more: Pick<Column, "currencyIn" | "total"> = {},
): Column {
  return { name, type, title, about, ...more };
}

/** An amount, and beside it the column with its currency. */
export function amountColumns(
  name: string,
  title: string,
  about: string,
  { currencyIn = `${name}_currency`, total }: Pick<Column, "currencyIn" | "total"> = {},
): Column[] {
  const amount = column("money", name, title, about, { currencyIn, ...(total === true && { total }) });
  if (currencyIn !== `${name}_currency`) return [amount];
  return [amount, column("text", currencyIn, `${title}: currency`, "Currency of that amount (ISO 4217).")];
}
