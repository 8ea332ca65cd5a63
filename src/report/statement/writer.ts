import type { Part, Row, StatementHeader, StatementShape, Column } from "./shape.ts";
import type { JsonObject, Json } from "../../base/canonical-json.ts";
import { tolerancesJson, tolerancesText } from "./tolerances.ts";
import { type LocalTime, type Exact, exactJson, isExact, plus, currencyOf } from "./cells.ts";
import { decimalText } from "../../crm/currency.ts";

/**
 * A piece of one of the files that a statement is written into. `file` is empty for the file that was asked for, or
 * the name of a part; `fileNameOf` makes a path of it. Files come one after the other: the first chunk of a file begins it, and a chunk of another file ends it.
 */
export interface FileChunk {
  file: string;
  chunk: string;
}

/** What is written: a statement, and what it was made from. */
export interface OpenStatement {
  shape: StatementShape;
  header: StatementHeader;
}

/** The totals of each part, by its name. */
export type StatementTotals = ReadonlyMap<string, PartTotals>;

/**
 * How a format writes a statement. Its methods are called in this order: `begin`; for each part, in the order of the
 * shape, `beginPart`, `rows` in batches as they come, `endPart`; `end`. Rows are checked before they are handed over.
 */
export interface StatementWriter {
  begin(): Iterable<FileChunk>;
  beginPart(part: Part): Iterable<FileChunk>;
  rows(part: Part, rows: readonly Row[]): Iterable<FileChunk>;
  endPart(part: Part, totals: PartTotals): Iterable<FileChunk>;
  end(totals: StatementTotals): Iterable<FileChunk>;
}

/** Makes the writer of one format. */
export type MakeWriter = (statement: OpenStatement) => StatementWriter;

/** The path of one of the files: `orders.csv` and `lines` give `orders.lines.csv`. */
export function fileNameOf(path: string, file: string): string {
  if (file === "") return path;
  const [, before = path, ending = ""] = /^(.*[^/\\])(\.[^./\\]+)$/su.exec(path) ?? [];
  return `${before}.${file}${ending}`;
}

/** The file in which a part stands, where each has one of its own: the first is the file that was asked for. */
export function fileOfPart(shape: StatementShape, part: Part): string {
  return part.name === shape.parts[0].name ? "" : part.name;
}

/** One fact of what a statement was made from: its name for machines, its words for people, its value. */
export interface HeaderFact {
  name: string;
  title: string;
  value: string | number | boolean | null;
  /** The value is an instant in UTC. */
  instant?: true;
  /** The value is a text of lines, each ended by a line feed. */
  lines?: true;
}

/** What a statement was made from, one fact a line, in the order in which people read it. */
function headerFacts(header: StatementHeader): HeaderFact[] {
  const { period, filters, auditHead } = header;
  return [
    fact("statement", "Statement", header.kind),
    fact("version", "Version of its columns", header.version),
    fact("period", "Period", period.label),
    { ...fact("from", "From", period.from), instant: true },
    { ...fact("to", "Up to, not included", period.to), instant: true },
    fact("zone", "Time zone", period.zone),
    ...(period.joined === true
      ? [fact("joined", "Begins where the period closed before it ended, which had another time zone", true)]
      : []),
    fact("by", "A row belongs to the period by", header.by),
    fact("source", "Only the source", filters.source ?? null),
    fact("customer", "Only the customer", filters.customer ?? null),
    fact("branch", "Only the branch", filters.branch ?? null),
    fact("product", "Only the product", filters.product ?? null),
    { ...fact("as_of", "As of", header.asOf), instant: true },
    fact("provisional", "Provisional (period not over)", header.provisional),
    fact("ledger", "Ledger", header.ledger),
    fact("audit_sequence", "Audit head: entry", auditHead?.sequence ?? null),
    { ...fact("audit_at", "Audit head: time", auditHead?.at ?? null), instant: true },
    fact("audit_hash", "Audit head: hash", auditHead?.hash ?? null),
    fact("audit_size", "Audit tree: size", auditHead?.size ?? null),
    fact("audit_root", "Audit tree: root", auditHead?.root ?? null),
    { ...fact("audit_checkpoint", "Audit head: signed", auditHead?.checkpoint ?? null), lines: true },
    fact("tolerances", "Tolerated", header.tolerances === undefined ? null : tolerancesText(header.tolerances)),
    fact("program", "Version of the program", header.program),
  ];
}

function fact(name: string, title: string, value: HeaderFact["value"]): HeaderFact {
  return { name, title, value };
}

/** The facts that are known, for people: a filter that was not set is none. */
export function knownFacts(header: StatementHeader): HeaderFact[] {
  return headerFacts(header).filter(({ value }) => value !== null);
}

/** A fact as people read it, with instants in the zone of the statement, line by line. */
export function factLines({ value, instant, lines }: HeaderFact, time: LocalTime): string[] {
  if (typeof value === "boolean") return [value ? "yes" : "no"];
  if (lines === true) return linesOf(String(value));
  return [instant === true ? time.text(String(value)) : String(value)];
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/u, "").split("\n");
}

/** The header as JSON. */
export function headerJson({ kind, filters, period, auditHead, tolerances, ...header }: StatementHeader): JsonObject {
  return {
    statement: kind,
    ...header,
    ...(tolerances !== undefined && { tolerances: tolerancesJson(tolerances) }),
    period: { ...period },
    filters: {
      source: filters.source ?? null,
      customer: filters.customer ?? null,
      branch: filters.branch ?? null,
      product: filters.product ?? null,
    },
    auditHead: auditHead === null ? null : { ...auditHead },
  };
}

/** The sum of a column: of money that of one currency, in its minor unit; of integers the currency is null. */
export interface Sum {
  column: Column;
  currency: string | null;
  total: Exact;
}

/** How many rows there are and what their columns add up to. Sums are ordered by column, then by currency. */
export interface Totals {
  rows: number;
  sums: Sum[];
}

/** The totals of a part, and those of the rows with each value of `groupBy`, ordered by it, rows without one last. */
export interface PartTotals extends Totals {
  groups: (Totals & { value: string | null })[];
}

/** Counts the rows of a part and adds them up as they go by. Nothing is kept of them but sums. */
interface Adding {
  readonly rows: number;
  add(row: Row): void;
  totals(): PartTotals;
}

/** What is added up of rows: integers by column, amounts by column and currency. */
class RunningTotals {
  rows = 0;
  readonly #sums: readonly (readonly [Column, Map<string | null, Exact>])[];

  constructor(part: Part) {
    this.#sums = part.columns
      .filter((column) => column.total === true)
      .map((column) => [column, new Map<string | null, Exact>(column.type === "money" ? [] : [[null, 0]])]);
  }

  add(row: Row): void {
    this.rows += 1;
    for (const [column, sums] of this.#sums) {
      const cell = row[column.name];
      if (!isExact(cell)) continue;
      const currency = column.type === "money" ? currencyOf(row, column) : null;
      sums.set(currency, plus(sums.get(currency) ?? 0, cell));
    }
  }

  totals(): Totals {
    const sums = this.#sums.flatMap(([column, byCurrency]) =>
      [...byCurrency]
        .toSorted(([one], [other]) => inOrder(one, other))
        .map(([currency, total]) => ({ column, currency, total })),
    );
    return { rows: this.rows, sums };
  }
}

/** Begins the totals of a part. */
export function addingUp(part: Part): Adding {
  const whole = new RunningTotals(part);
  const groups = new Map<string | null, RunningTotals>();
  return {
    get rows() {
      return whole.rows;
    },
    add(row) {
      whole.add(row);
      if (part.groupBy === undefined) return;
      const cell = row[part.groupBy] ?? null;
      const value = cell === null ? null : String(cell);
      let group = groups.get(value);
      if (group === undefined) groups.set(value, (group = new RunningTotals(part)));
      group.add(row);
    },
    totals: () => ({
      ...whole.totals(),
      groups: [...groups]
        .toSorted(([one], [other]) => inOrder(one, other))
        .map(([value, group]) => ({ value, ...group.totals() })),
    }),
  };
}

/** Code-unit order, so that it is the same on every machine; what is missing comes last. */
function inOrder(one: string | null, other: string | null): number {
  if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1;
  return one < other ? -1 : one > other ? 1 : 0;
}

/** A sum as people read it: money as a decimal. */
export function sumText({ currency, total }: Sum): string {
  return currency === null ? String(total) : decimalText(total, currency);
}

/** Totals as JSON: integers as in the rows, money as decimal texts by currency. */
export function totalsJson(part: Part, totals: PartTotals): JsonObject {
  const groups = totals.groups.map(({ value, ...group }) => ({ value, ...plain(part, group) }));
  return part.groupBy === undefined ? plain(part, totals) : { ...plain(part, totals), groups };
}

function plain(part: Part, { rows, sums }: Totals): { rows: number; columns: JsonObject } {
  const summed = part.columns.filter(({ total }) => total === true);
  const columns = summed.map((column): [string, Json] => {
    const found = sums.filter((sum) => sum.column === column);
    if (column.type !== "money") return [column.name, exactJson(found[0]?.total ?? 0)];
    return [column.name, Object.fromEntries(found.map((sum) => [sum.currency ?? "", sumText(sum)]))];
  });
  return { rows, columns: Object.fromEntries(columns) };
}
