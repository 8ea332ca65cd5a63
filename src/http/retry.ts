import type { Randomness } from "../base/ids.ts";

/** Full jitter: anything from nothing to the doubled step, up to the cap. `attempt` counts from 0. */
export function backoffMs(attempt: number, options: { baseMs: number; capMs: number }, random: Randomness): number {
  return Math.floor(random.fraction() * Math.min(options.capMs, options.baseMs * 2 ** attempt));
}

/** Repetitions in store, so that a service that is down is not called more because it is down. */
export interface RetryBudget {
  /** Takes one repetition; false when none is left. */
  take(): boolean;
  /** A call succeeded: a tenth of a repetition comes back. */
  earn(): void;
  left(): number;
}

export function createRetryBudget(size: number): RetryBudget {
  // Tenths, so that ten successes bring back exactly one.
  let tenths = size * 10;
  return {
    take() {
      if (tenths < 10) return false;
      tenths -= 10;
      return true;
    },
    earn() {
      if (tenths < size * 10) tenths += 1;
    },
    left: () => Math.floor(tenths / 10),
  };
}
