import type { Json } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { failed, ok } from "../../base/errors.ts";
import type { Result } from "../../base/errors.ts";
import { refuse } from "./context.ts";
import type { MappingContext } from "./context.ts";

/** What happens to a local time that a clock change makes happen twice or not at all. */
export const clockChangePolicies = ["reject", "earlier", "later"] as const;
export type ClockChangePolicy = (typeof clockChangePolicies)[number];

const withOffset = /(?:Z|[+-]\d\d(?::?\d\d)?)(?:\[[^\]]*\])?$/i;

/** An ISO text with Z or an offset, as an instant in UTC with milliseconds. */
export function instantOf(value: Json, context: MappingContext): string | undefined {
  if (typeof value !== "string" || !withOffset.test(value)) {
    return refuse(
      context,
      "not-an-instant",
      value,
      "an ISO time with Z or an offset; others need {date: …, format: …, zone: …}",
    );
  }
  try {
    return toInstant(Temporal.Instant.from(value).epochMilliseconds);
  } catch {
    return refuse(context, "not-an-instant", value, "an ISO time with Z or an offset");
  }
}

const tokens: Record<string, { pattern: string; field: LocalField | "offset" }> = {
  yyyy: { pattern: "(\\d{4})", field: "year" },
  MM: { pattern: "(\\d{2})", field: "month" },
  M: { pattern: "(\\d{1,2})", field: "month" },
  dd: { pattern: "(\\d{2})", field: "day" },
  d: { pattern: "(\\d{1,2})", field: "day" },
  HH: { pattern: "(\\d{2})", field: "hour" },
  H: { pattern: "(\\d{1,2})", field: "hour" },
  mm: { pattern: "(\\d{2})", field: "minute" },
  ss: { pattern: "(\\d{2})", field: "second" },
  SSS: { pattern: "(\\d{3})", field: "millisecond" },
  XXX: { pattern: "(Z|[+-]\\d{2}:\\d{2})", field: "offset" },
};
type LocalField = "year" | "month" | "day" | "hour" | "minute" | "second" | "millisecond";

interface DatePattern {
  expression: RegExp;
  fields: readonly (LocalField | "offset")[];
}

/** Reads a format such as `yyyy-MM-dd HH:mm:ss.SSS`; letters that are no token stand in single quotes. */
function parseFormat(format: string): Result<DatePattern, string> {
  let source = "";
  const fields: (LocalField | "offset")[] = [];
  for (const match of format.matchAll(/'([^']*)'|([A-Za-z])\2*|[^]/g)) {
    const [piece, quoted] = match;
    const token = tokens[piece];
    if (quoted !== undefined) source += RegExp.escape(quoted);
    else if (token !== undefined) {
      if (fields.includes(token.field))
        return failed(`the date format ${JSON.stringify(format)} has ${token.field} twice`);
      fields.push(token.field);
      source += token.pattern;
    } else if (/^[A-Za-z]/.test(piece)) {
      return failed(
        `the date format has ${JSON.stringify(piece)}; expected ` +
          `${Object.keys(tokens).join(", ")}, or text in single quotes`,
      );
    } else source += RegExp.escape(piece);
  }
  for (const needed of ["year", "month", "day"] as const) {
    if (!fields.includes(needed)) return failed(`the date format ${JSON.stringify(format)} has no ${needed}`);
  }
  return ok({ expression: new RegExp(`^${source}$`), fields });
}

function isZone(zone: string): boolean {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId !== "";
  } catch {
    return false;
  }
}

/** A reader of dates, or what is wrong with its declaration. */
export function compileDate(
  declared: { format: string; zone: string | undefined; clockChange: ClockChangePolicy },
  context: MappingContext,
): Result<(value: Json) => string | undefined, string> {
  const { format, zone, clockChange } = declared;
  if (zone !== undefined && !isZone(zone)) {
    return failed(`the zone ${JSON.stringify(zone)} is unknown; expected a name such as Europe/Berlin or UTC`);
  }
  if (format === "epoch_ms" || format === "epoch_s") return ok(epochReader(format === "epoch_s" ? 1_000 : 1, context));
  const local = (time: Temporal.PlainDateTime, value: Json): string | undefined => {
    if (zone === undefined)
      return refuse(context, "no-zone", value, "a time with an offset; a time without one needs a zone");
    try {
      const instant = toInstant(time.toZonedDateTime(zone, { disambiguation: clockChange }).epochMilliseconds);
      context.localIn = zone;
      return instant;
    } catch {
      return refuse(context, "clock-change", value, `a local time that happens exactly once in ${zone}`);
    }
  };
  if (format === "iso") {
    return ok((value) => {
      if (typeof value !== "string") return refuse(context, "not-a-date", value, "an ISO date or time");
      if (withOffset.test(value) && value.includes(":")) return instantOf(value, context);
      try {
        return local(Temporal.PlainDateTime.from(value), value);
      } catch {
        return refuse(context, "not-a-date", value, "an ISO date or time");
      }
    });
  }
  const pattern = parseFormat(format);
  if (!pattern.ok) return pattern;
  const hasOffset = pattern.value.fields.includes("offset");
  if (!hasOffset && zone === undefined)
    return failed("the key zone is missing; expected the zone of the times, such as Europe/Berlin");
  return ok((value) => {
    const match = typeof value === "string" ? pattern.value.expression.exec(value) : null;
    if (match === null) return refuse(context, "not-a-date", value, `a date of the form ${format}`);
    const parts = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0, millisecond: 0 };
    let offset = "";
    pattern.value.fields.forEach((field, index) => {
      const text = match[index + 1] ?? "";
      if (field === "offset") offset = text;
      else parts[field] = Number(text);
    });
    let time: Temporal.PlainDateTime;
    try {
      time = Temporal.PlainDateTime.from(parts, { overflow: "reject" });
    } catch {
      return refuse(context, "not-a-date", value, `a date of the form ${format} that the calendar has`);
    }
    return hasOffset ? instantOf(`${time.toString()}${offset}`, context) : local(time, value);
  });
}

/** Times outside 1900–2200 are taken for the wrong unit. */
function epochReader(factor: number, context: MappingContext): (value: Json) => string | undefined {
  const earliest = Date.UTC(1900, 0, 1);
  const latest = Date.UTC(2200, 0, 1);
  return (value) => {
    const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || !Number.isInteger(number)) {
      return refuse(
        context,
        "not-a-date",
        value,
        `${factor === 1 ? "milliseconds" : "seconds"} since 1970 as a whole number`,
      );
    }
    const time = number * factor;
    if (time < earliest || time > latest) {
      return refuse(
        context,
        "not-a-date",
        value,
        `${factor === 1 ? "milliseconds" : "seconds"} since 1970, between the years 1900 and 2200`,
      );
    }
    return toInstant(time);
  };
}
