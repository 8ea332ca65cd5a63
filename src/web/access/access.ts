import type { MiddlewareHandler } from "hono";
import { html } from "hono/html";
import type { Dashboard } from "../../app/dashboard.ts";
import { framed } from "../frame.ts";
import type { WebEnvironment } from "../page.ts";
import type { Person } from "./person.ts";

/** Says who asks, before any page is reached. */
export function access(dashboard: Dashboard): MiddlewareHandler<WebEnvironment> {
  return async (context, next) => {
    const person: Person = { name: "this machine", role: "see", way: "loopback", mayAskForPrivate: false };
    context.set("person", person);
    context.set("csrf", "");
    context.set("refuse", async (needed) => {
      const body = html`<p>This page needs the role “${needed}”, and ${person.name} has “${person.role}”.</p>`;
      return framed(context, { title: "Not permitted", body }, 403);
    });
    if (context.req.method !== "GET" && dashboard.live === undefined) return context.text("read-only\n", 405);
    await next();
  };
}
