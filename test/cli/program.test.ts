import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { expect, it } from "vitest";
import { createProgram, type Register } from "../../src/cli/command-line.ts";
import { registerAll } from "../../src/cli/program.ts";
import { world } from "../support/cli.ts";
import { crmSync } from "../support/program.ts";

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

it("the program has every command, and the help of each says what it does, with an example", async () => {
  const program = createProgram("0.0.0");
  registerAll(program, async () => {});
  const folder = join(import.meta.dirname, "../../src/cli/commands");
  for (const file of readdirSync(folder)) {
    const own = createProgram("0.0.0");
    const exported: Record<string, Register> = await import(join(folder, file));
    for (const [name, register] of Object.entries(exported)) if (name.startsWith("add")) register(own, async () => {});
    expect(own.commands, file).not.toEqual([]);
    const names = program.commands.map((command) => command.name());
    expect(names).toEqual(expect.arrayContaining(own.commands.map((command) => command.name())));
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

it("an unknown command or option is refused with a suggestion, a missing word without", async () => {
  for (const [words, suggestion] of [
    [["chekc"], "check"],
    [["plan", "--custmer", "C1"], "--customer"],
    [["explain", "order"], ""],
    [["run"], ""],
  ] as const) {
    const ended = await crmSync({}, ...words);
    expect([ended.exitCode, ended.stdout], words.join(" ")).toEqual([64, ""]);
    expect(ended.stderr).toContain(suggestion);
  }
});

it("an unknown job is refused with the jobs that there are", async () => {
  const w = await world({ isNew: true });
  const ended = await w.run("run", "everythign");
  expect([ended.exitCode, ended.stderr]).toEqual([64, expect.stringMatching(/\beverything\b/u)]);
  expect(w.sandbox.counts().calls).toEqual({});
});
