import type { MiddlewareHandler } from "hono";
import type { WebEnvironment } from "../page.ts";
import type { Role } from "../../config/access-settings.ts";
import { may } from "./person.ts";

/** Lets through who has the right, and answers everybody else with 403. */
export function needs(needed: Role): MiddlewareHandler<WebEnvironment> {
  return async (context, next) => {
    if (!may(context.var.person, needed)) return await context.var.refuse(needed);
    await next();
  };
}
