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

/** A browser asks for six things at once. */
const mostAtOnce = 10;

/** How much is in progress for each person; nobody takes all the room there is. */
export class AtOnce {
  readonly #most: { each: number; all: number };
  readonly #counts = new Map<string, number>();
  #all = 0;

  constructor({ each, all = Infinity }: { each: number; all?: number }) {
    this.#most = { each, all };
  }

  /** Counts one more of a person, and gives what ends it; undefined where there is no room. */
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

/** So many pages are made at once for a person: who asks for more is refused at once, which costs little. */
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

/** Answers a sign-in that failed: with what `refused` does, or that too many of its address failed lately. */
export type Failed = (context: PageContext, refused: () => Answer) => Promise<Response>;

/**
 * Counts sign-ins that failed, by address: what is beyond is neither told apart nor logged. One that is good is asked
 * for nothing here: behind a reverse proxy all people have one address, and tokens are too long to be guessed. So
 * nobody is locked out by what somebody else does.
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

/** An address, or of version 6 the network that one customer of a provider has: the first 64 bits. */
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
