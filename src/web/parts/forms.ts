import { html } from "hono/html";
import type { Html, PageContext } from "../page.ts";
import { shownLines } from "../shown.ts";
import { personalIn } from "../../requests/reason.ts";
import { usage } from "../../base/errors.ts";

export function buttonForm(
  context: PageContext,
  { action, label, fields = {} }: { action: string; label: string; fields?: Readonly<Record<string, string>> },
): Html {
  return html`<form class="button" method="post" action="${action}">
    <input type="hidden" name="csrf" value="${context.var.csrf}" />
    ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button>${label}</button>
  </form>`;
}

/** Text that may be personal, if a person asked for it; otherwise the button to ask, or the reason why not. */
export function askedText(
  context: PageContext,
  { action, label, text }: { action: string; label: string; text: string | undefined },
): Html {
  if (text !== undefined)
    return html`<p class="soft">Secrets are blanked, personal data is not. The audit log notes that you saw it.</p>
      ${shownLines(indented(text))}`;
  if (!context.var.person.mayAskForPrivate)
    return html`<p class="none">It holds personal data, which your role may not see.</p>`;
  return html`<p>It holds personal data. That you ask for it is written into the audit log first.</p>
    ${buttonForm(context, { action, label })}`;
}

/** Longer forms stay unformatted, because formatting takes too long. In characters. */
const mostLaidOut = 200_000;

function indented(raw: string): string {
  if (raw.length > mostLaidOut) return raw;
  try {
    return JSON.stringify(JSON.parse(raw), undefined, 2);
  } catch {
    return raw;
  }
}

const longestReason = 1_000;

/** For people who may not see names: a refused text would tell them which names exist. */
const reasonsToChoose = [
  "The customer was asked",
  "Sales was asked",
  "The change is wanted",
  "The change is not wanted",
  "The CRM is being corrected",
  "The platform was looked at",
  "The provider of the service was asked",
  "The service is being repaired",
  "The service works again",
];

interface Choice {
  value: string;
  label: string;
  isMain?: boolean;
}

/** Buttons elsewhere use its `id`. `shown`: the mark of the page's content; the decision covers only that. */
export function decisionForm(
  context: PageContext,
  form: {
    id: string;
    action: string;
    choices: readonly Choice[];
    reason?: string | undefined;
    shown?: string | undefined;
  },
): Html {
  const { id, action, choices, reason = "", shown } = form;
  const field = `${id}-reason`;
  const why = context.var.person.mayAskForPrivate ? writtenReason(field, reason) : chosenReason(field, reason);
  return html`<form id="${id}" class="decision" method="post" action="${action}">
    <input type="hidden" name="csrf" value="${context.var.csrf}" />
    ${shown === undefined ? "" : html`<input type="hidden" name="shown" value="${shown}" />`}
    <label for="${field}">Why</label>
    ${why}
    <div class="choices">
      ${choices.map(
        ({ value, label, isMain }) =>
          html`<button ${isMain === true ? html`class="main"` : ""} name="decision" value="${value}">${label}</button>`,
      )}
    </div>
  </form>`;
}

function writtenReason(field: string, reason: string): Html {
  return html`<textarea
      id="${field}"
      name="reason"
      rows="2"
      maxlength="${longestReason}"
      required
      aria-describedby="${field}-kept"
    >
${reason}</textarea>
    <p class="soft" id="${field}-kept">
      Kept for good with your name, so without names, phone numbers and e-mail addresses of others.
    </p>`;
}

function chosenReason(field: string, reason: string): Html {
  return html`<select id="${field}" name="reason" required>
    <option value="">Choose a reason</option>
    ${reasonsToChoose.map((one) => html`<option ${one === reason ? html`selected` : ""}>${one}</option>`)}
  </select>`;
}

interface SentDecision {
  decision: string;
  reason: string;
  shown: string;
}

export async function sentDecision(context: PageContext): Promise<SentDecision> {
  const { decision, reason, shown } = await context.req.parseBody();
  return {
    decision: typeof decision === "string" ? decision : "",
    reason: typeof reason === "string" ? reason.trim() : "",
    shown: typeof shown === "string" ? shown : "",
  };
}

/** The place after which the page of the list begins. Throws a usage Problem for an invalid place. */
export function placeIn(context: PageContext, what: string): number {
  const after = Number(context.req.query("after") ?? 0);
  if (Number.isSafeInteger(after) && after >= 0) return after;
  throw usage("That is no place in the list.", `Go back to the ${what} and follow its links.`);
}

/** Throws a usage Problem if the reason may not be kept. */
export function keepableReason({ var: { person } }: PageContext, reason: string): string {
  if (reason === "")
    throw usage("Nothing was decided: a decision needs a reason.", "Say why; it is kept in the audit log.");
  if (!person.mayAskForPrivate && !reasonsToChoose.includes(reason))
    throw usage("Nothing was decided: the reason is none of those to choose from.", "Choose one of them.");
  if (reason.length > longestReason)
    throw usage(`Nothing was decided: the reason has more than ${longestReason} characters.`, "Say it more shortly.");
  const held = personalIn(reason);
  if (held !== undefined) throw usage(`Nothing was decided: the reason holds ${held.what}; ${held.means}.`, held.cure);
  return reason;
}
