import { isIP } from "node:net";
import type { Access } from "./access.ts";
import { plainAddress } from "../../config/access-settings.ts";
import type { PageContext } from "../page.ts";
import { connectionOf } from "./connection.ts";
import { RateLimit } from "./rate-limit.ts";
import { refuse } from "./refused.ts";
import type { Answer } from "./refused.ts";

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
