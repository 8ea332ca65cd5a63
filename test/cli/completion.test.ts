import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/command-line.ts";
import { definedCommands } from "../../src/cli/command-tree.ts";
import { completionScript } from "../../src/cli/completion.ts";
import { registerAll } from "../../src/cli/program.ts";
import { shells } from "../../src/cli/shells.ts";
import { crmSync } from "../support/program.ts";

const program = createProgram("1");
registerAll(program, async () => {});
const commands = definedCommands(program);
const there = (name: string): boolean => spawnSync(name, ["--version"]).status === 0;

/** What bash offers where the last of these words is being typed. */
function offered(...words: string[]): string[] {
  const quoted = ["crm-sync", ...words].map((word) => `'${word}'`).join(" ");
  const script = `${completionScript("bash", commands)}
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _crm_sync; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const said = spawnSync("bash", ["--norc", "-c", script], { encoding: "utf8", cwd: import.meta.dirname });
  expect(said.stderr).toBe("");
  return said.stdout.trim().split("\n");
}

describe("completion", () => {
  it.each(shells)("for %s is printed by the command, and knows every command with its options", async (shell) => {
    const ended = await crmSync({}, "completion", shell);
    expect(ended).toMatchObject({ exitCode: 0, stderr: "", stdout: completionScript(shell, commands) });
    for (const { words, options } of commands) {
      for (const word of words) expect(ended.stdout).toContain(word);
      for (const { long } of options) expect(ended.stdout).toContain(long.replace(/^--/u, ""));
    }
  });

  it("refuses a shell that it does not know, and names those that it does", async () => {
    const ended = await crmSync({}, "completion", "csh");
    expect(ended.exitCode).toBe(64);
    expect(ended.stderr).toContain("bash, zsh, fish");
  });

  it(
    "in bash offers commands, commands of a family, their options, and files where an option wants one",
    { tags: "long" },
    () => {
      expect(offered("st")).toEqual(["status", "staff"]);
      expect(offered("audit", "ver")).toEqual(["verify"]);
      expect(offered("--config", "x.yaml", "--json", "run", "--can")).toEqual(["--canary"]);
      expect(offered("run", "customers-and-orders", "--can")).toEqual(["--canary"]);
      // A value that is called like a command is none.
      expect(offered("--config", "audit", "ser")).toEqual(["serve"]);
      expect(offered("--config", "completion.t")).toEqual(["completion.test.ts"]);
      expect(offered("status", "--canary")).toEqual([""]);
    },
  );

  for (const [shell, check] of [
    ["zsh", "-n"],
    ["fish", "--no-execute"],
  ] as const) {
    const missing = `in ${shell} is NOT tried here, which is not installed: nothing is shown about its script`;
    it(there(shell) ? `in ${shell} is a script that it reads` : missing, () => {
      if (!there(shell)) return;
      const said = spawnSync(shell, [check], { input: completionScript(shell, commands), encoding: "utf8" });
      expect(said).toMatchObject({ status: 0, stderr: "" });
    });
  }
});

describe("the manual page", () => {
  const page = join(import.meta.dirname, "../../docs/crm-sync.1");

  it("has every command and every option", () => {
    const text = readFileSync(page, "utf8").replaceAll("\\-", "-");
    for (const { words, options } of commands) {
      expect(text).toContain(words.join(" "));
      for (const { flags } of options) expect(text).toContain(`.B ${flags}`);
    }
  });

  const missing = "is NOT tried by groff here, which is not installed: how it is set is not shown";
  it(there("groff") ? "is set by groff without a warning" : missing, () => {
    if (!there("groff")) return;
    const said = spawnSync("groff", ["-man", "-ww", "-Tutf8", "-z", page], { encoding: "utf8" });
    expect(said).toMatchObject({ status: 0, stderr: "", stdout: "" });
  });
});
