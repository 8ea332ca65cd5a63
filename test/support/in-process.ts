import { runCommand } from "../../src/cli/run-commands.ts";
import { createOutput } from "../../src/cli/output.ts";
import type { Ended, ProgramOptions } from "./program.ts";

/** `crm-sync --json run JOB` without a process of its own: for tests of many runs. What it logs is not kept; the level is `silent`. */
export async function runInProcess(
  options: Omit<ProgramOptions, "words" | "preload"> & { job: string },
): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  const output = createOutput(
    { write: (text) => (stdout += text) !== "" },
    { write: (text) => (stderr += text) !== "" },
    () => performance.now(),
  );
  const code = await runCommand(
    {
      options: { config: options.config, json: true, sandbox: options.sandbox },
      environment: {
        CRM_SYNC__ledger__path: options.ledger,
        CRM_SYNC__log__level: "silent",
        ...options.environment,
      },
      output,
      signal: new AbortController().signal,
      startHealth: () => Promise.reject(new Error("a run alone answers no health questions")),
    },
    options.job,
    [],
  );
  return { code, signal: null, stdout, stderr };
}
