import { exitCodes, Problem } from "../base/errors.ts";
import { TrustedTime } from "../base/trusted-time.ts";
import type { ClockDoubt } from "../base/trusted-time.ts";
import type { Application } from "./application.ts";

type Place = Pick<Application, "inquiry" | "clock">;

/** Now for a command that asks no service: what services said last counts. Or why it is not trusted. */
export async function trustedNow(place: Place): Promise<TrustedTime | ClockDoubt> {
  const known = await (await place.inquiry()).knownTimes();
  return TrustedTime.judge({ now: place.clock.now(), ...known, read: [] });
}

/** The same; throws a Problem that says what cannot be done. */
export async function requireTrusted(place: Place, what: string): Promise<TrustedTime> {
  const time = await trustedNow(place);
  if (time instanceof TrustedTime) return time;
  throw new Problem({
    code: "clock.not-trusted",
    message: `${what}: ${time.message}`,
    cure: time.cure,
    exitCode: exitCodes.recordsRejected,
  });
}
