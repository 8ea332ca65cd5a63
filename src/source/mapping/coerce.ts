import type { Json } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/errors.ts";
import { refuse, type ExpressionCompiler, type KeyPath, type MappingContext } from "./context.ts";
import { namedFormats, parseFormat } from "./date-formats.ts";
import { isDoubtful, marksToName } from "./numbers.ts";
import type { Scope } from "./path.ts";
import type { Target } from "./target.ts";

/** Text, or a number as the source wrote it. Refuses NUL and lone surrogates, which stores and services cannot hold. */
export function textOf(value: Json | undefined, context: MappingContext): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return refuse(context, "wrong-type", value, "text");
  if (!value.isWellFormed()) return refuse(context, "broken-text", value, "text without broken Unicode characters");
  if (value.includes("\0")) return refuse(context, "broken-text", value, "text without NUL characters");
  return value;
}

export function ofText(
  spec: Json | undefined,
  at: KeyPath,
  compiler: ExpressionCompiler,
): (scope: Scope) => string | undefined {
  const inner = compiler.expression(spec, at);
  return (scope) => textOf(inner(scope), compiler.context);
}

/** An exact whole number, also as text and as `12.0`. Refuses `2.000`: the point may be a thousands separator. */
function integerOf(value: Json, context: MappingContext): number | undefined {
  if (typeof value === "string" && isDoubtful(value))
    return refuse(
      context,
      "not-a-whole-number",
      value,
      `a whole number; for a point like this use {number: …} with ${marksToName}`,
    );
  const number = typeof value === "string" && /^[+-]?\d{1,16}(?:\.0*)?$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number === 0 ? 0 : number;
  return refuse(context, "not-a-whole-number", value, "a whole number");
}

function booleanOf(value: Json, context: MappingContext): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === "true") return true;
  if (value === "false") return false;
  return refuse(
    context,
    "not-a-boolean",
    value,
    "true or false; for other words use {boolean: …, true: […], false: […]}",
  );
}

function textsOf(value: Json, context: MappingContext): string[] | undefined {
  const texts: string[] = [];
  for (const element of Array.isArray(value) ? value : [value]) {
    if (element === null || (typeof element === "string" && context.nullTexts.has(element))) continue;
    const text = textOf(element, context);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts;
}

interface Coercion {
  takes: string;
  refuses: Readonly<Record<string, string>>;
}

const textRefusals = {
  "wrong-type": "neither text nor a number",
  "broken-text": "text with a NUL character or half a surrogate pair",
};

export const coercions: Readonly<Record<Exclude<Target["kind"], "list" | "object">, Coercion>> = {
  text: { takes: "text, or a number as the source writes it", refuses: textRefusals },
  word: {
    takes: "one of the words of the field, exactly",
    refuses: { "unknown-word": "none of the words; `map` puts other words for those of the source" },
  },
  integer: {
    takes: "a whole number, also as text and with empty decimals, such as `12.0`",
    refuses: {
      "not-a-whole-number":
        "no whole number, one too large to be held exactly, or a text such as 2.000, whose point may be a mark of " +
        "thousands",
    },
  },
  boolean: {
    takes: "true or false, also as text; the operator `boolean` reads other words",
    refuses: { "not-a-boolean": "another word" },
  },
  instant: {
    takes: "an ISO time with Z or an offset; the operator `date` reads other forms",
    refuses: {
      "not-an-instant": "a time without an offset, or no time",
      "no-such-date": "a time before 1990 or after 2100",
    },
  },
  texts: {
    takes: "a list of texts or numbers; one value counts as a list of one, and empty values are left out",
    refuses: textRefusals,
  },
  money: { takes: "the value of the operator `money`", refuses: {} },
};

export function coercionTo(target: Target, context: MappingContext): (value: Json) => Json | undefined {
  switch (target.kind) {
    case "text":
      return (value) => textOf(value, context);
    case "word": {
      const words = new Set(target.words);
      const expected = `one of ${target.words.join(", ")}`;
      return (value) =>
        typeof value === "string" && words.has(value) ? value : refuse(context, "unknown-word", value, expected);
    }
    case "integer":
      return (value) => integerOf(value, context);
    case "boolean":
      return (value) => booleanOf(value, context);
    case "instant":
      return (value) => instantOf(value, context);
    case "texts":
      return (value) => textsOf(value, context);
    case "money":
    case "list":
    case "object":
      return (value) => value;
  }
}

const withOffset = /(?:Z|[+-]\d\d(?::?\d\d)?)(?:\[[^\]]*\])?$/i;

/** Allowed dates in UTC, epoch milliseconds. The services take none after 2100 (A20). */
const earliest = Date.parse("1990-01-01");
const beyondLatest = Date.parse("2101-01-01");

/** Refuses an implausible date: mostly a number in another unit. The message shows only the day: it may be no date. */
export function plausibleInstant(epochMs: number, value: Json, context: MappingContext): string | undefined {
  const isPlausible = (moment: number): boolean => moment >= earliest && moment < beyondLatest;
  if (isPlausible(epochMs)) return toInstant(epochMs);
  const others = Object.entries(namedFormats).flatMap(([format, other]) => {
    const found = other.read(value);
    return found !== undefined && "instant" in found && isPlausible(found.instant)
      ? [`\`${format}\` gives ${dayOf(found.instant)}`]
      : [];
  });
  const expected = ["a date from 1990 to 2100", ...others].join("; ");
  context.fault ??= { field: "", code: "no-such-date", found: `the date ${dayOf(epochMs)}`, expected };
  return undefined;
}

function dayOf(epochMs: number): string {
  const isOfCalendar = Math.abs(epochMs) <= 8.64e15;
  return isOfCalendar ? new Date(epochMs).toISOString().replace(/T.*/u, "") : "that no calendar has";
}

/** Converts ISO text with Z or an offset to UTC with milliseconds. */
export function instantOf(value: Json | undefined, context: MappingContext): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || !withOffset.test(value)) {
    return refuse(
      context,
      "not-an-instant",
      value,
      "an ISO time with Z or an offset; for other forms use {date: …, format: …, zone: …}",
    );
  }
  let epochMs: number;
  try {
    epochMs = Temporal.Instant.from(value).epochMilliseconds;
  } catch {
    return refuse(context, "not-an-instant", value, "an ISO time with Z or an offset");
  }
  return plausibleInstant(epochMs, value, context);
}

export function isZone(zone: string): boolean {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId !== "";
  } catch {
    return false;
  }
}

/** A day or skipped midnight: the day's first moment. Throws a RangeError for other times that occur twice or never. */
export function momentIn(zone: string, time: Temporal.PlainDateTime, isDay = false): Temporal.ZonedDateTime {
  if (isDay || time.equals(time.withPlainTime())) {
    const start = time.toPlainDate().toZonedDateTime(zone);
    if (isDay || !start.toPlainDateTime().equals(time)) return start;
  }
  return time.toZonedDateTime(zone, { disambiguation: "reject" });
}

export function compileDate(
  { format, zone }: { format: string; zone: string | undefined },
  context: MappingContext,
): Result<(value: Json) => string | undefined, string> {
  if (zone !== undefined && !isZone(zone)) {
    return failed(`the zone ${JSON.stringify(zone)} is unknown; expected a name such as Europe/Berlin or UTC`);
  }
  const local = (time: Temporal.PlainDateTime, isDay: boolean, value: Json): string | undefined => {
    if (zone === undefined)
      return refuse(
        context,
        "no-zone",
        value,
        "a time with an offset, such as +01:00; for a time without an offset, set `zone` in the mapping",
      );
    let epochMs: number;
    try {
      epochMs = momentIn(zone, time, isDay).epochMilliseconds;
    } catch {
      return refuse(
        context,
        "clock-change",
        value,
        `a local time that exists once in ${zone}; the clock change skips or repeats this time`,
      );
    }
    context.localIn = zone;
    return plausibleInstant(epochMs, value, context);
  };
  if (format === "iso") {
    return ok((value) => {
      if (typeof value !== "string") return refuse(context, "not-a-date", value, "an ISO date or time");
      if (withOffset.test(value) && value.includes(":")) return instantOf(value, context);
      let time: Temporal.PlainDateTime;
      try {
        time = Temporal.PlainDateTime.from(value);
      } catch {
        return refuse(context, "not-a-date", value, "an ISO date or time");
      }
      return local(time, !/[Tt ]/u.test(value), value);
    });
  }
  const needed = "the key zone is missing; expected the zone of the times, such as Europe/Berlin";
  const named = Object.hasOwn(namedFormats, format) ? namedFormats[format] : undefined;
  if (named !== undefined) {
    if (format === "excel" && zone === undefined) return failed(needed);
    return ok((value) => {
      const found = named.read(value);
      if (found === undefined) return refuse(context, "not-a-date", value, named.expected);
      return "instant" in found
        ? plausibleInstant(found.instant, value, context)
        : local(found.local, found.isDay, value);
    });
  }
  const pattern = parseFormat(format);
  if (!pattern.ok) return pattern;
  const { read, hasOffset } = pattern.value;
  if (!hasOffset && zone === undefined) return failed(needed);
  return ok((value) => {
    const found = typeof value === "string" || typeof value === "number" ? read(String(value)) : undefined;
    if (found === undefined) return refuse(context, "not-a-date", value, `an existing date in the form ${format}`);
    const { time, isDay, offset } = found;
    return offset === undefined ? local(time, isDay, value) : instantOf(`${time.toString()}${offset}`, context);
  });
}
