import { html } from "hono/html";
import { pagePath } from "../../report/page-links.ts";
import type { ExplainFacts } from "../../report/explain.ts";
import type { Html, Page } from "../page.ts";
import { moment, shown } from "../shown.ts";
import { recordRoutes } from "./record.ts";
import type { When } from "./record.ts";

/** An order: what the CRM wants, what was sent and what the platform shows of it, and its story. */
export const orderPage: Page = {
  register(routes, dashboard) {
    recordRoutes(routes, dashboard, {
      stream: "orders",
      page: "order",
      own: async (_inquiry, facts, { when }) => html`${await Promise.resolve(placed(facts, when))}`,
    });
  },
};

function placed({ placed: all }: ExplainFacts, when: When): Html {
  const now = all.find(({ to }) => to === null);
  if (now === undefined)
    return html`<h2>On the platform</h2>
      <p>It is not placed.</p>`;
  const { channelOrderId, origin, from, licenceOrders, customer, movedFrom } = now;
  return html`<h2>On the platform</h2>
    <dl>
      <dt>Channel order number</dt>
      <dd>${shown(channelOrderId, 200)} (${origin} ${moment(from, when)})</dd>
      <dt>Stands for</dt>
      <dd>
        <a href="${pagePath.customer(customer.namespace, customer.id)}"
          >${shown(`${customer.namespace}/${customer.id}`, 200)}</a
        >
      </dd>
      ${licenceOrders.map(
        ({ licenseOrderId, licenseType }) =>
          html`<dt>Licence order</dt>
            <dd>${licenseOrderId === "" ? "not named" : shown(licenseOrderId, 200)}, ${shown(licenseType)}</dd>`,
      )}
      ${movedFrom.map(
        ({ customer: { namespace, id }, since, endedAt }) =>
          html`<dt>Moved away from</dt>
            <dd>
              <a href="${pagePath.customer(namespace, id)}">${shown(`${namespace}/${id}`, 200)}</a>
              ${moment(since, when)};
              ${endedAt === null ? "something of it may stand there" : html`nothing of it stands there since ${moment(endedAt, when)}`}
            </dd>`,
      )}
    </dl>`;
}
