import { spawn } from "node:child_process";
import { join } from "node:path";
import { z } from "zod";
import { carryOut, compileCache } from "./warm.ts";

const project = join(import.meta.dirname, "../..");

/** How a process of the program ended. `signal` is set when it was killed. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface ProgramOptions {
  /** What stands after `crm-sync`. */
  words: readonly string[];
  config: string;
  /** URL of a sandbox that runs. */
  sandbox: string;
  ledger: string;
  /** Settings (`CRM_SYNC__settle__timeMs`) and whatever a preload reads. */
  environment?: Readonly<Record<string, string>>;
  /** A module that is loaded before the program. */
  preload?: string;
  /** A command line that the program's own is added to, such as `strace -f`. */
  under?: readonly string[];
}

/** A run of the program as a process of its own. */
export interface Program {
  /** SIGKILL: nothing of the program runs after it. */
  kill(): void;
  tell(signal: NodeJS.Signals): void;
  /** Whether stderr came to hold this (true) before the program ended (false). */
  says(text: string): Promise<boolean>;
  ended: Promise<Ended>;
}

function wordsOf({ config, sandbox, words }: ProgramOptions): string[] {
  return ["--json", `--config=${config}`, `--sandbox=${sandbox}`, ...words];
}

function environmentOf({ ledger, environment }: ProgramOptions): Record<string, string> {
  const machine = { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: compileCache };
  return { ...machine, CRM_SYNC__ledger__path: ledger, ...environment };
}

/** Starts `crm-sync --json WORDS`. */
export function startProgram(options: ProgramOptions): Program {
  const preload = options.preload === undefined ? [] : ["--import", options.preload];
  const [command, ...before] = options.under ?? [];
  const child = spawn(
    command ?? process.execPath,
    [
      ...before,
      ...(command === undefined ? [] : [process.execPath]),
      ...preload,
      join(project, "src/main.ts"),
      ...wordsOf(options),
    ],
    { stdio: ["ignore", "pipe", "pipe"], env: environmentOf(options) },
  );
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const listeners = new Set<() => void>();
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (const listener of listeners) listener();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return {
    kill: () => void child.kill("SIGKILL"),
    tell: (signal) => void child.kill(signal),
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (stderr.includes(text)) resolve(true);
        };
        listeners.add(look);
        look();
        ended.then(() => resolve(stderr.includes(text)), reject);
      }),
    ended,
  };
}

/**
 * Runs `crm-sync --json WORDS` to its end: in a process of its own where something is put under or before it, otherwise
 * in one that is kept.
 */
export async function runProgram(options: ProgramOptions): Promise<Ended> {
  if (options.preload !== undefined || options.under !== undefined) return await startProgram(options).ended;
  const said = await carryOut(wordsOf(options), { folder: project, environment: environmentOf(options) });
  return { ...said, signal: null };
}

const runResult = z.looseObject({
  run: z.string(),
  state: z.string(),
  exit: z.int(),
  writingCalls: z.int(),
  balance: z.looseObject({ adds: z.boolean() }),
});
export type RunResult = z.infer<typeof runResult>;

/** What a sync run printed with --json. Throws with everything the process said when that is no such result. */
export function runResultOf(ended: Ended): RunResult {
  try {
    return runResult.parse(JSON.parse(ended.stdout));
  } catch (error) {
    throw new Error(
      `no result of a run: exit ${ended.code ?? ended.signal}\n${ended.stdout}\n${ended.stderr.slice(-4000)}`,
      { cause: error },
    );
  }
}

/** The result of a run that has to have ended well: everything done, balanced, exit 0. */
export function goodRunOf(ended: Ended): RunResult {
  const result = runResultOf(ended);
  if (ended.code === 0 && result.exit === 0 && result.state === "done" && result.balance.adds) return result;
  throw new Error(`the run did not end well: exit ${ended.code}\n${ended.stdout}\n${ended.stderr.slice(-4000)}`);
}
