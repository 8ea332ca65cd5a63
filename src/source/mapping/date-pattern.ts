import { failed, ok } from "../../base/errors.ts";
import type { Result } from "../../base/errors.ts";

type LocalField = "year" | "month" | "day" | "hour" | "minute" | "second";
type Field = LocalField | "fraction" | "half" | "weekday" | "offset";

/** The English names of the months and days; they do not depend on where the program runs. */
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const short = (names: readonly string[]): string[] => names.map((name) => name.slice(0, 3));

interface Token {
  pattern: string;
  field: Field;
  read?: (text: string) => number;
}

const named = (names: readonly string[], field: Field): Token => {
  const small = names.map((name) => name.toLowerCase());
  return { pattern: `((?i:${names.join("|")}))`, field, read: (text) => small.indexOf(text.toLowerCase()) + 1 };
};

const tokens: Readonly<Record<string, Token>> = {
  yyyy: { pattern: "(\\d{4})", field: "year" },
  yy: { pattern: "(\\d{2})", field: "year", read: (text) => 2000 + Number(text) },
  MMMM: named(months, "month"),
  MMM: named(short(months), "month"),
  MM: { pattern: "(\\d{2})", field: "month" },
  M: { pattern: "(\\d{1,2})", field: "month" },
  dd: { pattern: "(\\d{2})", field: "day" },
  d: { pattern: "(\\d{1,2})", field: "day" },
  EEEE: named(weekdays, "weekday"),
  EEE: named(short(weekdays), "weekday"),
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

/**
 * Reads a local time, or the midnight of a day, and its offset where the pattern has one; undefined for what is not of
 * the pattern.
 */
type ReadLocal = (
  text: string,
) => { time: Temporal.PlainDateTime; isDay: boolean; offset: string | undefined } | undefined;

/**
 * Reads a format such as `yyyy-MM-dd HH:mm:ss.SSS`; letters that are no token stand in single quotes. What the calendar
 * does not have is not of the pattern.
 */
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
  let [offset, weekday, half, fraction]: [string | undefined, number, number, string] = [undefined, 0, 0, ""];
  for (const [index, { field, read }] of found.entries()) {
    const text = match[index + 1] ?? "";
    const value = (read ?? Number)(text);
    if (field === "offset") offset = text;
    else if (field === "weekday") weekday = value;
    else if (field === "half") half = value;
    else if (field === "fraction") fraction = text;
    else parts[field] = value;
  }
  const isDay = !found.some(({ field }) => field === "hour" || field === "minute" || field === "second");
  if (isHalfDay) parts.hour = (parts.hour % 12) + half;
  try {
    const millisecond = Number(fraction.padEnd(3, "0").slice(0, 3));
    const time = Temporal.PlainDateTime.from({ ...parts, millisecond }, { overflow: "reject" });
    return weekday !== 0 && weekday !== time.dayOfWeek ? undefined : { time, isDay, offset };
  } catch {
    return undefined;
  }
}
