import type { Clock } from "../../base/clock.ts";
import type { MiddlewareHandler } from "hono";
import { identityKey, type Identity } from "../../base/who.ts";
import type { WebEnvironment } from "../page.ts";
import { refuse } from "./refused.ts";

interface RateLimitOptions {
  clock: Pick<Clock, "monotonic">;
  most: number;
  windowMs: number;
}

export class RateLimit {
  readonly #options: RateLimitOptions;
  readonly #counts = new Map<string, number>();
  #window = -1;

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /** Counts once. Undefined: allowed. Otherwise: seconds until it is allowed again. */
  count(key: string): number | undefined {
    const { clock, most, windowMs } = this.#options;
    const now = clock.monotonic();
    const window = Math.floor(now / windowMs);
    if (window !== this.#window) this.#counts.clear();
    this.#window = window;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count > most ? Math.ceil(((window + 1) * windowMs - now) / 1_000) : undefined;
  }
}

/** A browser requests six things at once. */
const mostAtOnce = 10;

export class AtOnce {
  readonly #most: { each: number; all: number };
  readonly #counts = new Map<string, number>();
  #all = 0;

  constructor({ each, all = Infinity }: { each: number; all?: number }) {
    this.#most = { each, all };
  }

  begin(person: Identity): (() => void) | undefined {
    const key = identityKey(person);
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#most.each || this.#all >= this.#most.all) return undefined;
    this.#counts.set(key, count + 1);
    this.#all += 1;
    return () => {
      this.#all -= 1;
      const rest = (this.#counts.get(key) ?? 1) - 1;
      if (rest === 0) this.#counts.delete(key);
      else this.#counts.set(key, rest);
    };
  }
}

export function fewAtOnce(): MiddlewareHandler<WebEnvironment> {
  const pages = new AtOnce({ each: mostAtOnce });
  return async (context, next) => {
    const { person } = context.var;
    const end = pages.begin(person);
    if (end === undefined) {
      context.header("retry-after", "1");
      return await refuse(context, 429, {
        code: "too-many",
        text: `Too many pages at once: ${mostAtOnce} for ${person.name} are not finished yet.`,
        cure: "Try again in a second.",
      });
    }
    try {
      await next();
    } finally {
      end();
    }
  };
}
