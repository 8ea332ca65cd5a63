/** How long answers were held. */
export interface Held {
  heldMs: number;
  longestHeldMs: number;
  mostInFlight: number;
}

/** Timers end on whole milliseconds: this much early is as good as due. */
const toleranceMs = 0.1;

/**
 * Holds answers for a time that is the same for all, so that they leave in the order in which they came: one timer for
 * the oldest, and what is due with it leaves with it. Timers of Node round up to a whole millisecond; the rest of the
 * last one is waited for turn by turn of the event loop, while nothing else is to be done.
 */
export class Holding {
  readonly #latencyMs: number;
  readonly #waiting: { since: number; leave: () => void }[] = [];
  #next = 0;
  #armed = false;
  #heldMs = 0;
  #longestHeldMs = 0;
  #mostInFlight = 0;

  constructor(latencyMs: number) {
    this.#latencyMs = latencyMs;
  }

  get held(): Held {
    return { heldMs: this.#heldMs, longestHeldMs: this.#longestHeldMs, mostInFlight: this.#mostInFlight };
  }

  /** Has `leave` called when its time is over; at once where there is none. */
  hold(leave: () => void): void {
    if (this.#latencyMs === 0) {
      leave();
      return;
    }
    this.#waiting.push({ since: performance.now(), leave });
    this.#mostInFlight = Math.max(this.#mostInFlight, this.#waiting.length - this.#next);
    if (!this.#armed) this.#arm();
  }

  #arm(): void {
    const oldest = this.#waiting[this.#next];
    this.#armed = oldest !== undefined;
    if (oldest === undefined) return;
    const rest = oldest.since + this.#latencyMs - performance.now();
    // Node never calls back before the whole millisecond is over, and up to one later.
    if (rest >= 2) setTimeout(() => this.#release(), Math.floor(rest) - 1);
    else setImmediate(() => this.#release());
  }

  #release(): void {
    const now = performance.now();
    for (;;) {
      const oldest = this.#waiting[this.#next];
      if (oldest === undefined || oldest.since + this.#latencyMs - toleranceMs > now) break;
      this.#next += 1;
      this.#heldMs += now - oldest.since;
      this.#longestHeldMs = Math.max(this.#longestHeldMs, now - oldest.since);
      oldest.leave();
    }
    if (this.#next > 1_000) this.#next -= this.#waiting.splice(0, this.#next).length;
    this.#arm();
  }
}
