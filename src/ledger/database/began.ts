import type { Sqlite } from "./database.ts";

/** The time of the first audit entry or the first run. Undefined if there is neither. */
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
