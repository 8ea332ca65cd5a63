import type { Json } from "../../base/canonical-json.ts";
import { failed, ok, type Result } from "../../base/errors.ts";

type ReadTime = { instant: number } | { local: Temporal.PlainDateTime; isDay: boolean } | undefined;

interface NamedFormat {
  expected: string;
  read(value: Json): ReadTime;
}

const epoch = (milliseconds: number, unit: string): NamedFormat => ({
  expected: `${unit} since 1970 as a whole number`,
  read: (value) => {
    const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
    return typeof number === "number" && Number.isInteger(number) ? { instant: number * milliseconds } : undefined;
  },
});

/** Day 0 of spreadsheets, which treat 1900 as a leap year. */
const firstSerial = Temporal.PlainDateTime.from("1899-12-30T00:00");

const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

function localTime(parts: Temporal.PlainDateTimeLike): Temporal.PlainDateTime | undefined {
  try {
    return Temporal.PlainDateTime.from(parts, { overflow: "reject" });
  } catch {
    return undefined;
  }
}

export const namedFormats: Readonly<Record<string, NamedFormat>> = {
  epoch_ms: epoch(1, "milliseconds"),
  epoch_s: epoch(1_000, "seconds"),
  excel: {
    expected: "a day number of a spreadsheet, from 1900-03-01",
    read: (value) => {
      const number = typeof value === "string" && /^\d{1,6}(?:\.\d{1,15})?$/.test(value) ? Number(value) : value;
      if (typeof number !== "number" || !(number >= 61 && number < 1_000_000)) return undefined;
      // Spreadsheet fractions are exact only to a second.
      const seconds = Math.round(number * 86_400);
      const local = firstSerial.add({ days: Math.floor(seconds / 86_400), seconds: seconds % 86_400 });
      return { local, isDay: Number.isInteger(number) };
    },
  },
};

type LocalField = "year" | "month" | "day" | "hour" | "minute" | "second";
type Field = LocalField | "fraction" | "half" | "offset";

interface Token {
  pattern: string;
  field: Field;
  read?: (text: string) => number;
}

const tokens: Readonly<Record<string, Token>> = {
  yyyy: { pattern: "(\\d{4})", field: "year" },
  yy: { pattern: "(\\d{2})", field: "year", read: (text) => 2000 + Number(text) },
  MMM: {
    // Not `(?i:…)`: V8 ignores it in code that it no longer optimizes, as in processes with many expressions.
    pattern: `(${months.map((name) => name.replaceAll(/./g, (letter) => `[${letter}${letter.toUpperCase()}]`)).join("|")})`,
    field: "month",
    read: (text) => months.indexOf(text.toLowerCase()) + 1,
  },
  MM: { pattern: "(\\d{2})", field: "month" },
  M: { pattern: "(\\d{1,2})", field: "month" },
  dd: { pattern: "(\\d{2})", field: "day" },
  d: { pattern: "(\\d{1,2})", field: "day" },
  HH: { pattern: "(\\d{2})", field: "hour" },
  H: { pattern: "(\\d{1,2})", field: "hour" },
  hh: { pattern: "(0[1-9]|1[0-2])", field: "hour" },
  h: { pattern: "(0?[1-9]|1[0-2])", field: "hour" },
  a: { pattern: "([AaPp]\\.?[Mm]\\.?)", field: "half", read: (text) => (text.toLowerCase().startsWith("p") ? 12 : 0) },
  mm: { pattern: "(\\d{2})", field: "minute" },
  ss: { pattern: "(\\d{2})", field: "second" },
  XXX: { pattern: "(Z|[+-]\\d{2}:\\d{2})", field: "offset" },
  XX: { pattern: "(Z|[+-]\\d{4})", field: "offset" },
};

function tokenOf(piece: string): Token | undefined {
  if (/^S{1,9}$/.test(piece)) return { pattern: `(\\d{${piece.length}})`, field: "fraction" };
  return Object.hasOwn(tokens, piece) ? tokens[piece] : undefined;
}

/** Undefined if the text does not match. Without a time, midnight of the day. */
type ReadLocal = (
  text: string,
) => { time: Temporal.PlainDateTime; isDay: boolean; offset: string | undefined } | undefined;

/** For example `yyyy-MM-dd HH:mm:ss.SSS`; other letters in single quotes. Refuses dates that do not exist. */
export function parseFormat(format: string): Result<{ read: ReadLocal; hasOffset: boolean }, string> {
  const shown = JSON.stringify(format);
  let source = "";
  const found: Token[] = [];
  const hours: string[] = [];
  for (const part of format.matchAll(/'([^']*)'|([A-Za-z])\2*|[^]/g)) {
    const [piece, quoted] = part;
    const token = tokenOf(piece);
    if (quoted !== undefined) source += RegExp.escape(quoted);
    else if (token !== undefined) {
      if (found.some(({ field }) => field === token.field))
        return failed(`the date format ${shown} has ${token.field} twice`);
      if (token.field === "hour") hours.push(piece);
      found.push(token);
      source += token.pattern;
    } else if (/^[A-Za-z]/.test(piece)) {
      return failed(
        `the date format has ${JSON.stringify(piece)}; expected ` +
          `${Object.keys(tokens).join(", ")}, S to SSSSSSSSS, or text in single quotes`,
      );
    } else source += RegExp.escape(piece);
  }
  const has = (field: Field): boolean => found.some((token) => token.field === field);
  for (const needed of ["year", "month", "day"] as const)
    if (!has(needed)) return failed(`the date format ${shown} has no ${needed}`);
  const isHalfDay = hours.some((piece) => piece.startsWith("h"));
  if (isHalfDay !== has("half"))
    return failed(`the date format ${shown} has ${isHalfDay ? "h without a (AM or PM)" : "a without h or hh"}`);
  const expression = new RegExp(`^${source}$`);
  return ok({
    hasOffset: has("offset"),
    read: (text) => {
      const match = text.length > 200 ? null : expression.exec(text);
      if (match === null) return undefined;
      return readParts(found, match, isHalfDay);
    },
  });
}

function readParts(found: readonly Token[], match: RegExpExecArray, isHalfDay: boolean): ReturnType<ReadLocal> {
  const parts = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  let [offset, half, fraction]: [string | undefined, number, string] = [undefined, 0, ""];
  for (const [index, { field, read }] of found.entries()) {
    const text = match[index + 1] ?? "";
    const value = (read ?? Number)(text);
    if (field === "offset") offset = text;
    else if (field === "half") half = value;
    else if (field === "fraction") fraction = text;
    else parts[field] = value;
  }
  const isDay = !found.some(({ field }) => field === "hour" || field === "minute" || field === "second");
  if (isHalfDay) parts.hour = (parts.hour % 12) + half;
  const time = localTime({ ...parts, millisecond: Number(fraction.padEnd(3, "0").slice(0, 3)) });
  return time === undefined ? undefined : { time, isDay, offset };
}
