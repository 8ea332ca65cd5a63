import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const project = join(import.meta.dirname, "../..");
let root: string;

/** A copy of the launcher in a package of its own, whose bundle is `main`. */
function projectWith(main: string, { bundledNode }: { bundledNode: boolean }): string {
  mkdirSync(join(root, "bin"), { recursive: true });
  mkdirSync(join(root, "dist/0a1b"), { recursive: true });
  copyFileSync(join(project, "bin/crm-sync"), join(root, "bin/crm-sync"));
  chmodSync(join(root, "bin/crm-sync"), 0o755);
  writeFileSync(join(root, "dist/0a1b/main.cjs"), main);
  writeFileSync(join(root, "dist/current"), "0a1b\n");
  if (bundledNode) {
    mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
    symlinkSync(process.execPath, join(root, "node_modules/.bin/node"));
  }
  return join(root, "bin/crm-sync");
}

/** A PATH on which `node` claims to be of that major version and names itself before it runs a program. */
function pathWithNode(major: number): string {
  const folder = join(root, `path-${major}`);
  mkdirSync(folder, { recursive: true });
  const body =
    `case "$1" in -p) echo ${major};; --version) echo v${major}.1.2;; *) echo "system node" >&2; ` +
    `exec ${JSON.stringify(process.execPath)} "$@";; esac`;
  writeFileSync(join(folder, "node"), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return `${folder}:/usr/bin:/bin`;
}

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "crm-sync launcher ")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("the launcher", () => {
  it("uses the Node that came with the packages although an older one is first in PATH", () => {
    const launcher = projectWith("console.log(process.version, ...process.argv.slice(2))", { bundledNode: true });
    const run = spawnSync(launcher, ["run", "two words", "$HOME"], {
      env: { PATH: pathWithNode(20) },
      encoding: "utf8",
    });
    expect(run.stderr).toBe("");
    expect(run.stdout).toBe(`${process.version} run two words $HOME\n`);
  });

  it("is found through a chain of relative and absolute symbolic links, from any directory", () => {
    const launcher = projectWith("console.log(__dirname)", { bundledNode: true });
    symlinkSync("bin/crm-sync", join(root, "one"));
    symlinkSync(join(root, "one"), join(root, "two"));
    expect(launcher).toBe(join(root, "bin/crm-sync"));
    const run = spawnSync(join(root, "two"), [], { cwd: "/", env: { PATH: pathWithNode(20) }, encoding: "utf8" });
    expect(run.stdout).toBe(`${join(root, "dist/0a1b")}\n`);
  });

  it("falls back to the Node of the machine when it is new enough", () => {
    const launcher = projectWith("process.exitCode = 3", { bundledNode: false });
    const run = spawnSync(launcher, [], { env: { PATH: pathWithNode(26) }, encoding: "utf8" });
    expect(run.stderr).toBe("system node\n");
    expect(run.status).toBe(3);
  });

  it("says what is missing and ends with 78 where there is only an older Node", () => {
    const launcher = projectWith("console.log('started')", { bundledNode: false });
    const run = spawnSync(launcher, [], { env: { PATH: pathWithNode(20) }, encoding: "utf8" });
    expect(run.status).toBe(78);
    expect(run.stdout).toBe("");
    expect(run.stderr).toContain("needs Node 26 or newer and found v20.1.2");
    expect(run.stderr).toContain(`npm ci\` in ${root}`);
  });

  it("passes exit codes through", { tags: "long" }, () => {
    const launcher = projectWith("process.exit(Number(process.argv[2]))", { bundledNode: true });
    for (const code of [0, 1, 6, 75, 78]) {
      expect(spawnSync(launcher, [String(code)], { env: { PATH: pathWithNode(20) } }).status).toBe(code);
    }
  });

  it("is the program itself, so that SIGTERM reaches it", async () => {
    const launcher = projectWith(
      `process.on("SIGTERM", () => { console.log("asked to stop"); process.exit(5); }); setInterval(() => {}, 1000); console.log(process.pid);`,
      { bundledNode: true },
    );
    const child = spawn(launcher, [], { env: { PATH: pathWithNode(20) }, stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.setEncoding("utf8");
    let output = "";
    for await (const chunk of child.stdout) {
      if (output === "") {
        expect(Number(chunk)).toBe(child.pid);
        child.kill("SIGTERM");
      }
      output += chunk;
    }
    if (child.exitCode === null) await once(child, "exit");
    expect(output).toContain("asked to stop");
    expect(child.exitCode).toBe(5);
  });

  it("of a package that was installed beside others finds the Node beside them", () => {
    const folder = root;
    root = join(folder, "node_modules/crm-sync");
    const launcher = projectWith("console.log(process.version)", { bundledNode: false });
    mkdirSync(join(folder, "node_modules/.bin"));
    symlinkSync(process.execPath, join(folder, "node_modules/.bin/node"));
    const run = spawnSync(launcher, [], { env: { PATH: pathWithNode(20) }, encoding: "utf8" });
    root = folder;
    expect(run.stderr).toBe("");
    expect(run.stdout).toBe(`${process.version}\n`);
  });

  it("says with 78 that a package without a bundle has to be installed again", () => {
    const launcher = projectWith("console.log('started')", { bundledNode: true });
    rmSync(join(root, "dist"), { recursive: true });
    const run = spawnSync(launcher, [], { env: { PATH: pathWithNode(20) }, encoding: "utf8" });
    expect(run.status).toBe(78);
    expect(run.stdout).toBe("");
    expect(run.stderr).toBe(
      `crm-sync: ${root} holds neither a bundle nor the source of the program; install it again\n`,
    );
  });
});
