import { exitCodes, Problem } from "../base/errors.ts";

/** A person asked for something by an id that nothing has. */
export function notFound(what: string, id: string, cure: string): Problem {
  return new Problem({
    code: "not-found",
    message: `there is no ${what} ${JSON.stringify(id)}`,
    cure,
    exitCode: exitCodes.usage,
  });
}
