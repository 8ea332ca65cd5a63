import type { CommandUnknownOpts, Option } from "@commander-js/extra-typings";

/** A command as its definition says it: for what is made of all of them. */
export interface DefinedCommand {
  /** The words that lead to it, without the name of the program. */
  words: string[];
  description: string;
  /** What stands behind the words. */
  usage: string;
  options: { flags: string; long: string; description: string; takesValue: boolean }[];
  /** The words of the commands below it. */
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
