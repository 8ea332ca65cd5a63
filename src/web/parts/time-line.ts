import { html } from "hono/html";
import { tellers } from "../../report/time-line.ts";
import type { TimeLineEntry } from "../../report/time-line.ts";
import type { Html } from "../page.ts";
import { moment, shown } from "../shown.ts";

const words = { good: "went well", wait: "waits", bad: "in trouble" } as const;

/** What happened, newest first: when, who said or did it, and what. */
export function timeLine(entries: readonly TimeLineEntry[], when: { zone: string; now: string }): Html {
  if (entries.length === 0) return html`<p class="soft">Nothing is known to have happened.</p>`;
  return html`<ol class="time-line">
    ${entries.map(
      ({ at, by, name, text, details, links, mood }) =>
        html`<li class="${by}">
          <div class="when">${moment(at, when)}</div>
          <div class="what">
            <span class="teller">${name === undefined ? tellers[by] : shown(name, 200)}</span>
            ${mood === undefined ? "" : html`<span class="state ${mood}">${words[mood]}</span>`} ${shown(text)}
            ${
              details.length === 0
                ? ""
                : html`<ul>
                    ${details.map((detail) => html`<li>${shown(detail)}</li>`)}
                  </ul>`
            }
            ${links.map(({ path, text: name }) => html`<a href="${path}">${shown(name)}</a> `)}
          </div>
        </li>`,
    )}
  </ol>`;
}
