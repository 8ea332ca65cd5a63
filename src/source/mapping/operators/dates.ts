import { compileDate, instantOf, isZone, plausibleInstant, textOf } from "../coerce.ts";
import { mistake, refuse } from "../context.ts";
import { beside, isText, option, textRefusals, type Operator } from "./operator.ts";

export const date: Operator = {
  reference: {
    form: "{date: EXPRESSION, format: FORMAT, zone: ZONE}",
    does:
      "A time, as an instant in UTC. Formats: `iso`, `epoch_s`, `epoch_ms`, `excel` (the day numbers of " +
      "spreadsheets) or a pattern. A pattern has `yyyy`, `yy` (2000 to 2099), `MM`, `M`, `MMM` (Jan), `dd`, " +
      "`d`, `HH`, `H`, `hh` or `h` with `a` (AM, PM), `mm`, `ss`, `S` to `SSSSSSSSS`, `XXX` (Z or +01:00) and `XX` " +
      "(Z or +0100), with other letters in single quotes. Names are English; parts smaller than a millisecond are " +
      "cut off. A date without a time is the first moment of its day, and so is a midnight that clocks skip.",
    options: {
      format: "How the time is written; `iso` by default.",
      zone:
        "Time zone of times without an offset, such as Europe/Berlin. Required where there may be such times. " +
        "Statements have the local date of such a time there, whatever their own zone.",
    },
    refuses: {
      "not-a-date": "the value does not have the format, or the calendar does not have this date",
      "not-an-instant": "an ISO time with an offset that cannot be read",
      "no-such-date": "a date before 1990 or after 2100, which mostly is one of another unit",
      "no-zone": "a time without an offset, and no `zone`",
      "clock-change": "a local time that happens twice or never when clocks change; `extract` takes its day alone",
    },
    examples: [
      {
        expression: { date: "ordered", format: "dd.MM.yyyy HH:mm", zone: "Europe/Berlin" },
        record: { ordered: "01.07.2026 10:30" },
        gives: "2026-07-01T08:30:00.000Z",
      },
      { expression: { date: "at", format: "epoch_s" }, record: { at: 1767225600 }, gives: "2026-01-01T00:00:00.000Z" },
      {
        expression: { date: "at", format: "d MMM yy h:mm a", zone: "UTC" },
        record: { at: "4 Feb 26 9:05 pm" },
        gives: "2026-02-04T21:05:00.000Z",
      },
      {
        expression: { date: "at", format: "yyyyMMdd", zone: "UTC" },
        record: { at: 20260204 },
        gives: "2026-02-04T00:00:00.000Z",
      },
      {
        expression: { date: "at", format: "excel", zone: "UTC" },
        record: { at: 46054.5 },
        gives: "2026-02-01T12:00:00.000Z",
      },
      { expression: { date: "at" }, record: { at: "2026-02-01T10:00:00+02:00" }, gives: "2026-02-01T08:00:00.000Z" },
      { expression: { date: "at", zone: "UTC" }, record: { at: "2026-02-30" }, refused: "not-a-date" },
      { expression: { date: "at" }, record: { at: "2026-02-01T10:00" }, refused: "no-zone" },
      { expression: { date: "at", format: "epoch_ms" }, record: { at: 1767225600 }, refused: "no-such-date" },
      {
        expression: { date: "at", zone: "Europe/Berlin" },
        record: { at: "2026-03-29T02:30" },
        refused: "clock-change",
      },
    ],
  },
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at);
    const format = option(spec, "format", at, context) ?? "iso";
    const reader = compileDate({ format, zone: option(spec, "zone", at, context) }, context);
    if (!reader.ok) return mistake(context, at.slice(0, -1), reader.error);
    const read = reader.value;
    return (scope) => {
      const found = inner(scope);
      return found === undefined ? undefined : read(found);
    };
  },
};

const termExpected = "a term years-months-days, such as 1-0-0 for one year";

const termPattern = /^(\d{1,4})-(\d{1,4})-(\d{1,5})$/;

function termOf(text: string): Temporal.DurationLike | undefined {
  const parts = termPattern.exec(text);
  return parts === null ? undefined : { years: Number(parts[1]), months: Number(parts[2]), days: Number(parts[3]) };
}

export const plusTerm: Operator = {
  reference: {
    form: "{plusTerm: EXPRESSION, term: TERM, zone: ZONE}",
    does:
      "An instant and a term after it, on the calendar and the clock of a zone. A day that the month does not have " +
      "is its last one. Of an end date that is the last day included, `0-0-1` gives the end.",
    options: {
      term:
        "Years-months-days as fields of the canonical record have it (`1-0-0`), or an expression that finds " +
        "it. Required.",
      zone: "The time zone whose days and months are meant, such as Europe/Berlin. Required.",
    },
    refuses: {
      ...textRefusals,
      "not-an-instant": "the value is no instant; `date` reads other forms",
      "no-such-date": "the end, or the value itself, is before 1990 or after 2100",
      "not-a-term": "the term is not of the form years-months-days",
    },
    examples: [
      {
        expression: { plusTerm: { date: "start", zone: "Europe/Berlin" }, term: "1-0-0", zone: "Europe/Berlin" },
        record: { start: "2026-07-01" },
        gives: "2027-06-30T22:00:00.000Z",
      },
      {
        expression: { plusTerm: { date: "until", zone: "Europe/Berlin" }, term: "0-0-1", zone: "Europe/Berlin" },
        record: { until: "2026-12-31" },
        gives: "2026-12-31T23:00:00.000Z",
      },
      {
        expression: {
          plusTerm: { date: "start", zone: "UTC" },
          term: { template: "0-{months}-0" },
          zone: "UTC",
        },
        record: { start: "2026-01-31", months: 1 },
        gives: "2026-02-28T00:00:00.000Z",
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
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const { term } = spec;
    const where = beside(at, "term");
    const constant = isText(term) ? termOf(term) : undefined;
    if (isText(term) && constant === undefined)
      return mistake(context, where, `found ${JSON.stringify(term)}; expected ${termExpected}, or {path: …}`);
    const written = isText(term) ? undefined : compiler.expression(term, where);
    const start = compiler.expression(operand, at);
    const zone = option(spec, "zone", at, context);
    if (zone === undefined || !isZone(zone)) {
      const found = zone === undefined ? "missing" : `the zone ${JSON.stringify(zone)} is unknown`;
      return mistake(context, beside(at, "zone"), `${found}; expected a name such as Europe/Berlin or UTC`);
    }
    return (scope) => {
      const instant = instantOf(start(scope), context);
      if (instant === undefined) return undefined;
      const found = written?.(scope);
      const text = textOf(found, context);
      if (constant === undefined && text === undefined) return undefined;
      const length = constant ?? termOf(text ?? "");
      if (length === undefined) return refuse(context, "not-a-term", found, termExpected);
      const begin = Temporal.Instant.from(instant).toZonedDateTimeISO(zone);
      // Where clocks skip midnight, a day begins later. A term of whole days then also ends at a day's beginning.
      const isDay = begin.equals(begin.startOfDay());
      const end = isDay ? begin.toPlainDate().add(length).toZonedDateTime(zone) : begin.add(length);
      context.localIn = zone;
      return plausibleInstant(end.epochMilliseconds, instant, context);
    };
  },
};
