import { isIP } from "node:net";
import type { Context } from "hono";
import { isListed } from "../../config/access-settings.ts";
import type { ServeSettings } from "../../config/serve.ts";
import { connectionOf } from "./connection.ts";

/**
 * The address that failed log-ins are counted for: that of the socket, or the one that the reverse proxy saw last. Of
 * an IPv6 address its network, of which one person has all addresses.
 */
export function limitedAddress(context: Context, { access: { proxy } }: Pick<ServeSettings, "access">): string {
  const { address } = connectionOf(context);
  const seen = context.req.header("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "";
  const isProxy = proxy !== undefined && isListed(address, proxy.from);
  const counted = isProxy && isIP(seen) !== 0 ? seen : address;
  return networkOf(counted);
}

/** An IPv4 address as it is; the first half of an IPv6 address, written out. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6 || address.includes(".")) return address;
  const [before = "", after] = address.replace(/%.*$/u, "").split("::");
  const first = before.split(":").filter((part) => part !== "");
  const last = (after ?? "").split(":").filter((part) => part !== "");
  const all = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => "0"), ...last];
  return `${all
    .slice(0, 4)
    .map((part) => Number.parseInt(part, 16).toString(16))
    .join(":")}::/64`;
}
