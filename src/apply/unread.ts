import { failureOf } from "../base/errors.ts";
import type { Block } from "../engine/plan/block.ts";
import { AmbiguousReading } from "../platform/ambiguous-reading.ts";
import { ReadFailure } from "../platform/call.ts";

/** Why what rests on a reading waits, by what that threw. Throws it again where no reading gave nothing. */
export function unreadBlock(thrown: unknown): Block {
  const gaveNothing = thrown instanceof ReadFailure && thrown.kind !== "aborted";
  if (!gaveNothing && !(thrown instanceof AmbiguousReading)) throw thrown;
  const { code, reason } = failureOf(thrown);
  return { code, reason, again: true };
}
