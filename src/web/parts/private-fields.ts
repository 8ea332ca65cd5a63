import { html } from "hono/html";
import { privateFields } from "../../crm/model.ts";
import type { ExplainFacts } from "../../report/explain.ts";
import { recordPath } from "../../report/page-links.ts";
import { counted } from "../../report/text.ts";
import type { Html, PageContext } from "../page.ts";
import { moment, shown } from "../shown.ts";

/** What a person was shown, once asking for it stands in the audit log. */
export interface ShownValues {
  version: number;
  erasedAt: string | null;
  values: readonly { field: string; value: string }[];
}

/** The private fields of a record: hidden, with a way to ask for them, or as they were asked for. */
export function privatePart(
  context: PageContext,
  facts: ExplainFacts,
  asked: ShownValues | undefined,
  when: { zone: string; now: string },
): Html | "" {
  if (facts.record === null) return "";
  const heading = html`<h2 id="private">Private values</h2>`;
  if (privateFields[facts.stream].length === 0)
    return html`${heading}
      <p class="soft">An order holds no personal data. Licence passwords are never shown.</p>`;
  if (asked !== undefined) return html`${heading} ${values(asked, when)}`;
  const hidden = (facts.versions[0]?.fields ?? []).filter((field) => "private" in field);
  const names = hidden.filter(({ name }) => privateFields[facts.stream].includes(name));
  if (names.length > 0 && names.every((field) => "erased" in field && field.erased))
    return html`${heading}
      <p>They were erased: ${shown(names.map(({ name }) => name).join(", "))}. Nobody can be shown them any more.</p>`;
  return html`${heading}
    <p>${counted(names.length, "value")} hidden: ${shown(names.map(({ name }) => name).join(", "))}.</p>
    ${wayToAsk(context, facts)}`;
}

function wayToAsk({ var: { person, csrf } }: PageContext, facts: ExplainFacts): Html {
  if (!person.mayAskForPrivate)
    return html`<p class="soft">${person.name} has no right to see them; the configuration says who has it.</p>`;
  return html`<form method="post" action="${recordPath(facts.stream, facts.key)}/private">
    <input type="hidden" name="csrf" value="${csrf}" />
    <button>Show private values</button>
    <span class="soft">That you asked is written into the audit log under the name ${person.name}.</span>
  </form>`;
}

function values({ version, erasedAt, values: found }: ShownValues, when: { zone: string; now: string }): Html {
  if (erasedAt !== null) return html`<p>They were erased ${moment(erasedAt, when)}.</p>`;
  if (found.length === 0) return html`<p class="soft">Version ${version} has none.</p>`;
  return html`<dl class="private">
      ${found.map(
        ({ field, value }) =>
          html`<dt>${field}</dt>
            <dd>${shown(value)}</dd>`,
      )}
    </dl>
    <p class="soft">Of version ${version}. They go with this page; passwords are never shown.</p>`;
}
