/**
 * Loaded before the program (`node --import`), it ends the process with SIGKILL right before its step number KILL_STEP
 * of closing books, from 1; the program knows nothing of it. A step is a file of the books that gets its name, a folder
 * of them that is flushed or taken away, and a transaction that is committed while there are any. Without KILL_STEP it
 * only writes to stderr at the end which steps there were.
 */
/* oxlint-disable typescript/unbound-method, typescript/no-unnecessary-type-assertion -- methods of prototypes are replaced here on purpose, and called with the `this` they were called with */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import Database from "better-sqlite3";

const last = Number(process.env["KILL_STEP"] ?? "0");
const steps: string[] = [];

function step(what: string): void {
  steps.push(what);
  if (steps.length === last) process.kill(process.pid, "SIGKILL");
}

const isBooks = (path: unknown): boolean => /\/books(?:\/|$)/u.test(String(path));

const { renameSync, fsyncSync, rmSync } = fs;
fs.renameSync = (from, to) => {
  if (isBooks(to)) step(/unfinished[^/]*\/[0-9a-f]{64}$/u.test(String(from)) ? "move" : "name");
  renameSync(from, to);
};
fs.fsyncSync = (file) => {
  if (steps.includes("name")) step("flush");
  fsyncSync(file);
};
fs.rmSync = (path, options) => {
  if (isBooks(path)) step("remove");
  rmSync(path, options);
};
syncBuiltinESMExports();

const prepare = Database.prototype.prepare;
Database.prototype.prepare = function countedPrepare(this: Database.Database, sql: string) {
  const statement = prepare.call(this, sql);
  const { run } = statement;
  statement.run = (...values: unknown[]) => {
    if (sql.trim().toLowerCase() === "commit" && steps.includes("flush")) step("commit");
    return Reflect.apply(run, statement, values) as Database.RunResult;
  };
  return statement;
} as typeof prepare;

process.on("exit", () => process.stderr.write(`steps: ${steps.join(" ")}\n`));
