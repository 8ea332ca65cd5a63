import { dirname, relative, resolve, join } from "node:path";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { usage } from "../base/errors.ts";
import type { Stream } from "../crm/model.ts";
import {
  columnsByField,
  columnsOfRows,
  keyOfList,
  longestList,
  type ColumnFacts,
  type ProposedSkip,
} from "../source/proposal/columns.ts";
import type { ProposedLines } from "../source/proposal/instances.ts";
import { proposeMapping, type ProposedField } from "../source/proposal/propose.ts";
import { lookAtFile, type LookedAt } from "./looked-at.ts";
import { readdirSync, readFileSync } from "node:fs";
import { isScalar, parseDocument, type Document, type YAMLMap } from "yaml";
import { z } from "zod";
import { projectFolder } from "../base/program-version.ts";

export interface ProposedStream {
  stream: Stream;
  from: readonly string[];
  settings: JsonObject;
  fields: readonly ProposedField[];
  skip: ProposedSkip | undefined;
  doubts: string[];
}

export interface Proposal {
  source: JsonObject;
  streams: ProposedStream[];
}

interface ProposalOptions {
  folder: string;
  zone: string;
  signal: AbortSignal;
}

/** `folder`: of the configuration; paths are relative to it. Throws a Problem if a list's kind is unclear. */
export async function proposeFrom(
  inputs: readonly string[],
  { folder, zone, signal }: ProposalOptions,
): Promise<Proposal> {
  const looked: LookedAt[] = [];
  for (const input of inputs) looked.push(...(await lookAtFile(input, signal)));
  shareEncoding(looked);
  const directory = directoryOf(looked);
  for (const { file, settings } of looked) settings["files"] = relative(directory, file);
  const named = (list: LookedAt): number => (columnsByField("lines", list.columns).has("order") ? 0 : 1);
  const lines = looked.filter(({ kind }) => kind === "lines").sort((one, other) => named(one) - named(other));
  const streams: ProposedStream[] = [];
  for (const list of looked) {
    const { kind } = list;
    if (kind === "lines") continue;
    if (streams.some(({ stream }) => stream === kind))
      throw usage(
        `two lists look like ${kind}: ${list.from} is one of them`,
        "give one for each kind, or write it yourself",
      );
    streams.push(proposeStream(list, kind, { lines: kind === "orders" ? lines : [], zone }));
  }
  const [line] = lines;
  if (line !== undefined && !streams.some(({ stream }) => stream === "orders"))
    throw usage(`${line.from} looks like lines of orders`, "give the list of orders too: --from ORDERS --from LINES");
  return { source: { kind: "file", directory: shortPath(folder, directory) }, streams };
}

/** A list that is ASCII so far may contain later characters of the other lists' encoding. */
function shareEncoding(looked: readonly LookedAt[]): void {
  const encodings = looked.map(({ settings }) => settings["encoding"]);
  const encoding = encodings.find((name) => typeof name === "string" && !name.startsWith("utf-"));
  if (encoding === undefined) return;
  for (const { isAscii, settings } of looked) if (isAscii) settings["encoding"] = encoding;
}

function directoryOf(looked: readonly LookedAt[]): string {
  const folders = looked.map(({ file }) => dirname(file));
  let [common = resolve(".")] = folders;
  while (!folders.every((folder) => folder === common || folder.startsWith(`${common === "/" ? "" : common}/`)))
    common = dirname(common);
  return common;
}

const mostUp = 2;

function shortPath(from: string, folder: string): string {
  const path = relative(from, folder) || ".";
  return path.split("/").filter((step) => step === "..").length > mostUp ? folder : path;
}

function proposeStream(
  list: LookedAt,
  stream: Stream,
  { lines, zone }: { lines: readonly LookedAt[]; zone: string },
): ProposedStream {
  const doubts = [...list.doubts];
  const [detail, ...others] = lines;
  for (const { from } of others) doubts.push(`${from} is left out: one list of lines is joined`);
  const key = keyOfList(stream, list.columns);
  const person = stream === "staff" ? columnsByField(stream, list.columns).get("id")?.column : undefined;
  if (person?.isFilled === true && !person.isUnique)
    doubts.push(`${person.path} stands in several rows: set \`group\` to make one record of the rows of a person`);
  const detailKey = columnsByField("lines", detail?.columns ?? []).get("order")?.column.path;
  const joined = detailKey === undefined ? undefined : detail;
  if (detail !== undefined && joined === undefined) doubts.push(`how the lines of ${detail.from} belong to orders`);
  doubts.push(...(joined?.doubts ?? []));
  const nullTexts = [...new Set([...list.nullTexts, ...(joined?.nullTexts ?? [])])].sort();
  const settings: JsonObject = {
    ...list.settings,
    ...(key === undefined ? {} : { key }),
    ...(nullTexts.length === 0 ? {} : { nullTexts }),
    ...(joined === undefined ? {} : { details: { lines: { ...joined.settings, key: detailKey } } }),
  };
  const { fields, skip } = proposeMapping(stream, list.columns, {
    zone,
    lines: joined === undefined ? linesWithin(stream, list) : { name: "lines", columns: joined.columns },
  });
  const mapped = fields.map(({ expression }) => expression ?? null);
  const read = new Set([...mapped, skip?.expression ?? null, key ?? null, detailKey ?? null].flatMap(pathsIn));
  doubts.push(...unusedColumns(read, list.columns, joined?.columns ?? []));
  return {
    stream,
    from: [list.from, ...(joined === undefined ? [] : [joined.from])],
    settings,
    fields,
    skip,
    doubts,
  };
}

function linesWithin(stream: Stream, list: LookedAt): ProposedLines | undefined {
  const within = stream === "orders" ? longestList(list.rows, 2) : undefined;
  return within?.path === undefined ? undefined : { name: within.path, columns: columnsOfRows(within.rows).columns };
}

const mostNamed = 20;

function named(columns: readonly ColumnFacts[]): string {
  const paths = columns.map(({ path }) => path);
  const more = paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : "";
  return `${paths.slice(0, mostNamed).join(", ")}${more}`;
}

const saysWhoIsThere =
  /status|state|active|disabled|blocked|deleted|left|leaving|employ|terminat|beschaft|beschaeft|austritt|aktiv|gesperrt/u;
const mostWords = 6;

function unusedColumns(
  read: ReadonlySet<string>,
  columns: readonly ColumnFacts[],
  ofLines: readonly ColumnFacts[],
): string[] {
  // Inside `each`, a path starts at the list element.
  const isUnused = ({ path }: ColumnFacts): boolean => !read.has(path) && !read.has(path.replace(/^.*\]\./u, ""));
  const own = columns.filter(isUnused);
  const told = own.filter(({ plain, examples }) => saysWhoIsThere.test(plain) && examples.length <= mostWords);
  const others = [...own.filter((column) => !told.includes(column)), ...ofLines.filter(isUnused)];
  return [
    ...told.map(
      ({ path, examples }) =>
        `${path} (${examples.join(", ")}) decides nothing: whoever is in the list counts as there`,
    ),
    ...(others.length === 0 ? [] : [`nothing reads the columns ${named(others)}`]),
  ];
}

function pathsIn(value: Json): string[] {
  if (typeof value === "string")
    return [value, ...value.matchAll(/\{([^{}]+)\}/gu).map(([, path = ""]) => path)].map((path) =>
      path.replace(/^\^\./u, ""),
    );
  return typeof value === "object" && value !== null ? Object.values(value).flatMap((one) => pathsIn(one ?? null)) : [];
}

const shippedPresets = join(projectFolder, "config/presets");

interface Preset {
  title: string;
  text: string;
  /** Settings of the source, including YAML anchors. */
  document: Document.Parsed<YAMLMap.Parsed>;
  /** Settings path → the value for a person to fill in. */
  fill: Readonly<Record<string, string>>;
}

const fillSchema = z.record(z.string(), z.string()).default({});

export function presetNames(): string[] {
  const files = readdirSync(shippedPresets).filter((name) => name.endsWith(".yaml"));
  return files.map((name) => name.slice(0, -".yaml".length)).sort();
}

export function readPreset(name: string): Preset {
  const document = parseDocument<YAMLMap.Parsed>(readFileSync(join(shippedPresets, `${name}.yaml`), "utf8"));
  const { fill } = z.object({ fill: fillSchema }).parse(document.toJS());
  const first = document.contents?.items[0]?.key;
  const [title = "", ...rest] = ((isScalar(first) ? first.commentBefore : null) ?? "").split("\n");
  document.delete("fill");
  const text = rest.map((line) => line.replace(/^ /u, "")).join("\n");
  return { title: title.trim(), text: text.trim().replaceAll(":\n- ", ":\n\n- "), document, fill };
}
