import { html } from "hono/html";
import { ageOf, instantText, printable } from "../report/text.ts";
import type { Html } from "./page.ts";
import type { Dashboard } from "../operate/dashboard.ts";
import { toInstant } from "../base/clock.ts";
import { isJsonObject, type Json } from "../base/canonical-json.ts";
import { isPrivateMarker } from "../engine/model/references.ts";

const mostShown = 2_000;

/** Outside text, safe for a page: invisible and direction characters written out, cut if long, direction isolated. */
export function shown(text: string, most = mostShown): Html {
  const cut = text.length > most;
  const start = printable(cut ? text.slice(0, most) : text);
  const rest = text.length - most;
  return html`<bdi>${start}</bdi>${cut ? html`<span class="cut"> … ${rest} more characters</span>` : ""}`;
}

export function shownLines(text: string, most = mostShown * 10): Html {
  const cut = text.length > most;
  const lines = (cut ? text.slice(0, most) : text).split("\n").map((line) => printable(line));
  const rest = text.length - most;
  return html`<pre dir="ltr" tabindex="0">${lines.join("\n")}${cut ? `\n… ${rest} more characters` : ""}</pre>`;
}

export function moment(instant: string | null | undefined, when: When, none = "never"): Html {
  if (instant === null || instant === undefined) return html`<span class="none">${none}</span>`;
  return html`<time datetime="${instant}">${instantText(instant, when)}</time>
    <span class="age">${sinceOrUntil(instant, when.now)}</span>`;
}

function sinceOrUntil(instant: string, now: string): string {
  return instant > now ? `in ${ageOf(now, instant)}` : `${ageOf(instant, now)} ago`;
}

export interface When {
  zone: string;
  now: string;
}

export function whenOf({ application, clock }: Pick<Dashboard, "application" | "clock">): When {
  return { zone: application.config.zone, now: toInstant(clock.now()) };
}

export function markedJson(value: Json): Html {
  return shownLines(JSON.stringify(withNames(value), undefined, 2));
}

function withNames(value: Json): Json {
  if (isPrivateMarker(value)) return `(private: ${value.field} of ${value.$private}, version ${value.version})`;
  if (Array.isArray(value)) return value.map(withNames);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withNames(one ?? null)]));
}
