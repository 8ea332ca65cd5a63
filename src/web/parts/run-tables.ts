import { html } from "hono/html";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import { grouped } from "../../engine/model/taking.ts";
import type { ReadFacts, RunFacts } from "../../report/facts.ts";
import { pagePath } from "../../report/page-links.ts";
import { balanceFigures, balanceWord, operationSums, readWord, recordSums } from "../../report/runs.ts";
import type { SumTable } from "../../report/runs.ts";
import { runVerdict } from "../../report/run-verdict.ts";
import { ageOf } from "../../report/text.ts";
import type { Html } from "../page.ts";
import { moment, shown } from "../shown.ts";
import { recordLinks } from "./record-link.ts";
import { numbers, table, words } from "./table.ts";

type RunOperation = Awaited<ReturnType<Inquiry["runOperations"]>>[number];
interface When {
  zone: string;
  now: string;
}

/** How a run stands, with a sign beside the words. */
export function verdictText(run: Pick<RunFacts, "state" | "exitCode">): Html {
  const { tone, sign, words } = runVerdict(run);
  return html`<span class="state ${tone}"><span aria-hidden="true">${sign}</span> ${words}</span>`;
}

export function runsTable(runs: readonly RunFacts[], when: When): Html {
  const rows = runs.map((run) => [
    html`<a href="${pagePath.run(run.id)}">${run.id}</a>`,
    html`${shown(run.job)} <span class="soft">by ${run.trigger}</span>`,
    verdictText(run),
    moment(run.startedAt, when),
    run.finishedAt === null ? "" : ageOf(run.startedAt, run.finishedAt),
    balanceWord(run.balance),
  ]);
  const columns = words("Run", "Job", "How it stands", "Started", "Took", "Balance");
  return table("Runs, the newest first", columns, rows, "There is none.", { wide: true });
}

export function readsTable(reads: readonly ReadFacts[], when: When, caption: string): Html {
  const rows = reads.map((read) => {
    const isBad = read.problem !== null || (read.finishedAt !== null && !read.complete);
    return [
      html`<a href="${pagePath.source(read.source)}">${shown(read.source, 120)}</a>`,
      read.stream,
      grouped(read.rows),
      grouped(read.bad),
      isBad ? html`<span class="state bad">✗ ${readWord(read)}</span>` : readWord(read),
      moment(read.startedAt, when),
      read.problem === null ? "" : shown(read.problem),
    ];
  });
  const columns = [...words("Source", "Stream"), ...numbers("Rows", "Bad"), ...words("Read", "Begun", "Problem")];
  return table(caption, columns, rows, "Nothing was read.", { wide: true });
}

/** Both sums of a run: what was read, and what was to be done. */
export function balanceTables(balance: RunFacts["balance"]): Html {
  const figures = balanceFigures(balance);
  if (figures === undefined) return html`<p class="none">It has none.</p>`;
  const { streams, operations } = figures;
  const records = "Records: read and carried in is the sum of what became of them";
  const ended = "Operations: planned and carried in is the sum of how they ended";
  return html`${sumsTable(records, recordSums(figures), streams)}
  ${sumsTable(ended, operationSums(figures), [{ ...operations, stream: "operations" }])}`;
}

function sumsTable(
  caption: string,
  { titles, rows }: SumTable,
  of: readonly { stream: string; adds: boolean }[],
): Html {
  const cells = rows.map((row, at) => [
    of[at]?.stream ?? "",
    ...row.map((cell) => (cell === "=" ? cell : grouped(cell))),
    sum(of[at]?.adds === true),
  ]);
  const columns = [...words("Of"), ...numbers(...titles), ...words("Sum")];
  return table(caption, columns, cells, "Nothing was read.", { wide: true });
}

function sum(adds: boolean): Html {
  return adds ? html`adds up` : html`<strong class="state bad">✗ does not add up</strong>`;
}

const tones: Readonly<Record<string, string>> = {
  done: "good",
  held: "wait",
  unknown: "wait",
  parked: "bad",
  rejected: "bad",
};

/** Where a person decides about an operation. */
function wayOn({ id, state, hold }: RunOperation): Html {
  if (state === "held" && hold !== null) return html`<a href="${pagePath.hold(hold)}">${hold}</a>`;
  return state === "parked" || state === "unknown" ? html`<a href="${pagePath.settle(id)}">settle</a>` : html``;
}

export function operationsTable(operations: readonly RunOperation[], caption: string): Html {
  const rows = operations.map((row) => {
    const answer = [row.outcomeCode, row.outcomeMessage].filter((text) => text !== null).join(": ");
    return [
      html`<span class="state ${tones[row.state] ?? ""}">${row.state}</span> ${wayOn(row)}`,
      html`${row.kind} <span class="soft">${row.endpoint}, ${row.id}</span>`,
      recordLinks(row.records),
      html`${shown(row.reason)}${answer === "" ? "" : html`<p>${shown(answer)}</p>`}`,
    ];
  });
  return table(caption, words("State", "What", "For", "Because"), rows, "None.", { wide: true });
}
