import { canonicalJson, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { decimalText } from "../../crm/currency.ts";
import {
  cellOf,
  currencyOf,
  exactJson,
  isExact,
  isList,
  localTime,
  minorOf,
  withEscapes,
  type LocalTime,
} from "./cells.ts";
import { sumText, type OpenStatement, type PartTotals, type StatementWriter, type Totals } from "./writer.ts";
import type { Column, Part, Row, StatementHeader } from "./shape.ts";
import { tolerancesJson } from "./tolerances.ts";

/**
 * One JSON document: a header line, then each part with columns, one row per line, and totals. Lines are canonical
 * JSON. Texts are exact, but characters that act in a terminal or editor are escaped.
 */
export function jsonWriter({ header }: OpenStatement): StatementWriter {
  const time = localTime(header.period.zone);
  let parts = 0;
  let rowsOfPart = 0;
  return {
    begin: () => `{"header":${line(headerJson(header))},\n"parts":{`,
    beginPart: (part) => {
      const before = parts === 0 ? "" : ",";
      parts += 1;
      rowsOfPart = 0;
      return `${before}\n${JSON.stringify(part.name)}:{"columns":${line(columnsJson(part))},\n"rows":[`;
    },
    rows: (part, rows) => {
      const lines = rows.map((row) => `\n${line(rowJson(part, row, time))}`).join(",");
      const text = rowsOfPart === 0 ? lines : `,${lines}`;
      rowsOfPart += rows.length;
      return text;
    },
    endPart: (part, totals) => `\n],\n"totals":${line(totalsJson(part, totals))}}`,
    end: () => "\n}}\n",
  };
}

function line(value: Json): string {
  return withEscapes(canonicalJson(value));
}

function headerJson({ kind, filters, period, auditHead, tolerances, ...header }: StatementHeader): JsonObject {
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

function columnsJson(part: Part): Json {
  return part.columns.map(({ name, type, title, currencyIn }) => ({ name, type, title, currencyIn }));
}

function rowJson(part: Part, row: Row, time: LocalTime): JsonObject {
  return Object.fromEntries(part.columns.map((column) => [column.name, cellJson(row, column, time)]));
}

function cellJson(row: Row, column: Column, time: LocalTime): Json {
  const cell = cellOf(row, column);
  if (cell === null) return null;
  if (isList(cell)) return [...cell];
  if (column.type === "money") return decimalText(minorOf(cell), currencyOf(row, column));
  if (isExact(cell)) return exactJson(cell);
  return column.type === "instant" ? time.text(String(cell)) : cell;
}

/** Integers as in the rows; money as decimal texts by currency. */
function totalsJson(part: Part, totals: PartTotals): JsonObject {
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
