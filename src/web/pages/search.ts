import { html } from "hono/html";
import { toInstant } from "../../base/clock.ts";
import type { FoundRecord } from "../../inquiry/find.ts";
import { mostFound } from "../../report/explain.ts";
import { recordPath } from "../../report/page-links.ts";
import { needs } from "../access/needs.ts";
import { framed } from "../frame.ts";
import type { Html, Page } from "../page.ts";
import { stateWord } from "../parts/record-list.ts";
import { table, words } from "../parts/table.ts";
import { moment, shown } from "../shown.ts";

const longest = 200;
const kinds = { customers: "customer", orders: "order", staff: "person" } as const;

/** What somebody may mean by a text, over customers, orders and people; what is found by its name is not named. */
export const searchPage: Page = {
  register(routes, dashboard) {
    routes.get("/search", needs("see"), async (context) => {
      const text = (context.req.query("q") ?? "").trim();
      if (text === "" || text.length > longest || text.includes("\0") || !text.isWellFormed()) {
        const cure = `Give a name, an id, a number or a login of at most ${longest} characters.`;
        const notice = { kind: "failed", text: "That cannot be looked for.", cure } as const;
        return await framed(context, { title: "Search", body: html``, notice }, 400);
      }
      const found = await dashboard.read(async (inquiry) => await inquiry.findEverywhere(text));
      const [only, ...others] = found;
      if (only !== undefined && others.length === 0) return context.redirect(recordPath(only.stream, only.key), 303);
      const when = { zone: dashboard.application.config.zone, now: toInstant(dashboard.clock.now()) };
      const body = only === undefined ? nothing(text) : list(found, when);
      return await framed(context, { title: "Search", body }, only === undefined ? 404 : 200);
    });
  },
};

function nothing(text: string): Html {
  return html`<p>Nothing was found for ${shown(text)}.</p>
    <p class="soft">
      It was looked for as an id, an asset number, a channel order or customer number, a licence order, an enterprise, a
      member, and as the beginning of the name of a customer or person or of a login. A record that no source has given,
      and one whose values are erased, is not found.
    </p>`;
}

function list(found: readonly FoundRecord[], when: { zone: string; now: string }): Html {
  const full = (["customers", "orders", "staff"] as const).some(
    (stream) => found.filter((one) => one.stream === stream).length >= mostFound,
  );
  const rows = found.map(({ stream, key, by, record }) => [
    html`<a href="${recordPath(stream, key)}">${shown(`${key.namespace}/${key.id}`, 200)}</a>`,
    kinds[stream],
    by.startsWith("beginning") ? by : `its ${by}`,
    record === null ? html`<span class="state bad">in quarantine</span>` : stateWord(record),
    record === null ? "" : moment(record.changedAt, when),
  ]);
  const more = full ? `, and there may be more: no more than ${mostFound} of a kind are listed` : "";
  return table(`${found.length} records fit${more}`, words("Id", "Kind", "Found by", "State", "Changed"), rows);
}
