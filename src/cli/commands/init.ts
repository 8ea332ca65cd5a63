import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { type ExitCode, exitCodes, messageOf, Problem, usage } from "../../base/errors.ts";
import type { WrittenConfiguration } from "../../setup/configuration-text.ts";
import { ok, type Invocation } from "../command.ts";
import { example, repeated, type Register } from "../command-line.ts";
import { reportFailure, safeLines } from "../output.ts";

export const addInit: Register = (program, carryOut) => {
  program
    .command("init")
    .description("write a configuration from your own lists, or from a template")
    .option(
      "--from <file>",
      "propose how to read this list: CSV, XLSX, JSON or JSON lines (may be repeated)",
      repeated,
      [] as string[],
    )
    .option("--template <name>", "a database (postgres, sqlite) with queries to adapt, or a CRM with a preset")
    .addHelpText(
      "after",
      example(
        "crm-sync init --from customers.csv --from orders.csv --from order-lines.csv",
        "crm-sync init --from crm.xlsx",
        "crm-sync init --template postgres",
      ),
    )
    .action((options) => carryOut((invocation) => initCommand(invocation, options)));
};

interface InitOptions {
  from: readonly string[];
  template?: string | undefined;
}

interface Made extends WrittenConfiguration {
  streams: { source: string; stream: string; from: string[] }[];
}

async function initCommand(invocation: Invocation, init: InitOptions): Promise<ExitCode> {
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
    if ((init.from.length === 0) === (init.template === undefined))
      throw usage(
        "init needs either lists or a template",
        "`crm-sync init --from FILE` for each list of your CRM, or `crm-sync init --template NAME` for a database",
      );
    const made =
      init.template === undefined ? await proposed(invocation, path, init) : await fromTemplate(init.template);
    writeConfiguration(path, made.text);
    const { streams, doubts } = made;
    if (options.json) output.json({ file: path, streams, doubts });
    else printMade(invocation, path, made);
    return ok;
  } catch (error) {
    return reportFailure(output, error, options.json);
  }
}

/** The file contains no secret. Everybody who may read the ledger also needs it. */
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

async function proposed({ signal }: Invocation, path: string, init: InitOptions): Promise<Made> {
  const { proposeFrom } = await import("../../setup/init-from.ts");
  const { proposalText, sourceOfFiles: source } = await import("../../setup/configuration-text.ts");
  const zone = Temporal.Now.timeZoneId();
  const folder = dirname(path);
  const proposal = await proposeFrom(init.from, { folder, zone, signal });
  const streams = proposal.streams.map(({ stream, from }) => ({ source, stream, from: [...from] }));
  return { ...proposalText(proposal, zone), streams };
}

async function fromTemplate(name: string): Promise<Made> {
  const { templateText } = await import("../../setup/configuration-text.ts");
  return { ...templateText(name, Temporal.Now.timeZoneId()), streams: [] };
}

function printMade({ output, options }: Invocation, path: string, { streams, doubts, text }: Made): void {
  const name = relative(process.cwd(), path);
  output.line(`Wrote ${name.startsWith("..") ? path : name}.`);
  for (const { source, stream, from } of streams) output.line(safeLines(`  ${source}, ${stream}: ${from.join(", ")}`));
  output.line("");
  if (streams.length === 0) output.line("Fill in or adapt these; the file marks each with DOUBT:");
  else output.line("Check these guesses; the file marks each with DOUBT:");
  for (const { line, key, text: doubt } of doubts)
    output.line(safeLines(`  line ${String(line).padStart(3)}  ${key}: ${doubt}`));
  const named = options.config === undefined ? "" : `--config ${options.config} `;
  output.line("");
  output.line("Next, with both services simulated on this machine:");
  if (text.includes("env:SEAL_KEY"))
    output.line("  export SEAL_KEY=$(openssl rand -hex 32)   # seals the passwords of new staff; keep it");
  output.line(`  crm-sync ${named}--sandbox check`);
  const [first] = streams;
  if (first !== undefined) output.line(`  crm-sync ${named}--sandbox map ${first.source} ${first.stream}`);
  output.line(`  crm-sync ${named}--sandbox plan`);
}
