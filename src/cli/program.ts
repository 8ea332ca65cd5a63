import { CommanderError } from "@commander-js/extra-typings";
import type { StartWeb } from "../operate/health.ts";
import type { Environment } from "../config/load.ts";
import { exitCodes, type ExitCode } from "../base/errors.ts";
import { programVersion } from "../base/program-version.ts";
import { addAlerts, addCheck, addStatus } from "./commands/status.ts";
import { addApply, addPlan, addUndo } from "./commands/plan.ts";
import { addApprove } from "./commands/approve.ts";
import { addAssumptions } from "./commands/assumptions.ts";
import { addAudit } from "./commands/audit.ts";
import { addBackup, addRebuild } from "./commands/backup.ts";
import { addBorrow, addLock, addStaff } from "./commands/requests.ts";
import { addClock } from "./commands/clock.ts";
import { addExplain } from "./commands/explain.ts";
import { addInit } from "./commands/init.ts";
import { addLogin, addPause, addServe } from "./commands/serve.ts";
import { addLink, addAcceptPlatform, addReassign } from "./commands/link.ts";
import { addMap } from "./commands/sources.ts";
import { addQuarantine } from "./commands/quarantine.ts";
import { addReport } from "./commands/report.ts";
import { addResolve, addSettle } from "./commands/settle.ts";
import { addResync, addRun, addRuns } from "./commands/run.ts";
import { addSandbox } from "./commands/sandbox.ts";
import { createProgram, type CarryOut, type Program, type Register } from "./command-line.ts";
import type { Invocation } from "./command.ts";
import { createOutput, reportFailure, suggestedWith, type Output } from "./output.ts";

const commands: readonly Register[] = [
  addCheck,
  addMap,
  addPlan,
  addApply,
  addUndo,
  addRun,
  addResync,
  addPause,
  addServe,
  addLogin,
  addStatus,
  addAlerts,
  addRuns,
  addExplain,
  addQuarantine,
  addReassign,
  addSettle,
  addApprove,
  addResolve,
  addLink,
  addLock,
  addBorrow,
  addStaff,
  addReport,
  addAudit,
  addAssumptions,
  addBackup,
  addClock,
  addAcceptPlatform,
  addRebuild,
  addSandbox,
  addInit,
];

export function registerAll(program: Program, carryOutOne: CarryOut): void {
  for (const register of commands) register(program, carryOutOne);
}

export async function main(argv: readonly string[], environment: Environment, startWeb: StartWeb): Promise<ExitCode> {
  const trace = environment["CRM_SYNC_TRACE"] === "1";
  const output = createOutput(process.stdout, process.stderr, () => performance.now(), { trace, environment });
  const stop = new AbortController();
  const endSignals = listenForSignals(stop, output);
  outliveReaders();
  try {
    return await carryOut(argv, { environment, output, signal: stop.signal, startWeb });
  } finally {
    endSignals();
  }
}

/** Joins `--sandbox` and its URL with "=", so that the command after it is never taken as its value. */
function withSandboxUrl(argv: readonly string[]): string[] {
  return argv.flatMap((word, at) => {
    const isUrl = argv[at - 1] === "--sandbox" && /^https?:/u.test(word);
    if (isUrl) return [];
    const next = argv[at + 1] ?? "";
    return word === "--sandbox" ? [`--sandbox=${/^https?:/u.test(next) ? next : ""}`] : [word];
  });
}

export async function carryOut(argv: readonly string[], surroundings: Omit<Invocation, "options">): Promise<ExitCode> {
  const { output } = surroundings;
  let exit: ExitCode = exitCodes.ok;
  const program = createProgram(programVersion()).configureOutput({
    writeOut: (text) => void output.stdout.write(text),
    writeErr: (text) => void output.stderr.write(text),
  });
  registerAll(program, async (work) => {
    const { config, json, sandbox: url } = program.opts();
    const sandbox = url === "" ? true : url;
    const names = program.commands.map((command) => command.name());
    output.suggests(suggestedWith({ config, sandbox }, names));
    exit = await work({ ...surroundings, options: { config, json, sandbox } });
  });

  try {
    await program.parseAsync(withSandboxUrl(argv), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 || error.code === "commander.help" ? exitCodes.ok : exitCodes.usage;
    }
    return reportFailure(output, error, argv.includes("--json"));
  } finally {
    output.end();
  }
  return exit;
}

/** The first signal aborts `stop`, another one ends the process at once. Returns the function that stops listening. */
function listenForSignals(stop: AbortController, output: Output): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const onSignal = (signal: NodeJS.Signals): void => {
    // A closing terminal may send SIGHUP twice: by the system and by the shell.
    if (stop.signal.aborted && signal === "SIGHUP") return;
    if (stop.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143);
    output.note(`\n${signal}: calls in progress are finished, then it stops; once more ends it at once`);
    stop.abort(new Error("stopped"));
  };
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}

/**
 * The reader of the output may leave: a closed pipe (EPIPE) or terminal (EIO). The command still ends normally, so that
 * its exit code is true and no run is cut off.
 */
function outliveReaders(): void {
  const onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== "EIO" && error.code !== "EPIPE") throw error;
  };
  process.stdout.on("error", onError);
  process.stderr.on("error", onError);
}
