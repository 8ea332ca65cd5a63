import { setTimeout as delay } from "node:timers/promises";

/**
 * The two clocks of the program. Passed in everywhere, so that a test can own time. There are three kinds of time: a
 * stamp says when something was written down (`LedgerContext.now`); what has elapsed is by `monotonic`; whatever is
 * removed or ended by time takes a `TrustedTime`.
 */
export interface Clock {
  /** Wall clock, epoch milliseconds UTC: for what is stored and shown. */
  now(): number;
  /** Monotonic milliseconds: for deadlines and back-off, unmoved by a clock that jumps. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};

/** The instant that was written last: within a millisecond it is asked for many times. */
let last = { epochMs: 0, text: new Date(0).toISOString() };

/** Epoch milliseconds as an ISO instant in UTC, the form in which times are stored. */
export function toInstant(epochMs: number): string {
  if (last.epochMs !== epochMs) last = { epochMs, text: new Date(epochMs).toISOString() };
  return last.text;
}
