import type { Application } from "./application.ts";

/** What of the application the run lock needs. */
export type LockPlace = Pick<Application, "ledger" | "requirePlatform">;

/**
 * Holds the run lock while `work` runs. Another run that is on ends this at once with exit code 75. `done` answers,
 * under the lock, where another program did the work in the meantime.
 */
export async function underRunLock<T>(
  application: LockPlace,
  work: () => Promise<T>,
  done: () => Promise<T | undefined> = async () => undefined,
): Promise<T> {
  const ledger = await application.ledger();
  ledger.runs.takeLock();
  try {
    const found = await done();
    if (found !== undefined) return found;
    // Under the lock: whoever stands back asks nobody which services these are.
    await application.requirePlatform();
    return await work();
  } finally {
    ledger.runs.releaseLock();
  }
}
