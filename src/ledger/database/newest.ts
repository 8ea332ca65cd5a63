import type Database from "better-sqlite3";
import { refuseOlderLedger } from "../audit/audit-heads.ts";
import { problemOf, type Problem } from "../../base/errors.ts";
import { refused } from "./damage.ts";

export const commitsKey = "commits";

/** Refuses an older copy of the ledger that was put back, and one with an open gap. */
export function requireNewest(database: Database.Database, path: string): void {
  requireFilled(database, path);
  refuseOlderLedger(path, {
    commits: () => Number(database.prepare("select value from meta where key = +?").pluck().get(commitsKey) ?? 0),
    hashAt: (sequence) =>
      database.prepare<[number], string>("select hash from audit where sequence = +?").pluck().get(sequence),
  });
}

export function oldLedgerProblem(database: Database.Database, path: string): Problem | undefined {
  try {
    requireNewest(database, path);
    return undefined;
  } catch (error) {
    return problemOf(error);
  }
}

/** Keys in `meta`. `open` exists until a rebuild has read everything back. */
export const gapKeys = { gap: "gap", open: "gap-open", restored: "restored" } as const;

/** Nothing is known of the part that an unfinished rebuild did not reach. */
function requireFilled(database: Database.Database, path: string): void {
  const since = database.prepare<[string], string>("select value from meta where key = +?").pluck().get(gapKeys.open);
  if (since === undefined) return;
  throw refused(
    "ledger.gap-open",
    path,
    `the ledger ${path} was restored from a backup, and the rebuild of its newer changes, begun on ${since}, is ` +
      "not finished. Nothing was sent",
    "run `crm-sync rebuild` again; it continues where it stopped",
  );
}

export function commitCounter(database: Database.Database): Database.Statement<[], { value: string }> {
  return database.prepare<[], { value: string }>(
    `insert into meta (key, value) values ('${commitsKey}', '1')
     on conflict (key) do update set value = cast(value as integer) + 1 returning value`,
  );
}
