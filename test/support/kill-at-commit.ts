/**
 * Loaded before the program (`node --import`), it ends the process with SIGKILL right before the transaction number
 * KILL_COMMIT of those that write is committed, from 1; the program knows nothing of it. Without KILL_COMMIT it only
 * writes to stderr at the end how many there were.
 */
/* oxlint-disable typescript/unbound-method, typescript/no-unnecessary-type-assertion -- methods of prototypes are replaced here on purpose, and called with the `this` they were called with */
import Database from "better-sqlite3";

const last = Number(process.env["KILL_COMMIT"] ?? "0");
let commits = 0;

function committing(sql: string): void {
  if (sql.trim().toLowerCase() !== "commit") return;
  commits += 1;
  if (commits === last) process.kill(process.pid, "SIGKILL");
}

const prepare = Database.prototype.prepare;
Database.prototype.prepare = function countedPrepare(this: Database.Database, sql: string) {
  const statement = prepare.call(this, sql);
  const { run } = statement;
  statement.run = (...values: unknown[]) => {
    committing(sql);
    return Reflect.apply(run, statement, values) as Database.RunResult;
  };
  return statement;
} as typeof prepare;

const exec = Database.prototype.exec;
Database.prototype.exec = function countedExec(this: Database.Database, sql: string) {
  committing(sql);
  return exec.call(this, sql);
};

process.on("exit", () => process.stderr.write(`commits: ${commits}\n`));
