import { setTimeout as delay } from "node:timers/promises";

/** Passed in everywhere for tests. Stamps are `LedgerContext.now`. Ends and removals by time need a `TrustedTime`. */
export interface Clock {
  /** Epoch milliseconds, for storage and display. */
  now(): number;
  /** Milliseconds, for deadlines and back-off. Ignores changes of the wall clock. */
  monotonic(): number;
  /** Throws the signal's reason if it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};

/** The same millisecond is often formatted many times. */
let last = { epochMs: 0, text: new Date(0).toISOString() };

/** An ISO instant in UTC, as times are stored. */
export function toInstant(epochMs: number): string {
  if (last.epochMs !== epochMs) last = { epochMs, text: new Date(epochMs).toISOString() };
  return last.text;
}
