import type { MiddlewareHandler } from "hono";
import type { Access } from "./access.ts";
import { isLoopbackHost } from "../../base/loopback.ts";
import { messageOf } from "../../base/errors.ts";
import { isListed } from "../../config/access-settings.ts";
import { connectionOf } from "./connection.ts";
import { isSame } from "./csrf.ts";
import { placeOf } from "./host.ts";

/**
 * Lets through who shows the configured token or comes from a configured address; everybody where the settings say so.
 * From this machine a request also names this server: a browser here may show the page of a site that had its name lead
 * here.
 */
export function mayReadMetrics(deps: Access): MiddlewareHandler {
  return async (context, next) => {
    const { token, from, open } = deps.settings.metrics;
    const { address } = connectionOf(context);
    const isNamed = !isLoopbackHost(address) || typeof placeOf(context.req.header("host"), deps) === "object";
    const isListedAddress = isListed(address, from) && isNamed;
    if (open || isListedAddress || isToken(context.req.header("authorization"), token, deps)) return await next();
    context.header("www-authenticate", 'Bearer realm="crm-sync"');
    const cure = "Send the token of serve.metrics.token as a bearer token, or name your address in serve.metrics.from.";
    return context.json({ error: "not permitted", cure }, 401);
  };
}

function isToken(header: string | undefined, reference: string | undefined, deps: Access): boolean {
  const [, given] = /^Bearer ([\x21-\x7e]{1,1000})$/iu.exec(header ?? "") ?? [];
  if (given === undefined || reference === undefined) return false;
  try {
    return isSame(given, deps.secret(reference).trim());
  } catch (error) {
    deps.logger.error(
      { event: "metrics.no-token", reason: messageOf(error) },
      "the token of the metrics cannot be read",
    );
    return false;
  }
}
