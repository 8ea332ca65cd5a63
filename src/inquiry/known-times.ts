import { knownTimes as timesIn } from "../ledger/time/time.ts";
import type { KnownTimes } from "../ledger/time/time.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** The newest stamp, and what the services said last. */
export async function knownTimes(ledger: ReadOnlyLedger): Promise<KnownTimes> {
  return ledger.reading((database) => {
    const value = database.prepare<[string], string>("select value from meta where key = ?").pluck();
    return timesIn((key) => value.get(key));
  });
}
