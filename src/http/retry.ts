import type { Clock } from "../base/clock.ts";
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

/** An attempt of a read that gave nothing, and what another one could better. */
export interface FailedAttempt {
  error: Error;
  /**
   * `never`: the same would come again. `at-once`: what `once` names (a token) is renewed. `wait`: after a back-off,
   * and not before `afterMs` (Retry-After). Where `once` is given, a single time in one read for each such reason.
   */
  again: "never" | { kind: "at-once"; once: string } | { kind: "wait"; afterMs?: number | undefined; once?: string };
}

interface RetryOptions {
  /** Attempts in all. One that only renewed a token does not count. */
  attempts: number;
  baseMs: number;
  capMs: number;
  clock: Clock;
  random: Randomness;
  signal?: AbortSignal | undefined;
  /** Asked before each repetition that waits; false gives up. */
  mayRepeat?: (() => boolean) | undefined;
}

/**
 * Makes a read until it succeeds or its attempts are used up, for services and sources alike; throws the last attempt's
 * error, or the signal's reason when it is stopped while it waits. Writes never pass here.
 */
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

/**
 * The milliseconds that a Retry-After header asks for: seconds, or an HTTP date compared with the wall clock. Undefined
 * for what is neither. Never more than a day, for services and sources alike: a longer one is taken for a mistake that
 * must not stop calls for good.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Math.min(longestRetryAfterMs, Number(text) * 1000);
  if (!/^[A-Za-z]{3,9},/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.min(longestRetryAfterMs, Math.max(0, at - now));
}
