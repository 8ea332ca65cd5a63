import { html } from "hono/html";
import { Problem, Problems } from "../base/errors.ts";
import { framed } from "./frame.ts";
import type { PageContext } from "./page.ts";

/** A problem that a person can do something about, as a page; anything else is thrown on. */
export function problemPage(context: PageContext, error: unknown): Response | Promise<Response> {
  const problems = error instanceof Problems ? error.problems : error instanceof Problem ? [error] : undefined;
  const [first] = problems ?? [];
  if (first === undefined) throw error;
  const notice = { kind: "failed", text: first.message, cure: first.cure } as const;
  const isTooMany = first.code === "reads.too-many";
  const status = isTooMany ? 429 : /^(?:ledger|reads)\./u.test(first.code) ? 503 : 400;
  if (isTooMany || first.code === "reads.busy") context.header("retry-after", "60");
  return framed(context, { title: "That did not work", body: html`<p><a href="/today">Today</a></p>`, notice }, status);
}

/** What is asked for is not there. */
export function notFoundPage(context: PageContext, what = "There is no such page."): Response | Promise<Response> {
  const cure = "Look for it by its id or number with the search above.";
  const notice = { kind: "failed", text: what, cure } as const;
  return framed(context, { title: "Not found", body: html`<p><a href="/today">Today</a></p>`, notice }, 404);
}
