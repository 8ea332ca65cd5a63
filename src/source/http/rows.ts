import { parse } from "csv-parse/sync";
import type { Json } from "../../base/canonical-json.ts";
import { Problem } from "../../base/errors.ts";
import { namedDelimiter, readCsv } from "../file/csv.ts";
import type { CsvSettings } from "../file/file-source-settings.ts";
import { readNdjson } from "../file/json.ts";
import type { RecordLimits } from "../json.ts";
import { sourceProblem } from "../problems.ts";
import type { FileItem, FormatReader } from "../reader.ts";
import { htmlProblem, readJson, textOf, unreadable } from "./answer.ts";
import type { Named, Page, Received } from "./answer.ts";

/** What a reading remembers of its CSV answers: some services write the header on the first page only. */
export interface CsvMemory {
  header: readonly string[] | undefined;
}

/** How an answer of text is written, and what a record in it may cost. */
interface TextForm {
  encoding?: string | undefined;
  limits: RecordLimits;
}

/** Reads an answer of CSV, as a file is read: what is cut off or has lost a column makes the page unusable. */
export async function csvPage(
  received: Received,
  csv: CsvSettings,
  { form, columns, memory }: { form: TextForm; columns: readonly string[]; memory: CsvMemory },
  named: Named,
): Promise<Page> {
  const text = await textOf(received, form, named);
  const web = htmlProblem(text, named);
  if (web !== undefined) throw web;
  const hasHeader = csv.header === undefined || csv.firstRow === "header";
  const first = hasHeader ? firstRow(text, csv) : undefined;
  if (hasHeader && first === undefined) throw unreadable(named, "CSV without a header", "source.not-json");
  const { header } = memory;
  const isRecord = header !== undefined && first !== undefined && !isHeader(first, header);
  if (first !== undefined && !isRecord) memory.header = first;
  const settings: CsvSettings = isRecord ? { ...csv, header: csv.header ?? [...header], firstRow: "record" } : csv;
  const file = { name: named.place, bytes: bytesOf(text) };
  return { items: await rowsOf(readCsv(file, settings, columns, form.limits, mostRows), "CSV", named), document: null };
}

/** Reads an answer of lines of JSON. */
export async function ndjsonPage(received: Received, form: TextForm, named: Named): Promise<Page> {
  const text = await textOf(received, form, named);
  const web = htmlProblem(text, named);
  if (web !== undefined) throw web;
  const file = { name: named.place, bytes: bytesOf(text) };
  const rows = readNdjson(file, undefined, form.limits, mostRows);
  return { items: await rowsOf(rows, "lines of JSON", named), document: null };
}

/** The JSON in which a service says that it failed, where rows were asked for; undefined where it sent rows. */
export function jsonInstead(received: Received, named: Named): Json | undefined {
  const start = received.bytes.subarray(0, 100).toString("latin1").trimStart();
  if (!start.startsWith("{") && !start.startsWith("[")) return undefined;
  try {
    return readJson(received, Number.POSITIVE_INFINITY, named).document;
  } catch {
    return undefined;
  }
}

/** Larger than any page: rows are taken in one piece. */
const mostRows = Number.MAX_SAFE_INTEGER;

async function* bytesOf(text: string): AsyncGenerator<Buffer, void, void> {
  yield Buffer.from(text.replace(/^\uFEFF/u, ""), "utf8");
}

async function rowsOf(reader: FormatReader, what: string, named: Named): Promise<FileItem[]> {
  const items: FileItem[] = [];
  try {
    for (;;) {
      const next = await reader.next();
      if (next.done !== true) {
        for (const item of next.value) items.push(item);
        continue;
      }
      if (next.value !== undefined) throw next.value;
      return items;
    }
  } catch (thrown) {
    if (!(thrown instanceof Problem)) throw thrown;
    // What was cut off may come whole when it is asked for again.
    const code = thrown.code === "source.half-read" ? "source.not-json" : "source.wrong-shape";
    const message = `The ${named.who} answers with ${what} that cannot be read completely. ${thrown.message}`;
    throw sourceProblem(code, thrown.place ?? named.place, message, thrown.cure);
  }
}

function firstRow(text: string, csv: CsvSettings): string[] | undefined {
  const options = { delimiter: csv.delimiter, quote: csv.quote, relax_quotes: true, relax_column_count: true };
  const beginning = text.slice(namedDelimiter(text)?.bytes ?? 0, 1_000_000);
  try {
    const [row]: unknown[] = parse(beginning, { ...options, bom: true, skip_empty_lines: true, to: 1 });
    return Array.isArray(row) ? row.map(String) : undefined;
  } catch {
    return undefined;
  }
}

function isHeader(row: readonly string[], header: readonly string[]): boolean {
  return row.length === header.length && row.every((name) => header.includes(name));
}
