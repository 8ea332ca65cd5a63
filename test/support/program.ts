import { z } from "zod";
import { createOutput } from "../../src/cli/output.ts";
import { carryOut } from "../../src/cli/program.ts";
import type { StartWeb } from "../../src/operate/health.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { Host } from "../../src/base/host.ts";
import type { Randomness } from "../../src/base/ids.ts";
import { startWebServer } from "../../src/web/server.ts";

/**
 * A command line of the program, in this process: for all that needs no process of its own. `process.ts` starts it as a
 * person does.
 */

/** How one command line ended. `signal` is set when its process was killed. */
export interface Ended {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** The last line of stdout. */
  last: string;
}

export function endOf(
  { exitCode, signal }: Pick<Ended, "exitCode" | "signal">,
  said: { stdout: string; stderr: string },
): Ended {
  return { exitCode, signal, ...said, last: said.stdout.trimEnd().split("\n").at(-1) ?? "" };
}

/** Where a command line is typed: what it would otherwise have to say each time. */
export interface Place {
  /** The configuration. A process of its own looks for one where it is started. */
  config?: string;
  /** URL of a sandbox that runs. */
  sandbox?: string;
  ledger?: string;
  /** Settings (`CRM_SYNC__settle__timeMs`) and secrets. */
  environment?: Readonly<Record<string, string | undefined>>;
}

/** What stands in for the process. */
export interface Instead {
  /** Takes what is printed, in place of `Ended`. */
  stdout?: { write(text: string | Buffer, done?: () => void): boolean; isTTY?: boolean; columns?: number };
  /** Hears what comes to stderr, as it comes. */
  hear?: (text: string) => void;
  /** Stops it, as a signal does. */
  signal?: AbortSignal;
  startWeb?: StartWeb;
  /** Time and chance; those of the machine by default. */
  clock?: Clock;
  random?: Randomness;
  host?: Host;
}

export function wordsAt({ config, sandbox }: Place, words: readonly string[]): string[] {
  return [
    ...(config === undefined ? [] : [`--config=${config}`]),
    ...(sandbox === undefined ? [] : [`--sandbox=${sandbox}`]),
    ...words,
  ];
}

/** The environment of the machine without what would configure the program, and what the place adds to it. */
export function environmentAt({ ledger, environment }: Place): Record<string, string> {
  const machine = Object.entries(process.env).filter(([name]) => !/^CRM_SYNC|^NODE_|^OTEL_/u.test(name));
  const told = { ...(ledger === undefined ? {} : { CRM_SYNC__ledger__path: ledger }), ...environment };
  const all: Record<string, string> = {};
  for (const [name, value] of [...machine, ...Object.entries(told)]) if (value !== undefined) all[name] = value;
  for (const [name, value] of Object.entries(told)) if (value === undefined) delete all[name];
  return all;
}

/** Carries a command line out. What it logs stands on stderr, as from a process of its own. */
export async function crmSync(place: Place & Instead, ...words: string[]): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  const sink = (heard: (text: string) => void) => ({
    write: (text: string | Buffer, done?: () => void) => {
      heard(String(text));
      done?.();
      return true;
    },
  });
  const errors = sink((text) => {
    stderr += text;
    place.hear?.(text);
  });
  const output = createOutput(place.stdout ?? sink((text) => (stdout += text)), errors, () => performance.now(), {
    log: errors,
    environment: environmentAt(place),
  });
  const exitCode = await carryOut(wordsAt(place, words), {
    environment: environmentAt(place),
    output,
    signal: place.signal ?? new AbortController().signal,
    startWeb: place.startWeb ?? startWebServer,
    clock: place.clock,
    random: place.random,
    host: place.host,
  });
  return endOf({ exitCode, signal: null }, { stdout: asTyped(place, stdout), stderr: asTyped(place, stderr) });
}

/** A text without what each suggested command says of its place, as it is left out where a test types one. */
export function asTyped({ config, sandbox }: Place, text: string): string {
  const options = [
    ...(config === undefined ? [] : [`--config ${config} `]),
    ...(sandbox === undefined ? [] : [`--sandbox=${sandbox} `]),
  ];
  return text.replaceAll(`crm-sync ${options.join("")}`, "crm-sync ");
}

/** `crm-sync --json run JOB` with nothing logged: for tests of many runs. */
export async function runJob(place: Place, job = "everything", clock?: Clock): Promise<Ended> {
  const environment = { CRM_SYNC__log__level: "silent", ...place.environment };
  return await crmSync({ ...place, environment, ...(clock === undefined ? {} : { clock }) }, "--json", "run", job);
}

/** `crm-sync settle OPERATION --not-applied`, as a person says it who has looked. */
export async function settleNotApplied(place: Place, operation: string): Promise<Ended> {
  const why = ["--reason", "the platform has none", "--by", "tester"];
  return await crmSync(place, "--json", "settle", operation, "--not-applied", ...why);
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
      `no result of a run: exit ${ended.exitCode ?? ended.signal}\n${ended.stdout}\n${ended.stderr.slice(-4000)}`,
      { cause: error },
    );
  }
}

/** The result of a run that has to have ended well: everything done, balanced, exit 0. */
export function goodRunOf(ended: Ended): RunResult {
  const result = runResultOf(ended);
  if (ended.exitCode === 0 && result.exit === 0 && result.state === "done" && result.balance.adds) return result;
  throw new Error(`the run did not end well: exit ${ended.exitCode}\n${ended.stdout}\n${ended.stderr.slice(-4000)}`);
}
