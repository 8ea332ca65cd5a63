import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { expect, it } from "vitest";
import { createProgram } from "../../src/cli/command-line.ts";
import type { Register } from "../../src/cli/command-line.ts";

const folder = join(import.meta.dirname, "../../src/cli/commands");

/** The help of a command as `--help` prints it. */
function helpOf(command: CommandUnknownOpts): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

/** A command and everything below it, with the words that call it. */
function below(command: CommandUnknownOpts, words: string): { words: string; command: CommandUnknownOpts }[] {
  const parts = command.commands.flatMap((part) => below(part, `${words} ${part.name()}`));
  return [{ words, command }, ...parts];
}

it("each file of a command is listed in the program, and each command says what it does, with an example of itself", async () => {
  const program = createProgram("0.0.0");
  const listed = readFileSync(join(folder, "../program.ts"), "utf8");
  for (const file of readdirSync(folder)) {
    expect(listed, `program.ts lists ${file}`).toContain(`"./commands/${file}"`);
    const { register }: { register: Register } = await import(join(folder, file));
    register(program, async () => {});
  }
  const commands = program.commands.flatMap((command) => below(command, command.name()));
  expect(commands.length).toBeGreaterThan(25);
  for (const { words, command } of commands) {
    expect(command.description(), words).not.toBe("");
    // A family without work of its own has no example: its members do.
    if (command.commands.length > 0 && command.registeredArguments.length === 0) continue;
    expect(helpOf(command), words).toMatch(new RegExp(`Example:[^]*crm-sync [^\\n]*${words}`, "u"));
  }
});
