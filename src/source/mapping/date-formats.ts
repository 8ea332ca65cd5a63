import type { Json } from "../../base/canonical-json.ts";

/** What a text or number in a format with a name is: an instant, or a local time or day that needs a zone. */
export type ReadTime = { instant: number } | { local: Temporal.PlainDateTime; isDay: boolean } | undefined;

/** A format of dates that is no pattern. */
export interface NamedFormat {
  /** As a message says it. */
  expected: string;
  /** Its times are instants, so that they need no zone. */
  isInstant: boolean;
  read(value: Json): ReadTime;
}

function whole(value: Json): number | undefined {
  const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) ? number : undefined;
}

/** A format of instants alone. */
interface EpochFormat extends NamedFormat {
  read(value: Json): { instant: number } | undefined;
}

function epoch(perMillisecond: number, unit: string): EpochFormat {
  return {
    expected: `${unit} since 1970 as a whole number`,
    isInstant: true,
    read: (value) => {
      const number = whole(value);
      if (number === undefined) return undefined;
      return { instant: perMillisecond < 1 ? number * 1_000 : Math.floor(number / perMillisecond) };
    },
  };
}

/** Counts since 1970; a number of one of them is a date that nobody means in another. */
export const epochFormats: Readonly<Record<string, EpochFormat>> = {
  epoch_ms: epoch(1, "milliseconds"),
  epoch_s: epoch(0.001, "seconds"),
  epoch_us: epoch(1_000, "microseconds"),
};

/** Days since the day before 1900-01-01, of which a spreadsheet takes 1900 for a leap year; or since 1904-01-01. */
function serial(first: string, least: number, name: string): NamedFormat {
  const start = Temporal.PlainDateTime.from(first);
  return {
    expected: `a day number of ${name}, from 1900-03-01`,
    isInstant: false,
    read: (value) => {
      const number = typeof value === "string" && /^\d{1,6}(?:\.\d{1,15})?$/.test(value) ? Number(value) : value;
      if (typeof number !== "number" || !(number >= least && number < 1_000_000)) return undefined;
      // A fraction of a day is held to the second, and no better.
      const seconds = Math.round(number * 86_400);
      const local = start.add({ days: Math.floor(seconds / 86_400), seconds: seconds % 86_400 });
      return { local, isDay: Number.isInteger(number) };
    },
  };
}

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const rfc2822 = new RegExp(
  String.raw`^(?:([a-z]{3}), ?)?(\d{1,2}) ([a-z]{3}) (\d{4}) (\d{2}):(\d{2})(?::(\d{2}))? ` +
    String.raw`(?:([+-])(\d{2})([0-5]\d)|(gmt|ut|utc|z))$`,
  "i",
);

function readRfc2822(value: Json): ReadTime {
  const found = typeof value === "string" && value.length <= 60 ? rfc2822.exec(value) : null;
  if (found === null) return undefined;
  const [, weekday, day, month = "", year, hour, minute, second = "0", sign, hours = "0", minutes = "0"] = found;
  const time = localTime({
    year: Number(year),
    month: monthNames.indexOf(month.toLowerCase()) + 1,
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  });
  if (time === undefined || Number(hours) > 23) return undefined;
  if (weekday !== undefined && dayNames.indexOf(weekday.toLowerCase()) + 1 !== time.dayOfWeek) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000);
  return { instant: time.toZonedDateTime("UTC").epochMilliseconds - offset };
}

function localTime(parts: Temporal.PlainDateTimeLike): Temporal.PlainDateTime | undefined {
  try {
    return Temporal.PlainDateTime.from(parts, { overflow: "reject" });
  } catch {
    return undefined;
  }
}

/** `2026-W05-3`, and `2026-W05` for its Monday. */
function readIsoWeek(value: Json): ReadTime {
  const found = typeof value === "string" ? /^(\d{4})-?W(\d{2})(?:-?([1-7]))?$/.exec(value) : null;
  if (found === null) return undefined;
  const [, year, week, day = "1"] = found;
  // The fourth of January is always in the first week.
  const fourth = localTime({ year: Number(year), month: 1, day: 4 });
  const time = fourth?.add({ days: (Number(week) - 1) * 7 + Number(day) - fourth.dayOfWeek });
  return time?.weekOfYear === Number(week) && time.yearOfWeek === Number(year)
    ? { local: time, isDay: true }
    : undefined;
}

/** The formats with a name, beside `iso`. */
export const namedFormats: Readonly<Record<string, NamedFormat>> = {
  ...epochFormats,
  excel: serial("1899-12-30T00:00", 61, "a spreadsheet"),
  excel_1904: serial("1904-01-01T00:00", 0, "a spreadsheet that counts from 1904"),
  rfc_2822: { expected: "a date of RFC 2822", isInstant: true, read: readRfc2822 },
  odata: {
    expected: "/Date(milliseconds since 1970)/",
    isInstant: true,
    // An offset behind the milliseconds says where they were written, and changes nothing.
    read: (value) => {
      const found = typeof value === "string" ? /^\/Date\((-?\d{1,15})(?:[+-]\d{4})?\)\/$/.exec(value) : null;
      return found === null ? undefined : { instant: Number(found[1]) };
    },
  },
  iso_week: { expected: "a week of ISO 8601, such as 2026-W05 or 2026-W05-3", isInstant: false, read: readIsoWeek },
};
