import pLimit from "p-limit";
import { toInstant } from "../base/clock.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { RunDependencies } from "./request.ts";

/** Least pause between two looks at what is due, in milliseconds. */
const shortestPause = 50;

interface WaitDependencies extends Pick<RunDependencies, "clock" | "settle" | "concurrency"> {
  signal: AbortSignal | undefined;
  /** One more attempt at a customer whose time has come. */
  attempt(customer: RecordKey): Promise<void>;
  /** Told once all who were due have been attempted. */
  attempted(customers: readonly RecordKey[]): Promise<void>;
}

/** Customers whose settle time is not over, and until when. */
export class SettleWait {
  readonly #deps: WaitDependencies;
  /** Until when, in milliseconds. */
  readonly #waiting = new Map<string, { customer: RecordKey; until: number }>();

  constructor(deps: WaitDependencies) {
    this.#deps = deps;
  }

  get #stopped(): boolean {
    return this.#deps.signal?.aborted === true;
  }

  /** How many customers wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** A customer waits until an instant, or is looked at again as soon as the run waits. */
  add(customer: RecordKey, until: string = toInstant(this.#deps.clock.now())): void {
    this.#waiting.set(formatKey(customer), { customer, until: Date.parse(until) });
  }

  /**
   * Waits for settle times that are due soon, and settles what they were for; the rest stays for the next run or for a
   * person.
   */
  async wait(): Promise<void> {
    const { clock, settle, signal } = this.#deps;
    const deadline = clock.monotonic() + settle.maxWaitMs;
    while (this.#waiting.size > 0 && !this.#stopped) {
      let next = Number.POSITIVE_INFINITY;
      for (const { until } of this.#waiting.values()) next = Math.min(next, until);
      const pause = Math.max(shortestPause, next - clock.now());
      if (clock.monotonic() + pause > deadline) return;
      await clock.sleep(pause, signal);
      await this.#attemptDue();
    }
  }

  async #attemptDue(): Promise<void> {
    const { clock, concurrency } = this.#deps;
    const limit = pLimit(concurrency);
    const due = [...this.#waiting.values()].filter(({ until }) => until <= clock.now());
    const customers = due.map((item) => item.customer);
    await Promise.all(
      customers.map((customer) =>
        limit(async () => {
          if (this.#stopped) return;
          this.#waiting.delete(formatKey(customer));
          await this.#deps.attempt(customer);
        }),
      ),
    );
    await this.#deps.attempted(customers);
  }
}
