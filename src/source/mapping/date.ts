import type { Json } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { failed, ok } from "../../base/errors.ts";
import type { Result } from "../../base/errors.ts";
import { refuse } from "./context.ts";
import type { MappingContext } from "./context.ts";
import { epochFormats, namedFormats } from "./date-formats.ts";
import { parseFormat } from "./date-pattern.ts";
import type { Written } from "./written.ts";

/** What happens to a local time that a clock change makes happen twice or not at all. */
export const clockChangePolicies = ["reject", "earlier", "later"] as const;
export type ClockChangePolicy = (typeof clockChangePolicies)[number];

/** What may be written as an instant: an ISO text with Z or an offset. */
export const writtenInstant: Written = {
  form: "text",
  pattern: "^[+-]?\\d{4}.*[Tt ]\\d\\d.*(?:[Zz]|[+-]\\d\\d(?::?\\d\\d)?)(?:\\[[^\\]]*\\])?$",
};

const withOffset = /(?:Z|[+-]\d\d(?::?\d\d)?)(?:\[[^\]]*\])?$/i;

/**
 * A moment in epoch milliseconds as an instant in UTC. Refuses what lies beyond the plausible dates: it is mostly a
 * number of another unit. The day is told and no more of the value, which may be none of a date at all.
 */
export function plausibleInstant(epochMs: number, value: Json, context: MappingContext): string | undefined {
  const { from, until, expected } = context.dates;
  const isPlausible = (moment: number): boolean => moment >= from && moment < until;
  if (isPlausible(epochMs)) return toInstant(epochMs);
  const others = Object.entries(epochFormats).flatMap(([format, other]) => {
    const found = other.read(value)?.instant;
    return found !== undefined && isPlausible(found) ? [`\`${format}\` gives ${dayOf(found)}`] : [];
  });
  const wanted = [expected, ...others].join("; ");
  context.fault ??= { field: "", code: "no-such-date", found: `the date ${dayOf(epochMs)}`, expected: wanted };
  return undefined;
}

function dayOf(epochMs: number): string {
  const isOfCalendar = Math.abs(epochMs) <= 8.64e15;
  return isOfCalendar ? new Date(epochMs).toISOString().replace(/T.*/u, "") : "that no calendar has";
}

/** An ISO text with Z or an offset, as an instant in UTC with milliseconds. */
export function instantOf(value: Json, context: MappingContext): string | undefined {
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

/** Whether it is a zone that times can be told in. */
export function isZone(zone: string): boolean {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId !== "";
  } catch {
    return false;
  }
}

/**
 * The moment of a local time in a zone. A day begins with its first moment, which is not midnight where the clock skips
 * that; any other time that happens twice or not at all is decided by `clockChange`. Throws a RangeError for `reject`.
 */
export function momentIn(
  zone: string,
  time: Temporal.PlainDateTime,
  { isDay, clockChange }: { isDay: boolean; clockChange: ClockChangePolicy },
): Temporal.ZonedDateTime {
  if (isDay || time.equals(time.withPlainTime())) {
    const start = time.toPlainDate().toZonedDateTime(zone);
    if (isDay || !start.toPlainDateTime().equals(time)) return start;
  }
  return time.toZonedDateTime(zone, { disambiguation: clockChange });
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
      epochMs = momentIn(zone, time, { isDay, clockChange }).epochMilliseconds;
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
    if (!named.isInstant && zone === undefined) return failed(needed);
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
