import { parse } from "csv-parse/sync";
import { expect } from "vitest";
import { document } from "../support/cli.ts";
import type { Parsed, World } from "../support/cli.ts";

/**
 * Reports as the version of the ninth migration printed them, held against the statements that say the same: their
 * rows, what they are counted by, and the state of the ledger that they stand on.
 */

type Row = Record<string, string>;

/** A report of then: its rows as statements write their cells, its counts, and the facts of its last row. */
interface Report {
  columns: string[];
  rows: Row[];
  counts: Record<string, number>;
  facts: string[];
}

/** Holds a report of then, in the words of now, against its statement. */
export async function expectStated(w: World, words: readonly string[], printed: string): Promise<void> {
  const [, kind = "", ...more] = words;
  const stated = async (...options: string[]): Promise<string> => {
    const ended = await w.run("report", kind, ...more, ...options);
    expect(ended.exitCode, ended.stderr).toBe(0);
    return ended.stdout;
  };
  if (more.includes("json")) {
    expectDocument(JSON.parse(await stated()), JSON.parse(printed));
    return;
  }
  const then = reportOf(printed);
  const rows = async (part: string): Promise<Row[]> => parse(await stated("--part", part), { columns: true });
  if (kind === "orders") expectOrders(then, await rows("lines"), await rows("licences"));
  if (kind === "exceptions") {
    const now = (await rows("exceptions")).filter(isOfThen);
    expect.soft(inColumns(figuresOf(then).columns, now), kind).toEqual(figuresOf(then).rows.map(notOver));
    expect.soft(countedBy(now, "kind"), kind).toEqual(then.counts);
    const summary = (await rows("summary")).filter(isOfThen);
    expect.soft(countedBy(summary, "kind", "count"), kind).toEqual(then.counts);
  }
  if (kind === "reconciliation") {
    expect.soft(inColumns(figuresOf(then).columns, await rows("items")), kind).toEqual(figuresOf(then).rows);
    const summary = (await rows("summary")).map((row) => ({ ...row, both: `${row["level"]} ${row["verdict"]}` }));
    expect.soft(countedBy(summary, "both", "count"), kind).toEqual(then.counts);
  }
  const { header } = document(await w.run("report", kind, ...more, "--format", "json"));
  expect.soft(factsOf(header), kind).toEqual(then.facts);
}

/** What reports said in words of others. */
const words = ["reason", "details"];

/** A report without what it says in words: statements leave those of the CRM and of the services to `explain`. */
function figuresOf({ columns, rows }: Report): Pick<Report, "columns" | "rows"> {
  return {
    columns: columns.filter((name) => !words.includes(name)),
    rows: rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !words.includes(name)))),
  };
}

function reportOf(printed: string): Report {
  const all: Row[] = parse(printed, { columns: true });
  const columns = Object.keys(all[0] ?? {});
  const [, ...end] = Object.values(all.pop() ?? {}).filter((cell) => cell !== "");
  const [facts, counts] = [end.slice(0, 5), end.slice(5)];
  const counted = counts.map((text) => text.split(": ")).map(([name = "", count]) => [name, Number(count)]);
  const { rows: many, ...rest }: Record<string, number> = Object.fromEntries(counted);
  expect(all).toHaveLength(many ?? 0);
  const rows = all.map((row) =>
    Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, cellOf(column, cell)])),
  );
  return { columns, rows, counts: rest, facts };
}

const sides = new Set(["in_crm", "sent", "shown"]);
const sideOf: Record<string, string> = { yes: "true", no: "false", unknown: "" };

/** How a statement writes a cell of then: the CRM's dates without a time, instants with the offset of their zone. */
function cellOf(column: string, cell: string): string {
  if (column === "crm_date") return cell.slice(0, 10);
  if (sides.has(column)) return sideOf[cell] ?? `${cell}?`;
  return instantOf(cell);
}

function instantOf(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\dT[\d:.]+)Z$/u, "$1+00:00");
}

/** Rows with the columns that they had then; what joins the texts of a list is escaped within one now. */
function inColumns(columns: readonly string[], rows: readonly Row[]): Row[] {
  return rows.map((row) =>
    Object.fromEntries(columns.map((name) => [name, (row[name] ?? "no such column").replaceAll("\\u003b", ";")])),
  );
}

function countedBy(rows: readonly Row[], column: string, count?: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) {
    const value = row[column] ?? "";
    counts[value] = (counts[value] ?? 0) + (count === undefined ? 1 : Number(row[count]));
  }
  return counts;
}

/** An event of an order has a row for each line of products, and what befell licences stands in a part of its own. */
function expectOrders(then: Report, lines: readonly Row[], licences: readonly Row[]): void {
  const events = [...Map.groupBy(lines, (row) => row["operation"]).values()].map((rows) => {
    const joined = (name: string): string => [...new Set(rows.map((row) => row[name] ?? ""))].join("; ");
    const units = rows.reduce((sum, row) => sum + Number(row["units"]), 0);
    const amounts = { product_amount_minor: joined("amount"), product_currency: joined("currency") };
    const same = Object.fromEntries(then.columns.map((name) => [name, joined(name)]));
    return { ...same, ...amounts, product_ids: joined("product_id"), products: String(units), sequence: "1" };
  });
  const granted = licences.map((row) => {
    const same = Object.fromEntries(then.columns.map((name) => [name, row[name] ?? ""]));
    return { ...same, asset_numbers: row["asset_number"] ?? "", products: "0" };
  });
  const order = (rows: readonly Row[]): string[] => rows.map((row) => JSON.stringify(row, then.columns)).sort();
  const now = [...events, ...granted];
  expect.soft(order(now), "orders").toEqual(order(then.rows));
  expect.soft(countedBy(now, "event"), "orders").toEqual(then.counts);
  for (const part of [lines, licences]) {
    const times = part.map((row) => row["at"] ?? "");
    expect.soft(times, "in the order of time").toEqual(times.toSorted());
  }
}

/** What the last row of a report said of the state that it stood on. */
function factsOf({ statement, period, by, auditHead, ledger, asOf }: Parsed): string[] {
  return [
    `crm-sync ${statement} ${period.label} by ${by}`,
    `from ${period.from} to ${period.to} (${period.zone})`,
    `audit head: ${auditHead.sequence} ${auditHead.hash}`,
    `ledger: ${ledger}`,
    `as of: ${asOf}`,
  ];
}

/** What an earlier program did not keep is told of by this one alone. */
function isOfThen(row: Parsed): boolean {
  return row["kind"] !== "not-known";
}

/** What was refused is over once it is placed or not wanted any more, and not when it is refused. */
function notOver(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return row["kind"] === "rejected" ? { ...row, until: row["hold"] === "" ? "" : null } : row;
}

/** The JSON of the exceptions of then against that of their statement. */
function expectDocument({ header, parts }: Parsed, then: Parsed): void {
  const { columns, report, ...facts } = then.header;
  expect.soft(header).toMatchObject({ ...facts, statement: report });
  const { rows, totals } = parts[report];
  const names: string[] = columns.filter((name: string) => !words.includes(name));
  const told = rows.filter(isOfThen);
  const now = told.map((row: Parsed) => Object.fromEntries(names.map((name) => [name, row[name]])));
  const before = then.rows.map((row: Parsed) => {
    const cells = names.map((name) => [name, typeof row[name] === "string" ? instantOf(row[name]) : row[name]]);
    return notOver(Object.fromEntries(cells));
  });
  expect.soft(now).toEqual(before);
  const counted = totals.groups.filter(({ value }: Parsed) => value !== "not-known");
  const groups = counted.map(({ value, rows: count }: Parsed) => [value, count]);
  expect(totals.rows).toBe(rows.length);
  expect.soft({ rows: told.length, ...Object.fromEntries(groups) }).toEqual(then.totals);
}
