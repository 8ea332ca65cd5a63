import type { Clock } from "../base/clock.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import type { Intent } from "../ledger/journal/attempt-tables.ts";

/** What may be done about a call that was left in the middle. */
export interface Again {
  /**
   * `ended`: whoever was sending it is dead, so only the call itself may still land. `paused`: nobody knows, and it is
   * not sent again before the service refuses what that one would send. `asks`: nobody knows, and no time ends that, so
   * a person decides.
   */
  by: "ended" | "paused" | "asks";
  /** In how many milliseconds it may be sent again, or a person may say that it was not applied. */
  afterMs: number;
}

/**
 * When a call that was left in the middle may be sent again. The system frees the lock of a process that died, so
 * whoever has the same lock on the same running system knows that it did. Anybody else has a copy of the ledger, or
 * another computer: there the one that sent it may be paused and go on at any time, as long as its token is good. That
 * the platform shows the call settles it at once, all the same.
 */
export async function againAfter(
  { holder, taker, startedAt, acceptedUntil }: Intent & { taker: string | undefined },
  { landsMs, clockSkewMs, passedSince }: { landsMs: number; clockSkewMs: number; passedSince: PassedSince },
): Promise<Again> {
  if (holder !== undefined && holder === taker) return { by: "ended", afterMs: landsMs };
  if (acceptedUntil === undefined) return { by: "asks", afterMs: landsMs + clockSkewMs };
  const isAccepted = acceptedUntil - startedAt - (await passedSince(startedAt));
  return { by: "paused", afterMs: Math.max(landsMs, isAccepted) + clockSkewMs };
}

/** How many milliseconds have surely passed since an instant of another process's clock. */
type PassedSince = (instant: number) => Promise<number>;

/** It counts where the services agree with the clock of this computer; else the time begins now. */
export function passedSince({ clock, time }: Pick<ApplyDependencies, "clock" | "time">): PassedSince {
  return async (instant) => {
    const now = time === undefined ? clock.now() : (await time.now({ isFresh: true }))?.epochMs;
    return Math.max(0, (now ?? instant) - instant);
  };
}

/**
 * Begins the time in which a call may leave, when its intent is about to be committed, and answers whether it is over:
 * nobody else sends the call before twice that time, so what is late may have been sent by somebody else. Of the two
 * clocks that counts which has seen more time pass: the monotonic one may stop while a system is paused.
 */
export function timeToLeave(clock: Clock, clockSkewMs: number): () => boolean {
  const began = { monotonic: clock.monotonic(), now: clock.now() };
  return () => Math.max(clock.monotonic() - began.monotonic, clock.now() - began.now) >= clockSkewMs / 2;
}
