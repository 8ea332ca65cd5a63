import { html } from "hono/html";
import { formatKey } from "../../crm/keys.ts";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import { orderTree } from "../../report/order-tree.ts";
import { pagePath } from "../../report/page-links.ts";
import { leftThere } from "../../report/explain.ts";
import type { ExplainFacts, PlacedFacts } from "../../report/explain.ts";
import type { Html, Page } from "../page.ts";
import { tree } from "../parts/tree.ts";
import { moment, shown } from "../shown.ts";
import { recordRoutes } from "./record.ts";
import type { When } from "./record.ts";

/** An order: what the CRM wants, what was sent and what the platform shows of it, and its story. */
export const orderPage: Page = {
  register(routes, dashboard) {
    recordRoutes(routes, dashboard, {
      stream: "orders",
      page: "order",
      own: async (inquiry, facts, { when }) => html`${placed(facts, when)} ${await merchandise(inquiry, facts)}`,
    });
  },
};

/** The merchandise of the order, side by side. */
async function merchandise(inquiry: Inquiry, { key }: ExplainFacts): Promise<Html | ""> {
  const sides = await inquiry.orderSides(key);
  if (sides === undefined) return "";
  const heading = html`<h2 id="merchandise">Merchandise</h2>`;
  if (sides === "tooLarge")
    return html`${heading}
      <p>It has too many parts for a page: <code>crm-sync report reconciliation</code> compares each of them.</p>`;
  return html`${heading} ${tree(orderTree(sides), "The CRM, the sent orders, and the platform")}`;
}

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
        (move) =>
          html`<dt>Moved away from</dt>
            <dd>
              <a href="${pagePath.customer(move.customer.namespace, move.customer.id)}"
                >${shown(formatKey(move.customer), 200)}</a
              >
              ${moment(move.since, when)}; ${left(now, move, when)}
            </dd>`,
      )}
    </dl>`;
}

function left(order: PlacedFacts, move: PlacedFacts["movedFrom"][number], when: When): Html | string {
  const { what, since } = leftThere(order, move);
  return since === undefined ? what : html`${what} since ${moment(since, when)}`;
}
