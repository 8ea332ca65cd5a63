import { expect, it } from "vitest";
import { createProgram } from "../../../src/cli/command-line.ts";
import { definedCommands } from "../../../src/cli/command-tree.ts";
import { registerAll } from "../../../src/cli/program.ts";
import { crmSync } from "../../support/program.ts";

it("prints a script for each shell with every command and option", async () => {
  const program = createProgram("1");
  registerAll(program, async () => {});
  for (const shell of ["bash", "zsh", "fish"]) {
    const { exitCode, stdout } = await crmSync({}, "completion", shell);
    expect(exitCode).toBe(0);
    for (const { words, options } of definedCommands(program)) {
      for (const word of words) expect(stdout).toContain(word);
      for (const { long } of options) expect(stdout).toContain(long.replace(/^--/u, ""));
    }
  }
  expect((await crmSync({}, "completion", "csh")).exitCode).toBe(64);
});
