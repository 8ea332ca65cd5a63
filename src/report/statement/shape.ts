import type { TreeHeadFacts } from "../facts.ts";

/** A statement in every format: typed tables. Column names and types are a promise: a change raises its version. */

/**
 * The values of a column in memory:
 * - `text`, `list` (ordered texts), `integer`, `boolean`; large whole numbers are bigints
 * - `money`: whole minor units of the currency in the column `currencyIn` of the same row
 * - `date`: a local date such as `2026-10-01`, from the CRM or in the statement's zone
 * - `instant`: an ISO instant in UTC; shown in the statement's zone
 */
export type ColumnType = "text" | "list" | "integer" | "boolean" | "money" | "date" | "instant";

export interface Column {
  name: string;
  type: ColumnType;
  title: string;
  about: string;
  /** For money: the column with its currency (ISO 4217). */
  currencyIn?: string;
  /** Integers get one sum, money one per currency. */
  total?: true;
}

export interface Part {
  name: string;
  title: string;
  about: string;
  columns: readonly Column[];
  /** Groups rows and totals, for example by verdict. */
  groupBy?: string;
}

export interface StatementShape {
  kind: string;
  version: number;
  title: string;
  about: string;
  parts: readonly [Part, ...Part[]];
  /** The result depends on tolerances, so the header shows them. */
  tolerates?: true;
}

export type Cell = string | number | bigint | boolean | null | readonly string[];

export type Row = Readonly<Record<string, Cell>>;

export interface PartRow {
  part: string;
  row: Row;
}

/** ISO instants in UTC: `from` is included, `to` is not. `label` is the user's text, such as `2026-10`. */
export interface Period {
  label: string;
  zone: string;
  from: string;
  to: string;
  /** It begins where the previous closed period ended in another zone, not where `label` begins in `zone`. */
  joined?: true;
}

export type PeriodBy = "happened" | "crm-date";

/** A missing filter limits nothing. */
export interface Filters {
  source?: string | undefined;
  customer?: string | undefined;
  branch?: string | undefined;
  product?: string | undefined;
}

/** How far values may differ and still be equal, and age limits. Without a tolerance, values are equal or different. */
export interface Tolerances {
  money?: Readonly<Record<string, number>> | undefined;
  seconds?: number | undefined;
  /** Something sent fewer days ago and not shown counts as in transit. */
  transitDays?: number | undefined;
  ageing?: readonly number[] | undefined;
}

export interface StatementRequest {
  period: Period;
  by: PeriodBy;
  filters: Filters;
  /** The past moment of the statement (ISO instant in UTC); undefined: all that the ledger knows. */
  asOf?: string | undefined;
  tolerances?: Tolerances | undefined;
}

export interface StatementHead extends TreeHeadFacts {
  at: string;
  checkpoint?: string | undefined;
}

/** The origin of a statement. It has no creation time: the same ledger gives the same bytes. */
export interface StatementHeader {
  kind: string;
  version: number;
  title: string;
  period: Period;
  by: PeriodBy;
  filters: Filters;
  /** The requested moment, or when the ledger last learned something. */
  asOf: string | null;
  /** The period was not over at that moment. */
  provisional: boolean;
  ledger: string | null;
  auditHead: StatementHead | null;
  tolerances?: Tolerances | undefined;
  program: string;
}

/** The kinds by their configuration names. Their rows come from the inquiry. */
export const statementKinds = ["orders", "entitlements", "reconciliation", "exceptions", "run"] as const;

export function column(
  type: ColumnType,
  name: string,
  title: string,
  about: string,
  more: Pick<Column, "currencyIn" | "total"> = {},
): Column {
  return { name, type, title, about, ...more };
}

/** Adds a currency column unless `currencyIn` names one. */
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
