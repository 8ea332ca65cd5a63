import { chmodSync } from "node:fs";
import { databaseProblem } from "./damage.ts";
import { openReadOnly } from "./database.ts";

/**
 * Copies a ledger as it is at this moment, beside a run that is on. The original is only read. Throws a Problem with
 * exit code 65 where it cannot be.
 */
export function copyLedger(from: string, to: string): void {
  const database = openReadOnly(from);
  try {
    database.prepare("vacuum into ?").run(to);
    chmodSync(to, 0o600);
  } catch (error) {
    throw databaseProblem(error, from);
  } finally {
    database.close();
  }
}
