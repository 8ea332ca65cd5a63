import type { Clock } from "../../src/base/clock.ts";
import type { Randomness } from "../../src/base/ids.ts";
import { seededFraction } from "../../src/sandbox/faults.ts";

/** What a seed draws: the same draws in the same order each time. */
export class Draws implements Randomness {
  readonly #fraction: () => number;

  constructor(seed: number) {
    this.#fraction = seededFraction(seed);
    // Neighbouring seeds begin alike; the first draws are not used.
    for (let index = 0; index < 5; index += 1) this.#fraction();
  }

  fraction(): number {
    return this.#fraction();
  }

  hex(length: number): string {
    let text = "";
    while (text.length < length * 2)
      text += Math.floor(this.#fraction() * 0x1_00_00_00_00)
        .toString(16)
        .padStart(8, "0");
    return text.slice(0, length * 2);
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.#fraction() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.#fraction() < probability;
  }

  /** One of the items; undefined for none. */
  pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.#fraction() * items.length)];
  }
}

interface Sleeper {
  due: number;
  order: number;
  wake: () => void;
}

/** When everything began, epoch milliseconds: 2026-03-28, a night before a change of summer time. */
export const beginning = Date.UTC(2026, 2, 28, 22, 0, 0);
/** Turns of the event loop without anything happening after which everything waits for time alone. */
const quietTurns = 2;
const mostMoves = 200_000;

/**
 * Virtual time. It stands still while anything happens, and moves on to the next thing that is due when everything
 * waits.
 */
export class Timeline {
  #elapsed = 0;
  #order = 0;
  #activity = 0;
  #held = 0;
  readonly #sleepers: Sleeper[] = [];

  /** Milliseconds since the beginning; never goes back. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** Something happened, so that time stands still for some turns. */
  touch(): void {
    this.#activity += 1;
  }

  /** Time stands still until the work has ended. */
  async still<T>(work: Promise<T>): Promise<T> {
    this.#held += 1;
    try {
      return await work;
    } finally {
      this.#held -= 1;
      this.#activity += 1;
    }
  }

  /** Calls `wake` in `ms`; the result calls it off. */
  after(ms: number, wake: () => void): () => void {
    this.#order += 1;
    const sleeper: Sleeper = { due: this.#elapsed + Math.max(0, ms), order: this.#order, wake };
    const at = this.#sleepers.findIndex((other) => other.due > sleeper.due);
    this.#sleepers.splice(at < 0 ? this.#sleepers.length : at, 0, sleeper);
    return () => {
      const place = this.#sleepers.indexOf(sleeper);
      if (place >= 0) this.#sleepers.splice(place, 1);
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(asError(signal.reason));
        return;
      }
      const stop = (): void => {
        callOff();
        reject(asError(signal?.reason));
      };
      const callOff = this.after(ms, () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      });
      signal?.addEventListener("abort", stop, { once: true });
    });
  }

  /** A clock of this time; `offset` is how far its wall clock is off. */
  clock(offset: () => number = () => 0): Clock {
    return {
      now: () => beginning + Math.floor(this.#elapsed) + offset(),
      monotonic: () => this.#elapsed,
      sleep: (ms, signal) => this.sleep(ms, signal),
    };
  }

  /** Lets things happen until `over`. Throws where nothing is left that could happen. */
  async until(over: () => boolean): Promise<void> {
    let seen = this.#activity;
    let quiet = 0;
    for (let moves = 0; moves < mostMoves;) {
      if (over()) return;
      await new Promise<void>((resolve) => void setImmediate(resolve));
      if (this.#activity !== seen || this.#held > 0) {
        seen = this.#activity;
        quiet = 0;
        continue;
      }
      quiet += 1;
      if (quiet < quietTurns) continue;
      quiet = 0;
      if (over()) return;
      moves += 1;
      const next = this.#sleepers.shift();
      if (next === undefined) throw new Error("everything waits, and nothing is due: something was forgotten");
      this.#elapsed = Math.max(this.#elapsed, next.due);
      next.wake();
    }
    throw new Error(`not over after ${mostMoves} moves in time`);
  }

  /** Lets `ms` pass. */
  async pass(ms: number): Promise<void> {
    let over = false;
    this.after(ms, () => {
      over = true;
    });
    await this.until(() => over);
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("stopped");
}
