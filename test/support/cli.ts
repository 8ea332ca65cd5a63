import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/sandbox.ts";
import { stringify } from "yaml";
import { fileSource, filesOf, writeFiles } from "./world/crm-files.ts";
import { company, privateText, sealEnvironment } from "./world/crm.ts";
import type { Crm } from "./world/crm.ts";
import { putNewLedger } from "./new-ledger.ts";
import { carryOut, compileCache } from "./warm.ts";
import { changeFile, folder as newFolder, openSandbox, rowsOf } from "./world/start.ts";

const project = join(import.meta.dirname, "../..");
const launcher = join(project, "bin/crm-sync");

/** What JSON.parse gives: each test says what it expects of it. */
export type Parsed = ReturnType<typeof JSON.parse>;

/** How one command line ended. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  ms: number;
}

/** A command line that is still on. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  stdout(): string;
  stderr(): string;
  /** Waits until stdout and stderr together hold this; rejects when the program ends before. */
  says(text: string | RegExp): Promise<void>;
}

/** The configuration of a world, without the services: those of the sandbox come from its profile. */
export const worldConfiguration = `ledger:
  path: ledger.db
  sealKey: env:SEAL_KEY
zone: UTC
log: { level: warn }
${stringify({ sources: { crm: fileSource("data", ["customers", "orders"]), hr: fileSource("data", ["staff"]) } })}`;

/** The job of a world that does everything in one run. */
const worldJobs = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;

const tokens = /sandbox-app-token|sandbox-user-token/u;

/** A CRM, its configuration, a sandbox and the command line, in a folder that goes with the test. */
export interface World extends Crm {
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** What is added to the end of the configuration. */
  extra: string;
  environment: Record<string, string | undefined>;
  path(name: string): string;
  /** Writes the configuration and the files of the CRM as they are now. */
  write(): void;
  /** Carries a command line out against the sandbox, in a process that is kept for all of them. */
  run(...words: string[]): Promise<Ended>;
  /** The same by the real launcher, in a process of its own. */
  start(...words: string[]): Running;
  /** As `run`, without `--sandbox`. */
  plain(...words: string[]): Promise<Ended>;
  /** Rows of the ledger. */
  rows<Row>(sql: string, ...parameters: unknown[]): Row[];
  /** Carries out a statement in the ledger as somebody with the file at hand could. */
  tamper(sql: string): void;
  /**
   * From now on the sandbox answers at once, whatever its latency: for what comes after the moment that the latency is
   * there for.
   */
  answerAtOnce(): void;
  /** Writing calls that the sandbox got while `work` was on, by operation. */
  writes<T>(work: () => Promise<T>): Promise<{ result: T; calls: Record<string, number> }>;
}

export const writingOperations = ["E1", "E2", "E4", "E5", "E6", "E7", "E9", "M1", "M2", "M3", "M4", "M9", "M10"];

/** Settings with which a read that failed is tried again soon: as often as always, and waited for less. */
export const promptRetries = {
  CRM_SYNC__orderService__backoffBaseMs: "20",
  CRM_SYNC__memberCenter__backoffBaseMs: "20",
};

/** The environment of the machine without what would configure the program. */
function bareEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("CRM_SYNC") && name !== "NODE_OPTIONS");
  return { ...Object.fromEntries(kept), NODE_COMPILE_CACHE: compileCache };
}

/** Starts the real launcher in a folder. Everything it says is collected; nothing of it goes to the terminal. */
export function startCli(
  words: readonly string[],
  options: { folder: string; environment?: Record<string, string | undefined> },
): Running {
  const started = performance.now();
  const child = spawn(launcher, words, {
    cwd: options.folder,
    env: { ...bareEnvironment(), ...options.environment },
  });
  child.stdin.on("error", () => {});
  child.stdin.end();
  let stdout = "";
  let stderr = "";
  const listeners = new Set<() => void>();
  const heard = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    heard();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    heard();
  });
  let over = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      over = true;
      heard();
      resolve({ code, signal, stdout, stderr, ms: performance.now() - started });
    });
  });
  return {
    child,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const all = stdout + stderr;
          if (typeof text === "string" ? all.includes(text) : text.test(all)) {
            listeners.delete(look);
            resolve();
          } else if (over) {
            listeners.delete(look);
            reject(new Error(`it ended without saying ${String(text)}:\n${all}`));
          }
        };
        listeners.add(look);
        look();
      }),
  };
}

/**
 * What holds for every command line, whatever it did: nothing private, no stack trace, no terminal codes in a pipe,
 * every line of stderr that looks like a log line is one, and with `--json` stdout is JSON on every line.
 */
export function expectDecent(words: readonly string[], ended: Pick<Ended, "stdout" | "stderr">): void {
  const said = `${ended.stdout}\n${ended.stderr}`;
  const command = `crm-sync ${words.join(" ")}`;
  for (const pattern of [privateText, tokens])
    expect.soft(pattern.exec(said)?.[0], `${command} shows something private`).toBeUndefined();
  expect.soft(/^\s+at .+:\d+:\d+\)?$/mu.exec(said)?.[0], `${command} shows a stack trace`).toBeUndefined();
  // eslint-disable-next-line no-control-regex
  expect.soft(/\u001b|\r/u.exec(said)?.[0], `${command} writes terminal codes into a pipe`).toBeUndefined();
  if (!words.includes("--json")) return;
  expect.soft(() => documentsIn(ended.stdout), `${command} prints what is no JSON: ${ended.stdout}`).not.toThrow();
}

/** One document over several lines, or a document on each line. */
function documentsIn(stdout: string): Parsed[] {
  try {
    return [JSON.parse(stdout)];
  } catch {
    return stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }
}

/** The JSON documents on stdout. */
export function documents(ended: Ended): Parsed[] {
  return documentsIn(ended.stdout);
}

/** The one JSON document on stdout. */
export function document(ended: Ended): Parsed {
  const all = documents(ended);
  expect(all, `one document was expected:\n${ended.stdout}\n${ended.stderr}`).toHaveLength(1);
  return all[0];
}

/** Waits for something that another process brings about; rejects when it does not within some minutes. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 8_000; tries += 1) {
    if (holds()) return;
    await sleep(25);
  }
  throw new Error(`it never came to this: ${what}`);
}

/** The clock of the machine, on which nobody waits for anything any more once `prompt` is aborted. */
function clockUntil(prompt: AbortSignal): Clock {
  return { ...systemClock, sleep: (ms, signal) => systemClock.sleep(prompt.aborted ? 0 : ms, signal) };
}

/**
 * Makes a world: by default two customers with one order of two assets each, and two people each. `isNew`: without a
 * ledger.
 */
export async function world(
  options: { records?: Crm; sandbox?: Partial<SandboxOptions>; isNew?: true } = {},
): Promise<World> {
  const folder = newFolder();
  const prompt = new AbortController();
  const clock = options.sandbox?.clock ?? clockUntil(prompt.signal);
  const sandbox = await openSandbox({ ...options.sandbox, clock });
  const path = (name: string): string => join(folder, name);
  const made: World = {
    folder,
    sandbox,
    ...(options.records ?? company(2, 2)),
    extra: "",
    environment: {
      ...sealEnvironment,
      CRM_SYNC__settle__timeMs: "200",
      CRM_SYNC__settle__readings: "2",
    },
    path,
    write() {
      writeFileSync(
        path("crm-sync.yaml"),
        `${worldConfiguration}${made.extra.includes("jobs:") ? "" : worldJobs}${made.extra}`,
      );
      writeFiles(path("data"), filesOf("ndjson", made));
      if (options.isNew !== true) putNewLedger(path("ledger.db"));
    },
    start(...words) {
      const running = startCli([`--sandbox=${sandbox.url}`, ...words], { folder, environment: made.environment });
      onTestFinished(() => {
        if (running.child.exitCode === null) running.child.kill("SIGKILL");
      });
      return running;
    },
    async run(...words) {
      return await made.plain(`--sandbox=${sandbox.url}`, ...words);
    },
    async plain(...words) {
      const started = performance.now();
      const environment = { ...bareEnvironment(), ...made.environment };
      const said = await carryOut(words, { folder, environment });
      const ended: Ended = { ...said, signal: null, ms: performance.now() - started };
      expectDecent(words, ended);
      return ended;
    },
    rows: (sql, ...parameters) => rowsOf(path("ledger.db"), sql, ...parameters),
    tamper: (sql) => changeFile(path("ledger.db"), sql),
    answerAtOnce: () => prompt.abort(),
    async writes(work) {
      const before = sandbox.counts().calls;
      const result = await work();
      const after = sandbox.counts().calls;
      const calls: Record<string, number> = {};
      for (const name of writingOperations) {
        const count = (after[name] ?? 0) - (before[name] ?? 0);
        if (count > 0) calls[name] = count;
      }
      return { result, calls };
    },
  };
  made.write();
  return made;
}
