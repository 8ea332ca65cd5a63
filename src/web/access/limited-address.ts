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
  if (isIP(counted) !== 6 || /^::ffff:/iu.test(counted)) return counted;
  return `${new URL(`http://[${counted.replace(/%.*$/u, "")}]`).hostname.slice(1, -1).split(":").slice(0, 4).join(":")}::/64`;
}
