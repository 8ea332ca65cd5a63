import { existsSync, statSync } from "node:fs";
import Database from "better-sqlite3";

/** What some work asks of the ledger: the same on every machine. */
export interface LedgerCounts {
  statements: number;
  commits: number;
  /** Rows inserted, updated and deleted, by triggers too. */
  rows: number;
  /** Bytes of the write-ahead log. */
  walBytes: number;
}

type Method = (this: Database.Database, ...words: unknown[]) => unknown;
type StatementMethod = (this: Database.Statement, ...words: unknown[]) => unknown;

/** Does the work and counts what it asks of databases called ledger.db. Nothing else may use one meanwhile. */
export async function counted(work: () => Promise<unknown>): Promise<LedgerCounts> {
  const counts: LedgerCounts = { statements: 0, commits: 0, rows: 0, walBytes: 0 };
  const count = (database: Database.Database, sql: string): void => {
    if (!database.name.endsWith("ledger.db")) return;
    counts.statements += 1;
    if (/^\s*commit\b/iu.test(sql)) counts.commits += 1;
  };
  const memory = new Database(":memory:");
  const statements: Record<string, StatementMethod> = Object.getPrototypeOf(memory.prepare("select 1"));
  const databases: Record<string, Method> = Object.getPrototypeOf(memory);
  memory.close();
  const undo: (() => void)[] = [];
  const replace = <Kind>(target: Record<string, Kind>, name: string, by: (original: Kind) => Kind): void => {
    const original = target[name];
    if (original === undefined) throw new Error(`better-sqlite3 has no ${name}`);
    target[name] = by(original);
    undo.push(() => (target[name] = original));
  };
  for (const name of ["run", "get", "all", "iterate"])
    replace(
      statements,
      name,
      (original) =>
        function (...words) {
          count(this.database, this.source);
          return original.apply(this, words);
        },
    );
  replace(
    databases,
    "exec",
    (original) =>
      function (...words) {
        count(this, String(words[0]));
        return original.apply(this, words);
      },
  );
  // The whole log is kept until the ledger is closed, and measured there.
  replace(
    databases,
    "pragma",
    (original) =>
      function (...words) {
        const [source, options] = words;
        if (/^wal_checkpoint\b/u.test(String(source))) return original.call(this, "wal_checkpoint(noop)", options);
        if (/^wal_autocheckpoint\b/u.test(String(source)))
          return original.call(this, "wal_autocheckpoint = 0", options);
        const answer = original.apply(this, words);
        if (/^journal_mode\b/u.test(String(source))) original.call(this, "wal_autocheckpoint = 0");
        return answer;
      },
  );
  replace(
    databases,
    "close",
    (original) =>
      function () {
        const wal = `${this.name}-wal`;
        if (this.open && this.name.endsWith("ledger.db")) {
          counts.rows += Number(this.prepare("select total_changes()").pluck().get());
          counts.statements -= 1;
          if (existsSync(wal)) counts.walBytes = Math.max(counts.walBytes, statSync(wal).size);
        }
        return original.call(this);
      },
  );
  try {
    await work();
  } finally {
    for (const one of undo) one();
  }
  return counts;
}
