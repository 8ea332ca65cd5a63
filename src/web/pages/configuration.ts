import { html } from "hono/html";
import { z } from "zod";
import { settingFindings } from "../../app/check.ts";
import type { Dashboard } from "../../app/dashboard.ts";
import { KeptRead } from "../../app/kept-read.ts";
import { maskerOf, shownSettings } from "../../app/shown-settings.ts";
import { needs } from "../access/needs.ts";
import { may } from "../access/person.ts";
import { framed } from "../frame.ts";
import type { Content } from "../frame.ts";
import type { Html, Page, PageContext } from "../page.ts";
import { buttonForm } from "../parts/button-form.ts";
import { table, terms } from "../parts/table.ts";
import { moment, shown } from "../shown.ts";
import { whenOf } from "../when.ts";

const place = "Configuration";

const finding = z.object({
  what: z.string(),
  good: z.boolean(),
  warning: z.boolean().optional(),
  detail: z.string(),
  place: z.string().nullable().optional(),
  cure: z.string().nullable().optional(),
});
type Finding = z.infer<typeof finding>;

/** The settings in effect with where each comes from, and what is wrong with them; secrets by reference alone. */
export const configurationPage: Page = {
  register(routes, dashboard) {
    const { longReads: reads, clock } = dashboard;
    const asked = { what: "the check of configuration, sources and services", words: ["--json", "check"] };
    const parse = (text: string): Finding[] => z.array(finding).parse(JSON.parse(text));
    const kept = new KeptRead({ reads, clock }, asked, ({ stdout }) => parse(stdout));
    routes.get("/configuration", needs("see"), async (context) => await settings(context, dashboard, kept));
    routes.post("/configuration/check", needs("decide"), async (context) => {
      kept.begin(context.var.person.name, dashboard.signal);
      const text = "Configuration, sources and services are being looked at.";
      return await settings(context, dashboard, kept, { kind: "done", text });
    });
  },
};

async function settings(
  context: PageContext,
  dashboard: Dashboard,
  kept: KeptRead<Finding[]>,
  notice?: Content["notice"],
): Promise<Response> {
  const { application } = dashboard;
  const { file, profiles, presets, environment, options, hash } = application.header;
  const body = html`${terms([
      ["File", shown(file)],
      ["Profiles", shown(profiles.join(", "))],
      [
        "Presets",
        shown(
          Object.entries(presets)
            .map(([source, preset]) => `${source}: ${preset}`)
            .join(", "),
        ),
      ],
      ["Variables", shown(environment.join(", "))],
      ["Options", shown(options.join(", "))],
      ["SHA-256", html`<code class="digest">${hash}</code>`],
    ])}
    <h2>What the settings lack</h2>
    ${findingsTable("Settings that are missing, or of no use", settingFindings(application), dashboard, "Nothing.")}
    <h2>Check</h2>
    ${checkPart(context, dashboard, kept)}
    <h2>Settings in effect</h2>
    <p class="soft">What may hold a secret is shown by where it is read from alone.</p>
    ${shownSettings(application).map(
      ({ section, settings: rows }) =>
        html`<details>
          <summary>${section} <span class="soft">(${rows.length})</span></summary>
          ${table(
            `Settings of ${section}`,
            [{ title: "Setting" }, { title: "Value" }, { title: "From" }],
            rows.map(({ key, value, from }) => [
              html`<code>${shown(key)}</code>`,
              shown(value),
              from === undefined ? html`<span class="none">default</span>` : shown(from),
            ]),
          )}
        </details>`,
    )}`;
  return await framed(context, { title: "Configuration", place, body, notice });
}

function checkPart(context: PageContext, dashboard: Dashboard, { state }: KeptRead<Finding[]>): Html {
  const when = whenOf(dashboard);
  const mayAsk = dashboard.live !== undefined && may(context.var.person, "decide");
  const button =
    mayAsk && dashboard.longReads.current === undefined
      ? buttonForm(context, { action: "/configuration/check", label: "Look at sources and services now" })
      : "";
  if (state === undefined)
    return html`<p class="none">Nobody asked for one since this program began.</p>
      ${button}`;
  const asked = html`asked for by ${shown(state.by)} ${moment(state.startedAt, when)}`;
  const { ended } = state;
  if (ended === undefined)
    return html`<p><span class="state wait">Running</span>, ${asked}. <a href="/configuration">Look again</a></p>`;
  if ("problem" in ended)
    return html`<div class="card bad"><p>It failed, ${asked}: ${shown(ended.problem.message)}</p></div>
      ${button}`;
  return html`<p>Done ${moment(ended.at, when)}, ${asked}</p>
    ${findingsTable("What was looked at", ended.result, dashboard, "Nothing.")} ${button}`;
}

function findingsTable(caption: string, found: readonly Finding[], { application }: Dashboard, none: string): Html {
  const mask = maskerOf(application.secrets);
  const rows = found.map(({ what, good, warning, detail, place: where, cure }) => [
    shown(what),
    good
      ? html`<span class="state ${warning === true ? "wait" : "good"}"
          >${warning === true ? "look at it" : "good"}</span
        >`
      : html`<span class="state bad">bad</span>`,
    html`${shown(mask(detail))}
    ${typeof where === "string" ? html`<br /><span class="soft">${shown(mask(where))}</span>` : ""}${
      typeof cure === "string" ? html`<br /><span class="cure">${shown(mask(cure))}</span>` : ""
    }`,
  ]);
  return table(caption, [{ title: "What" }, { title: "State" }, { title: "Because" }], rows, none);
}
