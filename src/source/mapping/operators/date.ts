import { mistake } from "../context.ts";
import { clockChangePolicies, compileDate } from "../date.ts";
import { beside, option } from "./operator.ts";
import type { Operator } from "./operator.ts";

export const date: Operator = {
  reference: {
    form: "{date: EXPRESSION, format: FORMAT, zone: ZONE, clockChange: POLICY}",
    does:
      "A time, as an instant in UTC. Formats: `iso`; `epoch_ms` " +
      "and `epoch_s` (the years 1900 to 2200); or a pattern of " +
      "`yyyy`, `MM`, `M`, `dd`, `d`, `HH`, `H`, `mm`, `ss`, `SSS`, " +
      "`XXX` (Z or an offset), with other letters in single quotes.",
    takes: "text, or a whole number for the two epoch formats",
    gives: "an instant, such as 2026-03-01T08:00:00.000Z",
    options: {
      format: "How the time is written; `iso` by default.",
      zone:
        "Time zone of times without an offset, such as Europe/Berlin. Required where there may be such times. " +
        "Statements have the local date of such a time there, whatever their own zone.",
      clockChange:
        "A local time that happens twice or never when clocks change: `reject` (by default), `earlier` or `later`.",
    },
    refuses: {
      "not-a-date": "what it finds is not of the format, or the calendar does not have it",
      "not-an-instant": "an ISO time with an offset that cannot be read",
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
      { expression: { date: "at" }, record: { at: "2026-02-01T10:00:00+02:00" }, gives: "2026-02-01T08:00:00.000Z" },
      { expression: { date: "at", zone: "UTC" }, record: { at: "2026-02-30" }, refused: "not-a-date" },
      { expression: { date: "at" }, record: { at: "2026-02-30T10:00:00Z" }, refused: "not-an-instant" },
      { expression: { date: "at" }, record: { at: "2026-02-01T10:00" }, refused: "no-zone" },
      {
        expression: { date: "at", zone: "Europe/Berlin" },
        record: { at: "2026-03-29T02:30" },
        refused: "clock-change",
      },
      {
        expression: { date: "at", zone: "Europe/Berlin", clockChange: "later" },
        record: { at: "2026-03-29T02:30" },
        gives: "2026-03-29T01:30:00.000Z",
      },
    ],
  },
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at);
    const clockChange = option(spec, "clockChange", at, context) ?? "reject";
    const policy = clockChangePolicies.find((known) => known === clockChange);
    if (policy === undefined) {
      return mistake(
        context,
        beside(at, "clockChange"),
        `found ${clockChange}; expected ${clockChangePolicies.join(", ")}`,
      );
    }
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
