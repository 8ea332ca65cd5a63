import { html } from "hono/html";
import { assetPath } from "./assets.ts";
import type { Html } from "./page.ts";
import { shown } from "./shown.ts";

/** What was just done, or could not be: read out first. */
export interface Notice {
  kind: "done" | "failed";
  text: string;
  cure?: string | undefined;
}

/** A whole document: what stands before the content, its heading, what is to be said first, and the content. */
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
