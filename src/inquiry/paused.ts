import { pauseKey, pauseOn } from "../ledger/pause.ts";
import type { Paused } from "../report/status.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** The pause that is on: since when nothing is written to the services, who said so, and why. */
export function paused(ledger: ReadOnlyLedger): Paused | undefined {
  const kept = ledger.reading((database) =>
    database.prepare<[string], { value: string }>("select value from meta where key = ?").get(pauseKey),
  );
  return pauseOn(kept?.value);
}
