import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ExitCode } from "../../base/errors.ts";
import { projectFolder } from "../../base/project-folder.ts";
import { exitCodes, messageOf, Problem, usage } from "../../base/errors.ts";
import { ok } from "../command.ts";
import type { Invocation } from "../command.ts";
import { counted } from "../../report/text.ts";
import { example, repeated } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { reportFailure, safeLines } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("init")
    .description("make a configuration to start from, with every key explained")
    .option(
      "--from <file or url>",
      "look at this list and propose how to read it: CSV, JSON or lines of JSON (may be repeated)",
      repeated,
      [] as string[],
    )
    .option("--token <reference>", "bearer token for the address: env:NAME or file:/path")
    .addHelpText(
      "after",
      example(
        "crm-sync --config crm-sync.yaml init",
        "crm-sync init --from customers.csv --from orders.csv",
        "crm-sync init --from https://crm.example.com/api/customers --token env:CRM_TOKEN",
      ),
    )
    .action((options) => carryOut((invocation) => initCommand(invocation, options)));
};

interface InitOptions {
  from: readonly string[];
  token?: string | undefined;
}

/**
 * `init`: a configuration to start from, with every key explained, or one that is proposed from lists of the CRM. Never
 * writes over a file.
 */
async function initCommand(invocation: Invocation, { from, token }: InitOptions): Promise<ExitCode> {
  const { output, options } = invocation;
  const path = resolve(options.config ?? "crm-sync.yaml");
  try {
    if (existsSync(path)) {
      throw new Problem({
        code: "init.exists",
        message: `${path} exists already. Nothing was changed`,
        cure: "choose another file with --config FILE",
        exitCode: exitCodes.usage,
      });
    }
    if (from.length > 0) return await proposeConfiguration(invocation, path, from, token);
    if (token !== undefined) throw usage("--token is for the addresses of --from", "give one, or leave it out");
    writeConfiguration(path, readFileSync(join(projectFolder, "config/production.example.yaml"), "utf8"));
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

/** It holds no secret, and whoever may read the ledger asks with it. */
function writeConfiguration(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: "wx" });
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
}

async function proposeConfiguration(
  { output, signal, options, environment }: Invocation,
  path: string,
  from: readonly string[],
  reference: string | undefined,
): Promise<ExitCode> {
  const { proposeFrom, tokenOf } = await import("../../app/init-from.ts");
  const { proposalText, sealKeyVariable } = await import("../../app/proposal-text.ts");
  const zone = Temporal.Now.timeZoneId();
  const folder = dirname(path);
  const token = reference === undefined ? {} : { token: tokenOf(reference, environment, folder) };
  const proposal = await proposeFrom(from, { folder, zone, signal, ...token });
  const { text, doubts } = proposalText(proposal, zone);
  writeConfiguration(path, text);
  const read = proposal.streams.map(({ source, stream, from: lists }) => ({ source, stream, from: [...lists] }));
  if (options.json) output.json({ file: path, streams: read, doubts });
  else {
    output.line(`${path} was made; it reads`);
    for (const { source, stream, from: lists } of read)
      output.line(safeLines(`  ${source}, ${stream}: ${lists.join(", ")}`));
    output.line(`${counted(doubts, "guess", "guesses")} in it are marked DOUBT.`);
    const named = options.config === undefined ? "" : `--config ${options.config} `;
    const [first] = read;
    output.line("Next, against the sandbox of both services, which asks for no token:");
    if (read.some(({ stream }) => stream === "staff"))
      output.line(`  export ${sealKeyVariable}=$(openssl rand -hex 32)   # seals the passwords of new staff; keep it`);
    output.line(`  crm-sync ${named}--sandbox check`);
    if (first !== undefined) output.line(`  crm-sync ${named}--sandbox map ${first.source} ${first.stream}`);
    output.line(`  crm-sync ${named}--sandbox plan`);
  }
  return ok;
}
