import type { Invocation } from "../../src/cli/command.ts";
import { settleCommand } from "../../src/cli/commands/settle.ts";
import { createOutput } from "../../src/cli/output.ts";
import { resyncCommand } from "../../src/cli/commands/resync.ts";
import { runCommand } from "../../src/cli/commands/run.ts";
import type { Ended, ProgramOptions } from "./program.ts";

type Options = Omit<ProgramOptions, "words" | "preload" | "under"> & {
  /** false: what it says to people. */
  json?: boolean;
};

/**
 * `crm-sync --json run JOB` without a process of its own: for tests of many runs. What it logs is not kept; the level
 * is `silent`.
 */
export async function runInProcess(options: Options & { job: string }): Promise<Ended> {
  return await inProcess(options, (invocation) => runCommand(invocation, options.job, []));
}

/** `crm-sync --json resync --customer ID`. */
export async function resyncInProcess(options: Options, customer: string): Promise<Ended> {
  return await inProcess(options, (invocation) => resyncCommand(invocation, { customer }));
}

/** `crm-sync --json settle OPERATION --not-applied`, as a person says it who has looked. */
export async function settleNotApplied(options: Options, operation: string): Promise<Ended> {
  const verdict = { applied: false, notApplied: true };
  return await inProcess(options, (invocation) =>
    settleCommand(invocation, [operation], { ...verdict, reason: "the platform has none", by: "tester" }),
  );
}

/** Any command, with what it prints. */
export async function inProcess(
  options: Options,
  command: (invocation: Invocation) => Promise<number>,
  instead: Partial<Pick<Invocation, "signal" | "startHealth">> = {},
): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  const output = createOutput(
    {
      write: (text, done) => {
        stdout += text;
        done?.();
        return true;
      },
    },
    { write: (text) => (stderr += text) !== "" },
    () => performance.now(),
  );
  const code = await command({
    options: { config: options.config, json: options.json ?? true, sandbox: options.sandbox },
    environment: {
      CRM_SYNC__ledger__path: options.ledger,
      CRM_SYNC__log__level: "silent",
      ...options.environment,
    },
    output,
    signal: new AbortController().signal,
    startHealth: () => Promise.reject(new Error("nothing here answers health questions")),
    ...instead,
  });
  return { code, signal: null, stdout, stderr };
}
