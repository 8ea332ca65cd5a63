import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import {
  isAlias,
  isMap as isYamlMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
} from "yaml";
import { isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";
import { exitCodes, failed, ok, Problem, type Result } from "../base/errors.ts";

export type Path = readonly (string | number)[];

/** `text`: as written, before YAML made a number or boolean of it. */
export interface Mark {
  /** `file:line:column`, or the name of an environment variable or option. */
  place: string;
  text?: string;
}

/** Settings of one file, profile or environment, with the place of each value. */
export interface Layer {
  value: JsonObject;
  marks: ReadonlyMap<string, Mark>;
}

export function markKey(path: Path): string {
  return JSON.stringify(path);
}

export function nearestMark(layer: Layer, path: Path): Mark | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const mark = layer.marks.get(markKey(path.slice(0, length)));
    if (mark !== undefined) return length === path.length ? mark : { place: mark.place };
  }
  return undefined;
}

export function isMap(value: unknown): value is JsonObject {
  return isJsonObject(value);
}

export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let current: Json | undefined = value;
  for (const step of path) {
    if (Array.isArray(current)) current = typeof step === "number" ? current[step] : undefined;
    else if (isMap(current)) current = Object.hasOwn(current, step) ? current[step] : undefined;
    else return undefined;
  }
  return current;
}

/** Merges maps by key, replaces the rest. Never mixes maps of different `kind`, or two ways to get a token. */
export function mergeLayers(lower: Layer, upper: Layer): Layer {
  return {
    value: mergeMaps(lower.value, upper.value),
    marks: new Map([...lower.marks, ...upper.marks]),
  };
}

function mergeMaps(lower: JsonObject, upper: JsonObject): JsonObject {
  if (lower["kind"] !== undefined && upper["kind"] !== undefined && lower["kind"] !== upper["kind"]) return upper;
  const merged: JsonObject = { ...lower };
  for (const [key, above] of Object.entries(upper)) {
    const below = merged[key];
    if (!isMap(above) || !isMap(below)) merged[key] = above;
    else merged[key] = key === "tokens" ? { ...below, ...above } : mergeMaps(below, above);
  }
  return merged;
}

const largestFile = 1_048_576;
const mostValues = 100_000;
const deepest = 50;
const refusedKeys = new Set(["__proto__", "constructor", "prototype"]);

/** Returns all syntax errors at once, each with file:line:column. */
export function readDocument(path: string): Result<Layer, Problem[]> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (thrown) {
    return failed([unreadable(path, thrown)]);
  }
  if (bytes.length > largestFile) {
    return failed([
      mistake(
        "config.too-large",
        `${path}:1:1`,
        `The file has ${bytes.length} bytes, but a configuration may have at most ${largestFile}.`,
        "Check that this file is the configuration and not a data file.",
      ),
    ]);
  }
  if (!isUtf8(bytes)) {
    return failed([
      mistake(
        "config.encoding",
        `${path}:${lineOfInvalidUtf8(bytes)}:1`,
        "The text is not UTF-8.",
        "Save the file as UTF-8.",
      ),
    ]);
  }
  return parseSettings(new TextDecoder().decode(bytes), path);
}

function parseSettings(text: string, name: string): Result<Layer, Problem[]> {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    strict: true,
    merge: false,
  });
  const placeOf = (offset: number): string => {
    const { line, col } = lines.linePos(Math.min(offset, text.length));
    return `${name}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0) {
    return failed(
      broken.map((error) =>
        error.code === "DUPLICATE_KEY"
          ? mistake("config.duplicate-key", placeOf(error.pos[0]), "This key appears twice.", "Remove one of the two.")
          : mistake(
              "config.yaml",
              placeOf(error.pos[0]),
              `This is not YAML: ${error.message}.`.replace(/\.\.$/, "."),
              yamlCure(text.slice(error.pos[0], error.pos[1] + 1), text),
            ),
      ),
    );
  }
  return readTree(document, placeOf);
}

type Walk = { placeOf: (offset: number) => string; marks: Map<string, Mark>; document: Document; count: number };

function readTree(document: Document, placeOf: (offset: number) => string): Result<Layer, Problem[]> {
  const marks = new Map<string, Mark>();
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) {
    marks.set(markKey([]), { place: placeOf(0) });
    return ok({ value: {}, marks });
  }
  if (!isYamlMap(root)) {
    const place = placeOf(root.range?.[0] ?? 0);
    const cure = "Write `key: value` lines, such as `zone: Europe/Berlin`.";
    return failed([mistake("config.no-map", place, "The file contains no settings at its top level.", cure)]);
  }
  try {
    const value = readNode(root, [], { placeOf, marks, document, count: 0 });
    return ok({ value: asMap(value), marks });
  } catch (thrown) {
    if (thrown instanceof Problem) return failed([thrown]);
    throw thrown;
  }
}

function asMap(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}

function readNode(node: Node, path: Path, walk: Walk): Json {
  const place = walk.placeOf(node.range?.[0] ?? 0);
  walk.count += 1;
  if (walk.count > mostValues || path.length > deepest) {
    throw mistake(
      "config.alias-bomb",
      place,
      `With its aliases the file has more than ${mostValues} values, or more than ${deepest} levels.`,
      "Write the values out, or use fewer aliases (`*name`).",
    );
  }
  if (isAlias(node)) {
    const target = node.resolve(walk.document);
    if (target === undefined)
      throw mistake("config.yaml", place, "This alias is not defined in the file.", "Define it with `&name`.");
    return readNode(target, path, walk);
  }
  if (isScalar(node)) {
    const text = node.source ?? String(node.value);
    walk.marks.set(markKey(path), { place, text });
    return scalarValue(node.value, text);
  }
  walk.marks.set(markKey(path), { place });
  if (isSeq<Node | null>(node)) return node.items.map((item, index) => readItem(item, [...path, index], walk, place));
  if (isYamlMap<unknown, Node | null>(node)) {
    const value: JsonObject = {};
    for (const pair of node.items) {
      const key = readKey(pair.key, place, walk);
      const keyMark = walk.placeOf(rangeStart(pair.key) ?? 0);
      value[key] = readItem(pair.value, [...path, key], walk, keyMark);
      // The place of a value is its key, even if the value is a block below.
      const mark = walk.marks.get(markKey([...path, key]));
      walk.marks.set(markKey([...path, key]), { ...mark, place: keyMark });
    }
    return value;
  }
  throw mistake(
    "config.yaml",
    place,
    "A configuration cannot contain this kind of YAML.",
    "Use maps, lists and plain values.",
  );
}

function readItem(node: Node | null, path: Path, walk: Walk, place: string): Json {
  if (node !== null) return readNode(node, path, walk);
  walk.marks.set(markKey(path), { place, text: "" });
  return null;
}

function readKey(key: unknown, place: string, walk: Walk): string {
  const where = walk.placeOf(rangeStart(key) ?? 0);
  if (!isScalar(key) || (typeof key.value === "object" && key.value !== null)) {
    throw mistake(
      "config.key",
      place,
      "A key must be plain text.",
      "Write `key: value`, with special characters in quotes.",
    );
  }
  const text = typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
  if (refusedKeys.has(text)) {
    throw mistake("config.key", where, `\`${text}\` cannot be a key of a configuration.`, "Remove it.");
  }
  return text;
}

function rangeStart(node: unknown): number | undefined {
  if (!isScalar(node) && !isYamlMap(node) && !isSeq(node) && !isAlias(node)) return undefined;
  return node.range?.[0];
}

function scalarValue(value: unknown, text: string): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number")
    return value;
  return text;
}

function yamlCure(at: string, text: string): string {
  if (text.includes("${")) return "`${NAME}` is not filled in here. Write `env:NAME` for a secret.";
  if (at.includes("\t")) return "Indent with spaces; YAML has no tabs.";
  return "Check indentation, quotes and brackets on this line and the one before.";
}

/** UTF-8 has no line end inside a character, so each line can be checked alone. */
function lineOfInvalidUtf8(bytes: Buffer): number {
  const lines = bytes.toString("latin1").split("\n");
  return lines.findIndex((line) => !isUtf8(Buffer.from(line, "latin1"))) + 1;
}

function unreadable(path: string, thrown: unknown): Problem {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const what = code === "ENOENT" ? "does not exist" : code === "EISDIR" ? "is a folder" : `cannot be read (${code})`;
  return mistake(
    "config.unreadable",
    `${path}:1:1`,
    `The configuration file ${what}.`,
    "Give the right file with --config FILE, or make a configuration with `crm-sync init --from FILE`.",
  );
}

export function mistake(code: string, place: string, message: string, cure: string): Problem {
  return new Problem({ code, place, message, cure, exitCode: exitCodes.configuration });
}
