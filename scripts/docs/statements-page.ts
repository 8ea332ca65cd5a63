import { statements, type Statement } from "../../src/inquiry/statement/statement.ts";
import { parsePeriod } from "../../src/report/statement/period.ts";
import type { Column, ColumnType, Part } from "../../src/report/statement/shape.ts";
import { code, page, table } from "./markdown.ts";

const types: Record<ColumnType, string> = {
  text: "A text.",
  list: "Texts in their order.",
  integer: "A whole number.",
  boolean: "Yes or no.",
  money:
    "An amount in the currency that another column of the row names. It is held and added up as a whole number of " +
    "the " +
    "smallest unit of that currency, never as a fraction.",
  date: "A local date such as `2026-10-01`, as the CRM gave it or in the configured zone.",
  instant: "A moment, shown in the configured zone.",
};

const examples = [
  { label: "2026-10", what: "a month" },
  { label: "2026-Q4", what: "a quarter" },
  { label: "2026", what: "a year" },
  { label: "2026-10-25", what: "a day, here one of 25 hours" },
  { label: "2026-09..2026-11", what: "three months" },
  { label: "2026-10-03..2026-10-17", what: "fifteen days" },
];

function periods(): string[] {
  const zone = "Europe/Berlin";
  const rows = examples.map(({ label, what }) => {
    const { from, to } = parsePeriod(label, zone);
    return [code(label), what, code(from), code(to)];
  });
  return [
    "## Periods",
    "`--period` is of local days in the configured zone, with the days of 23 and 25 hours as long as they are. " +
      "Both ends " +
      `of a range belong to it. In ${zone}:`,
    table(["Period", "What it is", "From", "Up to, not included"], rows),
    "A period that is not over yet may be asked for. Its statement is marked `provisional`: the figures may still " +
      "change. A CSV file holds rows alone, so there the command says it.",
    "`--date crm-date` puts an order into the period that the date of the CRM names; without it a row " +
      "belongs to the period in which it happened. The others than `orders`, `entitlements` " +
      "and `reconciliation` know no date of the CRM, and refuse it.",
  ];
}

const datesOfCrm = [
  "## Dates of the CRM",
  "A local date of the CRM, in a format without an offset and with a `zone` of the mapping " +
    "([mapping](mapping.md)), stays that date: an order of 1 October in Shanghai is of 1 October, and of October, in " +
    "a statement of Berlin. A time with an offset or as a number is shown as its date in the configured zone.",
  "The ledger keeps the zone with each form of an order that it reads, so that a date does not change " +
    "if the mapping gets another zone later. Two kinds of dates are shown in the configured zone: those " +
    "of forms that were " +
    "read by a program that kept no zones; and those of a field, such as the end of products, that one order gives " +
    "in several ways.",
  "A correction is a change of the moment, because the moment is sent. Where both sides are the same local time, " +
    "of two zones, the statement shows the two moments.",
];

const asOf = [
  "## As of a moment in the past",
  "`--as-of 2026-10-31T18:00` (local in the configured zone), `--as-of 2026-10-31T18:00+01:00` or `--as-of " +
    "2026-10-31` " +
    "(the end of that day) shows the knowledge of that moment: the rows are those of a statement made " +
    "then, under the audit head of then. A moment in the future, before the ledger began, or before what " +
    "retention has left is refused, with the earliest one that can be asked for.",
  "The ledger keeps from when to when records waited or were in quarantine, refused, held or in doubt, " +
    "so each statement can be made again. But:",
  [
    "- How often a record was missing and when a row in quarantine was seen last are known only for now, " +
      "and are in no statement.",
    "- Names and other personal data are those of now: values that were erased since are erased there too.",
    "- Complete readings of sources that retention has thinned are missing from every statement, but those of a " +
      "period that was closed by then. The data of closed periods is kept for their moment.",
  ].join("\n"),
];

function typeOf({ type, currencyIn, total }: Column): string {
  const of = currencyIn === undefined ? "" : ` in ${code(currencyIn)}`;
  return `${type}${of}${total === true ? ", added up" : ""}`;
}

function partOf(part: Part): string[] {
  const group = part.groupBy === undefined ? "" : ` Rows are counted by ${code(part.groupBy)}.`;
  return [
    `### Part ${code(part.name)}: ${part.title}`,
    `${part.about}${group}`,
    table(
      ["Column", "Type", "Heading", "What stands in it"],
      part.columns.map((column) => [code(column.name), typeOf(column), column.title, column.about]),
    ),
  ];
}

function limitedBy({ filters }: Statement): string {
  const options = (filters ?? (["source", "customer", "branch", "product"] as const)).map((name) => code(`--${name}`));
  return `It can be limited by ${options.join(", ")}.`;
}

/** The columns of every statement: names and types are a promise. */
export function statementsPage(): string {
  const all: Statement[] = Object.values(statements);
  return page([
    "# Statements",
    "`crm-sync report KIND --period PERIOD` writes a statement. Names and types of columns are a " +
      "promise: a change of one raises the version of its statement, in the header. The same ledger and " +
      "the same question give " +
      "the " +
      "same bytes.",
    table(
      ["Kind", "Version", "What it says"],
      all.map(({ shape }) => [code(shape.kind), String(shape.version), shape.about]),
    ),
    ...periods(),
    ...datesOfCrm,
    ...asOf,
    "## Types",
    table(
      ["Type", "What it holds"],
      Object.entries(types).map(([type, what]) => [type, what]),
    ),
    ...all.flatMap((statement) => [
      `## ${statement.shape.kind}`,
      `${statement.shape.title}, version ${statement.shape.version}. ${statement.shape.about} ${limitedBy(statement)}`,
      ...statement.shape.parts.flatMap(partOf),
    ]),
  ]);
}
