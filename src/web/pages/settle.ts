import { html } from "hono/html";
import type { Dashboard } from "../../operate/dashboard.ts";
import { openDecisions } from "../../requests/decisions.ts";
import { askForAnswer } from "../../requests/private-shown.ts";
import { Problem, usage } from "../../base/errors.ts";
import type { OperationFacts } from "../../report/facts.ts";
import { attemptText, nextForOperation, stateText } from "../../report/waiting.ts";
import { idOfSegment, pagePath } from "../../report/page-links.ts";
import { may, needs } from "../access/person.ts";
import { failedNotice, framed, notFoundPage, type Notice } from "../frame.ts";
import type { Html, Page, PageContext } from "../page.ts";
import { askedText, decisionForm, keepableReason, sentDecision } from "../parts/forms.ts";
import { markedJson, moment, shown, whenOf } from "../shown.ts";
import { keyLink, list, more, table, terms, words } from "../parts/tables.ts";

const rowsOnPage = 50;
const place = "Settle";
const openStates = ["sending", "unknown", "parked"] as const;

interface Answer {
  notice?: Notice;
  status?: 200 | 400 | 409 | 503;
  reason?: string;
  text?: string;
}

export const settlePage: Page = (routes, dashboard) => {
  routes.get("/settle", needs("see"), async (context) => await openOnes(context, dashboard));
  routes.get("/settle/:id", needs("see"), async (context) => await oneOperation(context, dashboard, {}));
  routes.post("/settle/:id", needs("decide"), async (context) => await decided(context, dashboard));
  routes.post("/settle/:id/answer", needs("see"), async (context) => {
    const { person, refuse } = context.var;
    if (!person.mayAskForPrivate) return await refuse("private");
    const row = await dashboard.read(async (inquiry) => await inquiry.operation(idOf(context)));
    if (row === undefined) return await noSuchOperation(context);
    const text = (await askForAnswer(dashboard, row, person.name)) ?? "erased, or kept no longer";
    return await oneOperation(context, dashboard, { text });
  });
};

function idOf(context: PageContext): string {
  return idOfSegment(context.req.param("id") ?? "");
}

function noSuchOperation(context: PageContext): Response | Promise<Response> {
  return notFoundPage(context, "There is no such operation.");
}

async function openOnes(context: PageContext, dashboard: Dashboard): Promise<Response> {
  const { since, after: id } = context.req.query();
  const after = since === undefined || id === undefined ? undefined : { createdAt: since, id };
  const found: OperationFacts[] = [];
  await dashboard.read(async (inquiry) => {
    for await (const row of inquiry.unsettled({ after, limit: rowsOnPage + 1 })) found.push(row);
  });
  const rows = found.slice(0, rowsOnPage);
  const last = found.length > rowsOnPage ? rows.at(-1) : undefined;
  const when = whenOf(dashboard);
  const columns = words("Operation", "About", "State", "Since", "Next");
  const cells = rows.map((row) => [
    html`<a href="${pagePath.settle(row.id)}">${row.kind} (${row.endpoint})</a>`,
    shown(row.subject),
    html`${shown(stateText(row), 300)}`,
    moment(row.createdAt, when),
    shown(nextOf(row), 300),
  ]);
  const body = html`<p>
      These calls were sent, and nobody knows whether they took effect. Nothing else is written for their customers
      until that is known.
    </p>
    ${table("Operations whose outcome is open, the oldest first", columns, cells, "Every operation is settled.")}
    ${more(last && `/settle?${new URLSearchParams({ since: last.createdAt, after: last.id }).toString()}`, "Later ones")}`;
  return await framed(context, { title: "Settle", place, body });
}

function nextOf(row: OperationFacts): string {
  return row.state === "parked" ? "look on the platform, then decide" : nextForOperation(row);
}

async function decided(context: PageContext, dashboard: Dashboard): Promise<Response> {
  const { decision, reason } = await sentDecision(context);
  try {
    if (decision !== "applied" && decision !== "not-applied")
      throw usage("Nothing was decided: say what became of it.", "Choose “applied” or “not applied”.");
    const kept = keepableReason(context, reason);
    const { application, signal } = dashboard;
    const decide = await openDecisions(application, context.var.person.name, signal);
    const { summary } = await decide({ id: idOf(context), verdict: decision, reason: kept });
    return await oneOperation(context, dashboard, { notice: { kind: "done", text: summary } });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const notice = failedNotice(error);
    return await oneOperation(context, dashboard, { notice, status: statusOf(error), reason });
  }
}

/** 409: the operation forbids it now; 400: the form is wrong; 503: the platform could not be read. */
function statusOf({ code }: Problem): 400 | 409 | 503 {
  if (code.startsWith("settle.")) return 409;
  return code === "usage" || code.startsWith("reason.") ? 400 : 503;
}

async function oneOperation(
  context: PageContext,
  dashboard: Dashboard,
  { notice, status = 200, reason, text }: Answer,
): Promise<Response> {
  const row = await dashboard.read(async (inquiry) => await inquiry.operation(idOf(context)));
  if (row === undefined) return await noSuchOperation(context);
  const isOpen = openStates.some((state) => state === row.state);
  const body = html`<p><a href="/settle">All whose outcome is open</a></p>
    ${factsOf(row, dashboard)}
    <div class="beside">
      <section>
        <h2>What we sent</h2>
        <h3>To</h3>
        ${markedJson(row.target)}
        <h3>What</h3>
        ${markedJson(row.payload)}
      </section>
      <section>
        <h2>What the platform shows</h2>
        ${readingsOf(row, dashboard)}
      </section>
    </div>
    <h2>Attempts</h2>
    ${list(row.attempts.map((attempt) => shown(attemptText(attempt, viewOf(dashboard)))))}
    ${
      row.answerKept
        ? html`<h2>What the service answered</h2>
            ${askedText(context, { action: `${pagePath.settle(row.id)}/answer`, label: "Show the answer", text })}`
        : ""
    }
    ${isOpen ? decisionPart(context, dashboard, row, reason) : html`<p class="soft">Nothing is left to decide.</p>`}`;
  return await framed(context, { title: `Outcome of ${row.kind} (${row.endpoint})`, place, body, notice }, status);
}

function viewOf(dashboard: Dashboard): { terminal: false; zone: string } {
  return { terminal: false, zone: dashboard.application.config.zone };
}

function factsOf(row: OperationFacts, dashboard: Dashboard): Html {
  const when = whenOf(dashboard);
  const { lookFor, runId, settleAfter } = row;
  return terms([
    ["Operation", html`<code>${row.id}</code>`],
    ["About", shown(row.subject)],
    ["Customer", keyLink("customers", row.customer)],
    ["Because", shown(row.reason)],
    ["State", html`<span class="state">${shown(stateText(row))}</span>`],
    ["Planned", moment(row.createdAt, when)],
    ["Run", runId === null ? undefined : html`<a href="${pagePath.run(runId)}">${shown(runId)}</a>`],
    ["Settled by reading", settleAfter === null ? undefined : html`not before ${moment(settleAfter, when)}`],
    ["Look for", lookFor === null ? undefined : shown(lookFor.what)],
    ["Where", lookFor === null ? undefined : shown(lookFor.where)],
    ["Ask", lookFor === null ? undefined : shown(lookFor.whom)],
    ["What to do", html`<span class="cure">${shown(nextOf(row))}</span>`],
  ]);
}

function readingsOf(row: OperationFacts, dashboard: Dashboard): Html {
  const when = whenOf(dashboard);
  if (row.evidence.length === 0)
    return html`<p class="none">It was not looked at yet. A decision looks first, and agrees with what it shows.</p>`;
  return html`<ol class="readings">
    ${row.evidence.map(
      ({ at, seen, detail }) =>
        html`<li>
          ${moment(at, when)}: <span class="state">${seen ? "seen" : "not seen"}</span> ${markedJson(detail)}
        </li>`,
    )}
  </ol>`;
}

function decisionPart(
  context: PageContext,
  dashboard: Dashboard,
  row: OperationFacts,
  reason: string | undefined,
): Html {
  if (!may(context.var.person, "decide")) return html`<p class="none">Operators decide this.</p>`;
  if (row.state === "sending")
    return html`<p class="none">It is in progress, or its program ended meanwhile: the next run finds out.</p>`;
  return html`<h2>Decide</h2>
    <p>The platform is read once more first, and a decision that does not agree with what it shows is refused.</p>
    ${terms([
      ["Applied", "It took effect. Its result is recorded, and nothing is sent."],
      [
        "Not applied",
        html`It did not, and never will. The next run plans the customer anew and
          <strong>may send it again: where it did take effect after all, it is done twice.</strong>`,
      ],
    ])}
    ${decisionForm(context, {
      id: "settle",
      action: pagePath.settle(row.id),
      choices: [
        { value: "applied", label: "It was applied" },
        { value: "not-applied", label: "It was not applied" },
      ],
      reason,
    })}`;
}
