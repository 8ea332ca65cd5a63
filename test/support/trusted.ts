import { TrustedTime } from "../../src/base/trusted-time.ts";

/** A moment that a service agrees with. */
export function trustedAt(now: number): TrustedTime {
  const time = TrustedTime.judge({ now, newest: 0, read: [{ service: "order-service", time: now }], kept: [] });
  if (time instanceof TrustedTime) return time;
  throw new Error(time.message);
}

/** One that only says that the clock is trusted: for what takes no moment from it. */
export const trusted = trustedAt(0);
