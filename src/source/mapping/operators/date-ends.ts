import type { Json, JsonObject } from "../../../base/canonical-json.ts";
import { mistake, refuse } from "../context.ts";
import type { Evaluate, ExpressionCompiler, KeyPath } from "../context.ts";
import { instantOf, isZone, plausibleInstant } from "../date.ts";
import { ofInstant, textual } from "../kinds.ts";
import { asText, beside, isText, ofText, option, textRefusals, wordOption } from "./operator.ts";
import type { Operator } from "./operator.ts";
import { instantExpression, objectExpressionOf, oneOfWords, someText } from "../written.ts";

/** How an end is told. */
const ends = ["after", "lastMoment", "lastDay"] as const;
type End = (typeof ends)[number];

const options = {
  zone: "The time zone whose days and months are meant, such as Europe/Berlin. Required.",
  as:
    "The form of the end: `after`, the first moment that is no longer in it (by default); `lastMoment`, a " +
    "millisecond " +
    "before that; `lastDay`, the beginning of its last day.",
};
const refuses = {
  "not-an-instant": "the value is no instant; `date` reads other forms",
  "no-such-date": "the end, or the value itself, is beyond the `plausibleDates` of the stream",
};
const written = {
  operand: instantExpression,
  options: { zone: someText, as: oneOfWords(ends) },
  required: ["zone"],
};
const takes = "an instant: what `date` gives, or an ISO time with Z or an offset";

/** The end that follows from an instant in a zone, told in one of the ways. */
function ending(
  operand: Json,
  spec: JsonObject,
  at: KeyPath,
  compiler: ExpressionCompiler,
  endOf: (begin: Temporal.ZonedDateTime, scope: Parameters<Evaluate>[0]) => Temporal.ZonedDateTime | undefined,
): Evaluate {
  const { context } = compiler;
  const inner = compiler.expression(operand, at, ofInstant);
  const zone = option(spec, "zone", at, context);
  if (zone === undefined || !isZone(zone)) {
    const found = zone === undefined ? "missing" : `the zone ${JSON.stringify(zone)} is unknown`;
    return mistake(context, beside(at, "zone"), `${found}; expected a name such as Europe/Berlin or UTC`);
  }
  const as = wordOption(spec, "as", at, context, ends, "after") ?? "after";
  return (scope) => {
    const found = inner(scope);
    const instant = found === undefined ? undefined : instantOf(found, context);
    if (instant === undefined) return undefined;
    const begin = Temporal.Instant.from(instant).toZonedDateTimeISO(zone);
    const after = endOf(begin, scope);
    if (after === undefined) return undefined;
    context.localIn = zone;
    return plausibleInstant(toldAs(after, as).epochMilliseconds, instant, context);
  };
}

function toldAs(after: Temporal.ZonedDateTime, as: End): Temporal.ZonedDateTime {
  if (as === "after") return after;
  const last = after.subtract({ milliseconds: 1 });
  return as === "lastMoment" ? last : last.startOfDay();
}

export const endOfDay: Operator = {
  reference: {
    form: "{endOfDay: EXPRESSION, zone: ZONE, as: END}",
    does: "The end of the day of an instant: for an end date that is the last day included.",
    takes,
    gives: "an instant",
    options,
    refuses,
    examples: [
      {
        expression: { endOfDay: { date: "until", zone: "Europe/Berlin" }, zone: "Europe/Berlin" },
        record: { until: "2026-12-31" },
        gives: "2026-12-31T23:00:00.000Z",
      },
      {
        expression: { endOfDay: "until", zone: "UTC", as: "lastMoment" },
        record: { until: "2026-12-31T00:00:00Z" },
        gives: "2026-12-31T23:59:59.999Z",
      },
      { expression: { endOfDay: "until", zone: "UTC" }, record: { until: "2026-12-31" }, refused: "not-an-instant" },
    ],
  },
  written,
  gives: ["instant"],
  compile: (operand, spec, at, compiler) =>
    ending(operand, spec, at, compiler, (begin) =>
      begin.toPlainDate().add({ days: 1 }).toZonedDateTime(begin.timeZoneId),
    ),
};

const termExpected = "a term years-months-days, such as 1-0-0 for one year";

const termPattern = /^(\d{1,4})-(\d{1,4})-(\d{1,5})$/;

/** A term of the form years-months-days. */
function termOf(text: string): Temporal.DurationLike | undefined {
  const parts = termPattern.exec(text);
  return parts === null ? undefined : { years: Number(parts[1]), months: Number(parts[2]), days: Number(parts[3]) };
}

export const plusTerm: Operator = {
  reference: {
    form: "{plusTerm: EXPRESSION, term: TERM, zone: ZONE, as: END}",
    does:
      "An instant and a term after it, on the calendar and the clock of a zone. A day that the month does not " +
      "have is " +
      "its last one.",
    takes,
    gives: "an instant",
    options: {
      term:
        "Years-months-days as fields of the canonical record have it (`1-0-0`), or an expression that finds " +
        "it. Required.",
      ...options,
    },
    refuses: { ...textRefusals, ...refuses, "not-a-term": "the term is not of the form years-months-days" },
    examples: [
      {
        expression: { plusTerm: { date: "start", zone: "Europe/Berlin" }, term: "1-0-0", zone: "Europe/Berlin" },
        record: { start: "2026-07-01" },
        gives: "2027-06-30T22:00:00.000Z",
      },
      {
        expression: {
          plusTerm: { date: "start", zone: "UTC" },
          term: { template: "0-{months}-0" },
          zone: "UTC",
          as: "lastDay",
        },
        record: { start: "2026-01-31", months: 1 },
        gives: "2026-02-27T00:00:00.000Z",
      },
      {
        expression: { plusTerm: "start", term: { path: "term" }, zone: "UTC" },
        record: { start: "2026-07-01T00:00:00Z", term: "1 year" },
        refused: "not-a-term",
      },
      {
        expression: { plusTerm: "start", term: "9999-0-0", zone: "UTC" },
        record: { start: "2026-07-01T00:00:00Z" },
        refused: "no-such-date",
      },
    ],
  },
  written: {
    operand: instantExpression,
    options: {
      term: { form: "either", of: [{ form: "text", pattern: termPattern.source }, objectExpressionOf(textual)] },
      ...written.options,
    },
    required: ["term", "zone"],
  },
  gives: ["instant"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const { term } = spec;
    const where = beside(at, "term");
    const constant = isText(term) ? termOf(term) : undefined;
    if (isText(term) && constant === undefined)
      return mistake(context, where, `found ${JSON.stringify(term)}; expected ${termExpected}, or {path: …}`);
    const written = isText(term) ? undefined : ofText(term, where, compiler);
    return ending(operand, spec, at, compiler, (begin, scope) => {
      const found = written?.(scope);
      const text = found === undefined ? undefined : asText(found, context);
      if (constant === undefined && text === undefined) return undefined;
      const length = constant ?? termOf(text ?? "");
      if (length === undefined) return refuse(context, "not-a-term", found, termExpected);
      // A day begins later than at midnight where the clock skips that; its term ends with the beginning of a day too.
      const isDay = begin.equals(begin.startOfDay());
      return isDay ? begin.toPlainDate().add(length).toZonedDateTime(begin.timeZoneId) : begin.add(length);
    });
  },
};
