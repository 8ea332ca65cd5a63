import type { JsonObject } from "../base/canonical-json.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import { csvLines } from "./csv.ts";
import type { ReportCell } from "./csv.ts";
import type { TreeHeadFacts } from "./facts.ts";

export const reportKinds = ["orders", "reconciliation", "exceptions", "rebuild"] as const;
export type ReportKind = (typeof reportKinds)[number];

export const reportFormats = ["csv", "json"] as const;
export type ReportFormat = (typeof reportFormats)[number];

/**
 * The time a report is about: `from` belongs to it and `to` does not (ISO instants in UTC); `label` is what was asked
 * for, such as `2026-10`.
 */
export interface ReportPeriod {
  label: string;
  zone: string;
  from: string;
  to: string;
}

export interface ReportRequest {
  kind: ReportKind;
  period: ReportPeriod;
  /** Which date puts a row into the period: when it happened here, or the date the CRM gives the order. */
  by: "happened" | "crm-date";
}

/** What a report was made from. It holds no time of its making: the same ledger gives the same bytes. */
export interface ReportHeader extends ReportRequest {
  ledger: string | null;
  /** The head of the audit chain that the report stands on. */
  auditHead: TreeHeadFacts | null;
  /** When the ledger last learned something: ages are counted from here. */
  asOf: string | null;
}

/** One row: its columns by name. */
export type ReportRow = Readonly<Record<string, ReportCell>>;

/** A kind of report: its columns in their order, and what is counted over its rows. */
export interface ReportShape {
  columns: readonly string[];
  /** The name of the total that a row counts for, such as `product matched`. */
  totalOf(row: ReportRow): string;
}

const rowsInChunk = 500;

/** Refuses a format that is not built. */
export function requireFormat(format: string): ReportFormat {
  const known = reportFormats.find((name) => name === format);
  if (known !== undefined) return known;
  throw new Problem({
    code: "report.format",
    message:
      format === "xlsx" || format === "html"
        ? `reports as ${format} are not built yet; they come with the formats for finance`
        : `there is no report format ${JSON.stringify(format)}`,
    cure: `use --format ${reportFormats.join(" or ")}`,
    exitCode: exitCodes.usage,
  });
}

/**
 * A report as chunks of text. CSV: a line of column names, the rows, and a last line that begins with `#end` and says
 * what the report was made from and how many rows it has. JSON: one document with the header on its first line, one row
 * a line, and the totals on its last.
 */
export async function* renderReport(
  format: ReportFormat,
  shape: ReportShape,
  header: ReportHeader,
  rows: AsyncIterable<ReportRow> | Iterable<ReportRow>,
): AsyncGenerator<string, void, void> {
  const write = format === "csv" ? csvWriter(shape, header) : jsonWriter(shape, header);
  yield write.begin;
  const totals = new Map<string, number>();
  let count = 0;
  let chunk: ReportRow[] = [];
  for await (const row of rows) {
    const name = shape.totalOf(row);
    totals.set(name, (totals.get(name) ?? 0) + 1);
    chunk.push(row);
    if (chunk.length < rowsInChunk) continue;
    yield write.rows(chunk, count);
    count += chunk.length;
    chunk = [];
  }
  if (chunk.length > 0) yield write.rows(chunk, count);
  count += chunk.length;
  yield write.end({
    rows: count,
    ...Object.fromEntries([...totals].sort(([left], [right]) => (left < right ? -1 : 1))),
  });
}

interface ChunkWriter {
  begin: string;
  rows(rows: readonly ReportRow[], before: number): string;
  end(totals: Record<string, number>): string;
}

function csvWriter(shape: ReportShape, header: ReportHeader): ChunkWriter {
  const { columns } = shape;
  return {
    begin: csvLines([columns]),
    rows: (rows) => csvLines(rows.map((row) => columns.map((column) => row[column] ?? null))),
    end: (totals) => {
      const cells = [
        "#end",
        ...headerCells(header),
        ...Object.entries(totals).map(([name, count]) => `${name}: ${count}`),
      ];
      const width = columns.length;
      const last = cells.length > width ? [...cells.slice(0, width - 1), cells.slice(width - 1).join("; ")] : cells;
      return csvLines([[...last, ...Array.from({ length: width - last.length }, () => "")]]);
    },
  };
}

function headerCells(header: ReportHeader): string[] {
  const { period, auditHead } = header;
  return [
    `crm-sync ${header.kind} ${period.label} by ${header.by}`,
    `from ${period.from} to ${period.to} (${period.zone})`,
    auditHead === null
      ? "audit head: none"
      : `audit head: ${auditHead.sequence} ${auditHead.hash}, tree ${auditHead.size} ${auditHead.root}`,
    `ledger: ${header.ledger ?? "unnamed"}`,
    `as of: ${header.asOf ?? "never"}`,
  ];
}

function jsonWriter(shape: ReportShape, header: ReportHeader): ChunkWriter {
  return {
    begin: `{"header":${canonicalJson(headerJson(shape, header))},\n"rows":[`,
    rows: (rows, before) =>
      rows.map((row, index) => `${before + index === 0 ? "\n" : ",\n"}${canonicalJson(rowJson(shape, row))}`).join(""),
    end: (totals) => `\n],\n"totals":${canonicalJson(totals)}}\n`,
  };
}

function headerJson(shape: ReportShape, header: ReportHeader): JsonObject {
  return {
    report: header.kind,
    by: header.by,
    period: { ...header.period },
    ledger: header.ledger,
    auditHead: header.auditHead === null ? null : { ...header.auditHead },
    asOf: header.asOf,
    columns: [...shape.columns],
  };
}

function rowJson(shape: ReportShape, row: ReportRow): JsonObject {
  const json: JsonObject = {};
  for (const column of shape.columns) {
    const cell = row[column] ?? null;
    json[column] = isList(cell) ? [...cell] : cell;
  }
  return json;
}

function isList(cell: ReportCell): cell is readonly string[] {
  return Array.isArray(cell);
}
