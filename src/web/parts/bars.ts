import { html } from "hono/html";
import { scaleSqrt } from "d3-scale";
import type { RunFacts } from "../../report/facts.ts";
import { pagePath } from "../../report/page-links.ts";
import { runVerdict } from "../../report/run-verdict.ts";
import { ageOf, instantText, printable } from "../../report/text.ts";
import type { Html } from "../page.ts";

const barWidth = 8;
const step = 10;
const height = 36;
const below = 14;
const mostBars = 30;
const least = 6;

/**
 * The last runs of a job, the oldest at the left: a bar each, as high as it took long, with a sign below each that did
 * not end well. Each leads to its run.
 */
export function runBars(job: string, runs: readonly RunFacts[], when: { zone: string; now: string }): Html {
  const shown = runs.slice(0, mostBars).toReversed();
  if (shown.length === 0) return html`<span class="none">no run yet</span>`;
  const tookMs = shown.map((run) => Date.parse(run.finishedAt ?? when.now) - Date.parse(run.startedAt));
  const up = scaleSqrt([0, Math.max(1, ...tookMs)], [least, height]);
  const label = `The last ${shown.length} runs of ${printable(job)}, the oldest first`;
  return html`<svg
    class="runs"
    role="group"
    aria-label="${label}"
    width="${mostBars * step}"
    height="${height + below}"
    viewBox="0 0 ${mostBars * step} ${height + below}"
  >
    ${shown.map((run, index) => {
      const { tone, sign, words } = runVerdict(run);
      const took = run.finishedAt === null ? "" : `, took ${ageOf(run.startedAt, run.finishedAt)}`;
      const title = `${instantText(run.startedAt, when)}: ${words}${took}`;
      const high = Math.round(up(Math.max(0, tookMs[index] ?? 0)) * 10) / 10;
      const left = index * step + 1;
      return html`<a href="${pagePath.run(run.id)}" aria-label="${title}"
        ><title>${title}</title
        ><rect class="click" x="${left - 1}" y="0" width="${step}" height="${height + below}" /><rect
          class="bar ${tone}"
          x="${left}"
          y="${height - high}"
          width="${barWidth}"
          height="${high}"
        />${tone === "good" ? "" : html`<text x="${left + barWidth / 2}" y="${height + 11}">${sign}</text>`}</a
      >`;
    })}
  </svg>`;
}
