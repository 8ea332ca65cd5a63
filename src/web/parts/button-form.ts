import { html } from "hono/html";
import type { Html, PageContext } from "../page.ts";

/** A button that does something at once, with what it is about: for what needs no reason. */
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
