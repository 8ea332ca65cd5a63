import { html } from "hono/html";
import { documentOf } from "./document.ts";
import type { Notice } from "./document.ts";
import { may } from "./access/person.ts";
import type { Html, PageContext } from "./page.ts";
import { shown } from "./shown.ts";
import { pagePath } from "../report/page-links.ts";

/** What a page puts into the frame. */
export interface Content {
  title: string;
  body: Html | readonly Html[];
  /** Which place of the navigation it belongs to. */
  place?: string | undefined;
  /** Names of the scripts under `assets` that it needs. */
  scripts?: readonly string[] | undefined;
  notice?: Notice | undefined;
}

const places = [
  { name: "Today", path: pagePath.today(), needed: "see" },
  { name: "Runs", path: "/runs", needed: "see" },
  { name: "Plan", path: "/plan", needed: "see" },
  { name: "Quarantine", path: "/quarantine", needed: "see" },
  { name: "Settle", path: "/settle", needed: "see" },
  { name: "Alerts", path: "/alerts", needed: "see" },
  { name: "Reports", path: "/reports", needed: "report" },
  { name: "Assumptions", path: "/assumptions", needed: "see" },
  { name: "Audit", path: "/audit", needed: "see" },
] as const;

/** The whole page: navigation, search, who is signed in, and the content. */
export function framed(
  context: PageContext,
  content: Content,
  status: 200 | 400 | 403 | 404 | 409 | 429 | 503 = 200,
): Response | Promise<Response> {
  const { title, body, place, scripts, notice } = content;
  const before = html`<a class="skip" href="#content">Skip to the content</a> ${headerOf(context, place)}
    ${pausedPart(context)}`;
  return context.html(documentOf({ title, body, before, notice, scripts }), status);
}

/** Of a ledger that cannot be read, the page itself says why. */
async function pausedPart({ var: { pausedLine } }: PageContext): Promise<Html> {
  const line = await pausedLine?.().catch(() => undefined);
  if (line === undefined) return html``;
  return html`<div class="notice failed" role="status">
    <p>${shown(line)} <a href="${pagePath.pause()}">Resume</a></p>
  </div>`;
}

/** Navigation, search, and who is signed in. */
function headerOf(context: PageContext, place: string | undefined): Html {
  const { person, csrf } = context.var;
  return html`<header>
    <a class="name" href="${pagePath.today()}">crm-sync</a>
    <form role="search" action="/search" method="get">
      <label for="search">Find a customer, order or person</label>
      <input id="search" name="q" type="search" maxlength="200" placeholder="id, number or company" />
      <button>Find</button>
    </form>
    <div class="person">
      ${person.name} <span class="role">(${person.role})</span>
      ${
        person.way === "proxy"
          ? ""
          : html`<form action="/logout" method="post">
              <input type="hidden" name="csrf" value="${csrf}" /><button>Sign out</button>
            </form>`
      }
    </div>
    <nav aria-label="Pages">
      <ul>
        ${places
          .filter(({ needed }) => may(person, needed))
          .map(
            ({ name, path }) =>
              html`<li><a href="${path}" ${name === place ? html`aria-current="page"` : ""}>${name}</a></li>`,
          )}
      </ul>
    </nav>
  </header>`;
}
