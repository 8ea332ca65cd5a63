import { html } from "hono/html";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import { grouped } from "../../operation/taking.ts";
import type { ReadFacts, RunFacts } from "../../report/facts.ts";
import { pagePath } from "../../report/page-links.ts";
import { balanceFigures, balanceWord, readWord } from "../../report/runs.ts";
import { runVerdict } from "../../report/run-verdict.ts";
import { ageOf } from "../../report/text.ts";
import type { Html } from "../page.ts";
import { moment, shown } from "../shown.ts";
import { recordLinks } from "./record-link.ts";

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
  return html`<div class="scroll wide" tabindex="0" role="region" aria-label="Runs">
    <table>
      <caption>
        Runs, the newest first
      </caption>
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Job</th>
          <th scope="col">How it stands</th>
          <th scope="col">Started</th>
          <th scope="col">Took</th>
          <th scope="col">Balance</th>
        </tr>
      </thead>
      <tbody>
        ${runs.map(
          (run) =>
            html`<tr>
              <th scope="row"><a href="${pagePath.run(run.id)}">${run.id}</a></th>
              <td>${shown(run.job)} <span class="soft">by ${run.trigger}</span></td>
              <td>${verdictText(run)}</td>
              <td>${moment(run.startedAt, when)}</td>
              <td>${run.finishedAt === null ? "" : ageOf(run.startedAt, run.finishedAt)}</td>
              <td>${balanceWord(run.balance)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

export function readsTable(reads: readonly ReadFacts[], when: When, caption: string): Html {
  if (reads.length === 0) return html`<p class="none">Nothing was read.</p>`;
  return html`<div class="scroll wide" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">Source</th>
          <th scope="col">Stream</th>
          <th scope="col" class="number">Rows</th>
          <th scope="col" class="number">Bad</th>
          <th scope="col">Read</th>
          <th scope="col">Begun</th>
          <th scope="col">Problem</th>
        </tr>
      </thead>
      <tbody>
        ${reads.map((read) => {
          const isBad = read.problem !== null || (read.finishedAt !== null && !read.complete);
          return html`<tr>
            <th scope="row"><a href="${pagePath.source(read.source)}">${shown(read.source, 120)}</a></th>
            <td>${read.stream}</td>
            <td class="number">${grouped(read.rows)}</td>
            <td class="number">${grouped(read.bad)}</td>
            <td>${isBad ? html`<span class="state bad">✗ ${readWord(read)}</span>` : readWord(read)}</td>
            <td>${moment(read.startedAt, when)}</td>
            <td>${read.problem === null ? "" : shown(read.problem)}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

const outcomes = ["unchanged", "planned", "quarantined", "deferred", "rejected", "skipped"] as const;
const ends = ["done", "rejected", "unknown", "held", "notAttempted"] as const;

/** Both sums of a run: what was read, and what was to be done. */
export function balanceTables(balance: RunFacts["balance"]): Html {
  const figures = balanceFigures(balance);
  if (figures === undefined) return html`<p class="none">It has none.</p>`;
  const { operations } = figures;
  return html`<div class="scroll wide" tabindex="0" role="region" aria-label="Balance">
      <table>
        <caption>
          Records: read and carried in is the sum of what became of them
        </caption>
        <thead>
          <tr>
            <th scope="col">Stream</th>
            ${["read", "carried in", ...outcomes].map((name) => html`<th scope="col" class="number">${name}</th>`)}
            <th scope="col">Sum</th>
          </tr>
        </thead>
        <tbody>
          ${figures.streams.map(
            (row) =>
              html`<tr>
                <th scope="row">${row.stream}</th>
                ${[row.extracted, row.takenUpAgain, ...outcomes.map((name) => row[name])].map(number)}
                <td>${sum(row.adds)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <div class="scroll wide" tabindex="0" role="region" aria-label="Balance of operations">
      <table>
        <caption>
          Operations: planned and carried in is the sum of how they ended
        </caption>
        <thead>
          <tr>
            ${["planned", "carried in", "done", "rejected", "unknown", "held", "not attempted"].map(
              (name) => html`<th scope="col" class="number">${name}</th>`,
            )}
            <th scope="col">Sum</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            ${[operations.planned, operations.carriedIn, ...ends.map((name) => operations[name])].map(number)}
            <td>${sum(operations.adds)}</td>
          </tr>
        </tbody>
      </table>
    </div>`;
}

function number(count: number): Html {
  return html`<td class="number">${grouped(count)}</td>`;
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
  if (operations.length === 0) return html`<p class="none">None.</p>`;
  return html`<div class="scroll wide" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">What</th>
          <th scope="col">For</th>
          <th scope="col">Because</th>
        </tr>
      </thead>
      <tbody>
        ${operations.map(
          (row) =>
            html`<tr>
              <td>
                <span class="state ${tones[row.state] ?? ""}">${row.state}</span>
                ${wayOn(row)}
              </td>
              <td>${row.kind} <span class="soft">${row.endpoint}, ${row.id}</span></td>
              <td>${recordLinks(row.records)}</td>
              <td>
                ${shown(row.reason)}
                ${
                  row.outcomeCode === null && row.outcomeMessage === null
                    ? ""
                    : html`<p>
                        ${shown([row.outcomeCode, row.outcomeMessage].filter((text) => text !== null).join(": "))}
                      </p>`
                }
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
