import { html } from "hono/html";
import type { Html } from "../page.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import { pagePath, recordPath } from "../../report/page-links.ts";
import { shown, moment, type When } from "../shown.ts";
import type { RecordFacts } from "../../report/explain.ts";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import { grouped } from "../../engine/model/operation.ts";
import type { ReadFacts, RunFacts } from "../../report/facts.ts";
import {
  balanceFigures,
  balanceWord,
  operationSums,
  readWord,
  recordSums,
  runVerdict,
  type SumTable,
} from "../../report/runs.ts";
import { ageOf } from "../../report/text.ts";

/** Foreign text goes through `shown`, or is escaped here. */
type Cell = Html | string | number | null | undefined;

interface Column {
  title: string;
  number?: boolean;
}

export function words(...titles: readonly string[]): Column[] {
  return titles.map((title) => ({ title }));
}

export function numbers(...titles: readonly string[]): Column[] {
  return titles.map((title) => ({ title, number: true }));
}

/** Scrolls in its own region, also by keyboard. The first cell names the row. `wide`: stays wide on narrow screens. */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  none = "None.",
  { wide = false }: { wide?: boolean } = {},
): Html {
  if (rows.length === 0) return html`<p class="none">${none}</p>`;
  const kind = ({ number }: Column): string => (number === true ? "number" : "text");
  return html`<div class="scroll ${wide ? "wide" : ""}" role="region" tabindex="0" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col" class="${kind(column)}">${column.title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${columns.map((column, index) =>
                index === 0
                  ? html`<th scope="row" class="${kind(column)}">${cells[index]}</th>`
                  : html`<td class="${kind(column)}">${cells[index]}</td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Pairs without a value are left out. */
export function terms(pairs: readonly (readonly [string | Html, Cell])[]): Html {
  const known = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return html`<dl>
    ${known.map(
      ([term, value]) =>
        html`<dt>${term}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

export function goodOrFailing(problem: string | null, since: string | null, when: When): Html {
  return problem === null
    ? html`<span class="state good">good</span>`
    : html`<span class="state bad">failing</span> ${moment(since, when)}: ${shown(problem)}`;
}

export const nouns = { customers: "customer", orders: "order", staff: "person" } as const;
const mostOfKey = 120;

export function list(items: readonly (Html | string)[]): Html | "" {
  if (items.length === 0) return "";
  return html`<ul>
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;
}

export function keyLink(stream: Stream, key: RecordKey): Html {
  return html`<a href="${recordPath(stream, key)}">${shown(formatKey(key), 200)}</a>`;
}

export function more(path: string | undefined, text: string): Html | "" {
  return path === undefined ? "" : html`<p><a href="${path}" rel="next">${text}</a></p>`;
}

export function recordLink(stream: Stream, key: RecordKey): Html {
  return html`<a href="${recordPath(stream, key)}">${nouns[stream]} ${shown(formatKey(key), mostOfKey)}</a>`;
}

export function recordLinks(records: readonly { stream: Stream; key: RecordKey }[], most = 3): Html {
  const rest = records.length - most;
  return html`${records
    .slice(0, most)
    .map(
      ({ stream, key }, index) => html`${index === 0 ? "" : ", "}${recordLink(stream, key)}`,
    )}${rest > 0 ? ` and ${rest} more` : ""}`;
}

export function stateWord(record: Pick<RecordFacts, "state" | "deferred" | "pending">): Html {
  if (record.state === "quarantined") return html`<span class="state bad">in quarantine</span>`;
  if (record.deferred !== null) return html`<span class="state wait">deferred</span>`;
  if (record.state === "absent") return html`<span class="state">gone from the CRM</span>`;
  if (record.pending) return html`<span class="state wait">waits for the next run</span>`;
  return html`<span class="state good">current</span>`;
}

export function recordList(
  caption: string,
  { records, next }: { records: readonly RecordFacts[]; next?: string | undefined },
  when: When,
): Html {
  const rows = records.map((record) => [
    keyLink(record.stream, record.key),
    stateWord(record),
    record.deferred === null ? "" : shown(record.deferred.reason),
    moment(record.changedAt, when),
  ]);
  const none = `No ${caption.toLowerCase()}.`;
  return html`${table(caption, words("Id", "State", "Why", "Changed"), rows, none)}
  ${more(next, `More ${caption.toLowerCase()}`)}`;
}

type RunOperation = Awaited<ReturnType<Inquiry["runOperations"]>>[number];
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
