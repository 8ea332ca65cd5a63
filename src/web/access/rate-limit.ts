import { RateLimiterMemory } from "rate-limiter-flexible";
import type { Clock } from "../../base/clock.ts";

interface RateLimitOptions {
  clock: Pick<Clock, "monotonic">;
  /** So many times within the window. */
  most: number;
  windowMs: number;
}

/** So many keys are counted apart within a window; all others share one count, so that nobody fills the memory. */
const mostKeys = 10_000;
const theOthers = "the others";

/** How often something happened by a key, within windows of the clock that it is given. */
export class RateLimit {
  readonly #options: RateLimitOptions;
  #window = -1;
  #keys = new Set<string>();
  #counts: RateLimiterMemory | undefined;

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /** Counts it once more. Undefined as long as it may happen, else the seconds until it may again. */
  async count(key: string): Promise<number | undefined> {
    const { counts, restSeconds } = this.#now();
    const own = this.#keys.has(key) || this.#keys.size < mostKeys ? key : theOthers;
    this.#keys.add(own);
    const { consumedPoints } = await counts.penalty(own);
    return consumedPoints > this.#options.most ? restSeconds : undefined;
  }

  /** Counts of a window that is over are dropped; the library's own time would be that of the machine. */
  #now(): { counts: RateLimiterMemory; restSeconds: number } {
    const { clock, most, windowMs } = this.#options;
    const now = clock.monotonic();
    const window = Math.floor(now / windowMs);
    if (this.#counts === undefined || window !== this.#window) {
      this.#counts = new RateLimiterMemory({ points: most, duration: 0 });
      this.#keys = new Set();
      this.#window = window;
    }
    return { counts: this.#counts, restSeconds: Math.ceil(((window + 1) * windowMs - now) / 1_000) };
  }
}
