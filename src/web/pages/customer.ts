import { html } from "hono/html";
import { parseKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import type { ExplainFacts } from "../../report/explain.ts";
import { pagePath, recordPath } from "../../report/page-links.ts";
import { recordName } from "../../report/text.ts";
import type { Html, Page } from "../page.ts";
import { list, recordList, terms } from "../parts/tables.ts";
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
  const read = facts.observationRead?.seenAt;
  return html`<h2>On the platform</h2>
    ${
      link === undefined
        ? html`<p>It has no enterprise.</p>`
        : terms([
            ["Enterprise", html`${shown(link.enterpriseGlobalId, 200)} (${link.origin} ${moment(link.from, when)})`],
            ["Channel number", shown(`${link.channelCode}/${link.channelCustomerId}`, 200)],
            ["Read back", moment(read, when)],
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
  const lines = holds.map(
    ({ id, state, createdAt, explanation }) =>
      html`<a href="${pagePath.hold(id)}">${shown(id)}</a> (${state}, ${moment(createdAt, when)}): ${shown(explanation)}`,
  );
  return html`<h2>Held</h2>
    ${list(lines)}`;
}

function quarantineList({ unusable }: ExplainFacts, when: When): Html | "" {
  if (unusable.length === 0) return "";
  const lines = unusable.map(({ id, stream, key, message, place, firstSeen }) => {
    const what =
      key === null
        ? shown(`a row of ${stream}`)
        : html`<a href="${recordPath(stream, key)}">${shown(recordName(stream, key), 200)}</a>`;
    const why = html`${shown(message)} (${shown(place)}), since ${moment(firstSeen, when)}`;
    return html`<a href="${pagePath.quarantine(id)}">${shown(id)}</a>, ${what}: ${why}`;
  });
  return html`<h2>In quarantine</h2>
    ${list(lines)}`;
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
        const which = html`${shown(memberGlobalId, 200)} of the enterprise ${shown(enterpriseGlobalId, 200)}`;
        return ["Member", html`${which} (${origin} ${moment(from, when)})`] as const;
      }),
      ...held.map(
        ({ assetNumber, origin, from }) =>
          ["Holds", html`asset ${shown(assetNumber, 200)} (${origin} ${moment(from, when)})`] as const,
      ),
    ])}`;
}
