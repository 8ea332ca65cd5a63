import { mistake } from "../context.ts";
import { clockChangePolicies, compileDate } from "../date.ts";
import { textual } from "../kinds.ts";
import { option, wordOption } from "./operator.ts";
import type { Operator } from "./operator.ts";
import { oneOfWords, someText, textExpression } from "../written.ts";

export const date: Operator = {
  reference: {
    form: "{date: EXPRESSION, format: FORMAT, zone: ZONE, clockChange: POLICY}",
    does:
      "A time, as an instant in UTC. Formats: `iso`; `iso_week` (2026-W05-3); `epoch_s`, `epoch_ms` and " +
      "`epoch_us`; `excel` and `excel_1904`, the day numbers of spreadsheets; `rfc_2822`; `odata`, which is " +
      "/Date(milliseconds)/; or a pattern of `yyyy`, `yy` (2000 to 2099), `MM`, `M`, `MMM` (Jan), `MMMM` (January), " +
      "`dd`, `d`, `EEE` (Mon), `EEEE` (Monday), `HH`, `H`, `hh` or `h` with `a` (AM, PM), `mm`, `ss`, `S` to " +
      "`SSSSSSSSS`, `XXX` (Z or +01:00) and `XX` (Z or +0100), with other letters in single quotes. Names are " +
      "English; " +
      "parts smaller than a millisecond are cut off.",
    takes: "text, or a number for epochs, day numbers and patterns of digits alone",
    gives: "an instant, such as 2026-03-01T08:00:00.000Z",
    options: {
      format: "How the time is written; `iso` by default.",
      zone:
        "Time zone of times without an offset, such as Europe/Berlin. Required where there may be such times. " +
        "Statements have the local date of such a time there, whatever their own zone.",
      clockChange:
        "A local time that happens twice or never when clocks change: `reject` (by default), `earlier` or `later`. " +
        "A date without a time is the first moment of its day, and so is a midnight that clocks skip.",
    },
    refuses: {
      "not-a-date": "the value does not have the format, or the calendar does not have this date",
      "not-an-instant": "an ISO time with an offset that cannot be read",
      "no-such-date": "a date beyond the `plausibleDates` of the stream, which mostly is one of another unit",
      "no-zone": "a time without an offset, and no `zone`",
      "clock-change": "a local time that happens twice or never, with `clockChange: reject`",
    },
    examples: [
      {
        expression: { date: "ordered", format: "dd.MM.yyyy HH:mm", zone: "Europe/Berlin" },
        record: { ordered: "01.07.2026 10:30" },
        gives: "2026-07-01T08:30:00.000Z",
      },
      { expression: { date: "at", format: "epoch_s" }, record: { at: 1767225600 }, gives: "2026-01-01T00:00:00.000Z" },
      {
        expression: { date: "at", format: "EEE, d MMM yy h:mm a", zone: "UTC" },
        record: { at: "Wed, 4 Feb 26 9:05 pm" },
        gives: "2026-02-04T21:05:00.000Z",
      },
      {
        expression: { date: "at", format: "yyyyMMdd", zone: "UTC" },
        record: { at: 20260204 },
        gives: "2026-02-04T00:00:00.000Z",
      },
      {
        expression: { date: "at", format: "iso_week", zone: "UTC" },
        record: { at: "2026-W05-3" },
        gives: "2026-01-28T00:00:00.000Z",
      },
      {
        expression: { date: "at", format: "excel", zone: "UTC" },
        record: { at: 46054.5 },
        gives: "2026-02-01T12:00:00.000Z",
      },
      {
        expression: { date: "at", format: "rfc_2822" },
        record: { at: "Wed, 04 Feb 2026 09:05:00 +0100" },
        gives: "2026-02-04T08:05:00.000Z",
      },
      {
        expression: { date: "at", format: "odata" },
        record: { at: "/Date(1767225600000)/" },
        gives: "2026-01-01T00:00:00.000Z",
      },
      { expression: { date: "at" }, record: { at: "2026-02-01T10:00:00+02:00" }, gives: "2026-02-01T08:00:00.000Z" },
      { expression: { date: "at", zone: "UTC" }, record: { at: "2026-02-30" }, refused: "not-a-date" },
      { expression: { date: "at" }, record: { at: "2026-02-30T10:00:00Z" }, refused: "not-an-instant" },
      { expression: { date: "at" }, record: { at: "2026-02-01T10:00" }, refused: "no-zone" },
      { expression: { date: "at", format: "epoch_ms" }, record: { at: 1767225600 }, refused: "no-such-date" },
      {
        expression: { date: "at", zone: "Europe/Berlin" },
        record: { at: "2026-03-29T02:30" },
        refused: "clock-change",
      },
      {
        expression: { date: "at", zone: "Africa/Cairo" },
        record: { at: "2026-04-24" },
        gives: "2026-04-23T22:00:00.000Z",
      },
      {
        expression: { date: "at", zone: "Europe/Berlin", clockChange: "later" },
        record: { at: "2026-03-29T02:30" },
        gives: "2026-03-29T01:30:00.000Z",
      },
    ],
  },
  written: {
    operand: textExpression,
    options: { format: someText, zone: someText, clockChange: oneOfWords(clockChangePolicies) },
  },
  gives: ["instant"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at, textual);
    const policy = wordOption(spec, "clockChange", at, context, clockChangePolicies, "reject");
    if (policy === undefined) return () => undefined;
    const declared = {
      format: option(spec, "format", at, context) ?? "iso",
      zone: option(spec, "zone", at, context),
      clockChange: policy,
    };
    const reader = compileDate(declared, context);
    if (!reader.ok) return mistake(context, at.slice(0, -1), reader.error);
    const read = reader.value;
    return (scope) => {
      const found = inner(scope);
      return found === undefined ? undefined : read(found);
    };
  },
};
