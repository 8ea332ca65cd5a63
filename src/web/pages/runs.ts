import { whenOf, moment, shown, type When } from "../shown.ts";
import { html } from "hono/html";
import { streamSSE, type SSEStreamingApi } from "hono/streaming";
import type { Dashboard } from "../../operate/dashboard.ts";
import { messageOf } from "../../base/errors.ts";
import { troubleOf } from "../../report/last-runs.ts";
import { idOfSegment, pagePath } from "../../report/page-links.ts";
import { valueText } from "../../report/runs.ts";
import { ageOf, printable } from "../../report/text.ts";
import { AtOnce } from "../access/rate-limit.ts";
import { needs } from "../access/person.ts";
import { notFoundPage, framed } from "../frame.ts";
import type { Html, Page, PageContext } from "../page.ts";
import { placeIn } from "../parts/forms.ts";
import { balanceTables, more, operationsTable, readsTable, runsTable, terms, verdictText } from "../parts/tables.ts";
import type { Progress } from "../../operate/application.ts";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import { grouped } from "../../engine/model/operation.ts";
import { streams } from "../../crm/model.ts";

const runsOfPage = 30;
const operationsOfPage = 50;
const failuresShown = 25;
const mostStreams = { each: 5, all: 20 };
const everyMs = 1_000;
const heartbeatLooks = 15;

export const runsPage: Page = (routes, dashboard) => {
  const streams = new AtOnce(mostStreams);
  routes.get("/runs", needs("see"), async (context) => await runsShown(context, dashboard));
  routes.get("/run/:id", needs("see"), async (context) => await runShown(context, dashboard));
  routes.get("/run/:id/events", needs("see"), async (context) => {
    const id = idOfSegment(context.req.param("id"));
    if ((await dashboard.read(async (inquiry) => await inquiry.runGlance(id))) === undefined)
      return context.text("There is no such run.\n", 404);
    // Nobody would read the endless body.
    if (context.req.method === "HEAD") return context.body(null, 200, { "content-type": "text/event-stream" });
    const end = streams.begin(context.var.person);
    if (end === undefined) return context.text("Too many pages are live; this one shows the state of its load.\n", 503);
    return streamSSE(context, async (stream) => {
      try {
        await tellProgress(stream, dashboard, { id, isStillIn: context.var.isStillIn });
      } catch (error) {
        // An error thrown here would go to the browser and miss the log.
        const { logger } = dashboard.application;
        logger.error({ event: "web.failed", route: "/run/:id/events", reason: messageOf(error) }, "a page failed");
      } finally {
        end();
      }
    });
  });
};

/** Sends changed progress about once a second, until the run or server ends or the person loses the right. */
async function tellProgress(
  stream: SSEStreamingApi,
  dashboard: Dashboard,
  { id, isStillIn }: { id: string; isStillIn: () => Promise<boolean> },
): Promise<void> {
  const gone = new AbortController();
  stream.onAbort(() => gone.abort());
  const signal = AbortSignal.any([gone.signal, dashboard.signal]);
  let last = "";
  for (let looks = 1; !signal.aborted && (await isStillIn()); looks += 1) {
    const glance = await dashboard.read(async (inquiry) => await inquiry.runGlance(id));
    if (glance === undefined) return;
    const data = String(await runProgress(glance, dashboard.application.progress, whenOf(dashboard)));
    if (data !== last) await stream.writeSSE({ event: "shown", data });
    // Proxies end silent connections. Writing also detects closed ones.
    else if (looks % heartbeatLooks === 0) await stream.write(": nothing new\n\n");
    last = data;
    if (glance.run.state !== "running") {
      await stream.writeSSE({ event: "ended", data: glance.run.state });
      return;
    }
    await dashboard.clock.sleep(everyMs, signal).catch(() => {});
  }
}

async function runsShown(context: PageContext, dashboard: Dashboard): Promise<Response> {
  const { job, at, before } = context.req.query();
  const runs = await dashboard.read(
    async (inquiry) =>
      await inquiry.runs({
        limit: runsOfPage + 1,
        ...(job === undefined ? {} : { job }),
        ...(at === undefined || before === undefined ? {} : { before: { startedAt: at, id: before } }),
      }),
  );
  const page = runs.slice(0, runsOfPage);
  const last = page.at(-1);
  const jobs = dashboard.application.jobs();
  const earlier = new URLSearchParams({
    ...(job === undefined ? {} : { job }),
    at: last?.startedAt ?? "",
    before: last?.id ?? "",
  }).toString();
  const body = html`
    <p>Of ${jobLink(undefined, job)}${jobs.map(({ id }) => html`, ${jobLink(id, job)}`)}</p>
    ${page.length === 0 ? html`<p class="none">No run.</p>` : runsTable(page, whenOf(dashboard))}
    ${more(runs.length > runsOfPage ? `/runs?${earlier}` : undefined, "Earlier runs")}
  `;
  return await framed(context, { title: "Runs", place: "Runs", body });
}

function jobLink(name: string | undefined, chosen: string | undefined): Html {
  const words = name === undefined ? html`all jobs` : shown(name);
  if (name === chosen) return html`<strong>${words}</strong>`;
  return html`<a href="/runs${name === undefined ? "" : `?job=${encodeURIComponent(name)}`}">${words}</a>`;
}

const failedOperations = "Operations that were refused or are in doubt, the newest first";

async function runShown(context: PageContext, dashboard: Dashboard): Promise<Response> {
  const id = idOfSegment(context.req.param("id") ?? "");
  const after = placeIn(context, "run");
  const facts = await dashboard.read(async (inquiry) => {
    const glance = await inquiry.runGlance(id);
    if (glance === undefined) return undefined;
    return {
      glance,
      failures: await inquiry.runFailures(id, failuresShown + 1),
      operations: await inquiry.runOperations(id, { limit: operationsOfPage + 1, after }),
    };
  });
  if (facts === undefined) return await notFoundPage(context, "There is no such run.");
  const { glance, failures } = facts;
  const { run, reads } = glance;
  const when = whenOf(dashboard);
  const isOn = run.state === "running";
  const operations = facts.operations.slice(0, operationsOfPage);
  const place = operations.at(-1)?.place ?? 0;
  const body = html`
    <p class="lead">${verdictText(run)}</p>
    ${
      isOn
        ? html`<div class="card" data-live="${pagePath.run(id)}/events">
            ${runProgress(glance, dashboard.application.progress, when)}
          </div>`
        : ""
    }
    ${terms([
      ["Job", html`${shown(run.job)} (${run.kind}, by ${run.trigger})`],
      ["Only", run.scope && shown(run.scope)],
      ["Started", moment(run.startedAt, when)],
      [
        "Ended",
        run.finishedAt === null
          ? moment(null, when, "not yet")
          : html`${moment(run.finishedAt, when)}, after ${ageOf(run.startedAt, run.finishedAt)}`,
      ],
    ])}
    <h2>What failed, and why</h2>
    ${failed(run, failures.length)}
    ${failures.length === 0 ? "" : operationsTable(failures.slice(0, failuresShown), failedOperations)}
    ${failures.length > failuresShown ? html`<p>and more: the list of all operations has them.</p>` : ""}
    <h2>Balance</h2>
    ${balanceTables(run.balance)}
    <h2>What it read</h2>
    ${readsTable(reads, when, "Readings of sources")}
    <h2>Operations</h2>
    ${operationsTable(operations, "Operations in the order in which they were planned")}
    ${more(
      facts.operations.length > operationsOfPage ? `${pagePath.run(id)}?after=${place}` : undefined,
      "Later operations",
    )}
    <h2>More</h2>
    <details>
      <summary>Summary and configuration as the ledger keeps them</summary>
      <p>${shown(valueText(run.summary))}</p>
      <p>${shown(valueText(run.header))}</p>
    </details>
  `;
  return await framed(context, { title: `Run ${run.id}`, place: "Runs", body, scripts: isOn ? ["live.js"] : [] });
}

function failed(run: Parameters<typeof troubleOf>[0], failures: number): Html {
  const troubles = troubleOf(run);
  if (troubles.length === 0)
    return failures === 0 ? html`<p class="none">Nothing that this run says of itself.</p>` : html``;
  return html`${troubles.map(
    ({ what, next }) =>
      html`<div class="card bad">
        <p>${shown(what)}</p>
        <p class="cure">${shown(next)}</p>
      </div>`,
  )}`;
}

type Glance = NonNullable<Awaited<ReturnType<Inquiry["runGlance"]>>>;

/** Progress from this process, if the run is here, and from the ledger. */
function runProgress(
  { run, reads, operations, counted, more: isCut }: Glance,
  progress: Progress | undefined,
  when: When,
): Html {
  const states = operations.map((row) => `${grouped(row.count)} ${row.state}`).join(", ");
  const here = progress !== undefined && progress.at >= run.startedAt ? progress : undefined;
  return html`<p>
      <strong>${run.state === "running" ? "It is on" : "It has ended"}</strong>, begun ${moment(run.startedAt, when)}.
    </p>
    ${here === undefined ? "" : toldHere(here)}
    <ul>
      ${reads.map(
        (read) =>
          html`<li>
            ${shown(read.source)}, ${read.stream}: ${grouped(read.rows)} rows
            read${read.finishedAt === null ? " so far" : ""}
          </li>`,
      )}
      <li>${counted === 0 ? "no operation yet" : `${isCut ? "the newest operations" : "operations"}: ${states}`}</li>
    </ul>`;
}

function toldHere({ phase, done, total }: Progress): Html {
  if (total === undefined || total <= 0) return html`<p>${shown(phase)}: ${grouped(done)} so far</p>`;
  const least = Math.min(done, total);
  return html`<p>
    <label
      >${shown(phase)}: ${grouped(done)} of ${grouped(total)} <progress max="${total}" value="${least}"></progress
    ></label>
  </p>`;
}

const readsOfStream = 20;

export const sourcePage: Page = (routes, dashboard) => {
  routes.get("/source/:name", needs("see"), async (context) => {
    const source = idOfSegment(context.req.param("name"));
    const read = await dashboard.read(async (inquiry) => {
      const of = [];
      for (const stream of streams)
        of.push({ stream, reads: await inquiry.readsOf({ source, stream, limit: readsOfStream }) });
      return of.filter(({ reads }) => reads.length > 0);
    });
    const isConfigured = Object.hasOwn(dashboard.application.config.sources, source);
    if (read.length === 0 && !isConfigured) return await notFoundPage(context, "There is no such source.");
    const when = whenOf(dashboard);
    const body = html`
      ${isConfigured ? "" : html`<p>The configuration has it no more.</p>`}
      ${read.length === 0 ? html`<p class="none">It was not read yet.</p>` : ""}
      ${read.map(
        ({ stream, reads }) =>
          html`<h2>${stream}</h2>
            ${readsTable(reads, when, `The last readings of ${stream}, the newest first`)}`,
      )}
    `;
    return await framed(context, { title: `Source ${printable(source.slice(0, 100))}`, place: "Runs", body });
  });
};
