import { chmodSync, copyFileSync, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ExitCode } from "../../base/errors.ts";
import { projectFolder } from "../../base/project-folder.ts";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
import { ok } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { reportFailure } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("init")
    .description("make a configuration to start from, with every key explained")
    .addHelpText("after", example("crm-sync --config crm-sync.yaml init"))
    .action(() => carryOut(initCommand));
};

/** `init`: a configuration to start from, with every key explained. Never writes over a file. */
async function initCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options } = invocation;
  const path = resolve(options.config ?? "crm-sync.yaml");
  try {
    if (existsSync(path)) {
      throw new Problem({
        code: "init.exists",
        message: `${path} is there already and was not touched`,
        cure: "name another file with --config FILE",
        exitCode: exitCodes.usage,
      });
    }
    try {
      copyFileSync(join(projectFolder, "config/production.example.yaml"), path);
      // It holds no secret, and whoever may read the ledger asks with it.
      chmodSync(path, 0o644);
    } catch (error) {
      throw new Problem({
        code: "init.cannot-write",
        message: `${path} cannot be written: ${messageOf(error)}`,
        cure: "check that the folder exists and that this user may write there",
        exitCode: exitCodes.usage,
        cause: error,
      });
    }
    output.line(`${path} was made; every key is explained in it.`);
    output.line(
      "Next: fill in the services, the sources and the assumptions, " +
        "set the environment variables it names, then `crm-sync check`.",
    );
    return ok;
  } catch (error) {
    return reportFailure(output, error, options.json);
  }
}
