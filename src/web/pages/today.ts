import { html } from "hono/html";
import { toInstant } from "../../base/clock.ts";
import { needs } from "../access/needs.ts";
import { framed } from "../frame.ts";
import type { Page } from "../page.ts";
import { moment, shown } from "../shown.ts";

/** What a person who comes back needs to know first. */
export const todayPage: Page = {
  register(routes, dashboard) {
    routes.get("/today", needs("see"), async (context) => {
      const facts = await dashboard.read(async (inquiry) => await inquiry.status());
      const when = { zone: dashboard.application.config.zone, now: toInstant(dashboard.clock.now()) };
      const body = html`<ul>
        ${facts.lastRuns.map((run) => html`<li>${shown(run.job)} ${moment(run.startedAt, when)}</li>`)}
      </ul>`;
      return framed(context, { title: "Today", place: "Today", body });
    });
  },
};
