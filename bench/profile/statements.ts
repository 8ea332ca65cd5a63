import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import type { Database as Connection } from "better-sqlite3";
import { profileFolder } from "./folder.ts";

/**
 * Loaded into the profiled program: counts its SQL statements and their time, and leaves them as `statements-N.json`,
 * one for each thread.
 */

interface Seen {
  sql: string;
  count: number;
  milliseconds: number;
}

const seen = new Map<string, Seen>();

function timed<Result>(text: string, work: () => Result): Result {
  const started = performance.now();
  try {
    return work();
  } finally {
    const sql = text.replaceAll(/\s+/gu, " ").trim();
    const found = seen.get(sql) ?? { sql, count: 0, milliseconds: 0 };
    found.count += 1;
    found.milliseconds += performance.now() - started;
    seen.set(sql, found);
  }
}

const require = createRequire(process.argv[1] ?? import.meta.filename);
const Database = require("better-sqlite3") as new (path: string) => Connection;
const connection = new Database(":memory:");
const statement = Object.getPrototypeOf(connection.prepare("select 1")) as Record<
  string,
  (...args: unknown[]) => unknown
>;
for (const name of ["run", "get", "all"]) {
  const original = statement[name];
  if (original === undefined) continue;
  statement[name] = function (this: { source: string }, ...args: unknown[]): unknown {
    return timed(this.source, () => original.apply(this, args));
  };
}
const prototype = Object.getPrototypeOf(connection) as { exec: (sql: string) => unknown };
const exec = prototype.exec;
prototype.exec = function (sql: string): unknown {
  return timed(sql, () => exec.call(this, sql));
};
connection.close();

process.on("exit", () => {
  const path = join(process.env[profileFolder] ?? ".", `statements-${threadId}.json`);
  writeFileSync(path, JSON.stringify([...seen.values()]));
});
