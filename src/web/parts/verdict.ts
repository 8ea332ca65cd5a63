import { html } from "hono/html";
import type { ExplainFacts } from "../../report/explain.ts";
import { verdictOf } from "../../report/explain-verdict.ts";
import { pagePath, recordPath } from "../../report/page-links.ts";
import { recordName } from "../../report/text.ts";
import { moodOf, sinceWhen, whoseTurn } from "../../report/whose.ts";
import type { Html } from "../page.ts";
import { moment, shown } from "../shown.ts";

const words = { good: "As meant", wait: "Waits", bad: "Needs somebody" } as const;

/** What is, since when, whose it is, why, and what to do: the first thing on the page of a record. */
export function verdictCard(facts: ExplainFacts, when: { zone: string; now: string }): Html {
  const verdict = verdictOf(facts, { terminal: false, zone: when.zone });
  const mood = moodOf(facts, verdict);
  const since = sinceWhen(facts);
  return html`<section class="card ${mood}" aria-label="How it stands">
    <p><span class="state ${mood}">${words[mood]}:</span> ${shown(verdict.headline)}</p>
    <p>${since === null ? "" : html`Since ${moment(since, when)}. `}Whose turn it is: ${shown(whoseTurn(verdict))}.</p>
    ${lines("Why", verdict.because)} ${lines("What to do", verdict.next)} ${actions(facts)}
  </section>`;
}

function lines(title: string, texts: readonly string[]): Html | "" {
  if (texts.length === 0) return "";
  return html`<h2>${title}</h2>
    <ul>
      ${texts.map((text) => html`<li>${shown(text)}</li>`)}
    </ul>`;
}

/** Links to where each thing that stops it is decided. */
function actions(facts: ExplainFacts): Html | "" {
  const links = [
    ...facts.quarantine
      .filter(({ state }) => state !== "resolved")
      .map(({ id }) => ({ path: pagePath.quarantine(id), text: `Quarantine ${id}` })),
    ...(facts.customer?.openOperations ?? []).map(({ id }) => ({ path: pagePath.settle(id), text: `Settle ${id}` })),
    ...(facts.customer?.holds ?? [])
      .filter(({ state }) => state === "open")
      .map(({ id }) => ({ path: pagePath.hold(id), text: `Hold ${id}` })),
    ...facts.similar.map(({ stream, key }) => ({ path: recordPath(stream, key), text: recordName(stream, key) })),
  ];
  if (links.length === 0) return "";
  return html`<p>${links.map(({ path, text }) => html`<a class="action" href="${path}">${shown(text)}</a> `)}</p>`;
}
