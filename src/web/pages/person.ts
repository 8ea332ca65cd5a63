import { html } from "hono/html";
import type { ExplainFacts } from "../../report/explain.ts";
import type { Html, Page } from "../page.ts";
import { moment, shown } from "../shown.ts";
import { recordRoutes } from "./record.ts";
import type { When } from "./record.ts";

/** Somebody of a customer's staff: the account, the assets, and the story. */
export const personPage: Page = {
  register(routes, dashboard) {
    recordRoutes(routes, dashboard, {
      stream: "staff",
      page: "person",
      own: async (_inquiry, facts, { when }) => await Promise.resolve(account(facts, when)),
    });
  },
};

function account({ staffLinks, assignments = [] }: ExplainFacts, when: When): Html {
  const accounts = staffLinks.filter(({ to }) => to === null);
  const held = assignments.filter(({ to }) => to === null);
  return html`<h2>On the platform</h2>
    ${accounts.length === 0 ? html`<p>The person has no account.</p>` : ""}
    <dl>
      ${accounts.map(
        ({ memberGlobalId, enterpriseGlobalId, origin, from }) =>
          html`<dt>Member</dt>
            <dd>
              ${shown(memberGlobalId, 200)} of the enterprise ${shown(enterpriseGlobalId, 200)} (${origin}
              ${moment(from, when)})
            </dd>`,
      )}
      ${held.map(
        ({ assetNumber, origin, from }) =>
          html`<dt>Holds</dt>
            <dd>asset ${shown(assetNumber, 200)} (${origin} ${moment(from, when)})</dd>`,
      )}
    </dl>`;
}
