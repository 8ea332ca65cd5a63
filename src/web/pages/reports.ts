import { html } from "hono/html";
import { z } from "zod";
import { askedStatement, offeredStatements } from "../../books/statements.ts";
import { isOfParts, statementFormats } from "../../report/statement/render.ts";
import type { Dashboard } from "../../operate/dashboard.ts";
import { frozenFile } from "../../books/frozen-files.ts";
import { Problem } from "../../base/errors.ts";
import type { ClosedFileFacts, ClosingFacts } from "../../report/books.ts";
import { idOfSegment, pagePath } from "../../report/page-links.ts";
import { isOver, parsePeriod } from "../../report/statement/period.ts";
import { counted } from "../../report/text.ts";
import { needs } from "../access/person.ts";
import { framed } from "../frame.ts";
import type { Html, Page, PageContext } from "../page.ts";
import { numbers, table, terms, words } from "../parts/tables.ts";
import { moment, shown, whenOf } from "../shown.ts";

const monthsOnPage = 24;
const place = "Reports";

export const reportsPage: Page = (routes, dashboard) => {
  const right = needs("report");
  routes.get("/reports", right, async (context) => {
    const period = context.req.query("period")?.trim();
    if (period === undefined || period === "") return await periods(context, dashboard);
    return context.redirect(pagePath.report(periodOf(period, dashboard)), 303);
  });
  routes.get("/reports/:period", right, async (context) => await onePeriod(context, dashboard));
  routes.get("/reports/:period/blockers", right, async (context) => await blockers(context, dashboard));
  routes.get("/reports/:period/statement", right, async (context) => await statement(context, dashboard));
  routes.get("/reports/:period/closing/:number/:name", right, async (context) => {
    const [closing, name] = [Number(context.req.param("number")), idOfSegment(context.req.param("name"))];
    const asked = { period: labelOf(context, dashboard), closing, name };
    const { file, bytes } = await frozenFile(dashboard, asked);
    return download(context, { name: file.name, bytes, size: file.bytes, sha256: file.sha256 });
  });
};

function periodOf(label: string, { application }: Pick<Dashboard, "application">): string {
  return parsePeriod(label, application.config.zone).label;
}

function labelOf(context: PageContext, dashboard: Dashboard): string {
  return periodOf(idOfSegment(context.req.param("period") ?? ""), dashboard);
}

async function periods(context: PageContext, dashboard: Dashboard): Promise<Response> {
  const { zone, now } = whenOf(dashboard);
  const { began, closings } = await dashboard.read(async (inquiry) => ({
    began: await inquiry.began(),
    closings: await inquiry.closings(),
  }));
  const months = monthsUntil(now, began ?? now, zone);
  const labels = [...months, ...new Set(closings.map(({ period }) => period).filter((one) => !months.includes(one)))];
  const rows = labels.map((label) => [
    html`<a href="${pagePath.report(label)}">${label}</a>`,
    standing(label, closings, dashboard),
  ]);
  const columns = words("Period", "How it stands");
  const body = html`<form class="choose" action="/reports" method="get">
      <label for="period">Another period: a day, a month, a quarter, a year, or a range of them</label>
      <input id="period" name="period" placeholder="2026-Q4, 2026-09..2026-11" maxlength="50" required />
      <button>Open</button>
    </form>
    ${table(`Months of the last two years, with their closings, in the zone ${zone}`, columns, rows)}`;
  return await framed(context, { title: "Reports", place, body });
}

function monthsUntil(now: string, began: string, zone: string): string[] {
  const monthOf = (at: string): Temporal.PlainYearMonth =>
    Temporal.Instant.from(at).toZonedDateTimeISO(zone).toPlainDate().toPlainYearMonth();
  const found: string[] = [];
  const first = monthOf(began);
  for (
    let month = monthOf(now);
    found.length < monthsOnPage && Temporal.PlainYearMonth.compare(month, first) >= 0;
    month = month.subtract({ months: 1 })
  )
    found.push(month.toString());
  return found;
}

function standing(label: string, closings: readonly ClosingFacts[], dashboard: Dashboard): Html {
  const when = whenOf(dashboard);
  const last = closings.filter(({ period }) => period === label).at(-1);
  if (last?.reopened === null)
    return html`<span class="state good">closed</span> ${moment(last.closedAt, when)} by ${shown(last.closedBy)}`;
  const over = isOver(parsePeriod(label, when.zone), when.now);
  const again = last === undefined ? "" : html`, opened again ${moment(last.reopened?.at, when)}`;
  return over
    ? html`<span class="state wait">open</span>${again}`
    : html`<span class="state">goes on</span>: its figures may still change${again}`;
}

async function onePeriod(context: PageContext, dashboard: Dashboard): Promise<Response> {
  const label = labelOf(context, dashboard);
  const closings = await dashboard.read(async (inquiry) => {
    const found: { closing: ClosingFacts; files: ClosedFileFacts[] }[] = [];
    for (const closing of await inquiry.closings(label))
      found.push({ closing, files: await inquiry.closedFiles(label, closing.closing) });
    return found;
  });
  const path = pagePath.report(label);
  const state = standing(
    label,
    closings.map(({ closing }) => closing),
    dashboard,
  );
  const rows = offeredStatements().map(({ kind, title, about, parts }) => [
    html`${title}<br /><span class="soft">${about}</span>`,
    html`<ul class="formats">
      ${statementFormats.map((format) => html`<li>${linksOf(path, kind, format, parts)}</li>`)}
    </ul>`,
  ]);
  const body = html`<p>${state}</p>
    <p>
      <a href="${path}/blockers">What stands in the way of closing it</a>: that is counted when you ask for it. Signing
      off and closing are done at the command line: <code>crm-sync report close ${label} --by NAME</code>.
    </p>
    ${table("Statements, made now from the ledger", words("Statement", "Files"), rows)}
    ${closings.map(({ closing, files }) => closingPart(closing, files, dashboard))}`;
  return await framed(context, { title: `Reports: ${label}`, place, body });
}

function linksOf(path: string, kind: string, format: string, parts: readonly { name: string; title: string }[]): Html {
  const link = (more: Readonly<Record<string, string>>, text: string): Html =>
    html`<a href="${path}/statement?${new URLSearchParams({ kind, format, ...more }).toString()}">${text}</a>`;
  if (format === "html") return html`${link({ show: "yes" }, "as a page")} (${link({}, "save it")})`;
  if (!isOfParts(format) || parts.length === 1) return link({}, format);
  return html`${format}: ${parts.map(({ name, title }) => html`${link({ part: name }, title)} `)}`;
}

function closingPart(closing: ClosingFacts, files: readonly ClosedFileFacts[], dashboard: Dashboard): Html {
  const when = whenOf(dashboard);
  const { period, closing: number, reopened, reason } = closing;
  const path = `${pagePath.report(period)}/closing/${number}`;
  const rows = files.map(({ name, format, bytes, sha256 }) => [
    html`<a href="${path}/${encodeURIComponent(name)}">${shown(name)}</a>`,
    format,
    bytes,
    html`<code class="digest">${sha256}</code>`,
  ]);
  const columns = [...words("File", "Format"), ...numbers("Bytes"), ...words("SHA-256")];
  return html`<h2>Closing ${number}</h2>
    ${terms([
      ["Closed", html`${moment(closing.closedAt, when)} by ${shown(closing.closedBy)}`],
      ["Reason", reason === null ? undefined : shown(reason)],
      ["As of", moment(closing.asOf, when)],
      ["Stands on", html`<a href="${pagePath.audit(closing.entry)}">audit entry ${closing.entry}</a>`],
      [
        "Opened again",
        reopened === null
          ? undefined
          : html`${moment(reopened.at, when)} by ${shown(reopened.by)}: ${shown(reopened.reason)}`,
      ],
    ])}
    ${table(`Files that were frozen with closing ${number}`, columns, rows)}`;
}

const countedBlockers = z.looseObject({
  blockers: z.array(
    z.looseObject({
      id: z.string(),
      what: z.string(),
      kind: z.string(),
      signedOff: z.object({ by: z.string(), at: z.string(), reason: z.string() }).nullable(),
    }),
  ),
});

async function blockers(context: PageContext, dashboard: Dashboard): Promise<Response> {
  if (context.req.method === "HEAD") return context.body(null);
  const label = labelOf(context, dashboard);
  const { stdout, stderr } = await dashboard.longReads.text({
    what: `the blockers of ${label}`,
    words: ["--json", "report", "blockers", label],
    by: context.var.person,
    signal: context.req.raw.signal,
  });
  const found = countedBlockers.safeParse(parsed(stdout));
  if (!found.success)
    throw new Problem({
      code: "reads.failed",
      message: `the blockers of ${label} could not be counted: ${stderr}`,
      cure: `run \`crm-sync report blockers ${label}\` in a terminal: it shows the same problem`,
    });
  const when = whenOf(dashboard);
  const all = found.data.blockers;
  const open = all.filter(({ signedOff }) => signedOff === null).length;
  const rows = all.map(({ id, what, kind, signedOff }) => [
    html`<code>${shown(id)}</code>`,
    kind,
    shown(what),
    signedOff === null
      ? html`<span class="state wait">no</span>`
      : html`${shown(signedOff.by)} ${moment(signedOff.at, when)}: ${shown(signedOff.reason)}`,
  ]);
  const columns = words("Blocker", "Kind", "What", "Signed off");
  const body = html`<p><a href="${pagePath.report(label)}">Statements of ${label}</a></p>
    <p>${counted(open, "thing stands", "things stand")} in the way of closing ${label}.</p>
    ${table(`Blockers of ${label}`, columns, rows, "No blockers.")}
    ${
      open === 0
        ? ""
        : html`<p>
            Solve them, or take them as they are at the command line:
            <code>crm-sync report sign-off ${label} BLOCKER --by NAME --reason TEXT</code>
          </p>`
    }`;
  return await framed(context, { title: `Blockers of ${label}`, place, body });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function statement(context: PageContext, dashboard: Dashboard): Promise<Response> {
  if (context.req.method === "HEAD") return context.body(null);
  const { kind = "", format = "csv", part, show } = context.req.query();
  const period = labelOf(context, dashboard);
  const asked = askedStatement(dashboard.application.config.zone, { period, kind, format, part });
  const { person: by } = context.var;
  const { signal } = context.req.raw;
  const bytes = await dashboard.longReads.bytes({ ...asked.read, by, signal });
  return download(context, { name: asked.name, bytes, isShown: show !== undefined && format === "html" });
}

const types: Readonly<Record<string, string>> = {
  csv: "text/csv; charset=utf-8",
  json: "application/json",
  html: "text/html; charset=utf-8",
};

interface Download {
  name: string;
  bytes: AsyncIterable<Buffer>;
  /** Shown instead of saved. */
  isShown?: boolean;
  size?: number | undefined;
  sha256?: string | undefined;
}

/**
 * A file to save, or to show in a page that may do nothing. If its bytes fail, the connection breaks too, so that no
 * incomplete file looks complete.
 */
function download(context: PageContext, { name, bytes, isShown = false, size, sha256 }: Download): Response {
  const safe = name.replaceAll(/[^\w.-]/gu, "_");
  const format = safe.slice(safe.lastIndexOf(".") + 1);
  context.header("content-type", types[format] ?? "application/octet-stream");
  context.header("content-disposition", `${isShown ? "inline" : "attachment"}; filename="${safe}"`);
  context.header("x-content-type-options", "nosniff");
  if (size !== undefined) context.header("content-length", String(size));
  if (sha256 !== undefined) context.header("repr-digest", `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`);
  if (isShown) context.set("isSandboxed", true);
  return context.body(ReadableStream.from(bytes));
}
