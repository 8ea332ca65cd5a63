import { whenOf, moment, shown, type When } from "../shown.ts";
import { html } from "hono/html";
import { pagePath } from "../../report/page-links.ts";
import type { FireTimes } from "../../operate/dashboard.ts";
import { grouped } from "../../engine/model/taking.ts";
import type { RunFacts } from "../../report/facts.ts";
import { balanceFigures, runVerdict, signs } from "../../report/runs.ts";
import type { StatusFacts } from "../../report/status.ts";
import { stateSentence, waitingOf, type StateSentence, type Waiting } from "../../report/today.ts";
import { ageOf, printable, instantText } from "../../report/text.ts";
import { needs, may } from "../access/person.ts";
import { framed } from "../frame.ts";
import type { Html, Page } from "../page.ts";
import { list, readsTable, verdictText, numbers, table, words } from "../parts/tables.ts";
import { scaleSqrt, scaleLinear, scaleTime } from "d3-scale";

const runsOfJob = 30;
const mostJobs = 20;
const mostCharts = 3;

export const todayPage: Page = (routes, dashboard) => {
  routes.get("/today", needs("see"), async (context) => {
    const fires = await dashboard.fireTimes();
    const { status, assumptions, runs } = await dashboard.read(async (inquiry) => {
      const facts = await inquiry.status();
      const names = new Set([...fires.map(({ job }) => job), ...facts.lastRuns.map(({ job }) => job)]);
      const of = new Map<string, RunFacts[]>();
      for (const job of [...names].slice(0, mostJobs)) of.set(job, await inquiry.runs({ job, limit: runsOfJob }));
      return { status: facts, assumptions: await inquiry.assumptions(), runs: of };
    });
    const when = whenOf(dashboard);
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
};

function sentence({ tone, text, notes }: StateSentence): Html {
  return html`<div class="card ${tone}" id="state">
    <p class="lead state ${tone}"><span aria-hidden="true">${signs[tone]}</span> ${text}</p>
    ${list(notes.map((note) => shown(note)))}
  </div>`;
}

function waits({ items, more }: { items: readonly Waiting[]; more: number }, decides: boolean, when: When): Html {
  if (items.length === 0) return html``;
  return html`<h2>What waits, the worst first</h2>
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

const barWidth = 8;
const step = 10;
const barsHeight = 36;
const below = 14;
const mostBars = 30;
const least = 6;

/** The last runs of a job, oldest at the left. Height is the duration; a sign marks runs that did not end well. */
function runBars(job: string, runs: readonly RunFacts[], when: When): Html {
  const newest = runs.slice(0, mostBars).toReversed();
  if (newest.length === 0) return html`<span class="none">no run yet</span>`;
  const tookMs = newest.map((run) => Date.parse(run.finishedAt ?? when.now) - Date.parse(run.startedAt));
  const up = scaleSqrt([0, Math.max(1, ...tookMs)], [least, barsHeight]);
  const label = `The last ${newest.length} runs of ${printable(job)}, the oldest first`;
  return html`<svg
    class="runs"
    role="group"
    aria-label="${label}"
    width="${mostBars * step}"
    height="${barsHeight + below}"
    viewBox="0 0 ${mostBars * step} ${barsHeight + below}"
  >
    ${newest.map((run, index) => {
      const { tone, sign, words } = runVerdict(run);
      const took = run.finishedAt === null ? "" : `, took ${ageOf(run.startedAt, run.finishedAt)}`;
      const title = `${instantText(run.startedAt, when)}: ${words}${took}`;
      const high = Math.round(up(Math.max(0, tookMs[index] ?? 0)) * 10) / 10;
      const x = index * step + 1;
      return html`<a href="${pagePath.run(run.id)}" aria-label="${title}"
        ><title>${title}</title
        ><rect class="click" x="${x - 1}" y="0" width="${step}" height="${barsHeight + below}" /><rect
          class="bar ${tone}"
          x="${x}"
          y="${barsHeight - high}"
          width="${barWidth}"
          height="${high}"
        />${tone === "good" ? "" : html`<text x="${x + barWidth / 2}" y="${barsHeight + 11}">${sign}</text>`}</a
      >`;
    })}
  </svg>`;
}

interface Series {
  name: string;
  points: readonly { at: string; value: number }[];
}

interface Chart {
  id: string;
  title: string;
  /** At most three: each has its own colour, dash and mark. */
  series: readonly Series[];
}

const width = 640;
const height = 200;
const left = 56;
const right = 12;
const top = 10;
const bottom = 28;
const classes = ["one", "two", "three"] as const;

/** Lines over time, and a table with the same figures for people who cannot see them. */
function chart({ id, title, series }: Chart, zone: string): Html {
  const points = series.flatMap((line) => line.points);
  const moments = points.map(({ at }) => Date.parse(at));
  const along = scaleTime([Math.min(...moments), Math.max(...moments)], [left, width - right]);
  const up = scaleLinear([0, Math.max(1, ...points.map(({ value }) => value))], [height - bottom, top]).nice(4);
  const ticks = up.ticks(4).filter((tick) => Number.isInteger(tick));
  const ends = [Math.min(...moments), Math.max(...moments)];
  return html`<figure>
    <figcaption id="${id}">${title}</figcaption>
    <svg
      class="chart"
      role="img"
      aria-labelledby="${id}"
      viewBox="0 0 ${width} ${height}"
      width="${width}"
      height="${height}"
    >
      ${ticks.map((tick) => {
        const y = place(up(tick));
        return html`<line class="grid" x1="${left}" x2="${width - right}" y1="${y}" y2="${y}" /><text
            class="tick number"
            x="${left - 6}"
            y="${y + 4}"
          >
            ${grouped(tick)}
          </text>`;
      })}
      ${ends.map(
        (at, index) =>
          html`<text class="tick ${index === 0 ? "" : "number"}" x="${place(along(at))}" y="${height - 8}">
            ${instantText(new Date(at).toISOString(), { zone }).slice(0, 16)}
          </text>`,
      )}
      ${series.map((line, index) => drawn(line, index, along, up))}
    </svg>
    <ul class="legend">
      ${series.map(
        ({ name }, index) =>
          html`<li>
            <svg aria-hidden="true" width="36" height="12" viewBox="0 0 36 12">
              <path class="line ${classes[index % classes.length]}" d="M0 6H36" />
              ${mark(index, 18, 6)}
            </svg>
            ${name}
          </li>`,
      )}
    </ul>
    ${figures(series, zone)}
  </figure>`;
}

function drawn({ points }: Series, index: number, along: (at: number) => number, up: (value: number) => number): Html {
  const places = points.map(({ at, value }) => [place(along(Date.parse(at))), place(up(value))] as const);
  return html`<path
      class="line ${classes[index % classes.length]}"
      d="${places.map(([x, y], step) => `${step === 0 ? "M" : "L"}${x} ${y}`).join("")}"
    />${places.map(([x, y]) => mark(index, x, y))}`;
}

function mark(index: number, x: number, y: number): Html {
  const named = classes[index % classes.length];
  if (named === "one") return html`<circle class="mark one" cx="${x}" cy="${y}" r="3" />`;
  if (named === "two") return html`<rect class="mark two" x="${x - 3}" y="${y - 3}" width="6" height="6" />`;
  return html`<path class="mark three" d="M${x} ${y - 4}L${x + 4} ${y + 3}H${x - 4}Z" />`;
}

function figures(series: readonly Series[], zone: string): Html {
  const moments = [...new Set(series.flatMap(({ points }) => points.map(({ at }) => at)))].sort().toReversed();
  return html`<details>
    <summary>The figures</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="The figures">
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            ${series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${moments.map(
            (at) =>
              html`<tr>
                <th scope="row">${instantText(at, { zone })}</th>
                ${series.map(({ points }) => {
                  const found = points.find((point) => point.at === at);
                  return html`<td class="number">${found === undefined ? "" : grouped(found.value)}</td>`;
                })}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}

function place(value: number): number {
  return Math.round(value * 10) / 10;
}
