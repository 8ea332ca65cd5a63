import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { durationMs } from "../../base/duration.ts";
import { measureJson, parseJson, type RecordLimits } from "../json.ts";
import { momentIn } from "../mapping/coerce.ts";
import { isDoubtful } from "../mapping/numbers.ts";
import type { BadRecord } from "../reader.ts";
import type { Cell, Column, ColumnKind } from "./snapshot.ts";

interface ValueRules {
  /** Zone for local times. Undefined: they stay local. */
  zone: string | undefined;
  limits: RecordLimits;
}

/** A value that no record can hold. The message does not repeat the value. */
class ValueFault extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

type Reader = (cell: Exclude<Cell, null>) => Json;

/**
 * Makes records of rows, in the same form for every database. Decimals and whole numbers beyond 2^53 are text (see
 * `isDoubtful` for decimals such as 1.230). Moments are ISO in UTC. Other dates and times are ISO without a zone.
 */
export function rowReader(
  columns: readonly Column[],
  rules: ValueRules,
): (cells: readonly Cell[], place: string) => { row: { place: string; value: JsonObject } } | { bad: BadRecord } {
  const readers = columns.map(({ name, kind }): [string, Reader] => [name, readerOf(kind, rules)]);
  return (cells, place) => {
    const value: JsonObject = {};
    let size = 0;
    for (const [index, [name, read]] of readers.entries()) {
      const cell = cells[index] ?? null;
      size += typeof cell === "string" || cell instanceof Uint8Array ? cell.length : 8;
      try {
        value[name] = cell === null ? null : read(cell);
      } catch (thrown) {
        if (!(thrown instanceof ValueFault)) throw thrown;
        return { bad: { place, code: thrown.code, message: `the column ${name} ${thrown.message}` } };
      }
    }
    if (size > rules.limits.maxBytes)
      return { bad: { place, code: "too-large", message: `the row is larger than ${rules.limits.maxBytes} bytes` } };
    const measured = measureJson(value, rules.limits);
    if (!measured.ok) return { bad: { place, code: measured.error.code, message: measured.error.message } };
    return { row: { place, value } };
  };
}

function readerOf(kind: ColumnKind, { zone, limits }: ValueRules): Reader {
  switch (kind) {
    case "integer":
      return integer;
    case "decimal":
      return decimal;
    case "date":
    case "text":
      return textOf;
    case "float":
      return float;
    case "boolean":
      return boolean;
    case "instant":
      return (cell) => instantText(textOf(cell));
    case "local":
      return (cell) => localText(textOf(cell), zone);
    case "json":
      return (cell) => json(textOf(cell), limits);
    case "binary":
    case "any":
      return any;
  }
}

function textOf(cell: Exclude<Cell, null>): string {
  if (cell instanceof Uint8Array) return binary();
  return typeof cell === "string" ? cell : String(cell);
}

function binary(): never {
  throw new ValueFault("binary", "holds bytes, which no record can; write them as text in the query");
}

function integer(cell: Exclude<Cell, null>): Json {
  const text = textOf(cell);
  const number = Number(text);
  return /^-?\d+$/u.test(text) && Number.isSafeInteger(number) ? number : text;
}

/** Text; a number if the text could look like thousands, because this point always separates decimals. */
function decimal(cell: Exclude<Cell, null>): Json {
  const text = textOf(cell);
  return isDoubtful(text) ? Number(text) : text;
}

function float(cell: Exclude<Cell, null>): Json {
  const text = textOf(cell);
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : text;
}

function boolean(cell: Exclude<Cell, null>): Json {
  if (cell === "t" || cell === "true" || cell === "1" || cell === 1 || cell === 1n) return true;
  if (cell === "f" || cell === "false" || cell === "0" || cell === 0 || cell === 0n) return false;
  return any(cell);
}

function any(cell: Exclude<Cell, null>): Json {
  if (typeof cell === "bigint") return integer(cell);
  if (typeof cell === "number" && !Number.isFinite(cell)) return String(cell);
  return cell instanceof Uint8Array ? binary() : cell;
}

function json(text: string, limits: RecordLimits): Json {
  const parsed = parseJson(text, limits);
  if (parsed.ok) return parsed.value;
  throw new ValueFault(parsed.error.code, `is not usable as JSON: ${parsed.error.message}`);
}

const timeOfDay = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/u;

/** One form: `T` in the middle, no final zeros in a fraction. The mapping judges other texts, such as `infinity`. */
function isoTime(text: string): { local: string; offset: string | undefined } | undefined {
  const match = timeOfDay.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second = "00", fraction = "", offset] = match;
  const short = fraction.replace(/\.?0+$/u, "");
  return { local: `${year}-${month}-${day}T${hour}:${minute}:${second}${short}`, offset };
}

/** ISO in UTC, whatever offset the text has. */
function instantText(text: string): string {
  const time = isoTime(text);
  if (time === undefined) return text;
  const { local, offset = "Z" } = time;
  if (/^(?:Z|[+-]00(?::?00)?)$/u.test(offset)) return `${local}Z`;
  try {
    return Temporal.Instant.from(`${local}${offset.length === 3 ? `${offset}:00` : offset}`).toString();
  } catch {
    return text;
  }
}

/** A time that the zone has twice or never stays local, so that nobody guesses. Exception: a skipped midnight. */
function localText(text: string, zone: string | undefined): string {
  const time = isoTime(text);
  if (time === undefined) return text;
  if (time.offset !== undefined) return instantText(text);
  if (zone === undefined) return time.local;
  try {
    const plain = Temporal.PlainDateTime.from(time.local, { overflow: "reject" });
    return momentIn(zone, plain).toInstant().toString();
  } catch {
    return time.local;
  }
}

/** Clocks repeat at most two hours, so local times reach back this much further. */
const clockChangeMs = 7_200_000;
/** The zone furthest ahead of UTC has +14:00. */
const furthestAheadMs = 50_400_000;

/** `any` has a time in each value, unless the declared type excludes times. */
export function tellsChanges({ kind, type }: Column): boolean {
  return kind === "instant" || kind === "local" || (kind === "any" && !/^date$|int/iu.test(type));
}

/** The next read begins at the largest time, at most the database's clock: a wrong future time would hide changes. */
export class Newest {
  readonly #kind: ColumnKind;
  #newest: string | undefined;
  #isUnclear = false;

  constructor(column: Column) {
    this.#kind = column.kind;
  }

  see(cell: Cell): void {
    if (cell === null || this.#isUnclear) return;
    const time = typeof cell === "string" ? this.#timeOf(cell) : undefined;
    if (time === undefined || isInstant(this.#newest ?? time) !== isInstant(time)) this.#isUnclear = true;
    else if (this.#newest === undefined || isEarlier(this.#newest, time)) this.#newest = time;
  }

  #timeOf(cell: string): string | undefined {
    const time = this.#kind === "instant" ? instantText(cell) : localText(cell, undefined);
    return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?$/u.test(time) ? time : undefined;
  }

  /** Undefined if there is no value, or if values cannot be compared. */
  value(openedAt: string, zone: string | undefined): string | undefined {
    if (this.#newest === undefined || this.#isUnclear) return undefined;
    const latest = isInstant(this.#newest)
      ? openedAt
      : (localIn(openedAt, zone) ?? withoutZ(shifted(openedAt, furthestAheadMs)));
    if (isEarlier(latest, this.#newest)) return latest;
    return isTime(this.#newest) ? this.#newest : undefined;
  }
}

function isTime(text: string): boolean {
  try {
    Temporal.Instant.from(`${withoutZ(text)}Z`);
    return true;
  } catch {
    return false;
  }
}

/** Where to begin, so that no change is missed. Undefined: the column cannot be compared, so read everything. */
export function boundOf(
  since: string,
  { kind }: Column,
  overlap: string,
  zone: string | undefined,
): string | undefined {
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z?$/u.test(since)) return undefined;
  const back = durationMs(overlap);
  if (isInstant(since) && kind !== "local") return plain(shifted(since, -back));
  const local = isInstant(since) ? localIn(since, zone) : since;
  if (local === undefined || kind === "instant") return undefined;
  return plain(shifted(`${local}Z`, -back - clockChangeMs));
}

const isInstant = (time: string): boolean => time.endsWith("Z");
const withoutZ = (time: string): string => time.replace(/Z$/u, "");
/** The form that every database reads; an instant in UTC. */
const plain = (time: string): string => withoutZ(time).replace("T", " ");

/** Times of one kind sort as text, without their `Z`. */
const isEarlier = (one: string, other: string): boolean => withoutZ(one) < withoutZ(other);

function localIn(instant: string, zone: string | undefined): string | undefined {
  if (zone === undefined) return undefined;
  return Temporal.Instant.from(instant).toZonedDateTimeISO(zone).toPlainDateTime().toString();
}

function shifted(instant: string, ms: number): string {
  return Temporal.Instant.from(instant).add({ milliseconds: ms }).toString();
}
