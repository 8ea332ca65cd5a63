import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

const project = join(import.meta.dirname, "../..");
/** Halves what the start of each of the many processes costs. */
export const compileCache = join(tmpdir(), "crm-sync-compile-cache");

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
      "--json",
      `--config=${options.config}`,
      `--sandbox=${options.sandbox}`,
      ...options.words,
    ],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"] ?? "",
        NODE_COMPILE_CACHE: compileCache,
        CRM_SYNC__ledger__path: options.ledger,
        ...options.environment,
      },
    },
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

export async function runProgram(options: ProgramOptions): Promise<Ended> {
  return await startProgram(options).ended;
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
