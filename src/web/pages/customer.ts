import { html } from "hono/html";
import { parseKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import type { ExplainFacts } from "../../report/explain.ts";
import { pagePath, recordPath } from "../../report/page-links.ts";
import { recordName } from "../../report/text.ts";
import type { Html, Page } from "../page.ts";
import { recordList, terms } from "../parts/tables.ts";
import { moment, shown, type When } from "../shown.ts";
import { recordRoutes } from "./record.ts";

export const customerPage: Page = (routes, dashboard) => {
  recordRoutes(routes, dashboard, {
    stream: "customers",
    page: "customer",
    own: async (inquiry, facts, { when, query }) => {
      const { orders, staff } = await peopleAndOrders(inquiry, facts.key, query);
      return html`${onThePlatform(facts, when)} ${counts(facts)}
        <h2 id="orders">Orders</h2>
        ${recordList("Orders", orders, when)}
        <h2 id="staff">Staff</h2>
        ${recordList("Staff", staff, when)} ${holdList(facts, when)} ${quarantineList(facts, when)}`;
    },
  });
};

async function peopleAndOrders(inquiry: Inquiry, customer: RecordKey, query: (name: string) => string | undefined) {
  const page = async (stream: "orders" | "staff") => {
    const after = query(`${stream}After`);
    const found = await inquiry.recordsOfCustomer(customer, stream, after === undefined ? undefined : parseKey(after));
    const last = found.records.at(-1);
    const behind = new URLSearchParams(last && { [`${stream}After`]: `${last.key.namespace}/${last.key.id}` });
    return { records: found.records, next: found.goesOn ? `?${behind.toString()}#${stream}` : undefined };
  };
  return { orders: await page("orders"), staff: await page("staff") };
}

function onThePlatform(facts: ExplainFacts, when: When): Html {
  const link = facts.links.find(({ to }) => to === null);
  return html`<h2>On the platform</h2>
    ${
      link === undefined
        ? html`<p>It has no enterprise.</p>`
        : terms([
            ["Enterprise", html`${shown(link.enterpriseGlobalId, 200)} (${link.origin} ${moment(link.from, when)})`],
            ["Channel number", shown(`${link.channelCode}/${link.channelCustomerId}`, 200)],
            ["Read back", moment(facts.observationRead?.seenAt, when)],
          ])
    }`;
}

function counts({ dependents }: ExplainFacts): Html | "" {
  if (dependents.length === 0) return "";
  return html`<ul class="counts">
    ${dependents.map(
      ({ stream, state, code, count }) =>
        html`<li>${stream}: ${count} ${state}${code === null ? "" : html`, deferred: ${shown(code)}`}</li>`,
    )}
  </ul>`;
}

function holdList({ customer }: ExplainFacts, when: When): Html | "" {
  const holds = customer?.holds ?? [];
  if (holds.length === 0) return "";
  return html`<h2>Held</h2>
    <ul>
      ${holds.map(
        (hold) =>
          html`<li>
            <a href="${pagePath.hold(hold.id)}">${shown(hold.id)}</a> (${hold.state}, ${moment(hold.createdAt, when)}):
            ${shown(hold.explanation)}
          </li>`,
      )}
    </ul>`;
}

function quarantineList({ unusable }: ExplainFacts, when: When): Html | "" {
  if (unusable.length === 0) return "";
  return html`<h2>In quarantine</h2>
    <ul>
      ${unusable.map(
        (row) =>
          html`<li>
            <a href="${pagePath.quarantine(row.id)}">${shown(row.id)}</a>,
            ${
              row.key === null
                ? shown(`a row of ${row.stream}`)
                : html`<a href="${recordPath(row.stream, row.key)}">${shown(recordName(row.stream, row.key), 200)}</a>`
            }:
            ${shown(row.message)} (${shown(row.place)}), since ${moment(row.firstSeen, when)}
          </li>`,
      )}
    </ul>`;
}

export const personPage: Page = (routes, dashboard) => {
  recordRoutes(routes, dashboard, {
    stream: "staff",
    page: "person",
    own: async (_inquiry, facts, { when }) => await Promise.resolve(account(facts, when)),
  });
};

function account({ staffLinks, assignments = [] }: ExplainFacts, when: When): Html {
  const accounts = staffLinks.filter(({ to }) => to === null);
  const held = assignments.filter(({ to }) => to === null);
  return html`<h2>On the platform</h2>
    ${accounts.length === 0 ? html`<p>The person has no account.</p>` : ""}
    ${terms([
      ...accounts.map(({ memberGlobalId, enterpriseGlobalId, origin, from }) => {
        const of = html`of the enterprise ${shown(enterpriseGlobalId, 200)} (${origin} ${moment(from, when)})`;
        return ["Member", html`${shown(memberGlobalId, 200)} ${of}`] as const;
      }),
      ...held.map(({ assetNumber, origin, from }) => {
        return ["Holds", html`asset ${shown(assetNumber, 200)} (${origin} ${moment(from, when)})`] as const;
      }),
    ])}`;
}
