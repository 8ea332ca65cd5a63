import { whenOf, moment, shown, type When } from "../shown.ts";
import { html } from "hono/html";
import { pagePath } from "../../report/page-links.ts";
import type { FireTimes } from "../../operate/dashboard.ts";
import { grouped } from "../../engine/model/operation.ts";
import type { RunFacts } from "../../report/facts.ts";
import { balanceFigures, runVerdict, signs } from "../../report/runs.ts";
import type { StatusFacts } from "../../report/status.ts";
import { stateSentence, waitingOf, type StateSentence, type Waiting } from "../../report/today.ts";
import { ageOf, printable, instantText } from "../../report/text.ts";
import { needs, may } from "../access/person.ts";
import { framed } from "../frame.ts";
import type { Html, Page } from "../page.ts";
import { list, readsTable, verdictText, numbers, table, words } from "../parts/tables.ts";

const runsOfJob = 30;
const mostJobs = 20;
const mostCharts = 3;

export const todayPage: Page = (routes, dashboard) => {
  routes.get("/today", needs("see"), async (context) => {
    const fires = await dashboard.fireTimes();
    const { status, assumptions, runs } = await dashboard.read(async (inquiry) => {
      const facts = await inquiry.status(dashboard.application.jobs().map(({ id }) => id));
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

/** Numbers of records left undone by a run, in the order of `apart`. */
interface Left {
  at: string;
  counts: readonly number[];
}

/** The records that the last runs of each job left undone, from their balances. */
function history(runs: ReadonlyMap<string, readonly RunFacts[]>, zone: string): Html {
  const charts = [...runs].flatMap(([job, of]) => {
    const points = of.toReversed().flatMap((run): Left[] => {
      const figures = balanceFigures(run.balance);
      if (figures === undefined) return [];
      const counts = apart.map((name) => figures.streams.reduce((sum, row) => sum + row[name], 0));
      return [{ at: run.startedAt, counts }];
    });
    const title = `${printable(job)}: records that its last ${points.length} runs left not done`;
    return points.length < 2 ? [] : [{ title, points }];
  });
  return html`${charts.slice(0, mostCharts).map(({ title, points }, index) => chart(`history-${index}`, title, points, zone))}`;
}

const barWidth = 8;
const step = 10;
const barsHeight = 36;
const below = 14;
const least = 6;

/** The last runs of a job, oldest at the left. Height is the duration; a sign marks runs that did not end well. */
function runBars(job: string, runs: readonly RunFacts[], when: When): Html {
  const newest = runs.toReversed();
  if (newest.length === 0) return html`<span class="none">no run yet</span>`;
  const tookMs = newest.map((run) => Date.parse(run.finishedAt ?? when.now) - Date.parse(run.startedAt));
  const longest = Math.max(1, ...tookMs);
  const up = (ms: number): number => least + Math.sqrt(Math.max(0, ms) / longest) * (barsHeight - least);
  const label = `The last ${newest.length} runs of ${printable(job)}, the oldest first`;
  return html`<svg
    class="runs"
    role="group"
    aria-label="${label}"
    width="${runsOfJob * step}"
    height="${barsHeight + below}"
    viewBox="0 0 ${runsOfJob * step} ${barsHeight + below}"
  >
    ${newest.map((run, index) => {
      const { tone, sign, words } = runVerdict(run);
      const took = run.finishedAt === null ? "" : `, took ${ageOf(run.startedAt, run.finishedAt)}`;
      const title = `${instantText(run.startedAt, when)}: ${words}${took}`;
      const high = place(up(tookMs[index] ?? 0));
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

const width = 640;
const height = 200;
const left = 56;
const right = 12;
const top = 10;
const bottom = 28;
/** Each line has its own colour, dash and mark. */
const classes = ["one", "two", "three"] as const;

/** Lines over time, and the same figures as a table for people who cannot see the lines. */
function chart(id: string, title: string, points: readonly Left[], zone: string): Html {
  const moments = points.map(({ at }) => Date.parse(at));
  const [first, last] = [Math.min(...moments), Math.max(...moments)];
  const along = (at: number): number => place(left + ((at - first) / (last - first || 1)) * (width - right - left));
  const ticks = ticksTo(Math.max(1, ...points.flatMap(({ counts }) => counts)));
  const highest = ticks.at(-1) ?? 1;
  const up = (count: number): number => place(height - bottom - (count / highest) * (height - bottom - top));
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
        const y = up(tick);
        return html`<line class="grid" x1="${left}" x2="${width - right}" y1="${y}" y2="${y}" /><text
            class="tick number"
            x="${left - 6}"
            y="${y + 4}"
          >
            ${grouped(tick)}
          </text>`;
      })}
      ${[first, last].map(
        (at, index) =>
          html`<text class="tick ${index === 0 ? "" : "number"}" x="${along(at)}" y="${height - 8}">
            ${instantText(new Date(at).toISOString(), { zone }).slice(0, 16)}
          </text>`,
      )}
      ${classes.map((name, index) =>
        drawn(
          name,
          points.map(({ counts }, at) => [along(moments[at] ?? 0), up(counts[index] ?? 0)]),
        ),
      )}
    </svg>
    <ul class="legend">
      ${classes.map(
        (name, index) =>
          html`<li>
            <svg aria-hidden="true" width="36" height="12" viewBox="0 0 36 12">
              <path class="line ${name}" d="M0 6H36" />
              ${mark(name, 18, 6)}
            </svg>
            ${apart[index]}
          </li>`,
      )}
    </ul>
    <details>
      <summary>The figures</summary>
      ${table(
        title,
        [...words("When"), ...numbers(...apart)],
        points.toReversed().map(({ at, counts }) => [instantText(at, { zone }), ...counts.map(grouped)]),
      )}
    </details>
  </figure>`;
}

/** About four whole numbers for an axis from 0. The last is at least `most`. */
function ticksTo(most: number): number[] {
  const highest = Math.ceil(most / stepTo(most)) * stepTo(most);
  const apartBy = stepTo(highest);
  return Array.from({ length: Math.ceil(highest / apartBy) + 1 }, (_, index) => index * apartBy);
}

function stepTo(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const rest = most / 4 / power;
  return Math.max(1, power * (rest >= Math.sqrt(50) ? 10 : rest >= Math.sqrt(10) ? 5 : rest >= Math.SQRT2 ? 2 : 1));
}

function drawn(name: (typeof classes)[number], places: readonly (readonly [x: number, y: number])[]): Html {
  return html`<path
      class="line ${name}"
      d="${places.map(([x, y], index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join("")}"
    />${places.map(([x, y]) => mark(name, x, y))}`;
}

function mark(name: (typeof classes)[number], x: number, y: number): Html {
  if (name === "one") return html`<circle class="mark one" cx="${x}" cy="${y}" r="3" />`;
  if (name === "two") return html`<rect class="mark two" x="${x - 3}" y="${y - 3}" width="6" height="6" />`;
  return html`<path class="mark three" d="M${x} ${y - 4}L${x + 4} ${y + 3}H${x - 4}Z" />`;
}

function place(value: number): number {
  return Math.round(value * 10) / 10;
}
