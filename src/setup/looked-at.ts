import { isAscii } from "node:buffer";
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { constants, gunzipSync } from "node:zlib";
import { isJsonObject, parseJson, type Json, type JsonObject } from "../base/canonical-json.ts";
import { systemClock } from "../base/clock.ts";
import { exitCodes, messageOf, Problem, usage } from "../base/errors.ts";
import { systemRandomness } from "../base/ids.ts";
import { createStaging } from "../ledger/records/staging.ts";
import { sheetsOf } from "../source/file/xlsx/workbook.ts";
import { columnsOfRows, type ColumnFacts, kindOfList, longestList } from "../source/proposal/columns.ts";
import { delimiterOf, encodingOf } from "../source/proposal/propose.ts";
import type { ListKind } from "../source/proposal/names.ts";
import { readSample } from "../source/reader.ts";
import { sourceSettingsSchema } from "../source/source-settings.ts";
import { createSource } from "../source/source.ts";

export interface LookedAt {
  from: string;
  kind: ListKind;
  /** Settings of a stream that reads the list. They name the file without its folder. */
  settings: JsonObject;
  rows: readonly JsonObject[];
  columns: readonly ColumnFacts[];
  nullTexts: readonly string[];
  file: string;
  /** The beginning is ASCII, so any single-byte encoding reads it alike. */
  isAscii: boolean;
  doubts: string[];
}

const sampleRows = 500;
/** A sheet may have titles above its header. */
const mostTitleRows = 10;

function kindOf(from: string, name: string, columns: readonly ColumnFacts[]): ListKind {
  const kind = kindOfList(name, columns);
  if (kind !== undefined) return kind;
  throw new Problem({
    code: "init.kind-unknown",
    message: `${from}: nobody can tell whether these are customers, orders, lines of orders or staff`,
    cure: "rename the file or the sheet so that its name says it, such as customers.csv",
    exitCode: exitCodes.usage,
  });
}

export async function lookAtFile(from: string, signal: AbortSignal): Promise<LookedAt[]> {
  // An address may contain a password, so the message does not repeat it.
  if (/^[a-z][a-z\d+.-]+:\/\//iu.test(from))
    throw usage(
      "init reads files, and no addresses",
      "save the list as a file, or start with `crm-sync init --template`",
    );
  const file = resolve(from);
  if (existsSync(file) && statSync(file).isDirectory())
    throw usage(`${from} is a folder, and init reads files`, `name each list in it: --from ${join(from, "FILE")}`);
  if (!existsSync(file) || !statSync(file).isFile())
    throw usage(`there is no file ${from}`, "name a file that is there");
  return /\.xlsx$/iu.test(file) ? await lookAtWorkbook(from, file, signal) : [await lookAtText(from, file, signal)];
}

async function lookAtText(from: string, file: string, signal: AbortSignal): Promise<LookedAt> {
  const beginning = beginningOf(file);
  const plain = file.replace(/\.gz$/iu, "");
  const isCsv = /\.(?:csv|tsv|txt)$/iu.test(plain);
  const encoding = encodingOf(beginning);
  const delimiter = isCsv ? delimiterOf(beginning) : ",";
  const list = /\.json$/iu.test(plain) ? longestList([jsonOf(from, file, encoding)], 4) : undefined;
  const settings: JsonObject = {
    files: basename(file),
    ...(extname(plain).toLowerCase() === ".txt" ? { format: "csv" } : {}),
    ...(encoding === "utf-8" ? {} : { encoding }),
    ...(delimiter === "," ? {} : { csv: { delimiter } }),
    ...(list?.path === undefined ? {} : { records: list.path }),
  };
  let { rows, doubts, isTooWide } = await rowsOf(dirname(file), settings, signal);
  let { columns, nullTexts } = columnsOfRows(rows);
  const hasQuotes = beginning.includes('"');
  const surplusInto =
    isTooWide && !hasQuotes ? columns.find(({ plain: name }) => mayHoldDelimiters.test(name))?.path : undefined;
  if (surplusInto !== undefined) {
    settings["csv"] = { ...csvOf(settings), surplusInto };
    ({ rows, doubts, isTooWide } = await rowsOf(dirname(file), settings, signal));
    ({ columns, nullTexts } = columnsOfRows(rows));
    doubts.push(`in rows with too many fields the extra ones belong to ${surplusInto}, since the file has no quotes`);
  }
  if (!encoding.startsWith("utf-"))
    doubts.push(`the text is in ${encoding}: it is not UTF-8; look at names with letters beyond A to Z`);
  return {
    from,
    kind: kindOf(from, basename(file), columns),
    settings,
    rows,
    columns,
    nullTexts,
    file,
    isAscii: isCsv && encoding === "utf-8" && isAscii(beginning),
    doubts,
  };
}

async function lookAtWorkbook(from: string, file: string, signal: AbortSignal): Promise<LookedAt[]> {
  const sheets = await sheetsOf(file);
  const isOnly = sheets.length === 1;
  const found: LookedAt[] = [];
  const leftOut: string[] = [];
  for (const sheet of sheets) {
    const named = isOnly ? from : `${from} (${sheet})`;
    const { settings, rows, doubts } = await lookAtSheet(file, isOnly ? undefined : sheet, signal);
    const { columns, nullTexts } = columnsOfRows(rows);
    const kind = isOnly ? kindOf(from, `${basename(file)} ${sheet}`, columns) : kindOfList(sheet, columns);
    if (kind === undefined || rows.length === 0) leftOut.push(sheet);
    else
      found.push({
        from: named,
        kind,
        settings,
        rows,
        columns,
        nullTexts,
        doubts,
        file,
        isAscii: false,
      });
  }
  const [first] = found;
  if (first === undefined)
    throw usage(`no sheet of ${from} looks like customers, orders or staff`, "name its sheets after what they hold");
  if (leftOut.length > 0) first.doubts.push(`these sheets are left out: ${leftOut.join(", ")}`);
  return found;
}

async function lookAtSheet(
  file: string,
  sheet: string | undefined,
  signal: AbortSignal,
): Promise<{ settings: JsonObject; rows: JsonObject[]; doubts: string[] }> {
  for (let skipRows = 0; skipRows <= mostTitleRows; skipRows += 1) {
    const xlsx = { ...(sheet === undefined ? {} : { sheet }), ...(skipRows === 0 ? {} : { skipRows }) };
    const settings = { files: basename(file), ...(Object.keys(xlsx).length === 0 ? {} : { xlsx }) };
    const { rows, doubts, isTooWide, isEmpty } = await rowsOf(dirname(file), settings, signal);
    if (isEmpty) break;
    if (isTooWide && rows.length === 0) continue;
    if (skipRows > 0) doubts.push(`the header is below ${skipRows} other rows`);
    return { settings, rows, doubts };
  }
  return { settings: { files: basename(file) }, rows: [], doubts: [] };
}

const mayHoldDelimiters = /address|street|remark|comment|note|description|text/u;

function csvOf({ csv }: JsonObject): JsonObject {
  return csv !== undefined && isJsonObject(csv) ? csv : {};
}

function beginningOf(file: string): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(65_536);
    const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
    return /\.gz$/iu.test(file) ? inflated(bytes) : bytes;
  } finally {
    closeSync(descriptor);
  }
}

function inflated(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, 1_000_000);
  } catch {
    return Buffer.alloc(0);
  }
}

function jsonOf(from: string, file: string, encoding: string): Json {
  try {
    const bytes = readFileSync(file);
    return parseJson(new TextDecoder(encoding).decode(/\.gz$/iu.test(file) ? gunzipSync(bytes) : bytes));
  } catch (error) {
    throw usage(`${from} is no JSON: ${messageOf(error)}`, "name a file of CSV, XLSX, JSON or lines of JSON");
  }
}

/** A valid mapping for reading any list: only the raw rows matter. */
const anyMapping = {
  id: { value: "1" },
  name: { value: "1" },
  customerType: { value: "company" },
  branchCode: { value: "1" },
  branchName: { value: "1" },
};

async function rowsOf(
  directory: string,
  settings: JsonObject,
  signal: AbortSignal,
): Promise<{ rows: JsonObject[]; doubts: string[]; isTooWide: boolean; isEmpty: boolean }> {
  const read = { kind: "file", directory, streams: { customers: { ...settings, mapping: anyMapping } } };
  const source = createSource("sample", sourceSettingsSchema.parse(read), {
    clock: systemClock,
    random: systemRandomness,
    secrets: (reference) => reference,
    staging: createStaging(),
    baseDirectory: directory,
  });
  try {
    const { items, outcome } = await readSample(source, "customers", { limit: sampleRows, signal });
    const isEmpty = items.length === 0;
    if (outcome?.problem !== undefined && isEmpty && settings["xlsx"] === undefined) throw outcome.problem;
    const bad = items.flatMap((item) => ("bad" in item ? [item.bad] : []));
    const [first] = bad;
    const doubts =
      first === undefined ? [] : [`${bad.length} rows cannot be read (first: ${first.place}, ${first.code})`];
    const isTooWide = bad.some(({ code }) => code === "column-count");
    return { isEmpty, isTooWide, doubts, rows: items.flatMap((item) => ("raw" in item ? [item.raw.value] : [])) };
  } finally {
    await source.close();
  }
}
