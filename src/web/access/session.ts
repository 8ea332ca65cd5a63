import { randomBytes, createHmac, timingSafeEqual } from "node:crypto";
import type { Access } from "./access.ts";
import type { PageContext } from "../page.ts";
import { unusable, type Answer } from "./refused.ts";
import { getCookie, setCookie } from "hono/cookie";
import type { Context } from "hono";

/** Always with a new token, whatever cookie the browser sent. */
export function signedIn(context: PageContext, deps: Access, user: string): Answer {
  const before = cookieOf(context, "session");
  const made = deps.tried(() => {
    if (before !== undefined) deps.sessions.end(before);
    return deps.sessions.begin(user);
  });
  if (made === undefined) return unusable(context);
  // A strict cookie would be missing when another site redirects here.
  giveCookie(context, "session", made);
  takeCookie(context, "browser");
  context.header("cache-control", "no-store");
  return context.redirect("/", 303);
}

export function browserOf(context: PageContext): string {
  const held = cookieOf(context, "browser");
  const browser = held ?? randomBytes(32).toString("hex");
  if (held === undefined) giveCookie(context, "browser", browser);
  return browser;
}

const cookies = {
  session: "crm-sync",
  /** The browser that requested the sign-in form. */
  browser: "crm-sync-sign-in",
} as const;
type CookieName = keyof typeof cookies;

/** Over https no other host can set a `__Host-` cookie. */
function nameOf({ var: { place } }: PageContext, name: CookieName): string {
  return place.isSecure ? `__Host-${cookies[name]}` : cookies[name];
}

export function cookieOf(context: PageContext, name: CookieName): string | undefined {
  const value = context.var.place.takesCookies ? getCookie(context, nameOf(context, name)) : undefined;
  return value !== undefined && /^[0-9a-f]{64}$/u.test(value) ? value : undefined;
}

/** Not a strict cookie, so that it works after a link from an alert. Changes also need the token of a form. */
function giveCookie(context: PageContext, name: CookieName, value: string, more: { maxAge?: number } = {}): void {
  const { isSecure, takesCookies } = context.var.place;
  if (!takesCookies) throw new Error("a cookie of this name would be sent to other programs");
  const options = { path: "/", httpOnly: true, secure: isSecure, sameSite: "Lax", ...more } as const;
  setCookie(context, nameOf(context, name), value, options);
}

export function takeCookie(context: PageContext, name: CookieName): void {
  giveCookie(context, name, "", { maxAge: 0 });
}

/** For forms without a session: only our key can make this proof. */
export function proofOf(key: string, ...what: readonly string[]): string {
  return createHmac("sha256", key).update(JSON.stringify(what)).digest("hex");
}

export async function csrfOf(context: Context): Promise<string> {
  return context.req.header("x-csrf-token") ?? (await formOf(context)).get("csrf") ?? "";
}

export function isForm(type: string): boolean {
  return /^application\/x-www-form-urlencoded\s*(?:;|$)/iu.test(type);
}

async function formOf(context: Context): Promise<URLSearchParams> {
  if (!isForm(context.req.header("content-type") ?? "")) return new URLSearchParams();
  return new URLSearchParams(await context.req.text());
}

/** In constant time. */
export function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return expected !== "" && one.length === other.length && timingSafeEqual(one, other);
}
