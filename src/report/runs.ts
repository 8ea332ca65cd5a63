import { isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";
import { z } from "zod";
import type { NotAttempted, ReadFacts, RunFacts, RunStory } from "./facts.ts";
import { openTable, type OpenRecords } from "./open.ts";
import {
  painted,
  renderTable,
  ageOf,
  also,
  instantText,
  numberText,
  plainView,
  printable,
  section,
  textOf,
  type Lines,
  type View,
} from "./text.ts";
import { exitCodes } from "../base/errors.ts";

export function runsText(runs: readonly RunFacts[], view: View = plainView): string {
  if (runs.length === 0) return "no runs yet";
  return renderTable(
    ["run", "job", "by", "state", { title: "exit", align: "right" }, "started", "took", "balance"],
    runs.map((run) => [
      run.id,
      run.job,
      run.trigger,
      run.state,
      run.exitCode,
      instantText(run.startedAt, view),
      run.finishedAt === null ? "" : ageOf(run.startedAt, run.finishedAt),
      balanceWord(run.balance),
    ]),
    view,
  );
}

export function readsTable(reads: readonly ReadFacts[], now: string | undefined, view: View): string | undefined {
  if (reads.length === 0) return undefined;
  return renderTable(
    [
      "source",
      "stream",
      { title: "rows", align: "right" },
      { title: "bad", align: "right" },
      "read",
      { title: now === undefined ? "started" : "ago" },
      "problem",
    ],
    reads.map((read) => [
      read.source,
      read.stream,
      read.rows,
      read.bad,
      readWord(read),
      now === undefined ? instantText(read.startedAt, view) : ageOf(read.startedAt, now),
      read.problem,
    ]),
    view,
  );
}

export function readWord({ finishedAt, complete, whole, continues }: ReadFacts): string {
  const parts = continues === null ? "" : ", went on";
  if (finishedAt === null) return `not ended${parts}`;
  if (!complete) return `incomplete${parts}`;
  return whole ? `whole${continues === null ? "" : ", in parts"}` : "changes only";
}

const balanceSchema = z.object({
  streams: z.array(
    z.object({
      stream: z.string(),
      extracted: z.int(),
      takenUpAgain: z.int(),
      unchanged: z.int(),
      workedOn: z.int(),
      quarantined: z.int(),
      deferred: z.int(),
      rejected: z.int(),
      skipped: z.int(),
      adds: z.boolean(),
    }),
  ),
  operations: z.object({
    planned: z.int(),
    carriedIn: z.int(),
    done: z.int(),
    rejected: z.int(),
    unknown: z.int(),
    held: z.int(),
    notAttempted: z.int(),
    adds: z.boolean(),
  }),
  adds: z.boolean(),
});
export type BalanceFigures = z.infer<typeof balanceSchema>;

/** Parses the balance of a run; undefined for runs without one (verify, reports, cut-off runs). */
export function balanceFigures(balance: Json): BalanceFigures | undefined {
  const parsed = balanceSchema.safeParse(balance);
  return parsed.success ? parsed.data : undefined;
}

export function balanceWord(balance: Json): string {
  const figures = balanceFigures(balance);
  if (figures === undefined) return "";
  return figures.adds ? "adds up" : "DOES NOT ADD UP";
}

/** `always`: shown also if it is 0 in every row. */
type SumColumn<Row> = readonly [title: string, figure: (row: Row) => number, always?: "always"];

const recordSides: readonly (readonly SumColumn<BalanceFigures["streams"][number]>[])[] = [
  [
    ["read", (row) => row.extracted, "always"],
    ["carried in", (row) => row.takenUpAgain],
  ],
  [
    ["unchanged", (row) => row.unchanged, "always"],
    ["worked on", (row) => row.workedOn, "always"],
    ["waiting", (row) => row.deferred],
    ["quarantined", (row) => row.quarantined],
    ["rejected", (row) => row.rejected],
    ["skipped", (row) => row.skipped],
  ],
];

const operationSides: readonly (readonly SumColumn<BalanceFigures["operations"]>[])[] = [
  [
    ["planned", (row) => row.planned, "always"],
    ["carried in", (row) => row.carriedIn],
  ],
  [
    ["done", (row) => row.done, "always"],
    ["held", (row) => row.held],
    ["unknown", (row) => row.unknown],
    ["rejected", (row) => row.rejected],
    ["not attempted", (row) => row.notAttempted],
  ],
];

export interface SumTable {
  titles: string[];
  rows: (number | "=")[][];
}

export function recordSums({ streams }: BalanceFigures): SumTable {
  return sumTable(recordSides, streams);
}

export function operationSums({ operations }: BalanceFigures): SumTable {
  return sumTable(operationSides, [operations]);
}

function sumTable<Row>(sides: readonly (readonly SumColumn<Row>[])[], rows: readonly Row[]): SumTable {
  const [left = [], right = []] = sides.map((side) =>
    side.filter(([, figure, always]) => always !== undefined || rows.some((row) => figure(row) !== 0)),
  );
  const titles = (side: typeof left): string[] => side.map(([title]) => title);
  const figures = (side: typeof left, row: Row): number[] => side.map(([, figure]) => figure(row));
  return {
    titles: [...titles(left), "=", ...titles(right)],
    rows: rows.map((row) => [...figures(left, row), "=", ...figures(right, row)]),
  };
}

export function balanceText(balance: BalanceFigures, view: View = plainView): string {
  const { streams, operations } = balance;
  const draw = (name: string, { titles, rows }: SumTable, of: readonly { stream?: string; adds: boolean }[]): string =>
    renderTable(
      [
        { title: name },
        ...titles.map((title) => ({ title, align: title === "=" ? ("left" as const) : ("right" as const) })),
        "",
      ],
      rows.map((row, at) => [of[at]?.stream, ...row, of[at]?.adds === true ? "adds up" : "DOES NOT ADD UP"]),
      view,
    );
  const records = draw("records", recordSums(balance), streams);
  return `${records}\n\n${draw("operations", operationSums(balance), [operations])}`;
}

const mostNotAttempted = 5;

export function notAttemptedLines(rows: readonly NotAttempted[]): string[] {
  const lines = rows
    .slice(0, mostNotAttempted)
    .map(({ kind, why, count }) =>
      printable(`not attempted: ${numberText(count)} ${kind}: ${why.replace(/^not attempted: /u, "")}`),
    );
  const more = rows.length - mostNotAttempted;
  return more > 0 ? [...lines, `not attempted: ${numberText(more)} more reasons`] : lines;
}

const leftSchema = z.object({
  open: z.array(z.custom<OpenRecords>(isJsonObject)).default([]),
  held: z.array(z.object({ hold: z.string(), customer: z.string(), explanation: z.string() })).default([]),
});

const listedBy: Readonly<Record<string, string>> = {
  unknown: "crm-sync settle list",
  parked: "crm-sync settle list",
  sending: "crm-sync settle list",
  held: "crm-sync status",
  rejected: "crm-sync status",
};

/** Operations that `report orders` lists when they are done. */
const ofOrders = /^(?:place|amend)-order$|^delete-(?!staff)|^(?:grant|revoke)-assets$/u;

export function runText(story: RunStory, unattempted: readonly NotAttempted[], view: View = plainView): string {
  const { run } = story;
  const took = run.finishedAt === null ? "" : `, took ${ageOf(run.startedAt, run.finishedAt)}`;
  const { tone, words } = runVerdict(run);
  const verdict = painted(tone === "good" ? "better" : tone === "bad" ? "worse" : "waits", words, view);
  const lines: Lines = [
    `Run ${painted("id", run.id, view)} of ${printable(`${run.job} (${run.kind})${also(", only ", run.scope)}`)}: ${verdict}.`,
    `Started ${instantText(run.startedAt, view)} by ${printable(run.trigger)}${took}. ${headerText(run.header)}`,
  ];
  const reads = readsTable(story.reads, undefined, view);
  lines.push(reads === undefined ? [] : ["", ...reads.split("\n")]);
  const figures = balanceFigures(run.balance);
  if (figures !== undefined) lines.push("", ...balanceText(figures, view).split("\n"));
  lines.push(notAttemptedLines(unattempted));
  lines.push(operationsTable(story, view));
  const left = leftSchema.safeParse(run.summary);
  const { open, held } = left.success ? left.data : { open: [], held: [] };
  lines.push(heldTable(held, view), openTable(open, view));
  if (open.length + held.length > 0) lines.push("what is still open, and what to do: crm-sync status");
  lines.push(section("summary", summaryLines(run.summary)));
  return textOf(lines);
}

function headerText(header: JsonObject): string {
  const { file, hash, options } = header;
  const parts = [file, typeof hash === "string" ? `hash ${hash.slice(0, 8)}` : undefined, options];
  const said = parts.flatMap((part) => (part === undefined || part === null ? [] : [valueText(part)]));
  return `Configuration: ${said.length === 0 ? "unknown" : said.join(", ")}.`;
}

function operationsTable({ operations }: RunStory, view: View): string[] {
  if (operations.length === 0) return [];
  const table = renderTable(
    ["operation", "state", { title: "count", align: "right" }, "listed by"],
    operations.map(({ kind, state, count }) => [
      kind,
      state === "dropped" ? "not attempted" : state,
      numberText(count),
      listedBy[state] ?? (state === "done" && ofOrders.test(kind) ? "crm-sync report orders" : ""),
    ]),
    view,
  );
  return ["", ...table.split("\n")];
}

function heldTable(held: z.infer<typeof leftSchema>["held"], view: View): string[] {
  if (held.length === 0) return [];
  const columns = [{ title: "held", tone: "id" as const }, { title: "customer", tone: "id" as const }, "because"];
  const rows = held.map(({ hold, customer, explanation }) => [hold, customer, explanation]);
  return ["", ...renderTable(columns, rows, view).split("\n")];
}

function summaryLines(summary: Json): string[] {
  if (!isJsonObject(summary)) return [];
  return Object.keys(summary)
    .filter((key) => !["sources", "open", "held"].includes(key))
    .sort()
    .flatMap((key) => {
      const value = withoutZeros(key === "customers" ? shortfalls(summary[key]) : (summary[key] ?? null));
      return value === undefined ? [] : [`${key}: ${valueText(value)}`];
    });
}

/** Passes over customers are left out: the table counts other things. */
function shortfalls(customers: Json | undefined): Json {
  if (!isJsonObject(customers)) return null;
  return Object.fromEntries(Object.entries(customers).filter(([name]) => name !== "worked" && name !== "finished"));
}

function withoutZeros(value: Json): Json | undefined {
  if (value === 0 || value === null || (Array.isArray(value) && value.length === 0)) return undefined;
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const kept = withoutZeros(member ?? null);
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

export function valueText(value: Json): string {
  if (value === null) return "-";
  if (typeof value === "string") return printable(value);
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(valueText).join("; ");
  return Object.keys(value)
    .sort()
    .map((key) => `${printable(key)} ${valueText(value[key] ?? null)}`)
    .join(", ");
}

/** The word and sign make the result clear without colour. */
interface RunVerdict {
  tone: "good" | "wait" | "bad" | "on" | "stopped";
  sign: string;
  words: string;
}

const byExit: Readonly<Record<number, Omit<RunVerdict, "sign">>> = {
  [exitCodes.changesPending]: { tone: "wait", words: "changes are pending" },
  [exitCodes.recordsRejected]: { tone: "wait", words: "some records are not done" },
  [exitCodes.held]: { tone: "wait", words: "something waits for a person: an approval, or the end of a pause" },
  [exitCodes.unknown]: { tone: "wait", words: "the outcome of some operations is not known" },
  [exitCodes.doesNotBalance]: { tone: "bad", words: "it does not balance" },
  [exitCodes.sourceDown]: { tone: "wait", words: "a source or a service was down or incomplete" },
};

export const signs = { good: "✓", wait: "!", bad: "✗", on: "…", stopped: "■" } as const;

/** The result of a run. An unknown exit code is never good. */
export function runVerdict({ state, exitCode }: Pick<RunFacts, "state" | "exitCode">): RunVerdict {
  const { tone, words } = verdictOf(state, exitCode);
  return { tone, words, sign: signs[tone] };
}

function verdictOf(state: RunFacts["state"], exitCode: number | null): Omit<RunVerdict, "sign"> {
  if (state === "running") return { tone: "on", words: "it is on" };
  if (state === "failed") return { tone: "bad", words: `it failed${exitCode === null ? "" : ` (exit ${exitCode})`}` };
  if (state === "interrupted") return { tone: "bad", words: "it was interrupted" };
  const known = exitCode === null ? undefined : byExit[exitCode];
  if (known !== undefined) return { ...known, words: `${known.words} (exit ${exitCode})` };
  if (state === "stopped") return { tone: "stopped", words: "it was stopped; the next run goes on" };
  return exitCode === exitCodes.ok
    ? { tone: "good", words: "done" }
    : { tone: "bad", words: `it ended with exit ${exitCode ?? "unknown"}` };
}
