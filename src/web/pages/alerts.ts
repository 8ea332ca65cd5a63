import { html } from "hono/html";
import { alertsNow } from "../../operate/notify/configured.ts";
import type { Dashboard } from "../../operate/dashboard.ts";
import type { AlertFacts, AlertChannelFacts } from "../../report/alerts.ts";
import { counted } from "../../report/text.ts";
import { needs } from "../access/person.ts";
import { framed } from "../frame.ts";
import type { Html, Page } from "../page.ts";
import { goodOrFailing, list, table, words } from "../parts/tables.ts";
import { moment, shown, whenOf } from "../shown.ts";

export const alertsPage: Page = (routes, dashboard) => {
  routes.get("/alerts", needs("see"), async (context) => {
    const { alerts, ending, channels, switches } = await dashboard.read(
      async (inquiry) => await alertsNow(dashboard.application, inquiry),
    );
    const body = html`<p>
        ${alerts.length === 0 ? "Nothing stands that needs a person." : counted(alerts.length, "alert")}
      </p>
      ${alerts.map((alert) => alertPart(alert, dashboard))}
      ${
        ending.length === 0
          ? ""
          : html`<h2>Ended, and not told yet</h2>
              ${list(ending.map(({ key, channel }) => html`${shown(key)}, by ${shown(channel)}`))}`
      }
      <h2>Channels of telling people</h2>
      ${channelsTable("Channels", channels, dashboard, "None: nobody is told.")}
      <h2>Dead man's switches</h2>
      ${channelsTable("Switches", switches, dashboard, "None: nobody sees that this program stands still.")}`;
    return await framed(context, { title: "Alerts", place: "Alerts", body });
  });
};

function alertPart(alert: AlertFacts["alerts"][number], dashboard: Dashboard): Html {
  const { severity, key, summary, cure, page, since, channels } = alert;
  const when = whenOf(dashboard);
  const mark = severity === "critical" ? "bad" : "wait";
  return html`<section class="card ${mark}" aria-label="${key}">
    <p><span class="state">${severity}</span> <code>${shown(key)}</code> ${moment(since, when)}</p>
    <p>${shown(summary)}</p>
    <p class="cure">${shown(cure)}</p>
    <p><a href="${page}">What it is about</a></p>
    <ul class="soft">
      ${channels.map(({ channel, toldAt }) => html`<li>${shown(channel)}: ${moment(toldAt, when, "not told yet")}</li>`)}
    </ul>
  </section>`;
}

function channelsTable(
  caption: string,
  channels: readonly AlertChannelFacts[],
  dashboard: Dashboard,
  none: string,
): Html {
  const when = whenOf(dashboard);
  const rows = channels.map(({ name, kind, doneAt, problem, failingSince }) => [
    shown(name),
    kind,
    moment(doneAt, when),
    goodOrFailing(problem, failingSince, when),
  ]);
  return table(caption, words("Name", "Kind", "Last", "State"), rows, none);
}
