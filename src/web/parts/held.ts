import { type When, moment, shown } from "../shown.ts";
import { html } from "hono/html";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import { grouped, weightText } from "../../engine/model/operation.ts";
import type { HoldFacts } from "../../report/facts.ts";
import { nextForHold } from "../../report/next-steps.ts";
import { pagePath } from "../../report/page-links.ts";
import { counted } from "../../report/text.ts";
import type { Html } from "../page.ts";
import { recordLink, recordLinks, terms } from "./tables.ts";
import { isJsonObject, canonicalJson, type Json } from "../../base/canonical-json.ts";
import { isPrivateMarker } from "../../engine/model/references.ts";

type Sums = Awaited<ReturnType<Inquiry["heldSums"]>>;
type Waiting = Awaited<ReturnType<Inquiry["heldOperations"]>>[number];
const states: Readonly<Record<HoldFacts["state"], { word: string; tone: string }>> = {
  open: { word: "waits for a person", tone: "wait" },
  approved: { word: "approved", tone: "good" },
  rejected: { word: "rejected", tone: "bad" },
  used: { word: "carried out", tone: "good" },
  moot: { word: "moot", tone: "" },
};

/** `12 operations: 6 seats; 2 people lose their last asset`. */
export function sumsText(sums: Sums): string {
  const count = sums.more
    ? `more than ${grouped(sums.operations - 1)} operations`
    : counted(sums.operations, "operation");
  const weight = weightText(sums);
  if (weight === "") return count;
  return `${count}${sums.more ? ", of which the first take away" : ":"} ${weight}`;
}

export function holdCard(hold: HoldFacts, when: When): Html {
  const { word, tone } = states[hold.state];
  return html`<div class="card ${tone}">
    <p>
      <strong class="state ${tone}">${word}</strong> ${recordLink("customers", hold.customer)}, since
      ${moment(hold.createdAt, when)}
    </p>
    <p>${shown(hold.explanation)}</p>
    <p>
      <a href="${pagePath.hold(hold.id)}"
        >${hold.state === "open" ? "Look at it and decide" : "Look at it"}: ${hold.id}</a
      >
    </p>
  </div>`;
}

export function holdFactsList(hold: HoldFacts, when: When): Html {
  const { word, tone } = states[hold.state];
  const { decidedAt, decidedBy, reason } = hold;
  const by = decidedBy === null ? "" : html` by ${shown(decidedBy)}`;
  return terms([
    ["State", html`<span class="state ${tone}">${word}</span>`],
    ["Held because", shown(hold.explanation)],
    ["Since", moment(hold.createdAt, when)],
    ["Decided", decidedAt && html`${moment(decidedAt, when)}${by}: ${shown(reason ?? "")}`],
    ["Takes a run back", hold.ofUndo ? html`It is carried out by <code>crm-sync apply</code> alone.` : undefined],
    ["Next", shown(nextForHold(hold))],
  ]);
}

/** Waiting operations by customer, each with its difference. `approvedBy`: the form with the reason. */
export function waitingList(operations: readonly Waiting[], { approvedBy }: { approvedBy?: string } = {}): Html {
  if (operations.length === 0) return html`<p class="none">Nothing.</p>`;
  const byCustomer = Map.groupBy(operations, ({ customer }) => `${customer.namespace}/${customer.id}`);
  return html`${[...byCustomer.values()].map((group) => {
    const [first] = group;
    if (first === undefined) return "";
    return html`<section>
      <h3>${recordLink("customers", first.customer)}</h3>
      ${group.map((operation) => waitingOperation(operation, approvedBy))}
    </section>`;
  })}`;
}

function waitingOperation(operation: Waiting, approvedBy: string | undefined): Html {
  const { id, kind, state, reason, heldFor, approved, hold, before, after, records } = operation;
  const word = state === "planned" ? "planned" : approved ? "held, approved" : "held";
  return html`<article class="operation">
    <p>
      <strong class="state ${state === "held" && !approved ? "wait" : ""}">${word}</strong> ${kind}
      <span class="soft">${id}</span>
    </p>
    <p>${recordLinks(records)}: ${shown(reason)}</p>
    ${
      state === "planned" || hold === null
        ? ""
        : html`<p>
            ${heldFor === null ? "It waits for what else is held." : shown(heldFor)}
            ${approvedBy === undefined ? html`<a href="${pagePath.hold(hold)}">${hold}</a>` : ""}
          </p>`
    }
    ${difference(before, after)}
    ${
      approvedBy === undefined || approved || heldFor === null || state !== "held"
        ? ""
        : html`<button form="${approvedBy}" name="decision" value="${id}">Approve only this one</button>`
    }
  </article>`;
}

const mostFields = 40;
const mostOfValue = 300;

function difference(before: Json, after: Json): Html {
  const fields = changedFields(before ?? nothingOf(after), after ?? nothingOf(before));
  if (fields.length === 0) return html`<p class="none">No field is otherwise.</p>`;
  const rest = fields.length - mostFields;
  return html`<dl class="difference">
      ${fields.slice(0, mostFields).map(
        ({ field, from, to }) =>
          html`<dt>${field === "" ? "all of it" : shown(field, mostOfValue)}</dt>
            <dd>${side("now", from)} <span aria-hidden="true">→</span> ${side("then", to)}</dd>`,
      )}
    </dl>
    ${rest > 0 ? html`<p>and ${rest} more fields</p>` : ""}`;
}

function nothingOf(other: Json): Json | undefined {
  return isJsonObject(other) && !isPrivateMarker(other) ? {} : undefined;
}

function side(word: string, value: string | undefined): Html {
  return html`<span class="unseen">${word}: </span>${
      value === undefined ? html`<span class="none">nothing</span>` : html`<code>${shown(value, mostOfValue)}</code>`
    }`;
}

interface ChangedField {
  field: string;
  from: string | undefined;
  to: string | undefined;
}

/** Fields that differ, by path: `instances[2].nodes`. */
function changedFields(before: Json | undefined, after: Json | undefined, path = ""): ChangedField[] {
  if (isPrivateMarker(before) || isPrivateMarker(after)) {
    const isSame = isPrivateMarker(before) && isPrivateMarker(after) && before.commitment === after.commitment;
    return isSame ? [] : [{ field: path, from: textOf(before), to: textOf(after) }];
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) => changedFields(before[name], after[name], path === "" ? name : `${path}.${name}`));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => changedFields(before[index], after[index], `${path}[${index}]`)).flat();
  }
  const [from, to] = [textOf(before), textOf(after)];
  return from === to ? [] : [{ field: path, from, to }];
}

function textOf(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  return isPrivateMarker(value) ? "(private)" : canonicalJson(hidden(value));
}

function hidden(value: Json): Json {
  if (isPrivateMarker(value)) return "(private)";
  if (Array.isArray(value)) return value.map(hidden);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, hidden(item ?? null)]));
}
