import { CommanderError } from "@commander-js/extra-typings";
import type { StartWeb } from "../app/health.ts";
import type { Environment } from "../config/load.ts";
import { exitCodes } from "../base/errors.ts";
import type { ExitCode } from "../base/errors.ts";
import { programVersion } from "../base/program-version.ts";
import { register as alerts } from "./commands/alerts.ts";
import { register as apply } from "./commands/apply.ts";
import { register as approve } from "./commands/approve.ts";
import { register as assumptions } from "./commands/assumptions.ts";
import { register as audit } from "./commands/audit.ts";
import { register as backup } from "./commands/backup.ts";
import { register as borrow } from "./commands/borrow.ts";
import { register as check } from "./commands/check.ts";
import { register as clock } from "./commands/clock.ts";
import { register as explain } from "./commands/explain.ts";
import { register as init } from "./commands/init.ts";
import { register as login } from "./commands/login.ts";
import { register as link } from "./commands/link.ts";
import { register as lock } from "./commands/lock.ts";
import { register as map } from "./commands/map.ts";
import { register as acceptPlatform } from "./commands/accept-platform.ts";
import { register as pause } from "./commands/pause.ts";
import { register as plan } from "./commands/plan.ts";
import { register as quarantine } from "./commands/quarantine.ts";
import { register as reassign } from "./commands/reassign.ts";
import { register as rebuild } from "./commands/rebuild.ts";
import { register as report } from "./commands/report.ts";
import { register as resolve } from "./commands/resolve.ts";
import { register as resync } from "./commands/resync.ts";
import { register as run } from "./commands/run.ts";
import { register as runs } from "./commands/runs.ts";
import { register as sandbox } from "./commands/sandbox.ts";
import { register as schema } from "./commands/schema.ts";
import { register as serve } from "./commands/serve.ts";
import { register as settle } from "./commands/settle.ts";
import { register as staff } from "./commands/staff.ts";
import { register as status } from "./commands/status.ts";
import { register as undo } from "./commands/undo.ts";
import { register as watch } from "./commands/watch.ts";
import { createProgram } from "./command-line.ts";
import type { CarryOut, Program, Register } from "./command-line.ts";
import type { Invocation } from "./command.ts";
import { createOutput, reportFailure } from "./output.ts";
import { listenForSignals, outliveReaders } from "./signals.ts";
import { suggestedWith } from "./suggested.ts";

/** Every command, in the order in which the help shows them. */
const commands: readonly Register[] = [
  check,
  map,
  watch,
  schema,
  plan,
  apply,
  undo,
  run,
  resync,
  pause,
  serve,
  login,
  status,
  alerts,
  runs,
  explain,
  quarantine,
  reassign,
  settle,
  approve,
  resolve,
  link,
  lock,
  borrow,
  staff,
  report,
  audit,
  assumptions,
  backup,
  clock,
  acceptPlatform,
  rebuild,
  sandbox,
  init,
];

/** Adds every command to the program. */
export function registerAll(program: Program, carryOutOne: CarryOut): void {
  for (const register of commands) register(program, carryOutOne);
}

/** Runs one command line in this process, which signals stop, and gives its exit code. */
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

/** The words with what belongs to `--sandbox` behind a "=": only a URL is its value, never the command after it. */
function withSandboxUrl(argv: readonly string[]): string[] {
  return argv.flatMap((word, at) => {
    const isUrl = argv[at - 1] === "--sandbox" && /^https?:/u.test(word);
    if (isUrl) return [];
    const next = argv[at + 1] ?? "";
    return word === "--sandbox" ? [`--sandbox=${/^https?:/u.test(next) ? next : ""}`] : [word];
  });
}

/** Carries one command line out, and says what it has to say on the output that it is given. */
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
