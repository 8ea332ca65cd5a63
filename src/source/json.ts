import { z } from "zod";
import { hasRepeatedMember, isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";
import { failed, ok, type Problem, type Result } from "../base/errors.ts";
import { isDoubtful } from "./mapping/numbers.ts";
import { parsePath, valueAt } from "./mapping/path.ts";
import { changed, type BadRecord, type FileItem, type FileRow, type ReadOutcome, type SourceItem } from "./reader.ts";

export const recordLimitsSchema = z.strictObject({
  maxBytes: z
    .int()
    .min(1_000)
    .max(64_000_000)
    .default(8_000_000)
    .describe("Largest size of one record in the source, in bytes"),
  maxDepth: z.int().min(1).max(200).default(64).describe("How deep objects and lists of one record may be nested"),
  maxMembers: z
    .int()
    .min(10)
    .max(1_000_000)
    .default(50_000)
    .describe("Most members of one object, and most elements of one list, in a record"),
});
export type RecordLimits = z.infer<typeof recordLimitsSchema>;

/** Text kept of a bad record, in UTF-16 code units. */
const keptText = 65_536;

export function keptTextOf(text: string): string {
  return text.length <= keptText ? text : text.slice(0, keptText).toWellFormed();
}

interface JsonFault {
  code: "not-json" | "too-deep" | "too-wide" | "duplicate-member";
  message: string;
}

/** Numbers that a JavaScript number may change: 16 digits, many decimals, an exponent, a final 0 after the point. */
const delicateNumber = /\d[\d.]{15}|\d[eE][+-]?\d+\s*(?:[,}\]]|$)|\.\d*[1-9]\d*0\s*(?:[,}\]]|$)/;

/** Numbers that JavaScript would change stay text. Refuses values beyond the limits, and ambiguous repeated members. */
export function parseJson(text: string, limits: RecordLimits): Result<Json, JsonFault> {
  let value: Json;
  try {
    value = parseExact(text);
  } catch (thrown) {
    if (thrown instanceof RangeError)
      return failed({ code: "too-deep", message: `nested deeper than ${limits.maxDepth} levels` });
    return failed({ code: "not-json", message: "not valid JSON, or incomplete" });
  }
  const measured = measureJson(value, limits);
  if (!measured.ok) return measured;
  if (hasRepeatedMember(text, measured.value)) {
    return failed({ code: "duplicate-member", message: "an object has the same member twice" });
  }
  return ok(value);
}

/** `JSON.parse` with ordinary numbers, for values too deep for a reviver. Throws a SyntaxError. */
export function parseInexact(text: string): Json {
  return parse(text);
}

/** `JSON.parse` with its real types: a reviver also gets the source text of a primitive value. */
const parse: (text: string, reviver?: (key: string, value: Json, ...context: { source?: string }[]) => Json) => Json =
  JSON.parse;

/** Keeps every number as written; no other checks. Throws a SyntaxError, or a RangeError if it is too deep. */
export function parseExact(text: string): Json {
  const plain = parse(text);
  if (!delicateNumber.test(text)) return plain;
  return parse(text, (_key, value, ...[context]) => {
    if (typeof value !== "number" || context?.source === undefined) return value;
    return keepsItsDigits(value, context.source) ? value : context.source;
  });
}

/** Whole numbers are exact, also 2.0. 1.230 stays a number too: in text, its point could be a thousands separator. */
function keepsItsDigits(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  if (Number.isInteger(value)) return Number.isSafeInteger(value);
  if (/\.\d*0$/.test(source) && !isDoubtful(source)) return false;
  return source.replace(/[eE].*$/, "").replaceAll(/^[-0.]+|\./g, "").length <= 15;
}

export function measureJson(
  value: Json,
  limits: Pick<RecordLimits, "maxDepth" | "maxMembers">,
): Result<number, JsonFault> {
  const size = { members: 0 };
  const fault = measure(value, 0, limits, size);
  return fault === undefined ? ok(size.members) : failed(fault);
}

function measure(
  value: Json | undefined,
  depth: number,
  limits: Pick<RecordLimits, "maxDepth" | "maxMembers">,
  size: { members: number },
): JsonFault | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= limits.maxDepth) return { code: "too-deep", message: `nested deeper than ${limits.maxDepth} levels` };
  if (Array.isArray(value)) {
    if (value.length > limits.maxMembers) return tooWide(`a list has ${value.length} elements`, limits);
    for (const element of value) {
      const fault = measure(element, depth + 1, limits, size);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  const members = Object.values(value);
  if (members.length > limits.maxMembers) return tooWide(`an object has ${members.length} members`, limits);
  size.members += members.length;
  for (const member of members) {
    const fault = measure(member, depth + 1, limits, size);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function tooWide(found: string, limits: Pick<RecordLimits, "maxMembers">): JsonFault {
  return { code: "too-wide", message: `${found}; at most ${limits.maxMembers} are allowed` };
}

export function parseStaged(text: string, limits: RecordLimits): JsonObject {
  const parsed = parseJson(text, limits);
  if (!parsed.ok || !isJsonObject(parsed.value)) {
    throw new TypeError("the staging area gave back a row that was not put into it");
  }
  return parsed.value;
}

export function* batchesOf<T>(items: Iterable<T>, size: number): Generator<T[], void, void> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Reads the key of a raw record as text: a text, or a number. Undefined if there is no usable key. */
export function keyReader(path: string): (value: JsonObject) => string | undefined;
export function keyReader(path: string | undefined): ((value: JsonObject) => string | undefined) | undefined;
export function keyReader(path: string | undefined): ((value: JsonObject) => string | undefined) | undefined {
  if (path === undefined) return undefined;
  const parsed = parsePath(path);
  if (!parsed.ok) return () => undefined;
  return (value) => keyText(valueAt({ item: value, parent: undefined }, parsed.value));
}

function keyText(value: Json | undefined): string | undefined {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string" || value === "" || value.length > 200) return undefined;
  return value.isWellFormed() && !value.includes("\0") ? value : undefined;
}

export function toItem(
  { place, value }: FileRow,
  keyOf: ((value: JsonObject) => string | undefined) | undefined,
): SourceItem {
  if (!isJsonObject(value)) {
    return { bad: { ...notAnObject(place), text: JSON.stringify(value).slice(0, keptText) } };
  }
  const key = keyOf?.(value);
  return { raw: key === undefined ? { place, value } : { place, key, value } };
}

/** The rows of a reading as records, each by its key; `full`: everything was asked for. */
export function recordsOf(
  reading: AsyncGenerator<FileItem[], Problem | undefined, void>,
  { key, full, signal }: { key: string | undefined; full: boolean; signal: AbortSignal | undefined },
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const keyOf = keyReader(key);
  let rows = 0;
  return changed(reading, {
    batch: (items) => {
      signal?.throwIfAborted();
      rows += items.length;
      return items.map((item) => ("bad" in item ? item : toItem(item.row, keyOf)));
    },
    end: (problem) => {
      signal?.throwIfAborted();
      return { complete: problem === undefined, full, rows, ...(problem === undefined ? {} : { problem }) };
    },
    left: undefined,
  });
}

export function notAnObject(place: string): BadRecord {
  return { place, code: "not-an-object", message: "the record is not an object" };
}
