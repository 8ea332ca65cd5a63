import { html } from "hono/html";
import { pagePath } from "../../report/page-links.ts";
import type { FireTimes } from "../../operate/dashboard.ts";
import { toInstant } from "../../base/clock.ts";
import { grouped } from "../../engine/model/taking.ts";
import type { RunFacts } from "../../report/facts.ts";
import { balanceFigures } from "../../report/runs.ts";
import type { StatusFacts } from "../../report/status.ts";
import { stateSentence, waitingOf } from "../../report/today.ts";
import type { StateSentence, Waiting } from "../../report/today.ts";
import { ageOf, printable } from "../../report/text.ts";
import { needs } from "../access/needs.ts";
import { may } from "../access/person.ts";
import { framed } from "../frame.ts";
import type { Html, Page } from "../page.ts";
import { runBars } from "../parts/bars.ts";
import { chart } from "../parts/chart.ts";
import { readsTable, verdictText } from "../parts/run-tables.ts";
import { numbers, table, words } from "../parts/table.ts";
import { moment, shown } from "../shown.ts";

const runsOfJob = 30;
const mostJobs = 20;
const mostCharts = 3;

interface When {
  zone: string;
  now: string;
}

/** What a person who comes back needs to know first. */
export const todayPage: Page = {
  register(routes, dashboard) {
    routes.get("/today", needs("see"), async (context) => {
      const { application, clock } = dashboard;
      const fires = await dashboard.fireTimes();
      const { status, assumptions, runs } = await dashboard.read(async (inquiry) => {
        const facts = await inquiry.status();
        const names = new Set([...fires.map(({ job }) => job), ...facts.lastRuns.map(({ job }) => job)]);
        const of = new Map<string, RunFacts[]>();
        for (const job of [...names].slice(0, mostJobs)) of.set(job, await inquiry.runs({ job, limit: runsOfJob }));
        return { status: facts, assumptions: await inquiry.assumptions(), runs: of };
      });
      const when = { zone: application.config.zone, now: toInstant(clock.now()) };
      const facts = { status, assumptions, jobs: fires, notFired: dashboard.notFired(status.slots) };
      const decides = may(context.var.person, "decide");
      const body = html`
        ${sentence(stateSentence(facts, when.now))} ${waits(waitingOf(facts, when.now), decides, when)}
        <h2>Jobs</h2>
        ${jobs(runs, fires, status, when)}
        <h2>Services</h2>
        ${services(status, when)}
        <h2>Sources</h2>
        ${readsTable(status.reads, when, "The last reading of each stream")}
        <h2>Records</h2>
        ${records(status)} ${history(runs, when.zone)}
        <p><a href="${pagePath.pause()}">Pause or resume</a></p>
      `;
      return framed(context, { title: "Today", place: "Today", body });
    });
  },
};

const signs = { good: "✓", wait: "!", bad: "✗", on: "…" } as const;

function sentence({ tone, text, notes }: StateSentence): Html {
  return html`<div class="card ${tone}" id="state">
    <p class="lead state ${tone}"><span aria-hidden="true">${signs[tone]}</span> ${text}</p>
    ${
      notes.length === 0
        ? ""
        : html`<ul>
            ${notes.map((note) => html`<li>${shown(note)}</li>`)}
          </ul>`
    }
  </div>`;
}

function waits({ items, more }: { items: readonly Waiting[]; more: number }, decides: boolean, when: When): Html {
  if (items.length === 0) return html``;
  return html`<h2>What waits, the oldest first</h2>
    <ol class="waiting">
      ${items.map(
        ({ what, why, since, owner, cure, page, decision, tone }) =>
          html`<li class="card ${tone}">
            <p>
              <a href="${page}">${shown(what)}</a>
              <span class="age">for ${ageOf(since, when.now)}</span> <span class="soft">owner: ${owner}</span>
            </p>
            ${why === undefined || why === "" ? "" : html`<p>${shown(why)}</p>`}
            <p class="cure">${shown(cure)}</p>
            ${decides && decision !== undefined ? html`<p><a class="button" href="${page}">${decision}</a></p>` : ""}
          </li>`,
      )}
    </ol>
    ${more === 0 ? "" : html`<p>and ${grouped(more)} more of the same sorts: their pages list them.</p>`}`;
}

/** Each job that ran or is to run. */
function jobs(
  runs: ReadonlyMap<string, readonly RunFacts[]>,
  fires: readonly FireTimes[],
  { slots }: StatusFacts,
  when: When,
): Html {
  if (runs.size === 0) return html`<p class="none">No job has a schedule, and none has run.</p>`;
  const rows = [...runs].toSorted(ranLast).map(([job, of]) => {
    const [last] = of;
    const fire = fires.find((one) => one.job === job);
    return [
      html`<a href="/runs?job=${encodeURIComponent(job)}">${shown(job)}</a>`,
      html`${last === undefined ? "" : verdictText(last)} ${moment(last?.startedAt, when, "none yet")}`,
      moment(slots.find((slot) => slot.job === job)?.lastSlot, when),
      moment(fire?.nextFireTime, when, "by hand only"),
      runBars(job, of, when),
    ];
  });
  const columns = words("Job", "Last run", "Fired last", "Fires next", `Last ${runsOfJob} runs`);
  return table("Each job with its last runs: a higher bar took longer", columns, rows, "", { wide: true });
}

/** Those that ran last come first. */
function ranLast([, one]: [string, readonly RunFacts[]], [, other]: [string, readonly RunFacts[]]): number {
  return (one[0]?.startedAt ?? "") > (other[0]?.startedAt ?? "") ? -1 : 1;
}

const bothServices = ["order-service", "member-center"] as const;

function services({ openCircuits }: StatusFacts, when: When): Html {
  const rows = bothServices.map((service) => {
    const open = openCircuits.find((circuit) => circuit.service === service);
    return [
      shown(service),
      open === undefined
        ? "closed"
        : html`<span class="state bad">✗ open</span> since ${moment(open.since, when)}: ${shown(open.reason)}`,
    ];
  });
  return html`${table("The two services", words("Service", "Circuit"), rows, "")}`;
}

function records({ records: counts }: StatusFacts): Html {
  const rows = counts.map(({ stream, state, count, pending }) => [stream, state, grouped(count), grouped(pending)]);
  const columns = [...words("Stream", "State"), ...numbers("Records", "To be looked at")];
  return table("Records as they stand now", columns, rows, "No record was read yet.", { wide: true });
}

const apart = ["quarantined", "deferred", "rejected"] as const;

/** What each of the last runs of a job left not done, by the balance that it kept. */
function history(runs: ReadonlyMap<string, readonly RunFacts[]>, zone: string): Html {
  const charts = [...runs].flatMap(([job, of]) => {
    const balanced = of.toReversed().flatMap((run) => {
      const figures = balanceFigures(run.balance);
      return figures === undefined ? [] : { at: run.startedAt, streams: figures.streams };
    });
    if (balanced.length < 2) return [];
    const series = apart.map((name) => ({
      name,
      points: balanced.map(({ at, streams }) => ({ at, value: streams.reduce((sum, row) => sum + row[name], 0) })),
    }));
    return { title: `${printable(job)}: records that its last ${balanced.length} runs left not done`, series };
  });
  return html`${charts
    .slice(0, mostCharts)
    .map(({ title, series }, index) => chart({ id: `history-${index}`, title, series }, zone))}`;
}
