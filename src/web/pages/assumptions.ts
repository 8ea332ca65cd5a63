import { html } from "hono/html";
import { acceptAssumption, contradictionMark } from "../../requests/decisions.ts";
import type { Dashboard } from "../../operate/dashboard.ts";
import { Problem } from "../../base/errors.ts";
import type { AssumptionStanding } from "../../report/assumptions.ts";
import { may, needs } from "../access/person.ts";
import { failedNotice, framed, type Notice } from "../frame.ts";
import type { Html, Page, PageContext } from "../page.ts";
import { decisionForm, keepableReason, sentDecision } from "../parts/forms.ts";
import { table, terms, words } from "../parts/tables.ts";
import { moment, shown, whenOf } from "../shown.ts";

const place = "Assumptions";

export const assumptionsPage: Page = (routes, dashboard) => {
  routes.get("/assumptions", needs("see"), async (context) => await allRows(context, dashboard));
  routes.post("/assumptions/:row/accept", needs("decide"), async (context) => {
    const row = context.req.param("row");
    try {
      const { reason, shown: seen } = await sentDecision(context);
      const whose = { by: context.var.person.name, reason: keepableReason(context, reason) };
      await acceptAssumption(dashboard.application, row, whose, seen);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const notice = failedNotice(error);
      return await allRows(context, dashboard, notice, error.code === "accept.not-shown" ? 409 : 400);
    }
    const text = `${row} is accepted; the next run sends again what rests on it.`;
    return await allRows(context, dashboard, { kind: "done", text });
  });
};

async function allRows(
  context: PageContext,
  dashboard: Dashboard,
  notice?: Notice,
  status: 200 | 400 | 409 = 200,
): Promise<Response> {
  const rows = await dashboard.read(async (inquiry) => await inquiry.assumptions());
  const against = rows.filter(({ standing }) => standing === "contradicted");
  const cells = rows.map((row) => [
    row.id,
    html`${shown(row.question)}<br /><span class="soft">we assume: ${shown(row.default)}</span>`,
    row.decidedBy === "fixed" ? "the program" : html`<code>${row.decidedBy.setting}</code>`,
    standingPart(row, dashboard),
  ]);
  const columns = words("Row", "Question", "Decided by", "How it stands");
  const body = html`${against.map((row) => contradiction(context, dashboard, row))}
  ${table("Open points of the contracts", columns, cells)}`;
  return await framed(context, { title: "Assumptions", place, body, notice }, status);
}

function standingPart({ kind, standing, contradicted, accepted }: AssumptionStanding, dashboard: Dashboard): Html {
  const when = whenOf(dashboard);
  if (kind === "choice") return html`a choice of ours, in use`;
  const before =
    accepted === null
      ? ""
      : html`<br /><span class="soft">
            a contradiction was accepted by ${shown(accepted.by)} ${moment(accepted.at, when)}:
            ${shown(accepted.reason)}</span
          >`;
  if (contradicted !== null)
    return html`<span class="state bad">contradicted</span> ${moment(contradicted.since, when)}:
      ${shown(contradicted.evidence)}${before}`;
  return html`<span class="state">${standing}</span>${before}`;
}

function contradiction(context: PageContext, dashboard: Dashboard, row: AssumptionStanding): Html {
  const { id, question, contradicted, stops, decidedBy } = row;
  if (contradicted === null) return html``;
  const setting = decidedBy === "fixed" ? "" : `correct ${decidedBy.setting}, `;
  const decide = !may(context.var.person, "decide")
    ? ""
    : decisionForm(context, {
        id: `accept-${id}`,
        action: `/assumptions/${id}/accept`,
        shown: contradictionMark(contradicted),
        choices: [{ value: "accept", label: `Accept ${id} with the present evidence` }],
      });
  return html`<section class="card bad" aria-label="${id} is contradicted">
    <h2>${id}: ${shown(question)}</h2>
    ${terms([
      ["Seen", html`${shown(contradicted.evidence)} (${contradicted.count} times)`],
      ["Last", moment(contradicted.last, whenOf(dashboard))],
      ["About", contradicted.about.length === 0 ? undefined : shown(contradicted.about.join(", "))],
      ["Stops", html`${stops}; everything else goes on`],
      [
        "What to do",
        html`<span class="cure">ask the provider of the service; ${setting}then accept the answer here</span>`,
      ],
    ])}
    ${decide}
  </section>`;
}
