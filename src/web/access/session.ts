import { randomBytes, createHmac, timingSafeEqual } from "node:crypto";
import type { Access } from "./access.ts";
import type { Who } from "../../base/who.ts";
import type { Role } from "../../config/access-settings.ts";
import type { PageContext } from "../page.ts";
import { unusable, type Answer } from "./refused.ts";
import { getCookie, setCookie } from "hono/cookie";
import type { Context } from "hono";

/** Always begins a session with a new token, never with the one that the browser sent. */
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
  // A strict cookie would be missing when another site redirects here.
  giveCookie(context, "session", made);
  takeCookie(context, "browser");
  context.header("cache-control", "no-store");
  return context.redirect(path, 303);
}

export function browserOf(context: PageContext): string {
  const held = cookieOf(context, "browser");
  const browser = held ?? randomBytes(32).toString("hex");
  if (held === undefined) giveCookie(context, "browser", browser);
  return browser;
}

/** Returns only paths of this server; otherwise `/`. */
export function pathOf(to: string | null): string {
  if (to === null || !/^\/[\x21-\x7e]{0,2000}$/u.test(to) || /^\/[/\\]/u.test(to)) return "/";
  const base = "http://own.invalid";
  if (!URL.canParse(to, base)) return "/";
  const { origin, pathname, search } = new URL(to, base);
  return origin === base && !pathname.startsWith("//") ? `${pathname}${search}` : "/";
}

const token = /^[0-9a-f]{64}$/u;
const cookies = {
  session: { name: "crm-sync", form: token },
  /** Ties a sign-in form to one browser. */
  browser: { name: "crm-sync-sign-in", form: token },
  underWay: { name: "crm-sync-under-way", form: /^[\x21-\x7e]{1,4000}$/u },
} as const;
type CookieName = keyof typeof cookies;

/** Over https no other host can set a `__Host-` cookie. */
function nameOf({ var: { place } }: PageContext, name: CookieName): string {
  return place.isSecure ? `__Host-${cookies[name].name}` : cookies[name].name;
}

export function cookieOf(context: PageContext, name: CookieName): string | undefined {
  const value = context.var.place.takesCookies ? getCookie(context, nameOf(context, name)) : undefined;
  return value !== undefined && cookies[name].form.test(value) ? value : undefined;
}

/** `Lax`, so that links in alerts and providers can lead here. Changes also need the token of the form. */
export function giveCookie(
  context: PageContext,
  name: CookieName,
  value: string,
  { maxAge }: { maxAge?: number } = {},
): void {
  const { isSecure, takesCookies } = context.var.place;
  if (!takesCookies) throw new Error("a cookie of this name would be sent to other programs");
  setCookie(context, nameOf(context, name), value, {
    path: "/",
    httpOnly: true,
    secure: isSecure,
    sameSite: "Lax",
    ...(maxAge === undefined ? {} : { maxAge }),
  });
}

export function takeCookie(context: PageContext, name: CookieName): void {
  giveCookie(context, name, "", { maxAge: 0 });
}

/** Proves that a form is ours for somebody without a session: only the key can make it. */
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

/** Takes the same time for any number of correct characters. */
export function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return expected !== "" && one.length === other.length && timingSafeEqual(one, other);
}
