import { html } from "hono/html";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import { orderTree, type TreeNode } from "../../report/order-tree.ts";
import { leftThere, type ExplainFacts, type PlacedFacts } from "../../report/explain.ts";
import type { Html, Page } from "../page.ts";
import { keyLink, list, terms } from "../parts/tables.ts";
import { moment, shown, type When } from "../shown.ts";
import { recordRoutes } from "./record.ts";

export const orderPage: Page = (routes, dashboard) => {
  recordRoutes(routes, dashboard, {
    stream: "orders",
    page: "order",
    own: async (inquiry, facts, { when }) => html`${placed(facts, when)} ${await merchandise(inquiry, facts)}`,
  });
};

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
    ${terms([
      ["Channel order number", html`${shown(channelOrderId, 200)} (${origin} ${moment(from, when)})`],
      ["Stands for", keyLink("customers", customer)],
      ...licenceOrders.map(({ licenseOrderId, licenseType }) => {
        const name = licenseOrderId === "" ? "not named" : shown(licenseOrderId, 200);
        return ["Licence order", html`${name}, ${shown(licenseType)}`] as const;
      }),
      ...movedFrom.map((move) => {
        const since = html`${moment(move.since, when)}; ${left(now, move, when)}`;
        return ["Moved away from", html`${keyLink("customers", move.customer)} ${since}`] as const;
      }),
    ])}`;
}

function left(order: PlacedFacts, move: PlacedFacts["movedFrom"][number], when: When): Html | string {
  const { what, since } = leftThere(order, move);
  return since === undefined ? what : html`${what} since ${moment(since, when)}`;
}

const kinds = { asset: "Asset", package: "Package", product: "Product" } as const;

const verdicts = {
  matched: { word: "equal", mood: "good" },
  missing: { word: "missing", mood: "bad" },
  extra: { word: "not wanted", mood: "bad" },
  different: { word: "different", mood: "bad" },
  "in-transit": { word: "on its way", mood: "wait" },
  "not-observable": { word: "cannot be seen", mood: "wait" },
} as const;

function tree(roots: readonly TreeNode[], label: string): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table class="tree">
      <caption>
        ${label}
      </caption>
      <thead>
        <tr>
          <th scope="col">Thing</th>
          <th scope="col">CRM</th>
          <th scope="col">Sent</th>
          <th scope="col">Shown</th>
          <th scope="col">Compared</th>
        </tr>
      </thead>
      <tbody>
        ${roots.flatMap((root) => rowsOf(root, 0))}
      </tbody>
    </table>
  </div>`;
}

/** Deeper items have this indent and their depth as text. */
const deepest = 6;

function rowsOf(node: TreeNode, depth: number): Html[] {
  const { kind, id, name, assetNumber, crm, sent, shown: seen, verdict, details, children } = node;
  const number = kind === "asset" ? (assetNumber ?? "no number yet") : undefined;
  const row = html`<tr>
    <th scope="row" class="step-${Math.min(depth, deepest)}">
      <span class="soft">${kinds[kind]}${depth > deepest ? `, step ${depth}` : ""}</span> ${shown(id, 200)}
      ${name === "" ? "" : html`<span class="soft">${shown(name, 200)}</span>`}
      ${number === undefined ? "" : html`<span class="soft">number ${shown(number, 200)}</span>`}
    </th>
    <td>${sideWord(crm, "wanted", "not there")}</td>
    <td>${sideWord(sent, "sent", "not sent")}</td>
    <td>${seen === null ? html`<span class="none">not known</span>` : sideWord(seen, "shown", "not shown")}</td>
    <td>
      ${verdict === undefined ? "" : verdictWord(verdicts[verdict])} ${list(details.map((detail) => shown(detail)))}
    </td>
  </tr>`;
  return [row, ...children.flatMap((child) => rowsOf(child, depth + 1))];
}

function sideWord(is: boolean, yes: string, no: string): Html {
  return is ? html`<span>${yes}</span>` : html`<span class="none">${no}</span>`;
}

function verdictWord({ word, mood }: (typeof verdicts)[keyof typeof verdicts]): Html {
  return html`<span class="state ${mood}">${word}</span>`;
}
