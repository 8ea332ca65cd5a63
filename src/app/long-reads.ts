import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { projectFolder } from "../base/program-version.ts";
import type { Application } from "./application.ts";
import { Turns } from "./turns.ts";
import type { Wanted } from "./turns.ts";

/** What a process of its own is asked for, by a command line of this program. */
export interface LongRead extends Wanted {
  words: readonly string[];
  timeoutMs?: number;
}

/** How a process ended that said everything it had to say. */
export interface EndedRead {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/**
 * What goes through much of the ledger is read by a process of its own, which runs the same command as a person: the
 * daemon goes on meanwhile. There are few at once, and one of each person; others wait a while for their turn.
 */
export interface LongReads {
  /** How many are in progress or wait. */
  readonly count: number;
  /**
   * What the command prints, as it comes. Resolves once it has begun to print or ended well; throws a Problem where it
   * failed before, or too many wait. Where it fails later, the bytes end with an error, never as if they were
   * whole.
   */
  bytes(read: LongRead): Promise<AsyncIterable<Buffer>>;
  /** Everything that the command prints, whatever its exit code. Throws a Problem where it was ended. */
  text(read: LongRead): Promise<EndedRead>;
}

const longestMs = 15 * 60_000;
/** A browser that gets nothing gives up soon after that. */
const longestWaitMs = 30_000;
/** So much is waited for before anybody is told that it goes well. */
const heldBackBytes = 256 * 1024;
const mostText = 16 * 1024 * 1024;
const mostSaid = 8_000;

type Child = ChildProcessByStdio<null, Readable, Readable>;

/**
 * `command`: the program and the words before those of a command line; by default this very program. `waitMs`: how long
 * one waits for its turn.
 */
export function createLongReads(
  application: () => Application,
  command: () => readonly [string, ...string[]] = thisProgram,
  waitMs = longestWaitMs,
): LongReads {
  const turns = new Turns(waitMs);
  const begin = async (read: LongRead): Promise<Running> => {
    const end = await turns.begin(read);
    try {
      const { environment, commandOptions } = application();
      const running = start(command(), [...commandOptions, ...read.words], environment, read);
      void running.closed.finally(end);
      return running;
    } catch (error) {
      end();
      throw error;
    }
  };
  return {
    get count() {
      return turns.count;
    },
    async bytes(read) {
      const running = await begin(read);
      const whole = wholeBytes(running, read.what);
      const first: Buffer[] = [];
      let held = 0;
      let isAll = false;
      while (held < heldBackBytes && !isAll) {
        const next = await whole.next();
        if (next.done === true) isAll = true;
        else held += next.value.length;
        if (next.done !== true) first.push(next.value);
      }
      return (async function* () {
        try {
          yield* first;
          if (!isAll) yield* whole;
        } finally {
          running.stop("nobody takes it any more");
        }
      })();
    },
    async text(read) {
      const running = await begin(read);
      const parts: Buffer[] = [];
      let size = 0;
      for await (const part of partsOf(running.child)) {
        size += part.length;
        if (size > mostText) running.stop("it prints more than can be held");
        else parts.push(part);
      }
      const { exitCode, why } = await running.closed;
      if (exitCode === null) throw failed(read.what, why ?? "it was ended", running.said());
      return { exitCode, stdout: Buffer.concat(parts).toString("utf8"), stderr: running.said() };
    },
  };
}

interface Running {
  child: Child;
  closed: Promise<{ exitCode: number | null; why: string | undefined }>;
  said: () => string;
  stop: (why: string) => void;
}

function start(
  [program, ...before]: readonly [string, ...string[]],
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  { signal, timeoutMs = longestMs }: LongRead,
): Running {
  // It is no service of its own: nobody is told that it is ready.
  const { NOTIFY_SOCKET: _socket, WATCHDOG_USEC: _usec, ...env } = environment;
  const child: Child = spawn(program, [...before, ...words], { stdio: ["ignore", "pipe", "pipe"], env });
  let why: string | undefined;
  let said = "";
  // It only reads: nothing is lost where it is killed.
  const stop = (reason: string): void => {
    why ??= reason;
    child.kill("SIGKILL");
  };
  const timer = setTimeout(() => stop(`it took longer than ${timeoutMs} ms`), timeoutMs);
  const gone = (): void => stop("nobody waits for it any more");
  signal?.addEventListener("abort", gone, { once: true });
  if (signal?.aborted === true) gone();
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-mostSaid)));
  const closed = new Promise<{ exitCode: number | null; why: string | undefined }>((resolve) => {
    child.once("error", (error) => (why ??= messageOf(error)));
    child.once("close", (exitCode) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", gone);
      resolve({ exitCode: why === undefined ? exitCode : null, why });
    });
  });
  return { child, closed, said: () => said.trim(), stop };
}

async function* partsOf({ stdout }: Child): AsyncGenerator<Buffer, void, void> {
  for await (const part of stdout) if (Buffer.isBuffer(part)) yield part;
}

/** What it prints; throws at the end of it where it did not end well. */
async function* wholeBytes(running: Running, what: string): AsyncGenerator<Buffer, void, void> {
  yield* partsOf(running.child);
  const { exitCode, why } = await running.closed;
  if (exitCode !== 0) throw failed(what, why ?? `it ended with exit code ${exitCode}`, running.said(), exitCode);
}

function failed(what: string, why: string, said: string, exitCode: number | null = null): Problem {
  const told = said.split("\n").filter((line) => line.trim() !== "");
  return new Problem({
    code: exitCode === exitCodes.usage ? "usage" : "reads.failed",
    message: [`${what} could not be made: ${why}`, ...told].join("\n"),
    cure:
      "solve the problem that the message names, then try again; the same command in a terminal shows the same " +
      "message",
  });
}

/** This program, as it was started: its bundle, or its source. */
function thisProgram(): [string, ...string[]] {
  const isBundle = import.meta.filename.endsWith(".cjs");
  return [process.execPath, isBundle ? join(import.meta.dirname, "main.cjs") : join(projectFolder, "src/main.ts")];
}
