import type { MiddlewareHandler } from "hono";
import { identityKey } from "../../base/who.ts";
import type { WebEnvironment } from "../page.ts";
import { refuse } from "./refused.ts";

/** A browser asks for six things at once. */
const mostAtOnce = 10;

/** So many pages are made at once for a person: who asks for more is refused at once, which costs little. */
export function fewAtOnce(): MiddlewareHandler<WebEnvironment> {
  const inProgress = new Map<string, number>();
  return async (context, next) => {
    const { person } = context.var;
    const key = identityKey(person);
    const count = inProgress.get(key) ?? 0;
    if (count >= mostAtOnce) {
      context.header("retry-after", "1");
      return await refuse(context, 429, {
        code: "too-many",
        text: `${mostAtOnce} pages are being made for ${person.name}.`,
        cure: "Ask again in a second.",
      });
    }
    inProgress.set(key, count + 1);
    try {
      await next();
    } finally {
      const rest = (inProgress.get(key) ?? 1) - 1;
      if (rest === 0) inProgress.delete(key);
      else inProgress.set(key, rest);
    }
  };
}
