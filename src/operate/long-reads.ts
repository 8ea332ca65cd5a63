import { spawn, type ChildProcessByStdio } from "node:child_process";
import { join } from "node:path";
import type { Readable } from "node:stream";
import pLimit, { type LimitFunction } from "p-limit";
import { toInstant, type Clock } from "../base/clock.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { projectFolder } from "../base/program-version.ts";
import { identityKey, type Who } from "../base/who.ts";
import type { Application } from "./application.ts";

export interface LongRead extends Wanted {
  words: readonly string[];
  timeoutMs?: number;
}

interface EndedRead {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Run as commands in their own process, so that the daemon keeps working. Few at once, and one per person. */
export interface LongReads {
  readonly count: number;
  /** Throws if it fails before any output. A later failure ends the bytes with an error: never seemingly complete. */
  bytes(read: LongRead): Promise<AsyncIterable<Buffer>>;
  /** The whole output, whatever the exit code. Throws a Problem if the process was stopped. */
  text(read: LongRead): Promise<EndedRead>;
}

const longestMs = 15 * 60_000;
/** Output held back before the caller learns that the command works. */
const heldBackBytes = 256 * 1024;
const mostText = 16 * 1024 * 1024;
const mostSaid = 8_000;

type Child = ChildProcessByStdio<null, Readable, Readable>;

export function createLongReads(
  { environment, commandOptions }: Pick<Application, "environment" | "commandOptions">,
  command: () => readonly [string, ...string[]] = thisProgram,
): LongReads {
  const turns = new Turns();
  const begin = async (read: LongRead): Promise<Running> => {
    const end = await turns.begin(read);
    try {
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
  const child: Child = spawn(program, [...before, ...words], { stdio: ["ignore", "pipe", "pipe"], env: environment });
  let why: string | undefined;
  let said = "";
  // It only reads, so killing it loses nothing.
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

/** The output. Throws at its end if the command failed. */
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

function thisProgram(): [string, ...string[]] {
  const isBundle = import.meta.filename.endsWith(".cjs");
  return [process.execPath, isBundle ? join(import.meta.dirname, "main.cjs") : join(projectFolder, "src/main.ts")];
}

interface Wanted {
  what: string;
  by: Who;
  signal?: AbortSignal | undefined;
}

const atOnce = 2;
/** Per person: in progress or waiting. Only one is in progress. */
const mostOfPerson = 3;
const mostWaiting = 20;

/** Few at once and one per person, so that many open pages of one person do not block others. */
class Turns {
  readonly #all = pLimit(atOnce);
  readonly #people = new Map<string, { one: LimitFunction; count: number }>();
  count = 0;

  /** Returns the function that ends the turn. Throws a Problem if too many wait, or the caller is gone. */
  async begin({ what, by, signal }: Wanted): Promise<() => void> {
    const person = this.#people.getOrInsertComputed(identityKey(by), () => ({ one: pLimit(1), count: 0 }));
    if (person.count >= mostOfPerson)
      throw new Problem({
        code: "reads.too-many",
        message: `${what} was not started: ${mostOfPerson} other requests of ${by.name} are in progress.`,
        cure: "Try again when one of them has ended.",
      });
    if (this.count >= atOnce + mostWaiting) throw busyWith(what, `${mostWaiting} other requests are waiting`);
    const begun = Promise.withResolvers<() => void>();
    const gone = (): void => {
      begun.reject(busyWith(what, "nobody waits for the result any more"));
      this.#counts(person, -1);
    };
    const turn = async (): Promise<void> => {
      if (signal?.aborted === true) return;
      signal?.removeEventListener("abort", gone);
      const ended = Promise.withResolvers<void>();
      begun.resolve(ended.resolve);
      await ended.promise;
      this.#counts(person, -1);
    };
    this.#counts(person, 1);
    signal?.addEventListener("abort", gone, { once: true });
    if (signal?.aborted === true) gone();
    void person.one(() => this.#all(turn));
    return await begun.promise;
  }

  #counts(person: { count: number }, change: number): void {
    person.count += change;
    this.count += change;
  }
}

function busyWith(wanted: string, why: string): Problem {
  return new Problem({
    code: "reads.busy",
    message: `${wanted} was not started: ${why}.`,
    cure: "Try again in a minute.",
  });
}

interface KeptState<T> {
  by: string;
  startedAt: string;
  ended?: { at: string; result: T } | { at: string; problem: Problem };
}

/** A reading that a person repeats as needed. Keeps the last result until the program ends. */
export class KeptRead<T> {
  readonly #deps: { reads: LongReads; clock: Clock };
  readonly #read: Omit<LongRead, "signal" | "by">;
  readonly #parse: (ended: EndedRead) => T;
  #state: KeptState<T> | undefined;

  constructor(
    deps: { reads: LongReads; clock: Clock },
    read: Omit<LongRead, "signal" | "by">,
    parse: (ended: EndedRead) => T,
  ) {
    this.#deps = deps;
    this.#read = read;
    this.#parse = parse;
  }

  get state(): KeptState<T> | undefined {
    return this.#state;
  }

  get isInProgress(): boolean {
    return this.#state !== undefined && this.#state.ended === undefined;
  }

  begin(by: Who, signal: AbortSignal): void {
    const { reads, clock } = this.#deps;
    const { what } = this.#read;
    if (this.isInProgress) throw busyWith(what, "it is in progress already");
    const state: KeptState<T> = { by: by.name, startedAt: toInstant(clock.now()) };
    this.#state = state;
    void reads.text({ ...this.#read, by, signal }).then(
      (read) => (state.ended = { at: toInstant(clock.now()), ...this.#resultOf(read) }),
      (thrown: unknown) => (state.ended = { at: toInstant(clock.now()), problem: problemOf(thrown) }),
    );
  }

  #resultOf(read: EndedRead): { result: T } | { problem: Problem } {
    try {
      return { result: this.#parse(read) };
    } catch (thrown) {
      return { problem: problemOf(thrown, read.stderr) };
    }
  }
}

function problemOf(thrown: unknown, said = ""): Problem {
  if (thrown instanceof Problem) return thrown;
  return new Problem({
    code: "reads.failed",
    message: ["the output of the command cannot be used", said].filter((text) => text !== "").join(": "),
    cure: "run the same command in a terminal",
    cause: thrown,
  });
}
