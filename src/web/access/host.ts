import type { MiddlewareHandler, Context } from "hono";
import type { Access } from "./access.ts";
import { isLoopbackHost } from "../../base/loopback.ts";
import type { WebEnvironment } from "../page.ts";
import { refuse, unusable } from "./refused.ts";
import type { HttpBindings } from "@hono/node-server";

export interface Place {
  isSecure: boolean;
  /**
   * Browsers send such cookies only to this server: a network name over https, or the local name. Every program on this
   * machine gets cookies of `localhost`, on any port.
   */
  takesCookies: boolean;
}

/** Accepts only names of this server. Otherwise scripts of another site could read the pages under its own name. */
export function requireHost(deps: Access): MiddlewareHandler<WebEnvironment> {
  return async (context, next) => {
    const place = placeOf(context.req.header("host"), deps);
    if (place === "unusable") return unusable(context);
    if (place === undefined)
      return refuse(context, 421, {
        code: "unknown-host",
        text: "This server is not known under the name in this address.",
        cure:
          "Use the address in serve.publicUrl, or the link that `crm-sync login` prints on the computer that runs " +
          "crm-sync.",
      });
    context.set("place", place);
    return await next();
  };
}

/** `unusable`: the file of sign-ins cannot be read. Undefined for foreign names. */
export function placeOf(header: string | undefined, deps: Access): Place | "unusable" | undefined {
  const { host, publicUrl, tls } = deps.settings;
  const named = hostOf(header);
  if (named === undefined) return undefined;
  const isSecure = tls !== undefined;
  const name = named.hostname.replace(/^\[|\]$/gu, "");
  if (publicUrl !== undefined && named.host === new URL(publicUrl).host) return { isSecure: true, takesCookies: true };
  if (isLoopbackHost(name)) return { isSecure, takesCookies: false };
  if (/^crm-sync-[0-9a-f]+\.localhost$/u.test(name)) {
    const own = deps.own();
    if (own === undefined) return "unusable";
    return name === own.name ? { isSecure, takesCookies: true } : undefined;
  }
  const isAny = host === "0.0.0.0" || host === "::";
  return !isAny && name === host.toLowerCase() ? { isSecure, takesCookies: isSecure } : undefined;
}

/** Whether a changing request comes from our own pages, according to the browser. */
export function isOwnOrigin(
  headers: { origin: string | undefined; site: string | undefined; host: string | undefined },
  publicUrl: string | undefined,
): boolean {
  const { origin, site, host } = headers;
  if (site !== undefined && site !== "same-origin") return false;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin);
  if (publicUrl !== undefined && from.origin === new URL(publicUrl).origin) return true;
  return from.host === hostOf(host)?.host;
}

function hostOf(header: string | undefined): URL | undefined {
  if (header === undefined || !/^[A-Za-z0-9.:[\]_-]{1,255}$/u.test(header)) return undefined;
  return URL.canParse(`http://${header}`) ? new URL(`http://${header}`) : undefined;
}

export function connectionOf(context: Context): { address: string; rawHeaders: readonly string[] } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the server hands over, if there is one
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>;
  return { address: incoming?.socket.remoteAddress ?? "", rawHeaders: incoming?.rawHeaders ?? [] };
}
