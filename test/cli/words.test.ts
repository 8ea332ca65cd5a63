import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { world } from "../support/cli.ts";
import { startCrmSync } from "../support/process.ts";
import { folder as newFolder } from "../support/world/start.ts";

/** What the program itself does in a sentence, and the names of its keys. */
const noCommands = ["needs", "sealed", "sealing", "failed", "serves"];
const project = join(import.meta.dirname, "../..");

it("every command that a message, an example or the README names is there, and --version prints one", async () => {
  const folder = newFolder();
  const help = await startCrmSync({ folder }, "--help").ended;
  const commands = new Set([...help.stdout.matchAll(/^ {2}([a-z]+)(?: |$)/gmu)].map(([, name]) => name));
  expect([...commands]).toEqual(expect.arrayContaining(["check", "run", "status", "sandbox"]));
  const named = globSync(["src/**/*.ts", "config/**/*.{yaml,json}", "README.md", "demo/**/*.{ts,yaml}", "bin/*"], {
    cwd: project,
  })
    .flatMap((file) =>
      [...readFileSync(join(project, file), "utf8").matchAll(/[`"]crm-sync (?:--\S+ \S+ )?([a-z]+)/gu)].map(
        ([text, name]) => ({ file, text, name }),
      ),
    )
    .filter(({ name }) => !commands.has(name ?? "") && !noCommands.includes(name ?? ""));
  expect(named).toEqual([]);
  const version = await startCrmSync({ folder }, "--version").ended;
  expect(version).toMatchObject({ exitCode: 0, stderr: "" });
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/u);
});

it(
  "a ledger of one sandbox is refused with another one, however it is reached, and goes on with its own",
  { tags: "long" },
  async () => {
    const one = await world();
    expect((await one.run("run", "everything")).exitCode).toBe(0);
    const other = await world();
    one.environment["CRM_SYNC__log__level"] = "silent";
    const wrong = await startCrmSync(
      { folder: one.folder, environment: one.environment, sandbox: other.sandbox.url },
      "run",
      "everything",
    ).ended;
    expect(wrong.exitCode).toBe(65);
    expect(wrong.stderr).toMatch(
      /belongs to the sandbox [0-9a-f]{12}, and this command would use the sandbox [0-9a-f]{12}/u,
    );
    expect(wrong.stderr).toMatch(/start that sandbox again with the store that it kept/u);
    expect(other.sandbox.counts().writingCalls).toBe(0);
    expect((await one.run("run", "everything")).exitCode).toBe(0);
  },
);
