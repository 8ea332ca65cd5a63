import { isLoopbackHost } from "../../base/loopback.ts";
import type { ServeSettings } from "../../config/serve.ts";

type Served = Pick<ServeSettings, "host" | "publicUrl" | "tls">;

/**
 * Whether a request names this server. A name that another site had lead here would let its scripts read the pages as
 * if they were its own.
 */
export function isExpectedHost(header: string | undefined, { host, publicUrl }: Served): boolean {
  const named = hostOf(header);
  if (named === undefined) return false;
  if (isLoopbackHost(named.hostname.replace(/^\[|\]$/gu, ""))) return true;
  if (publicUrl !== undefined && named.host === new URL(publicUrl).host) return true;
  const isAny = host === "0.0.0.0" || host === "::";
  return !isAny && named.hostname.replace(/^\[|\]$/gu, "") === host.toLowerCase();
}

export function isLoopbackName(header: string | undefined): boolean {
  const named = hostOf(header);
  return named !== undefined && isLoopbackHost(named.hostname.replace(/^\[|\]$/gu, ""));
}

/** Whether the browser speaks https, be it to a reverse proxy before this server. */
export function isSecure(header: string | undefined, { publicUrl, tls }: Served): boolean {
  if (tls !== undefined) return true;
  return publicUrl?.startsWith("https:") === true && hostOf(header)?.host === new URL(publicUrl).host;
}

/**
 * Whether a request that changes something comes from one of our own pages, as far as the browser says where it comes
 * from.
 */
export function isOwnOrigin(
  headers: { origin: string | undefined; site: string | undefined; host: string | undefined },
  { publicUrl }: Served,
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
