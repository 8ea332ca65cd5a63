/**
 * Loaded before the program (`node --import`), it ends the process with SIGKILL right before the step number KILL_STEP
 * of what it makes durable, from 1: a transaction that is committed, and a file that is moved, copied, removed or
 * flushed. The program knows nothing of it. KILL_SIGNAL is another signal, such as SIGSTOP. At its end it writes to stderr how many steps there were.
 */
/* oxlint-disable typescript/unbound-method, typescript/no-unnecessary-type-assertion -- methods of prototypes are replaced here on purpose, and called with the `this` they were called with */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import Database from "better-sqlite3";

const last = Number(process.env["KILL_STEP"] ?? "0");
let steps = 0;

function step(): void {
  steps += 1;
  if (steps === last) process.kill(process.pid, process.env["KILL_SIGNAL"] ?? "SIGKILL");
}

for (const name of ["renameSync", "copyFileSync", "rmSync", "fsyncSync"] as const) {
  const real = fs[name] as (...values: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...values: unknown[]): unknown => {
      step();
      return real(...values);
    },
  });
}
syncBuiltinESMExports();

const isCommit = (sql: string): boolean => sql.trim().toLowerCase() === "commit";

const prepare = Database.prototype.prepare;
Database.prototype.prepare = function countedPrepare(this: Database.Database, sql: string) {
  const statement = prepare.call(this, sql);
  const { run } = statement;
  statement.run = (...values: unknown[]) => {
    if (isCommit(sql)) step();
    return Reflect.apply(run, statement, values) as Database.RunResult;
  };
  return statement;
} as typeof prepare;

const exec = Database.prototype.exec;
Database.prototype.exec = function countedExec(this: Database.Database, sql: string) {
  if (isCommit(sql)) step();
  return exec.call(this, sql);
};

process.on("exit", () => process.stderr.write(`steps: ${steps}\n`));
