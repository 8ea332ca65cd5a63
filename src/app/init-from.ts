import { isAscii } from "node:buffer";
import { openSync, readSync, closeSync, existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, relative, resolve } from "node:path";
import { isJsonObject, parseJson } from "../base/canonical-json.ts";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { systemClock } from "../base/clock.ts";
import { exitCodes, messageOf, Problem, usage } from "../base/errors.ts";
import { systemRandomness } from "../base/ids.ts";
import { isPlainHttp } from "../base/loopback.ts";
import { secretDoubt, withoutSecrets } from "../base/address-secrets.ts";
import type { Environment } from "../config/environment.ts";
import type { Stream } from "../crm/model.ts";
import { credentialOf, readSecret } from "../http/secrets.ts";
import { createStaging } from "../ledger/records/staging.ts";
import { columnsOfRows, listsOfRows, plainText } from "../source/proposal/columns.ts";
import type { ColumnFacts } from "../source/proposal/columns.ts";
import { moreBeyond } from "../source/http/more-beyond.ts";
import { delimiterOf, encodingOf, listIn } from "../source/proposal/look.ts";
import type { ListKind } from "../source/proposal/names.ts";
import { pagingGuess } from "../source/proposal/paging.ts";
import { columnsByField, keyOfList, kindOfList, proposeMapping } from "../source/proposal/propose.ts";
import type { ProposedField, ProposedSeats } from "../source/proposal/propose.ts";
import { groupedSeats, seatRows } from "../source/proposal/seats.ts";
import { readDocument } from "../source/http/document.ts";
import { readSample } from "../source/sample.ts";
import { sourceSettingsSchema } from "../source/source-settings.ts";
import { createSource } from "../source/source.ts";

/** A list that was looked at, and what it most likely holds. */
interface LookedAt {
  /** As the person named it. */
  from: string;
  kind: ListKind;
  /** Settings of a stream that read it. */
  settings: JsonObject;
  rows: readonly JsonObject[];
  columns: readonly ColumnFacts[];
  nullTexts: readonly string[];
  /** Origin of an HTTP service; undefined: a file. */
  origin: string | undefined;
  /** A CSV file whose beginning any encoding would read alike. */
  isAscii: boolean;
  doubts: string[];
}

/** A stream as it is proposed. */
export interface ProposedStream {
  source: string;
  stream: Stream;
  from: readonly string[];
  settings: JsonObject;
  fields: readonly ProposedField[];
  /** What the mapping can read. */
  columns: readonly ColumnFacts[];
  /** How many rows were looked at. */
  rows: number;
  doubts: readonly string[];
}

/** A proposed configuration: its sources without their streams, and those. */
export interface Proposal {
  sources: Record<string, JsonObject>;
  streams: ProposedStream[];
}

const sampleRows = 500;

interface ProposalOptions {
  folder: string;
  zone: string;
  token?: AddressToken;
  /** What a person says that lists hold, by how they were named. */
  kinds?: ReadonlyMap<string, ListKind>;
  signal: AbortSignal;
}

/**
 * Looks at files and addresses and proposes how to read them. `folder` is where the configuration will be: files are
 * named relative to it. Throws a Problem that names what cannot be read, or what nobody can tell the kind of.
 */
export async function proposeFrom(
  inputs: readonly string[],
  { folder, zone, token, signal, kinds }: ProposalOptions,
): Promise<Proposal> {
  const addresses = inputs.filter(isAddress);
  if (token !== undefined) checkToken(addresses);
  const looked: LookedAt[] = [];
  for (const input of inputs)
    looked.push(
      isAddress(input)
        ? await lookAtAddress(input, { token, kind: kinds?.get(input), signal })
        : await lookAtFile(input, { kind: kinds?.get(input), signal }),
    );
  // One that is ASCII so far may hold more of the encoding of single bytes that the others are in.
  const encoding = "windows-1252";
  if (looked.some(({ settings }) => settings["encoding"] === encoding))
    for (const { isAscii, settings } of looked) if (isAscii) settings["encoding"] = encoding;
  const lines = looked.filter(({ kind }) => kind === "lines");
  const orders = looked.find(({ kind }) => kind === "orders");
  const sources: Record<string, JsonObject> = {};
  const streams: ProposedStream[] = [];
  for (const list of looked) {
    const { kind } = list;
    if (kind === "lines") continue;
    if (streams.some(({ stream }) => stream === kind))
      throw usage(
        `two lists look like ${kind}: ${list.from} is one of them`,
        "give one for each kind, or write it yourself",
      );
    const source = list.origin === undefined ? "files" : sourceName(list.origin);
    sources[source] ??=
      list.origin === undefined
        ? { kind: "file", directory: relative(folder, directoryOf(inputs)) || "." }
        : {
            kind: "http",
            baseUrl: list.origin,
            auth: token === undefined ? { kind: "none" } : { kind: "bearer", token: token.reference },
          };
    const seats = kind === "staff" ? seatsOf(list, orders) : undefined;
    if (seats?.table !== undefined) sources[source] = { ...sources[source], tables: { orders: seats.table } };
    streams.push(proposeStream(source, kind, list, { lines: kind === "orders" ? lines : [], seats, zone }));
  }
  if (streams.length === 0)
    throw usage("lines of orders alone make no stream", "give the list of orders too: --from ORDERS --from LINES");
  return { sources, streams };
}

/** The bearer token that addresses are asked with. */
export interface AddressToken {
  /** `env:NAME` or `file:/path`, as the configuration will have it. */
  reference: string;
  value: string;
}

/** The token behind a reference; relative files are beside the configuration, which will name them. */
export function tokenOf(reference: string, environment: Environment, folder: string): AddressToken {
  try {
    return { reference, value: credentialOf(readSecret(reference, { environment, directory: folder })) };
  } catch (error) {
    // The reference may be a token itself and is not repeated.
    throw usage(`--token leads to no token: ${messageOf(error)}`, "name it as env:NAME or file:/path");
  }
}

export function isAddress(input: string): boolean {
  return /^https?:\/\//u.test(input);
}

/** A token goes to one service, and to another machine over https alone. */
function checkToken(addresses: readonly string[]): void {
  const origins = new Set(addresses.map((input) => (URL.canParse(input) ? new URL(input).origin : "")));
  if (origins.size === 0) throw usage("--token is for addresses, and none is given", "leave it out for files");
  if (origins.size > 1) throw usage("one token would go to several services", "propose one service at a time");
  if (addresses.some((input) => isPlainHttp(input)))
    throw usage("a token would go over plain http, where everybody on the way can read it", "give an https address");
}

/** All files are named relative to one folder. */
function directoryOf(inputs: readonly string[]): string {
  const folders = inputs.filter((input) => !isAddress(input)).map((input) => dirname(resolve(input)));
  let [common = "."] = folders;
  while (!folders.every((folder) => folder === common || folder.startsWith(`${common === "/" ? "" : common}/`)))
    common = dirname(common);
  return common;
}

function sourceName(origin: string): string {
  const { hostname } = new URL(origin);
  if (!/[a-z]/iu.test(hostname)) return "api";
  return plainText(hostname.split(".").at(-2) ?? "api") || "api";
}

/** What a list of staff says of the orders whose licences its people hold, and how it is read for that. */
interface Seats {
  proposed: ProposedSeats | undefined;
  group: JsonObject | undefined;
  columns: readonly ColumnFacts[];
  /** The look-up table from orders to their customers, where the list names no customer itself. */
  table: JsonObject | undefined;
}

function seatsOf(list: LookedAt, orders: LookedAt | undefined): Seats {
  const grouped = groupedSeats(list.columns, list.rows);
  const found = columnsByField("staff", list.columns);
  const order = orders === undefined ? undefined : found.get("order")?.column.path;
  const ofOrders = columnsByField("orders", orders?.columns ?? []);
  const key = ofOrders.get("id")?.column.path;
  const value = ofOrders.get("customerId")?.column.path;
  const isSought = order !== undefined && !found.has("customerId") && list.origin === undefined;
  const table =
    isSought && orders?.origin === undefined && key !== undefined && value !== undefined
      ? { ...orders?.settings, key, value }
      : undefined;
  const rows = grouped === undefined ? undefined : seatRows;
  const proposed = order === undefined ? undefined : { order, rows, table: table === undefined ? undefined : "orders" };
  return { proposed, group: grouped?.group, columns: grouped?.columns ?? list.columns, table };
}

function proposeStream(
  source: string,
  stream: Stream,
  list: LookedAt,
  { lines, seats, zone }: { lines: readonly LookedAt[]; seats: Seats | undefined; zone: string },
): ProposedStream {
  const doubts = [...list.doubts];
  const [detail, ...others] = lines;
  for (const { from } of others) doubts.push(`${from} is left out: one list of lines is joined`);
  const within = listsOfRows(list.rows)[0];
  const key = seats?.group === undefined ? keyOfList(stream, list.columns) : undefined;
  const detailKey = columnsByField("lines", detail?.columns ?? []).get("order")?.column.path;
  const isJoined =
    detail !== undefined && detailKey !== undefined && detail.origin === undefined && list.origin === undefined;
  if (detail !== undefined && !isJoined) doubts.push(`how the lines of ${detail.from} belong to orders`);
  const proposedLines = isJoined
    ? { name: "lines", columns: detail.columns }
    : stream === "orders" && within !== undefined
      ? { name: within.path, columns: columnsOfRows(within.rows).columns }
      : undefined;
  const nullTexts = [...new Set([...list.nullTexts, ...(isJoined ? detail.nullTexts : [])])].sort();
  return {
    source,
    stream,
    from: [list.from, ...(isJoined ? [detail.from] : [])],
    settings: {
      ...list.settings,
      ...(key === undefined ? {} : { key }),
      ...(nullTexts.length === 0 ? {} : { nullTexts }),
      ...(isJoined ? { details: { lines: { ...detail.settings, key: detailKey } } } : {}),
      ...(seats?.group === undefined ? {} : { group: seats.group }),
    },
    fields: proposeMapping(stream, seats?.columns ?? list.columns, {
      zone,
      lines: proposedLines,
      seats: seats?.proposed,
    }),
    columns: seats?.columns ?? list.columns,
    rows: list.rows.length,
    doubts,
  };
}

/** The code of the problem that a list may hold anything. */
export const kindUnknown = "init.kind-unknown";

function kindOf(from: string, name: string, columns: readonly ColumnFacts[]): ListKind {
  const kind = kindOfList(name, columns);
  if (kind !== undefined) return kind;
  throw new Problem({
    code: kindUnknown,
    message: `${from}: nobody can tell whether these are customers, orders, lines of orders or staff`,
    cure: "rename the file so that its name says it, such as customers.csv",
    exitCode: exitCodes.usage,
  });
}

/** How a list is looked at; `kind`: what a person says that it holds. */
interface Look {
  kind: ListKind | undefined;
  signal: AbortSignal;
}

async function lookAtFile(from: string, { kind, signal }: Look): Promise<LookedAt> {
  const file = resolve(from);
  if (!existsSync(file) || !statSync(file).isFile())
    throw usage(`there is no file ${from}`, "name a file that is there");
  const isText = !/\.(?:gz|xlsx)$/iu.test(file);
  const beginning = isText ? beginningOf(file) : Buffer.alloc(0);
  const isCsv = /\.(?:csv|tsv|txt)$/iu.test(file);
  const encoding = encodingOf(beginning);
  const delimiter = isCsv ? delimiterOf(beginning) : ",";
  const list = /\.json$/iu.test(file) ? listIn(jsonOf(from, readFileSync(file), encoding)) : undefined;
  const settings: JsonObject = {
    files: basename(file),
    ...(extname(file).toLowerCase() === ".txt" ? { format: "csv" } : {}),
    ...(encoding === "utf-8" ? {} : { encoding }),
    ...(delimiter === "," ? {} : { csv: { delimiter } }),
    ...(list?.path === undefined ? {} : { records: list.path }),
  };
  let { rows, doubts, isTooWide } = await rowsOf(dirname(file), settings, signal);
  let { columns, nullTexts } = columnsOfRows(rows);
  const surplusInto = isTooWide ? columns.find(({ plain }) => mayHoldDelimiters.test(plain))?.path : undefined;
  if (surplusInto !== undefined) {
    settings["csv"] = { ...csvOf(settings), surplusInto };
    ({ rows, doubts, isTooWide } = await rowsOf(dirname(file), settings, signal));
    ({ columns, nullTexts } = columnsOfRows(rows));
    doubts.push(
      `that in rows with too many fields the extra ones belong to ${surplusInto}, since the file has no quotes`,
    );
  }
  return {
    from,
    kind: kind ?? kindOf(from, basename(file), columns),
    settings,
    rows,
    columns,
    nullTexts,
    origin: undefined,
    isAscii: isCsv && encoding === "utf-8" && isAscii(beginning),
    doubts,
  };
}

/** Columns of free text, in which unquoted delimiters stand where there are any. */
const mayHoldDelimiters = /address|street|remark|comment|note|description|text/u;

function csvOf({ csv }: JsonObject): JsonObject {
  return csv !== undefined && isJsonObject(csv) ? csv : {};
}

function beginningOf(file: string): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(65_536);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

function jsonOf(from: string, bytes: Buffer, encoding: string): Json {
  try {
    return parseJson(new TextDecoder(encoding).decode(bytes));
  } catch (error) {
    throw usage(`${from} is no JSON: ${messageOf(error)}`, "name a file of CSV, JSON or lines of JSON");
  }
}

/** What a stream needs to be read, whatever it holds: the proposal is made of its rows. */
const anyMapping = {
  id: { value: "1" },
  name: { value: "1" },
  customerType: { value: "company" },
  branchCode: { value: "1" },
  branchName: { value: "1" },
};

/** The first rows of a file, read as a run reads them. */
async function rowsOf(
  directory: string,
  settings: JsonObject,
  signal: AbortSignal,
): Promise<{ rows: JsonObject[]; doubts: string[]; isTooWide: boolean }> {
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
    if (outcome?.problem !== undefined && items.length === 0) throw outcome.problem;
    const bad = items.flatMap((item) => ("bad" in item ? [item.bad] : []));
    const [first] = bad;
    const doubts =
      first === undefined ? [] : [`${bad.length} rows cannot be read (first: ${first.place}, ${first.code})`];
    const isTooWide = bad.some(({ code }) => code === "column-count");
    return { isTooWide, doubts, rows: items.flatMap((item) => ("raw" in item ? [item.raw.value] : [])) };
  } finally {
    await source.close();
  }
}

async function lookAtAddress(
  from: string,
  { token, kind, signal }: Look & { token: AddressToken | undefined },
): Promise<LookedAt> {
  if (!URL.canParse(from)) throw usage("this URL is not valid", "write it as https://HOST/PATH");
  const url = new URL(from);
  const shown = `${url.origin}${url.pathname}`;
  const document = await readDocument(url, token?.value, signal);
  const list = listIn(document);
  if (list === undefined)
    throw usage(`${shown} answers with JSON that holds no list of objects`, "give the address of a list");
  const { columns, nullTexts } = columnsOfRows(list.rows.slice(0, sampleRows));
  const paging = pagingGuess(document, moreBeyond(document, list.rows.length), list.rows.length);
  const { query, secrets } = withoutSecrets(url);
  return {
    from: shown,
    kind: kind ?? kindOf(shown, url.pathname, columns),
    settings: {
      url: `${url.pathname}${query}`,
      ...(list.path === undefined ? {} : { records: list.path }),
      ...paging.settings,
    },
    rows: list.rows,
    columns,
    nullTexts,
    origin: url.origin,
    isAscii: false,
    doubts: [...paging.doubts, ...secrets.map(secretDoubt)],
  };
}
