import { exitCodes, Problem } from "../base/errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { QuarantineRetries } from "../run/retry.ts";
import type { Retried } from "../run/retry.ts";
import type { Application } from "./application.ts";

/**
 * Maps the stored raw form of one row of the quarantine, or of `all`, anew at once. While a run is on, which may be at
 * work on the same customers, their sources are waited for. Gives what became of those that still waited.
 */
export async function retryQuarantine(application: Application, id: string, by: string): Promise<Retried[]> {
  const ids = id === "all" ? [...(await application.inquiry()).quarantine()].map((row) => row.id) : [id];
  const ledger = await application.existingLedger();
  const busy = isBusy(ledger);
  const retries = new QuarantineRetries({
    ledger,
    sources: application.sources(),
    settings: application.config.assumptions,
  });
  const results: Retried[] = [];
  try {
    for (const one of ids) {
      if (!busy) results.push(await retries.retry(one, by));
      else if (await ledger.records.retryQuarantine(one, by))
        results.push({ kind: "waits-for-source", id: one, why: "a run is on" });
    }
  } finally {
    // Look-up tables of a mapping are read in the view of their source.
    for (const source of application.sources()) await source.endReading();
  }
  return results.filter((result) => result.kind !== "unknown");
}

function isBusy(ledger: Ledger): boolean {
  try {
    ledger.runs.takeLock();
  } catch (error) {
    if (error instanceof Problem && error.exitCode === exitCodes.runActive) return true;
    throw error;
  }
  ledger.runs.releaseLock();
  return false;
}
