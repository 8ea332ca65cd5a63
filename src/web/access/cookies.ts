import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { isSecure } from "./host.ts";
import type { ServeSettings } from "../../config/serve.ts";

const names = { session: "crm-sync", browser: "crm-sync-sign-in" } as const;
export type CookieName = keyof typeof names;

/** Where a cookie goes: over https under a name that no other host can set. */
function placeOf(context: Context, name: CookieName, serve: ServeSettings) {
  const secure = isSecure(context.req.header("host"), serve);
  return { secure, name: secure ? `__Host-${names[name]}` : names[name] };
}

/** What the browser holds, where it can be one of ours. */
export function cookieOf(context: Context, name: CookieName, serve: ServeSettings): string | undefined {
  const value = getCookie(context, placeOf(context, name, serve).name);
  return value !== undefined && /^[0-9a-f]{64}$/u.test(value) ? value : undefined;
}

/**
 * It comes with a person whom an alert's link or a provider sends here; what changes something needs the token of its
 * form besides.
 */
export function giveCookie(
  context: Context,
  name: CookieName,
  value: string,
  serve: ServeSettings,
  { maxAge }: { maxAge?: number } = {},
): void {
  const place = placeOf(context, name, serve);
  setCookie(context, place.name, value, {
    path: "/",
    httpOnly: true,
    secure: place.secure,
    sameSite: "Lax",
    ...(maxAge === undefined ? {} : { maxAge }),
  });
}

export function takeCookie(context: Context, name: CookieName, serve: ServeSettings): void {
  giveCookie(context, name, "", serve, { maxAge: 0 });
}
