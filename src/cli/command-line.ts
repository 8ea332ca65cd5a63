import { Command, InvalidArgumentError, type CommandUnknownOpts, type Option } from "@commander-js/extra-typings";
import type { ExitCode } from "../base/errors.ts";
import type { Invocation } from "./command.ts";

/** The program with the options of every command, but without commands. */
export function createProgram(version: string) {
  return new Command("crm-sync")
    .description("Keeps the order service and the member-center in agreement with a CRM.")
    .version(version, "--version", "print the version")
    .option("--config <file>", "configuration file (default: crm-sync.yaml, or $CRM_SYNC_CONFIG)")
    .option("--json", "results as JSON on stdout", false)
    .option(
      "--sandbox [url]",
      "use a sandbox of both services in place of the real ones: inside the program, or at a URL",
    )
    .showHelpAfterError("(`crm-sync COMMAND --help` shows its options)")
    .exitOverride()
    .addHelpText("after", example("crm-sync --config crm-sync.yaml check", "crm-sync run customers-and-orders"));
}

export type Program = ReturnType<typeof createProgram>;

export type CarryOut = (work: (invocation: Invocation) => Promise<ExitCode>) => Promise<void>;

/** Adds commands. All are loaded for each command line, so the work itself imports its modules when it runs. */
export type Register = (program: Program, carryOut: CarryOut) => void;

export function example(...lines: string[]): string {
  return `\nExample:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}

export const byWhom = [
  "--by <name>",
  "who decides; kept in the audit log (default: the user of the operating system)",
] as const;

export const withReason = [
  "--reason <text>",
  "why; kept for good, so without names, phone numbers and e-mail addresses",
] as const;

export const withdrawing = ["--withdraw", "withdraw a request that is not done; nothing is sent"] as const;

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError("It must be a whole number of at least 0.");
}

export function repeated(text: string, before: string[]): string[] {
  return [...before, text];
}

/** A command's definition, for generated pages and completions. */
export interface DefinedCommand {
  words: string[];
  description: string;
  usage: string;
  options: { flags: string; long: string; description: string; takesValue: boolean }[];
  below: string[];
}

/** The program itself and every command, in the order of the help. */
export function definedCommands(program: CommandUnknownOpts): DefinedCommand[] {
  return [...defined(program, [])];
}

function* defined(command: CommandUnknownOpts, words: string[]): Generator<DefinedCommand> {
  yield {
    words,
    description: command.description(),
    usage: command.usage(),
    options: [...command.options.filter((option) => !option.hidden).map(optionOf), help],
    below: command.commands.map((one) => one.name()),
  };
  for (const one of command.commands) yield* defined(one, [...words, one.name()]);
}

const help = { flags: "-h, --help", long: "--help", description: "print the help", takesValue: false };

function optionOf({ flags, long, description, required }: Option): DefinedCommand["options"][number] {
  return { flags, long: long ?? flags, description, takesValue: required };
}
