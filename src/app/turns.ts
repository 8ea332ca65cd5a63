import { Problem } from "../base/errors.ts";
import { identityKey } from "../base/who.ts";
import type { Who } from "../base/who.ts";

/** What waits for its turn. */
export interface Wanted {
  /** In words for people: `the statement orders of 2026-10`. */
  what: string;
  /** Whoever asks. */
  by: Who;
  /** Aborted when whoever asks is gone. */
  signal?: AbortSignal | undefined;
}

const atOnce = 2;
/** Of each person one is in progress, and so many wait. */
const mostWaitingOfPerson = 2;
const mostWaiting = 20;

interface Waiting {
  by: string;
  go: () => void;
}

/**
 * Who may begin what takes long. So much is in progress at once, and one thing of each person: who opens many pages
 * keeps nobody else waiting. Who came first goes first.
 */
export class Turns {
  readonly #running = new Set<string>();
  readonly #waiting: Waiting[] = [];
  readonly #longestWaitMs: number;

  constructor(longestWaitMs: number) {
    this.#longestWaitMs = longestWaitMs;
  }

  /** How many are in progress or wait. */
  get count(): number {
    return this.#running.size + this.#waiting.length;
  }

  /** Waits for a turn, and gives what ends it. Throws a Problem where too many wait, or it waited too long. */
  async begin({ what, by, signal }: Wanted): Promise<() => void> {
    const key = identityKey(by);
    if (this.#waiting.filter((one) => one.by === key).length >= mostWaitingOfPerson)
      throw new Problem({
        code: "reads.too-many",
        message: `${what} was not started: ${mostWaitingOfPerson + 1} other requests of ${by.name} are in progress.`,
        cure: "Try again when one of them has ended.",
      });
    if (this.#waiting.length >= mostWaiting) throw busyWith(what, `${this.#waiting.length} other requests are waiting`);
    return await new Promise((resolve, reject) => {
      const leave = (problem: Problem): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        settled();
        reject(problem);
      };
      const timer = setTimeout(() => leave(busyWith(what, "other requests took too long")), this.#longestWaitMs);
      const gone = (): void => leave(busyWith(what, "nobody waits for the result any more"));
      const settled = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", gone);
      };
      const go = (): void => {
        settled();
        resolve(() => this.#end(key));
      };
      const waiting: Waiting = { by: key, go };
      this.#waiting.push(waiting);
      if (signal?.aborted === true) gone();
      else signal?.addEventListener("abort", gone, { once: true });
      this.#next();
    });
  }

  #end(by: string): void {
    this.#running.delete(by);
    this.#next();
  }

  #next(): void {
    while (this.#running.size < atOnce) {
      const at = this.#waiting.findIndex(({ by }) => !this.#running.has(by));
      const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (next === undefined) return;
      this.#running.add(next.by);
      next.go();
    }
  }
}

/** Why what is wanted is not begun. */
export function busyWith(wanted: string, why: string): Problem {
  return new Problem({
    code: "reads.busy",
    message: `${wanted} was not started: ${why}.`,
    cure: "Try again in a minute.",
  });
}
