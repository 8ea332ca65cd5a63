import { createProgram, definedCommands, type DefinedCommand } from "../../src/cli/command-line.ts";
import { registerAll } from "../../src/cli/program.ts";
import { exitCodes } from "../../src/base/errors.ts";

const meaningOf: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "all is well",
  other: "anything else",
  changesPending: "plan and undo: changes are pending",
  recordsRejected: "some records are not done: rejected, deferred or in quarantine",
  held: "something is held by a limit or a policy until a person approves it, or waits for the end of a pause",
  unknown: "the outcome of some operations is not known yet",
  doesNotBalance: "the run does not balance",
  sourceDown: "a source or a service was down or incomplete",
  usage: "usage",
  ledgerRefused: "ledger refused",
  runActive: "another run is on",
  configuration: "configuration",
};

/** The manual page of the command, from the definitions of all commands. */
export function manPage(): string {
  const program = createProgram("");
  registerAll(program, async () => {});
  const [root, ...commands] = definedCommands(program);
  if (root === undefined) throw new TypeError("there is no program");
  return [
    '.\\" Written by `npm run docs` from the definitions of the commands.',
    '.TH CRM\\-SYNC 1 "" "crm\\-sync" "User Commands"',
    ".SH NAME",
    `crm\\-sync \\- ${roff(small(root.description))}`,
    ".SH SYNOPSIS",
    ".B crm\\-sync",
    roff("[options] command [arguments]"),
    ".SH DESCRIPTION",
    roff(
      "Results go to standard output, everything else to standard error. Every command has --help, with " +
        "its options and an example. The README and docs/ of the package say more.",
    ),
    ".SH OPTIONS",
    ...options(root),
    ".SH COMMANDS",
    // The help, which comes last, is the same everywhere.
    ...commands.flatMap((command) => [
      `.SS ${roff(`${command.words.join(" ")} ${command.usage}`)}`,
      roff(`${command.description}.`),
      ...options({ ...command, options: command.options.slice(0, -1) }),
    ]),
    ".SH EXIT STATUS",
    ...Object.entries(exitCodes).flatMap(([name, code]) => [
      ".TP",
      `.B ${code}`,
      roff(Object.entries(meaningOf).find(([other]) => other === name)?.[1] ?? ""),
    ]),
    ".SH ENVIRONMENT",
    ".TP",
    ".B CRM_SYNC_CONFIG",
    "the configuration file",
    ".TP",
    ".B CRM_SYNC__a__b",
    roff("replaces the setting a.b, whatever the configuration says"),
    ".SH SIGNALS",
    ".TP",
    ".B SIGTERM, SIGINT, SIGHUP",
    roff("calls in progress come to their end, and the program stops; the second one ends it at once"),
    "",
  ].join("\n");
}

/** Each option with what it does. */
function options(command: DefinedCommand): string[] {
  return command.options.flatMap(({ flags, description }) => [".TP", `.B ${roff(flags)}`, roff(description)]);
}

function small(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/u, "");
}

/** Text that says nothing to the typesetter. */
function roff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "...")
    .replaceAll(/\P{ASCII}/gu, (one) => `\\[u${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`)
    .replace(/^([.'])/u, "\\&$1");
}
