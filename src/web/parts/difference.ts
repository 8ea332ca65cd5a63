import { html } from "hono/html";
import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import { isPrivateMarker } from "../../engine/model/references.ts";
import { changedFields } from "../changed-fields.ts";
import type { Html } from "../page.ts";
import { shown } from "../shown.ts";

const mostFields = 40;
const mostOfValue = 300;

/** How two forms of something differ, field by field. Private values are named as such. */
export function difference(before: Json, after: Json): Html {
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

/** In the place of nothing: so that each field of the other form is named. */
function nothingOf(other: Json): Json | undefined {
  return isJsonObject(other) && !isPrivateMarker(other) ? {} : undefined;
}

function side(word: string, value: string | undefined): Html {
  return html`<span class="unseen">${word}: </span>${
      value === undefined ? html`<span class="none">nothing</span>` : html`<code>${shown(value, mostOfValue)}</code>`
    }`;
}
