import { randomBytes } from "node:crypto";
import type { Access } from "./access.ts";
import type { Who } from "../../base/who.ts";
import type { Role } from "../../config/access-settings.ts";
import type { PageContext } from "../page.ts";
import { cookieOf, giveCookie, takeCookie } from "./cookies.ts";
import { unusable } from "./refused.ts";
import type { Answer } from "./refused.ts";

/** Begins a session under a token that nobody had before, whatever the browser came with. */
export function signedIn(
  context: PageContext,
  deps: Access,
  { path, ...facts }: Who & { role: Role; path: string },
): Answer {
  const mark = deps.mark(facts.way);
  const before = cookieOf(context, "session");
  const made = deps.tried(() => {
    if (before !== undefined) deps.sessions.end(before);
    return mark === undefined ? undefined : deps.sessions.begin({ ...facts, mark });
  });
  if (made === undefined) return unusable(context);
  // A browser sends no strict cookie with whom another site has just sent here.
  giveCookie(context, "session", made);
  takeCookie(context, "browser");
  context.header("cache-control", "no-store");
  return context.redirect(path, 303);
}

/** What the browser holds while it signs in. */
export function browserOf(context: PageContext): string {
  const held = cookieOf(context, "browser");
  const browser = held ?? randomBytes(32).toString("hex");
  if (held === undefined) giveCookie(context, "browser", browser);
  return browser;
}

/** A path of this server; anything else is its first page. */
export function pathOf(to: string | null): string {
  if (to === null || !/^\/[\x21-\x7e]{0,2000}$/u.test(to) || /^\/[/\\]/u.test(to)) return "/";
  const base = "http://own.invalid";
  if (!URL.canParse(to, base)) return "/";
  const { origin, pathname, search } = new URL(to, base);
  return origin === base && !pathname.startsWith("//") ? `${pathname}${search}` : "/";
}
