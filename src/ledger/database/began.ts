import type { Sqlite } from "./database.ts";

/** When the ledger began: with its first audit entry or its first run. Undefined where it has learned nothing yet. */
export function ledgerBegan(database: Sqlite): string | undefined {
  const began = database
    .prepare<[], string | null>(
      `select min(at) from (select at from audit where sequence = (select min(sequence) from audit)
         union all select min(started_at) from run)`,
    )
    .pluck()
    .get();
  return began ?? undefined;
}
