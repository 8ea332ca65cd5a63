import { randomBytes } from "node:crypto";
import type { Context } from "hono";
import type { Access } from "../../app/access.ts";
import { tried } from "./access.ts";
import { cookieOf, giveCookie, takeCookie } from "./cookies.ts";
import { refuse } from "./refused.ts";
import type { Answer } from "./refused.ts";

/** Begins a session under a token that nobody had before, whatever the browser came with. */
export function signedIn(
  context: Context,
  deps: Access,
  { path, ...who }: { person: string; role: string; way: "link" | "oidc"; path: string },
): Answer {
  const { settings, sessions } = deps;
  const mark = deps.mark(who.way);
  const before = cookieOf(context, "session", settings);
  const made = tried(deps, () => {
    if (before !== undefined) sessions.end(before);
    return mark === undefined ? undefined : sessions.begin({ ...who, mark });
  });
  if (made === undefined) return unusable(context);
  // A browser sends no strict cookie with whom another site has just sent here.
  giveCookie(context, "session", made, settings);
  takeCookie(context, "browser", settings);
  context.header("cache-control", "no-store");
  return context.redirect(path, 303);
}

/** What the browser holds while it signs in. */
export function browserOf(context: Context, deps: Access): string {
  const held = cookieOf(context, "browser", deps.settings);
  const browser = held ?? randomBytes(32).toString("hex");
  if (held === undefined) giveCookie(context, "browser", browser, deps.settings);
  return browser;
}

export function unusable(context: Context): Answer {
  return refuse(context, 503, {
    code: "sessions-unusable",
    text: "Nobody can sign in now: the file of who is signed in cannot be used.",
    cure: "Whoever runs crm-sync finds in its log what is wrong with the file beside the ledger.",
  });
}

/** A path of this server; anything else is its first page. */
export function pathOf(to: string | null): string {
  if (to === null || !/^\/[\x21-\x7e]{0,2000}$/u.test(to) || /^\/[/\\]/u.test(to)) return "/";
  const base = "http://own.invalid";
  if (!URL.canParse(to, base)) return "/";
  const { origin, pathname, search } = new URL(to, base);
  return origin === base && !pathname.startsWith("//") ? `${pathname}${search}` : "/";
}
