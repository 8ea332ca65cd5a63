import { getCookie, setCookie } from "hono/cookie";
import type { PageContext } from "../page.ts";

const token = /^[0-9a-f]{64}$/u;
const cookies = {
  /** Who signed in. */
  session: { name: "crm-sync", form: token },
  /** The browser that a form of signing in was made for. */
  browser: { name: "crm-sync-sign-in", form: token },
  /** A sign-in under way at an OpenID provider, sealed. */
  underWay: { name: "crm-sync-under-way", form: /^[\x21-\x7e]{1,4000}$/u },
} as const;
type CookieName = keyof typeof cookies;

/** Over https under a name that no other host can set. */
function nameOf({ var: { place } }: PageContext, name: CookieName): string {
  return place.isSecure ? `__Host-${cookies[name].name}` : cookies[name].name;
}

/** What the browser holds, where it can be one of ours. */
export function cookieOf(context: PageContext, name: CookieName): string | undefined {
  const value = context.var.place.takesCookies ? getCookie(context, nameOf(context, name)) : undefined;
  return value !== undefined && cookies[name].form.test(value) ? value : undefined;
}

/**
 * It comes with a person whom an alert's link or a provider sends here; what changes something needs the token of its
 * form besides.
 */
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
