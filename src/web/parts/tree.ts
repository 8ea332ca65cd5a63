import { html } from "hono/html";
import type { TreeNode } from "../../report/order-tree.ts";
import type { Html } from "../page.ts";
import { shown } from "../shown.ts";

const kinds = { asset: "Asset", package: "Package", product: "Product" } as const;

const verdicts = {
  matched: { word: "equal", mood: "good" },
  missing: { word: "missing", mood: "bad" },
  extra: { word: "not wanted", mood: "bad" },
  different: { word: "different", mood: "bad" },
  "in-transit": { word: "on its way", mood: "wait" },
  "not-observable": { word: "cannot be seen", mood: "wait" },
} as const;

/** Things with what stands in them, each by what the CRM says, what was sent, and what the platform shows. */
export function tree(roots: readonly TreeNode[], label: string): Html {
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

/** The deepest step that is drawn; what lies deeper stands there too, and says how deep. */
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
      ${verdict === undefined ? "" : verdictWord(verdicts[verdict])}
      ${
        details.length === 0
          ? ""
          : html`<ul>
              ${details.map((detail) => html`<li>${shown(detail)}</li>`)}
            </ul>`
      }
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
