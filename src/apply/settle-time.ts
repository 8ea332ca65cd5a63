import type { Ledger } from "../ledger/ledger.ts";
import type { ApplyDependencies } from "./dependencies.ts";

type Dependencies = Pick<ApplyDependencies, "ledger" | "clock" | "settle">;

/** When what is waited for is over, on the monotonic clock of this process, by what it is and since when. */
const endsOf = new WeakMap<Ledger, Map<string, number>>();
/** Ends that are kept; beyond it the oldest are found anew from the wall clock. */
const mostEnds = 10_000;

/**
 * How many milliseconds what was sent at `since` (wall clock, epoch milliseconds) may still land; 0 once the settle time is over. `key` says
 * what was sent. From the first question on this process counts on its monotonic clock, so that a wall clock that is set forward ends no settle
 * time early. One that was set back makes `since` lie in the future: then the time counts from when that was first seen, and not from a moment
 * that may be years away.
 */
export async function settleTimeLeft(deps: Dependencies, key: string, since: number): Promise<number> {
  const { ledger, clock, settle } = deps;
  const ends = endsOf.get(ledger) ?? new Map<string, number>();
  endsOf.set(ledger, ends);
  const name = `${key} ${since}`;
  let end = ends.get(name);
  if (end === undefined) {
    const counted = since > clock.now() ? await ledger.noticed(key, since) : since;
    const left = Math.min(settle.timeMs, Math.max(0, counted + settle.timeMs - clock.now()));
    end = clock.monotonic() + left;
    ends.set(name, end);
    if (ends.size > mostEnds) for (const oldest of ends.keys()) if (ends.size > mostEnds) ends.delete(oldest);
  }
  return Math.max(0, end - clock.monotonic());
}
