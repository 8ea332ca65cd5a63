import { html } from "hono/html";
import { toInstant } from "../../base/clock.ts";
import { streams } from "../../crm/model.ts";
import { idOfSegment } from "../../report/page-links.ts";
import { printable } from "../../report/text.ts";
import { needs } from "../access/needs.ts";
import { notFoundPage } from "../failures.ts";
import { framed } from "../frame.ts";
import type { Page } from "../page.ts";
import { readsTable } from "../parts/run-tables.ts";

const readsOfStream = 20;

/** How a source was read lately. */
export const sourcePage: Page = {
  register(routes, dashboard) {
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
      const when = { zone: dashboard.application.config.zone, now: toInstant(dashboard.clock.now()) };
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
  },
};
