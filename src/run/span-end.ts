import type { ExitCode } from "../base/errors.ts";
import { exitCodes } from "../base/errors.ts";
import type { SpanEnd } from "../base/traces.ts";

/** What a span says of how a run ended: `failed` where it is not good, as its exit code says. */
export function runEnd({ run, state, exitCode }: { run: string; state?: string; exitCode: ExitCode }): SpanEnd {
  const isGood = exitCode === exitCodes.ok || exitCode === exitCodes.changesPending;
  return { run, exit: exitCode, failed: !isGood, ...(state === undefined ? {} : { state }) };
}
