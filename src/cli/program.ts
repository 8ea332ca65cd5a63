import { Command, CommanderError, InvalidArgumentError } from "@commander-js/extra-typings";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { exitCodes } from "../base/errors.ts";
import type { ExitCode } from "../base/errors.ts";
import type { StartHealth } from "../run/health.ts";
import type { Invocation } from "./command.ts";
import type { Environment } from "./workplace.ts";
import { createOutput, reportFailure } from "./output.ts";

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError("It must be a whole number of at least 0.");
}

function example(...lines: string[]): string {
  return `\nExample:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}

const byWhom = [
  "--by <name>",
  "who decides; kept in the audit record (default: the user of the operating system)",
] as const;

function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

/** Runs one command line and gives its exit code. Commands load what they need only when they run. */
export async function main(
  argv: readonly string[],
  environment: Environment,
  startHealth: StartHealth,
): Promise<ExitCode> {
  const output = createOutput(
    process.stdout,
    process.stderr,
    () => performance.now(),
    environment["CRM_SYNC_TRACE"] === "1",
  );
  const stop = new AbortController();
  let exit: ExitCode = exitCodes.ok;
  const onSignal = (signal: NodeJS.Signals): void => {
    // A terminal that closes may tell twice: by the system and by the shell.
    if (stop.signal.aborted && signal === "SIGHUP") return;
    if (stop.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143);
    output.note(`\n${signal}: calls that are on their way come to their end, then it stops; once more ends it at once`);
    stop.abort(new Error("stopped"));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("SIGHUP", onSignal);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // Nobody reads a terminal that was closed (EIO), nor what a stopped run says at its end: it still comes to its end in order.
    if (error.code === "EIO" || (error.code === "EPIPE" && stop.signal.aborted)) return;
    if (error.code === "EPIPE") process.exit(exit);
    throw error;
  });
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EIO" && error.code !== "EPIPE") throw error;
  });

  const program = new Command("crm-sync")
    .description("Keeps the order service and the member-center in agreement with a CRM.")
    .version(version(), "--version", "print the version")
    .option("--config <file>", "configuration file (default: crm-sync.yaml, or $CRM_SYNC_CONFIG)")
    .option("--json", "results as JSON on stdout", false)
    .option(
      "--sandbox [url]",
      "use a sandbox of both services in place of the real ones: inside the program, or at a URL",
    )
    .showHelpAfterError("(`crm-sync COMMAND --help` shows what it takes)")
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text), writeOut: (text) => process.stdout.write(text) })
    .addHelpText("after", example("crm-sync --config crm-sync.yaml check", "crm-sync run customers-and-orders"));

  const invocation = (): Invocation => {
    const { config, json, sandbox } = program.opts();
    return {
      options: { config, json, sandbox: sandbox === "" ? true : sandbox },
      environment,
      output,
      signal: stop.signal,
      startHealth,
    };
  };
  const run = (work: (invocation: Invocation) => Promise<ExitCode>) => async (): Promise<void> => {
    exit = await work(invocation());
  };

  program
    .command("check")
    .description("look at configuration, sources and services, without writing anything")
    .addHelpText("after", example("crm-sync check"))
    .action(() => run(async (call) => (await import("./check-command.ts")).checkCommand(call))());

  program
    .command("plan")
    .description("what would change, by record and field; sends nothing but reads")
    .option("--customer <id>", "only this customer")
    .option("--order <id>", "only the customer of this order")
    .option("--source <name>", "only what this source gives")
    .option("--out <file>", "save the plan, to be applied as it is")
    .addHelpText("after", example("crm-sync plan --out plan.ndjson", "crm-sync plan --customer ALFKI"))
    .action((options) =>
      run(async (call) => (await import("./plan-commands.ts")).planCommand(call, options, options.out))(),
    );

  program
    .command("apply")
    .description("apply a saved plan exactly, or the plan of now")
    .argument("[file]", "a file made by `plan --out`")
    .addHelpText("after", example("crm-sync apply plan.ndjson"))
    .action((file) => run(async (call) => (await import("./plan-commands.ts")).applyCommand(call, file))());

  const runs = program
    .command("run")
    .description("run a job now, as the schedule would")
    .argument("[job]", "customers-and-orders, staff, verify, monthly-report, or one of your own")
    .option(
      "--accept-shrink <source>",
      "believe once that this source has really lost its records (may be repeated)",
      (text: string, before: string[]) => [...before, text],
      [] as string[],
    )
    .option("--by <name>", "with --accept-shrink: who decides (default: the user of the operating system)")
    .addHelpText("after", example("crm-sync run customers-and-orders", "crm-sync run show RUN"))
    .action((job, options) =>
      run(async (call) => {
        if (job === undefined) {
          const { usage } = await import("./keys.ts");
          return reportFailure(
            output,
            usage("run needs the name of a job", "crm-sync run customers-and-orders"),
            call.options.json,
          );
        }
        return (await import("./run-commands.ts")).runCommand(call, job, options.acceptShrink, options.by);
      })(),
    );
  runs
    .command("show")
    .description("everything about one run")
    .argument("<id>", "a run's id, or `last`")
    .addHelpText("after", example("crm-sync run show last"))
    .action((id) => run(async (call) => (await import("./query-commands.ts")).runShowCommand(call, id))());

  program
    .command("resync")
    .description("synchronise one customer, one order's customer or one source by hand, thoroughly")
    .option("--customer <id>", "this customer")
    .option("--order <id>", "the customer of this order")
    .option("--source <name>", "everything this source gives")
    .option("--since <time>", "with --source: what changed since then")
    .addHelpText("after", example("crm-sync resync --customer ALFKI"))
    .action((options) => run(async (call) => (await import("./run-commands.ts")).resyncCommand(call, options))());

  program
    .command("serve")
    .description("run the jobs on their schedule and answer /healthz, until SIGTERM")
    .addHelpText("after", example("crm-sync serve"))
    .action(() => run(async (call) => (await import("./serve-command.ts")).serveCommand(call))());

  program
    .command("status")
    .description("what is going on, and what needs a person")
    .addHelpText("after", example("crm-sync status --json"))
    .action(() => run(async (call) => (await import("./query-commands.ts")).statusCommand(call))());

  program
    .command("runs")
    .description("the last runs")
    .option("--last <n>", "how many", wholeNumber, 20)
    .addHelpText("after", example("crm-sync runs --last 5"))
    .action((options) => run(async (call) => (await import("./query-commands.ts")).runsCommand(call, options.last))());

  program
    .command("explain")
    .description("the whole story of one record, also why nothing happened")
    .argument("<stream>", "customer, order or staff")
    .argument("<id>", "ID, or NAMESPACE/ID")
    .addHelpText("after", example("crm-sync explain order 10248"))
    .action((stream, id) =>
      run(async (call) => (await import("./query-commands.ts")).explainCommand(call, stream, id))(),
    );

  const quarantine = program.command("quarantine").description("records that cannot be used");
  quarantine
    .command("list")
    .description("all of them, with place and reason")
    .addHelpText("after", example("crm-sync quarantine list"))
    .action(() => run(async (call) => (await import("./query-commands.ts")).quarantineListCommand(call))());
  quarantine
    .command("show")
    .description("one of them")
    .argument("<id>")
    .option("--raw", "show the raw record too; it may hold personal data", false)
    .addHelpText("after", example("crm-sync quarantine show q-1a2b3c4d5e --raw"))
    .action((id, options) =>
      run(async (call) => (await import("./query-commands.ts")).quarantineShowCommand(call, id, options.raw))(),
    );
  quarantine
    .command("retry")
    .description("map the stored raw form of a record anew, with the mapping of now, without asking its source")
    .argument("<id>", "a quarantine id, or `all`")
    .option(...byWhom)
    .addHelpText("after", example("crm-sync quarantine retry all"))
    .action((id, options) =>
      run(async (call) => (await import("./query-commands.ts")).quarantineRetryCommand(call, id, options.by))(),
    );

  const settle = program
    .command("settle")
    .description("decide by hand what became of an operation that reading cannot settle")
    .argument("[id...]", "one operation or more")
    .option("--applied", "it was carried out", false)
    .option("--not-applied", "it was not carried out", false)
    .option("--all-of <run>", "every operation of this run (or `last`) whose outcome is open")
    .option("--decisions <file>", "a CSV with the columns id,decision,reason; decision is applied or not-applied")
    .option("--reason <text>", "why you know; kept in the audit record")
    .option(...byWhom)
    .addHelpText(
      "after",
      example(
        "crm-sync settle list",
        'crm-sync settle op_… op_… --not-applied --reason "the service desk found no such orders"',
        "crm-sync settle --decisions decided.csv --by anna.lee",
      ),
    )
    .action((ids, options) =>
      run(async (call) => {
        const none = ids.length === 0 && options.allOf === undefined && options.decisions === undefined;
        if (none) return (await import("./query-commands.ts")).settleListCommand(call);
        return (await import("./decision-commands.ts")).settleCommand(call, ids, options);
      })(),
    );
  settle
    .command("list")
    .description("operations whose outcome is not known, with the evidence")
    .addHelpText("after", example("crm-sync settle list --json"))
    .action(() => run(async (call) => (await import("./query-commands.ts")).settleListCommand(call))());

  for (const [name, verdict, text] of [
    ["approve", "approved", "release what a limit holds; the next run carries it out"],
    ["reject", "rejected", "refuse what a limit holds; nothing of it is taken away"],
  ] as const) {
    program
      .command(name)
      .description(text)
      .argument("<id>", "the hold")
      .option("--reason <text>", "why; kept in the audit record")
      .option(...byWhom)
      .addHelpText("after", example(`crm-sync ${name} h-1a2b3c4d --reason "asked the customer"`))
      .action((id, options) =>
        run(async (call) => (await import("./decision-commands.ts")).holdCommand(call, verdict, id, options))(),
      );
  }

  const staff = program.command("staff").description("staff members");
  staff
    .command("password")
    .description("hand a generated initial password out, once")
    .argument("<id>", "ID, or NAMESPACE/ID")
    .option("--by <name>", "who asks; kept in the audit record (default: the user of the operating system)")
    .addHelpText("after", example("crm-sync staff password 4711"))
    .action((id, options) =>
      run(async (call) => (await import("./decision-commands.ts")).staffPasswordCommand(call, id, options))(),
    );

  program
    .command("report")
    .description("a report of a month: orders, reconciliation, exceptions")
    .argument("<kind>", "orders, reconciliation or exceptions")
    .requiredOption("--period <month>", "the month, such as 2026-10, in the configured zone")
    .option("--format <format>", "csv or json", "csv")
    .option("--by <date>", "happened or crm-date: which date puts a row into the month", "happened")
    .option("--out <file>", "where to (default: stdout)")
    .addHelpText(
      "after",
      example("crm-sync report reconciliation --period 2026-10 --format csv --out reconciliation.csv"),
    )
    .action((kind, options) =>
      run(async (call) => (await import("./report-files.ts")).reportCommand(call, kind, options))(),
    );

  const audit = program.command("audit").description("the hash-chained record of what was done");
  audit
    .command("verify")
    .description("find any change to it")
    .addHelpText("after", example("crm-sync audit verify"))
    .action(() => run(async (call) => (await import("./ledger-commands.ts")).auditVerifyCommand(call))());
  audit
    .command("export")
    .description("every entry as a line of JSON")
    .option("--out <file>", "where to (default: stdout)")
    .addHelpText("after", example("crm-sync audit export --out audit.ndjson"))
    .action((options) =>
      run(async (call) => (await import("./ledger-commands.ts")).auditExportCommand(call, options.out))(),
    );
  audit
    .command("head")
    .description("number and hash of the last entry, to be kept elsewhere")
    .addHelpText("after", example("crm-sync audit head"))
    .action(() => run(async (call) => (await import("./ledger-commands.ts")).auditHeadCommand(call))());

  program
    .command("migrate")
    .description("bring the ledger to this version")
    .option("--accept-platform", "the services of this configuration are the ledger's own, at a new address", false)
    .option("--by <name>", "with --accept-platform: who decides (default: the user of the operating system)")
    .addHelpText("after", example("crm-sync migrate"))
    .action((options) =>
      run(async (call) =>
        (await import("./ledger-commands.ts")).migrateCommand(call, options.acceptPlatform, options.by),
      )(),
    );

  program
    .command("sandbox")
    .description("both remote services on this machine, with faults, until Ctrl-C")
    .option("--port <n>", "port (0: a free one)", wholeNumber, 8899)
    .option("--store <file>", "where its state lies, or :memory:", ":memory:")
    .option("--latency <ms>", "time of every call", wholeNumber, 0)
    .option("--seed <n>", "makes faults by probability repeat", wholeNumber)
    .option(
      "--fault <json>",
      "a fault that is on from the start (may be repeated)",
      (text: string, before: string[]) => [...before, text],
      [] as string[],
    )
    .addHelpText(
      "after",
      example(`crm-sync sandbox --store sandbox.db --fault '{"operation":"E5","fault":"appliedNoReply","nth":[3]}'`),
    )
    .action((options) =>
      run(async (call) =>
        (await import("./sandbox-command.ts")).sandboxCommand(call, { ...options, seed: options.seed }),
      )(),
    );

  program
    .command("init")
    .description("make a configuration to start from, with every key explained")
    .addHelpText("after", example("crm-sync --config crm-sync.yaml init"))
    .action(() => run(async (call) => (await import("./ledger-commands.ts")).initCommand(call))());

  try {
    // Without a "=" the word after --sandbox would be taken for its URL.
    const words = argv.map((word) => (word === "--sandbox" ? "--sandbox=" : word));
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 || error.code === "commander.help" ? exitCodes.ok : exitCodes.usage;
    }
    return reportFailure(output, error, argv.includes("--json"));
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
    process.off("SIGHUP", onSignal);
  }
  return exit;
}
