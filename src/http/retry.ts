import type { Clock } from "../base/clock.ts";
import type { Randomness } from "../base/ids.ts";

/** Full jitter: from 0 to the doubled step, up to the cap. `attempt` counts from 0. */
export function backoffMs(attempt: number, options: { baseMs: number; capMs: number }, random: Randomness): number {
  return Math.floor(random.fraction() * Math.min(options.capMs, options.baseMs * 2 ** attempt));
}

/** Limits repetitions, so that a service that is down does not get more calls. */
export interface RetryBudget {
  take(): boolean;
  /** After a success a tenth of a repetition returns. */
  earn(): void;
  left(): number;
}

export function createRetryBudget(size: number): RetryBudget {
  // In tenths, so that ten successes return exactly one.
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

export interface FailedAttempt {
  error: Error;
  /**
   * `never`: the result would be the same. `at-once`: the token named by `once` is renewed. `wait`: after a back-off
   * and `afterMs` (Retry-After). Each `once` counts a single time per read.
   */
  again: "never" | { kind: "at-once"; once: string } | { kind: "wait"; afterMs?: number | undefined; once?: string };
}

interface RetryOptions {
  /** In all. An attempt that only renewed a token does not count. */
  attempts: number;
  baseMs: number;
  capMs: number;
  clock: Clock;
  random: Randomness;
  signal?: AbortSignal | undefined;
  /** Asked before each repetition that waits. False gives up. */
  mayRepeat?: (() => boolean) | undefined;
}

/** For services and sources. Throws the last error, or the signal's reason. Never for writes. */
export async function retryRead<T>(
  attempt: () => Promise<{ value: T } | FailedAttempt>,
  options: RetryOptions,
): Promise<T> {
  const used = new Set<string>();
  let repeated = 0;
  for (;;) {
    const ended = await attempt();
    if ("value" in ended) return ended.value;
    const { error, again } = ended;
    if (again === "never") throw error;
    if (again.once !== undefined) {
      if (used.has(again.once)) throw error;
      used.add(again.once);
    }
    if (again.kind === "at-once") continue;
    if (repeated + 1 >= options.attempts || options.mayRepeat?.() === false) throw error;
    const pause = Math.max(again.afterMs ?? 0, backoffMs(repeated, options, options.random));
    await options.clock.sleep(pause, options.signal);
    repeated += 1;
  }
}

const longestRetryAfterMs = 86_400_000;

/** In milliseconds. Undefined if unreadable. At most a day: a mistaken value must not stop calls for good. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Math.min(longestRetryAfterMs, Number(text) * 1000);
  if (!/^[A-Za-z]{3,9},/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.min(longestRetryAfterMs, Math.max(0, at - now));
}
