import type { MiddlewareHandler } from "hono";
import { usage } from "../base/errors.ts";
import { problemPage } from "./failures.ts";
import type { WebEnvironment } from "./page.ts";

const ofForms = /^application\/x-www-form-urlencoded\s*(?:;|$)/iu;

/** What is sent to a page is a form as our pages have it, or nothing: no page has to read anything else. */
export function formsAlone(): MiddlewareHandler<WebEnvironment> {
  return async (context, next) => {
    const type = context.req.header("content-type");
    if (type === undefined || ofForms.test(type)) return await next();
    return await problemPage(
      context,
      usage("The request is not a form of these pages.", "Open the page again and send it from there."),
    );
  };
}
