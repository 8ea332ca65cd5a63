import { spawn, type ChildProcess } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundled } from "./bundle.ts";
import { asTyped, endOf, environmentAt, wordsAt, type Ended, type Place } from "./program.ts";

/** A command line of the program in a process of its own: for kills, signals, system calls, and what the start does. */

const project = join(import.meta.dirname, "../..");

export interface OwnPlace extends Place {
  /** Where it is started; with it, by the real launcher. */
  folder?: string;
  /** A module that is loaded before the program. */
  preload?: string;
  /** What stands in for the program: a module and its first words. */
  program?: readonly string[];
  /** A command line that the program's own is added to, such as `strace -f`. */
  under?: readonly string[];
}

/** Halves what the start of each of the many processes costs. */
export const compileCache = join(tmpdir(), "crm-sync-compile-cache");

/** Most of these processes end before there is anything to collect. */
const roomy = ["--min-semi-space-size=64", "--max-semi-space-size=64"];

/** A command line that is still on. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout(): string;
  stderr(): string;
  /** Whether stdout or stderr came to hold this (true) before the program ended (false). */
  says(text: string | RegExp): Promise<boolean>;
}

function commandOf({ folder, preload, program: instead, under }: OwnPlace): [string, ...string[]] {
  if (folder !== undefined) return [join(project, "bin/crm-sync")];
  const preloaded = preload === undefined ? [] : ["--import", preload];
  const program: [string, ...string[]] = [process.execPath, ...roomy, ...preloaded, ...(instead ?? [bundled()])];
  const [first, ...rest] = under ?? [];
  return first === undefined ? program : [first, ...rest, ...program];
}

/** Starts a command line. Everything it says is collected; nothing of it goes to the terminal. */
export function startCrmSync(place: OwnPlace, ...words: string[]): Running {
  const [command, ...before] = commandOf(place);
  const child = spawn(command, [...before, ...wordsAt(place, words)], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: place.folder ?? project,
    env: { NODE_COMPILE_CACHE: compileCache, ...environmentAt(place) },
  });
  const said = { stdout: "", stderr: "" };
  const listeners = new Set<() => void>();
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      said[stream] += text;
      for (const listener of listeners) listener();
    });
  const typed = () => ({ stdout: asTyped(place, said.stdout), stderr: asTyped(place, said.stderr) });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode, signal) => resolve(endOf({ exitCode, signal }, typed())));
  });
  const holds = (text: string | RegExp): boolean => {
    const all = said.stdout + said.stderr;
    return typeof text === "string" ? all.includes(text) : text.test(all);
  };
  return {
    child,
    ended,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (holds(text)) resolve(true);
        };
        listeners.add(look);
        look();
        ended.then(() => resolve(holds(text)), reject);
      }),
  };
}
