import type { MiddlewareHandler } from "hono";
import type { Access } from "../../app/access.ts";
import { messageOf } from "../../base/errors.ts";
import { isListed } from "../../config/access-settings.ts";
import { isFromHere } from "./access.ts";
import { connectionOf } from "./connection.ts";
import { isSame } from "./csrf.ts";

/** Lets through who shows the configured token or comes from a configured address; without both, this machine alone. */
export function mayReadMetrics(deps: Access): MiddlewareHandler {
  return async (context, next) => {
    const { token, from } = deps.settings.metrics;
    const isOpen =
      isListed(connectionOf(context).address, from) ||
      (token === undefined
        ? from.length === 0 && isFromHere(context, deps)
        : isToken(context.req.header("authorization"), token, deps));
    if (isOpen) return await next();
    context.header("www-authenticate", 'Bearer realm="crm-sync"');
    return context.json({ error: "not permitted", cure: "see serve.metrics" }, 401);
  };
}

function isToken(header: string | undefined, reference: string, deps: Access): boolean {
  const [, given = ""] = /^Bearer ([\x21-\x7e]{1,1000})$/iu.exec(header ?? "") ?? [];
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
