import { html } from "hono/html";
import { Problem, usage } from "../../base/errors.ts";
import { callsGoingOnText } from "../../report/status.ts";
import { pagePath } from "../../report/page-links.ts";
import { may, needs } from "../access/person.ts";
import { failedNotice, framed, type Notice } from "../frame.ts";
import type { Page, PageContext } from "../page.ts";
import { decisionForm, keepableReason, sentDecision } from "../parts/forms.ts";

export const pausePage: Page = (routes, dashboard) => {
  const path = pagePath.pause();
  routes.get(path, needs("see"), async (context) => await shownNow(context));
  routes.post(path, needs("decide"), async (context) => {
    try {
      const { decision, reason } = await sentDecision(context);
      const whose = { by: context.var.person.name, reason: keepableReason(context, reason) };
      const { pause } = await dashboard.application.existingLedger();
      if (decision !== "pause" && decision !== "resume")
        throw usage("Nothing was decided: no choice was sent.", "Open the page again.");
      if (decision === "pause") await pause.begin(whose);
      else await pause.end(whose);
      const calls = decision === "pause" && pause.goingOn > 0 ? ` ${callsGoingOnText(pause.goingOn)}` : "";
      const text = decision === "pause" ? `Paused.${calls}` : "Resumed: the next run sends what waited.";
      return await shownNow(context, { kind: "done", text });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return await shownNow(context, failedNotice(error), 400);
    }
  });
};

async function shownNow(context: PageContext, notice?: Notice, status: 200 | 400 = 200): Promise<Response> {
  const isPaused = (await context.var.pausedLine?.()) !== undefined;
  const choice = isPaused ? { value: "resume", label: "Resume" } : { value: "pause", label: "Pause" };
  const says = isPaused
    ? "Planned changes are not sent. They wait, and the first run after Resume sends them."
    : "Pause has nothing written to the services, by runs and by people. Reading and planning go on.";
  const form = may(context.var.person, "decide")
    ? decisionForm(context, { id: "pause", action: pagePath.pause(), choices: [choice] })
    : "";
  const body = html`<p>${says}</p>
    ${form}`;
  return await framed(context, { title: isPaused ? "Paused" : "Pause", place: "Today", body, notice }, status);
}
