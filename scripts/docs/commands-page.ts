import { createProgram, definedCommands, type DefinedCommand } from "../../src/cli/command-line.ts";
import { registerAll } from "../../src/cli/program.ts";
import { anchorOf, code, page, sentence, table } from "./markdown.ts";

/** The reference of all commands, from their definitions. */
export function commandsPage(): string {
  const program = createProgram("");
  registerAll(program, async () => {});
  const [root, ...commands] = definedCommands(program);
  if (root === undefined) throw new TypeError("there is no program");
  const name = ({ words }: DefinedCommand): string => words.join(" ");
  return page([
    "# Commands",
    "Results go to stdout, everything else to stderr. `crm-sync COMMAND --help` also shows an example. " +
      "`man crm-sync` ([crm-sync.1](crm-sync.1)) has the same. See also: [exit codes](exit-codes.md).",
    table(
      ["Command", "What it does"],
      commands.map((one) => [`[${code(name(one))}](#${anchorOf(code(name(one)))})`, sentence(one.description)]),
    ),
    "## For every command",
    options(root),
    "Every decision takes `--by NAME` and `--reason TEXT`. Both stay in the audit log, which nobody can erase. " +
      "crm-sync refuses a text with a phone number or an e-mail address.",
    ...commands.flatMap((one) => [
      `## ${code(name(one))}`,
      `\`\`\`\ncrm-sync ${`${name(one)} ${one.usage}`.trim()}\n\`\`\``,
      ...(one.options.length > 1 ? [options({ ...one, options: one.options.slice(0, -1) })] : []),
    ]),
  ]);
}

function options(command: DefinedCommand): string {
  return table(
    ["Option", "Meaning"],
    command.options.map(({ flags, description }) => [code(flags), description]),
  );
}
