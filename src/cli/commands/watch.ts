import { existsSync, readFileSync } from "node:fs";
import { watch } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { ExitCode } from "../../base/errors.ts";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
import type { Invocation } from "../command.ts";
import { example, wholeNumber } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { reportFailure } from "../output.ts";
import { mapCommand } from "./map.ts";
import type { MapOptions } from "./map.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("watch")
    .description("show records raw and mapped again each time the configuration is saved; until Ctrl-C")
    .argument("<source>", "name of the source in the configuration")
    .argument("<stream>", "customers, orders or staff")
    .option("--limit <number>", "how many records", wholeNumber, 1)
    .option("--record <key>", "only the record with this key or id")
    .option("--show-private", "with personal data; secrets are never shown", false)
    .addHelpText("after", example("crm-sync watch erp orders --record 10248"))
    .action((source, stream, options) => carryOut((invocation) => watchCommand(invocation, source, stream, options)));
};

/** An editor writes a file in several steps: what comes within this time is one save. Milliseconds. */
const oneSave = 150;

/** `watch`: a mistake in the configuration is told and waited on; it ends with 0 when a person stops it. */
async function watchCommand(
  invocation: Invocation,
  source: string,
  stream: string,
  options: MapOptions,
): Promise<ExitCode> {
  const { output, signal } = invocation;
  const { configFile } = await import("../../app/open-config.ts");
  const file = configFile(invocation.options, invocation.environment);
  try {
    // The folder is watched: many editors put a new file in the place of the old one.
    const saves = watch(dirname(file), { signal });
    let shown: string | undefined;
    const showSaved = async (): Promise<void> => {
      // One save is several events, and each of them finds the same text.
      const text = readFileSync(file, "utf8");
      if (text === shown) return;
      shown = text;
      await mapCommand(invocation, source, stream, options);
      if (!signal.aborted) output.note(`waiting for the next save of ${file}; Ctrl-C ends it`);
    };
    await showSaved();
    for await (const { filename } of saves) {
      if (filename !== basename(file)) continue;
      await pause(oneSave, undefined, { signal });
      if (existsSync(file)) await showSaved();
    }
  } catch (error) {
    if (signal.aborted) return exitCodes.ok;
    const problem = new Problem({
      code: "watch.failed",
      message: `${file} cannot be watched: ${messageOf(error)}`,
      cure: "name the configuration with --config FILE",
      exitCode: exitCodes.usage,
      cause: error,
    });
    return reportFailure(output, problem, invocation.options.json);
  }
  return exitCodes.ok;
}
