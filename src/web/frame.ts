import { html } from "hono/html";
import { may } from "./access/person.ts";
import type { Html, PageContext } from "./page.ts";
import { shown } from "./shown.ts";
import { pagePath } from "../report/page-links.ts";
import { assetPath } from "./assets.ts";
import { Problem, Problems } from "../base/errors.ts";

interface Content {
  title: string;
  body: Html | readonly Html[];
  place?: string | undefined;
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

/** If the ledger cannot be read, the page itself says why. */
async function pausedPart({ var: { pausedLine } }: PageContext): Promise<Html> {
  const line = await pausedLine?.().catch(() => undefined);
  if (line === undefined) return html``;
  return html`<div class="notice failed" role="status">
    <p>${shown(line)} <a href="${pagePath.pause()}">Resume</a></p>
  </div>`;
}

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

export interface Notice {
  kind: "done" | "failed";
  text: string;
  cure?: string | undefined;
}

export function documentOf({
  title,
  body,
  before = "",
  notice,
  scripts = [],
}: {
  title: string;
  body: Html | readonly Html[] | "";
  before?: Html | "";
  notice?: Notice | undefined;
  scripts?: readonly string[] | undefined;
}): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · crm-sync</title>
        <link rel="stylesheet" href="${assetPath("dashboard.css")}" />
        ${scripts.map((name) => html`<script type="module" src="${assetPath(name)}"></script>`)}
      </head>
      <body>
        ${before}
        <main id="content" tabindex="-1">
          <h1>${title}</h1>
          ${notice === undefined ? "" : noticeOf(notice)} ${body}
        </main>
      </body>
    </html>`;
}

function noticeOf({ kind, text, cure }: Notice): Html {
  return html`<div class="notice ${kind}" role="${kind === "done" ? "status" : "alert"}">
    <p>${shown(text)}</p>
    ${cure === undefined ? "" : html`<p class="cure">${shown(cure)}</p>`}
  </div>`;
}

export function failedNotice({ message, cure }: Problem): Notice {
  return { kind: "failed", text: message, cure };
}

/** Shows a Problem as a page; throws other errors again. */
export function problemPage(context: PageContext, error: unknown): Response | Promise<Response> {
  const problems = error instanceof Problems ? error.problems : error instanceof Problem ? [error] : undefined;
  const [first] = problems ?? [];
  if (first === undefined) throw error;
  const isTooMany = first.code === "reads.too-many";
  const status = isTooMany ? 429 : /^(?:ledger|reads)\./u.test(first.code) ? 503 : 400;
  if (isTooMany || first.code === "reads.busy") context.header("retry-after", "60");
  return framed(
    context,
    { title: "That did not work", body: html`<p><a href="/today">Today</a></p>`, notice: failedNotice(first) },
    status,
  );
}

export function notFoundPage(context: PageContext, what = "There is no such page."): Response | Promise<Response> {
  const cure = "Look for it by its id or number with the search above.";
  const notice = { kind: "failed", text: what, cure } as const;
  return framed(context, { title: "Not found", body: html`<p><a href="/today">Today</a></p>`, notice }, 404);
}
