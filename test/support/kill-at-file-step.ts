import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/*
 * Loaded before the program: ends the process by SIGKILL right before the nth step of it that moves, copies, removes or
 * flushes a file, where KILL_STEP says so; at its end it says how many there were.
 */
const at = Number(process.env["KILL_STEP"] ?? "0");
let steps = 0;

for (const name of ["renameSync", "copyFileSync", "rmSync", "fsyncSync"] as const) {
  const real = fs[name] as (...values: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...values: unknown[]): unknown => {
      steps += 1;
      if (steps === at) process.kill(process.pid, "SIGKILL");
      return real(...values);
    },
  });
}
syncBuiltinESMExports();
process.on("exit", () => process.stderr.write(`file steps: ${steps}\n`));
