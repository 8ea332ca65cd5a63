import type { Clock } from "../base/clock.ts";

function noTurn(waitMs: number, reason: string): Error {
  return new Error(`${reason}; a turn would come in ${Math.ceil(waitMs / 1000)} s`);
}

export interface PaceState {
  callsPerSecond: number | null;
  /** Milliseconds until the service may be called again, after a Retry-After. */
  pausedMs: number;
}

export interface Pace {
  /** Resolves when a call may be sent. Throws if that takes too long, or with the signal's reason. */
  turn(signal?: AbortSignal): Promise<void>;
  turnAtOnce(): boolean;
  /** Halves the rate after "500" or 429. Complaints within half a second count once. */
  slow(): void;
  pause(ms: number): void;
  /** After a success the rate grows by a twentieth of the configured one. */
  recover(): void;
  state(): PaceState;
}

const slowest = 0.02;
const unlimitedStart = 100;

export function createPace(options: { callsPerSecond: number | null; turnTimeoutMs: number; clock: Clock }): Pace {
  const { clock, turnTimeoutMs } = options;
  let factor = 1;
  let slowedAt = Number.NEGATIVE_INFINITY;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let nextFree = Number.NEGATIVE_INFINITY;

  function rate(): number | null {
    if (factor >= 1) return options.callsPerSecond;
    return (options.callsPerSecond ?? unlimitedStart) * factor;
  }

  return {
    turnAtOnce() {
      const now = clock.monotonic();
      if (pausedUntil > now) return false;
      const allowed = rate();
      if (allowed === null) return true;
      if (nextFree > now) return false;
      nextFree = now + 1000 / allowed;
      return true;
    },
    async turn(signal) {
      const since = clock.monotonic();
      for (;;) {
        signal?.throwIfAborted();
        const now = clock.monotonic();
        const left = turnTimeoutMs - (now - since);
        if (pausedUntil > now) {
          if (pausedUntil - now > left) throw noTurn(pausedUntil - now, "the service asked to wait (Retry-After)");
          await clock.sleep(Math.ceil(pausedUntil - now), signal);
          continue;
        }
        const allowed = rate();
        if (allowed === null) return;
        const mine = Math.max(now, nextFree);
        if (mine - now > left) throw noTurn(mine - now, "too many calls are waiting");
        nextFree = mine + 1000 / allowed;
        if (mine <= now) return;
        await clock.sleep(Math.ceil(mine - now), signal);
        if (pausedUntil <= clock.monotonic()) return;
      }
    },
    slow() {
      const now = clock.monotonic();
      if (now - slowedAt < 500) return;
      slowedAt = now;
      factor = Math.max(slowest, factor / 2);
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, clock.monotonic() + ms);
    },
    recover() {
      if (factor < 1) factor = Math.min(1, factor + 0.05);
    },
    state: () => ({ callsPerSecond: rate(), pausedMs: Math.max(0, pausedUntil - clock.monotonic()) }),
  };
}

export class Slots {
  #free: number;
  readonly #size: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  /** A promise if the caller must wait. Every taken slot must be given back. */
  take(): Promise<void> | undefined {
    if (this.#free === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#free -= 1;
    return undefined;
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  get taken(): number {
    return this.#size - this.#free;
  }

  get waiting(): number {
    return this.#waiting.length;
  }
}
