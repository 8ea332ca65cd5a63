import type Database from "better-sqlite3";
import { refuseOlderLedger } from "../audit/audit-heads.ts";
import { problemOf, type Problem } from "../../base/errors.ts";
import { refused } from "./damage.ts";

/** The key under which `meta` counts the groups of work that were committed. */
export const commitsKey = "commits";

/** Refuses an older copy of the ledger that was put back. */
export function requireNewest(database: Database.Database, path: string): void {
  requireFilled(database, path);
  refuseOlderLedger(path, {
    commits: () => Number(database.prepare("select value from meta where key = +?").pluck().get(commitsKey) ?? 0),
    hashAt: (sequence) =>
      database.prepare<[number], string>("select hash from audit where sequence = +?").pluck().get(sequence),
  });
}

/** Why no program may write to this ledger although it can be read; undefined for the newest one. */
export function refusalOf(database: Database.Database, path: string): Problem | undefined {
  try {
    requireNewest(database, path);
    return undefined;
  } catch (error) {
    return problemOf(error);
  }
}

/** Under which keys `meta` keeps the last gap, and when it is open: not everything is read back yet. */
export const gapKeys = { gap: "gap", open: "gap-open", restored: "restored" } as const;

/** Refuses a restored ledger whose gap is not filled yet: of what a rebuild did not come to, nothing is known. */
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

/** Counts one more group of work, inside its transaction; the statement answers how many they are now. */
export function commitCounter(database: Database.Database): Database.Statement<[], { value: string }> {
  return database.prepare<[], { value: string }>(
    `insert into meta (key, value) values ('${commitsKey}', '1')
     on conflict (key) do update set value = cast(value as integer) + 1 returning value`,
  );
}
