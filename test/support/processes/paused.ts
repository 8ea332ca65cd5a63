/* oxlint-disable typescript/unbound-method -- methods of prototypes are replaced here on purpose, and called with the `this` they were called with */
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { Pool } from "undici";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { hostOf, type Host } from "../../../src/base/host.ts";
import { carryOut } from "../../../src/cli/program.ts";
import { createOutput } from "../../../src/cli/output.ts";

/**
 * A command line of the program on a host and a clock of its own, which stops itself (SIGSTOP) once at the first E5:
 * `paused.ts '{boot, clock, at, trusting}' WORDS…`.
 */
export interface PausedProgram {
  /** What the host is called. */
  boot: string;
  /** A file that says by how many milliseconds its clock is ahead of the machine's. */
  clock: string;
  /** When it stops: before the first byte of the call is due, when it is about to be written, or when it was. */
  at: "before" | "writing" | "written";
  /** As if nobody who left a call could be paused: the rule is off. */
  trusting: boolean;
}

/** A host on which everybody else counts as dead, and no call is late. */
export const trustingHost: Host = { holderOf: () => "anybody", clockSkewMs: Number.MAX_SAFE_INTEGER };

function stopAt(at: PausedProgram["at"]): void {
  const isOrder = (text: unknown): boolean => String(text).includes("/licenseOrder/batchOrder");
  let stopped = false;
  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    process.kill(process.pid, "SIGSTOP");
  };
  const { dispatch } = Pool.prototype;
  Pool.prototype.dispatch = function stopping(this: Pool, ...[options, handler]: Parameters<Pool["dispatch"]>) {
    if (at === "before" && isOrder(options.path)) stop();
    return dispatch.call(this, options, handler);
  };
  let isNext = false;
  const { write } = Socket.prototype;
  Socket.prototype.write = function stopping(this: Socket, ...written: unknown[]): boolean {
    if (at !== "before" && isOrder(written[0])) isNext = true;
    if (at === "writing" && isNext) stop();
    const result = Reflect.apply(write, this, written) as boolean;
    if (at === "written" && isNext && this.writableCorked === 0) setImmediate(stop);
    return result;
  };
}

if (process.argv[1] === import.meta.filename) {
  const wanted: PausedProgram = JSON.parse(process.argv[2] ?? "{}");
  const ahead = (): number => Number(readFileSync(wanted.clock, "utf8"));
  const clock: Clock = {
    now: () => systemClock.now() + ahead(),
    monotonic: () => systemClock.monotonic() + ahead(),
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  };
  stopAt(wanted.at);
  process.exitCode = await carryOut(process.argv.slice(3), {
    environment: process.env,
    output: createOutput(process.stdout, process.stderr, () => performance.now(), { log: process.stderr }),
    signal: new AbortController().signal,
    startWeb: () => Promise.reject(new Error("nothing answers health questions here")),
    clock,
    host: wanted.trusting ? trustingHost : hostOf(() => wanted.boot),
  });
}
