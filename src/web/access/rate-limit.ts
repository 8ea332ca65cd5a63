import { RateLimiterMemory } from "rate-limiter-flexible";
import type { Clock } from "../../base/clock.ts";
import type { MiddlewareHandler } from "hono";
import { identityKey, type Identity } from "../../base/who.ts";
import type { WebEnvironment, PageContext } from "../page.ts";
import { refuse, type Answer } from "./refused.ts";
import { isIP } from "node:net";
import type { Access } from "./access.ts";
import { plainAddress } from "../../config/access-settings.ts";
import { connectionOf } from "./host.ts";

interface RateLimitOptions {
  clock: Pick<Clock, "monotonic">;
  most: number;
  windowMs: number;
}

/** Further keys of a window share one count, so that nobody can fill the memory. */
const mostKeys = 10_000;
const theOthers = "the others";

export class RateLimit {
  readonly #options: RateLimitOptions;
  #window = -1;
  #keys = new Set<string>();
  #counts: RateLimiterMemory | undefined;

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /** Counts once. Returns the seconds to wait if the limit is exceeded. */
  async count(key: string): Promise<number | undefined> {
    const { counts, restSeconds } = this.#now();
    const own = this.#keys.has(key) || this.#keys.size < mostKeys ? key : theOthers;
    this.#keys.add(own);
    const { consumedPoints } = await counts.penalty(own);
    return consumedPoints > this.#options.most ? restSeconds : undefined;
  }

  /** Old windows are dropped by our clock; the library would use the machine's. */
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

/** A browser requests six things at once. */
const mostAtOnce = 10;

/** Limits work in progress for each person and in total. */
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

const failures = { most: 20, windowMs: 10 * 60_000 };

/** Answers a failed sign-in with `refused`, or with 429 if the address failed too often. */
export type Failed = (context: PageContext, refused: () => Answer) => Promise<Response>;

/**
 * Counts failed sign-ins by address. Correct ones are never limited, so that nobody can lock others out: behind a proxy
 * all people share one address, and tokens cannot be guessed.
 */
export function failedSignIns({ clock }: Access): Failed {
  const limit = new RateLimit({ clock, ...failures });
  return async (context, refused) => {
    const waits = await limit.count(networkOf(connectionOf(context).address));
    if (waits === undefined) return await refused();
    context.header("retry-after", String(waits));
    return await refuse(context, 429, {
      code: "too-many-failed",
      text: `More than ${failures.most} sign-ins from this address failed within ten minutes.`,
      cure: "Begin again at /login, or with a new link of `crm-sync login`: a correct sign-in still works.",
    });
  };
}

/** The address; for IPv6 the first 64 bits, which one customer of a provider has. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (isIP(plain) !== 6) return plain;
  const [before = [], after = []] = plain.split("::").map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  const all = plain.includes("::") ? [...before, ...zeros, ...after] : before;
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
