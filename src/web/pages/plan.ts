import { whenOf } from "../shown.ts";
import { html } from "hono/html";
import type { Dashboard } from "../../operate/dashboard.ts";
import { Problem, usage } from "../../base/errors.ts";
import type { HeldByRun } from "../../inquiry/holds.ts";
import type { HoldFacts } from "../../report/facts.ts";
import { idOfSegment, pagePath } from "../../report/page-links.ts";
import { counted } from "../../report/text.ts";
import { may, needs } from "../access/person.ts";
import { failedNotice, framed, notFoundPage, type Notice } from "../frame.ts";
import type { Html, Page, PageContext } from "../page.ts";
import { decisionForm, keepableReason, placeIn, sentDecision } from "../parts/forms.ts";
import { holdCard, holdFactsList, sumsText, waitingList } from "../parts/held.ts";
import { more, recordLink } from "../parts/tables.ts";

const holdsOfPage = 25;
const operationsOfPage = 50;
const runsShown = 10;

/** Texts after a decision. The redirect names one of them. */
const done: Readonly<Record<string, string>> = {
  approved: "Approved. The next run makes exactly these changes.",
  "approved-undo": "Approved. The file of the undo carries it out, when it is applied; no run does.",
  "approved-one": "That one operation is approved. The next run carries it out.",
  "approved-run": "What that run held because of its sums is approved. The next run carries out exactly that.",
  rejected: "Rejected. None of these changes is made.",
  "rejected-in-part": "Rejected, except for changes that were sent before.",
  "taken-back": "The rejection is taken back. It waits for a person again.",
};

export const planPage: Page = (routes, dashboard) => {
  routes.get("/plan", needs("see"), async (context) => await planShown(context, dashboard, doneNotice(context)));
  routes.post("/plan/run/:id", needs("decide"), async (context) => {
    const run = idOfSegment(context.req.param("id"));
    return await deciding(context, dashboard, {
      decide: async ({ ledger, reason, by, shown }) => {
        const { ofUndo } = await ledger.decisions.approveRun(run, reason, by, shown);
        return `/plan?done=${ofUndo ? "approved-undo" : "approved-run"}`;
      },
      shownAgain: async (notice, status) => await planShown(context, dashboard, notice, status),
    });
  });
  routes.get("/hold/:id", needs("see"), async (context) => await holdShown(context, dashboard, doneNotice(context)));
  routes.post("/hold/:id", needs("decide"), async (context) => {
    const hold = idOfSegment(context.req.param("id"));
    return await deciding(context, dashboard, {
      decide: async (given) => `${pagePath.hold(hold)}?done=${await decideOnHold(hold, given)}`,
      shownAgain: async (notice, status, reason) => await holdShown(context, dashboard, notice, status, reason),
    });
  });
};

type Ledger = Awaited<ReturnType<Dashboard["application"]["existingLedger"]>>;

interface Given {
  ledger: Ledger;
  decision: string;
  reason: string;
  by: string;
  shown: string;
}

async function decideOnHold(hold: string, { ledger, decision, reason, by, shown }: Given): Promise<string> {
  if (decision.startsWith("op_")) {
    const { ofUndo } = await ledger.decisions.approveOperation(decision, reason, by);
    return ofUndo ? "approved-undo" : "approved-one";
  }
  switch (decision) {
    case "approve": {
      const { ofUndo } = await ledger.decisions.decide(hold, "approve", reason, by, shown);
      return ofUndo ? "approved-undo" : "approved";
    }
    case "reject": {
      const { sent } = await ledger.decisions.decide(hold, "reject", reason, by, shown);
      return sent > 0 ? "rejected-in-part" : "rejected";
    }
    case "take-back":
      await ledger.decisions.withdraw(hold, reason, by);
      return "taken-back";
    default:
      throw usage("Nothing was decided: no choice was sent.", "Use one of the buttons.");
  }
}

/** Problems that mean: another person or a run was faster. */
const overtaken = new Set([
  "hold.decided",
  "hold.sent",
  "hold.not-rejected",
  "approve.not-held",
  "approve.not-shown",
  "approve.changed",
  "operation.unknown",
]);

/** Takes a decision and redirects to the page. If it fails, the page shows why, with the present state. */
async function deciding(
  context: PageContext,
  dashboard: Dashboard,
  given: {
    decide: (given: Given) => Promise<string>;
    shownAgain: (notice: Notice | undefined, status: 400 | 409, reason: string) => Promise<Response>;
  },
): Promise<Response> {
  const { decision, reason, shown } = await sentDecision(context);
  const by = context.var.person.name;
  try {
    const why = keepableReason(context, reason);
    const ledger = await dashboard.application.existingLedger();
    return context.redirect(await given.decide({ ledger, decision, reason: why, by, shown }), 303);
  } catch (error) {
    if (!(error instanceof Problem) || error.code.startsWith("ledger.")) throw error;
    if (error.code === "hold.unknown") return await notFoundPage(context, "There is no such hold.");
    const notice = failedNotice(error);
    return await given.shownAgain(notice, overtaken.has(error.code) ? 409 : 400, reason);
  }
}

function doneNotice(context: PageContext): Notice | undefined {
  const name = context.req.query("done") ?? "";
  const text = Object.hasOwn(done, name) ? done[name] : undefined;
  return text === undefined ? undefined : { kind: "done", text };
}

async function planShown(
  context: PageContext,
  dashboard: Dashboard,
  notice: Notice | undefined,
  status: 200 | 400 | 409 = 200,
): Promise<Response> {
  const { after, holdsAfter } = context.req.query();
  const facts = await dashboard.read(async (inquiry) => ({
    holds: await inquiry.standingHolds({ limit: holdsOfPage, after: holdsAfter }),
    sums: await inquiry.heldSums(),
    runs: await inquiry.heldByRuns(runsShown),
    operations: await inquiry.waitingOperations({ limit: operationsOfPage + 1, after }),
  }));
  const { holds, sums, runs } = facts;
  const when = whenOf(dashboard);
  const last = holds.holds.at(-1);
  const body = html`
    <p class="lead">
      ${
        holds.total === 0
          ? "Nothing is held."
          : `${counted(holds.waits, "hold")} ${holds.waits === 1 ? "waits" : "wait"} for a person, ` +
            `${holds.total - holds.waits} approved and not carried out yet. Held: ${sumsText(sums)}.`
      }
    </p>
    ${holds.holds.map((hold) => holdCard(hold, when))}
    ${more(
      last && holds.holds.length === holdsOfPage ? `/plan?holdsAfter=${encodeURIComponent(last.id)}` : undefined,
      "Later holds",
    )}
    ${
      runs.length === 0
        ? ""
        : html`<h2>Held by the sums of a run</h2>
            ${runs.map((run) => runHeld(context, dashboard, run))}`
    }
    <h2>What is planned and held, by customer</h2>
    ${waitingList(facts.operations.slice(0, operationsOfPage))}
    ${more(
      facts.operations.length > operationsOfPage
        ? `/plan?after=${encodeURIComponent(facts.operations[operationsOfPage - 1]?.id ?? "")}`
        : undefined,
      "More",
    )}
  `;
  return await framed(context, { title: "Plan", place: "Plan", body, notice }, status);
}

function runHeld(context: PageContext, dashboard: Dashboard, { run, operations, customers, mark }: HeldByRun): Html {
  const what = `${counted(operations, "operation")} of ${counted(customers, "customer")}`;
  return html`<div class="card wait">
    <p><a href="${pagePath.run(run)}">${run}</a> held ${what} because of its own sum or that of days.</p>
    ${
      mark !== undefined && may(context.var.person, "decide")
        ? decisionForm(context, {
            id: `run-${run}`,
            shown: mark,
            action: `/plan/run/${encodeURIComponent(run)}`,
            choices: [{ value: "approve", label: `Approve ${what}` }],
          })
        : ""
    }
    ${
      mark === undefined
        ? html`<p class="soft">
            More is held than is counted here: <code>crm-sync approve --run ${run}</code> approves all of it.
          </p>`
        : ""
    }
  </div>`;
}

async function holdShown(
  context: PageContext,
  dashboard: Dashboard,
  notice: Notice | undefined,
  status: 200 | 400 | 409 = 200,
  reason?: string,
): Promise<Response> {
  const id = idOfSegment(context.req.param("id") ?? "");
  const after = placeIn(context, "hold");
  const facts = await dashboard.read(async (inquiry) => {
    const [hold] = await inquiry.holds({ id });
    if (hold === undefined) return undefined;
    const operations = await inquiry.heldOperations(id, { limit: operationsOfPage + 1, after });
    return { hold, operations, sums: await inquiry.heldSums(id), mark: await inquiry.heldMark(id) };
  });
  if (facts === undefined) return await notFoundPage(context, "There is no such hold.");
  const { hold, sums, mark } = facts;
  const operations = facts.operations.slice(0, operationsOfPage);
  const choices = may(context.var.person, "decide") ? choicesOn(hold) : [];
  const form = "decision";
  const place = operations.at(-1)?.place ?? 0;
  const body = html`
    <p class="lead">${recordLink("customers", hold.customer)}: ${sumsText(sums)}</p>
    ${holdFactsList(hold, whenOf(dashboard))}
    ${
      choices.length === 0
        ? ""
        : html`<h2>Decide</h2>
            ${decisionForm(context, { id: form, action: pagePath.hold(id), choices, reason, shown: mark })}`
    }
    <h2>What it holds</h2>
    ${waitingList(operations, choices.length > 0 && hold.state !== "rejected" ? { approvedBy: form } : {})}
    ${more(
      facts.operations.length > operationsOfPage ? `${pagePath.hold(id)}?after=${place}` : undefined,
      `More of ${sums.operations}`,
    )}
  `;
  return await framed(context, { title: `Hold ${hold.id}`, place: "Plan", body, notice }, status);
}

function choicesOn({ state }: HoldFacts): { value: string; label: string; isMain?: boolean }[] {
  const reject = { value: "reject", label: "Reject" };
  if (state === "open") return [{ value: "approve", label: "Approve all of it", isMain: true }, reject];
  if (state === "approved") return [reject];
  return state === "rejected" ? [{ value: "take-back", label: "Take the rejection back" }] : [];
}
