import { html } from "hono/html";
import type { Html, PageContext } from "../page.ts";
import { shownLines } from "../shown.ts";
import { buttonForm } from "./button-form.ts";

/**
 * A text that may hold personal data: itself where a person asked for it, else the button that asks, or why there is
 * none.
 */
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

/** Longer forms stay as they came: to lay them out anew takes longer than a page may. Characters. */
const mostLaidOut = 200_000;

function indented(raw: string): string {
  if (raw.length > mostLaidOut) return raw;
  try {
    return JSON.stringify(JSON.parse(raw), undefined, 2);
  } catch {
    return raw;
  }
}
