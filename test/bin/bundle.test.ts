import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { sources } from "../../scripts/build/bundle.ts";

const project = join(import.meta.dirname, "../..");
const copied = ["bin", "src", "jobs", "migrations", "scripts", "config", "package.json", "package-lock.json"];
/** What nothing in the environment of this machine changes. */
const environment = { PATH: process.env["PATH"] ?? "", TMPDIR: tmpdir() };

let root: string;

interface Said {
  stdout: string;
  stderr: string;
  status: number | null;
}

function start(...words: string[]): Said {
  return spawnSync(join(root, "bin/crm-sync"), words, { encoding: "utf8", env: environment, cwd: root });
}

/** The first line of the help of a command, as the source says it. */
function describedAs(text: string, path = "src/cli/commands/status.ts"): void {
  const source = join(root, path);
  writeFileSync(source, readFileSync(source, "utf8").replace(/\.description\("[^"]*"\)/u, `.description("${text}")`));
}

/** One line on stderr about the bundle, and nothing else. */
function onlyLine(said: Said): string {
  expect(said.stderr).toMatch(/^crm-sync: [^\n]+\n$/u);
  return said.stderr;
}

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "crm-sync checkout ")));
  for (const name of copied) cpSync(join(project, name), join(root, name), { recursive: true });
  // A project of its own around the same packages, one link each, so that one can be taken away.
  const packages = join(root, "node_modules");
  mkdirSync(packages);
  for (const name of readdirSync(join(project, "node_modules")))
    symlinkSync(realpathSync(join(project, "node_modules", name)), join(packages, name));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("the bundle that the launcher runs", () => {
  it("is made by the first start, with one line that says so, and is silent from then on", { tags: "long" }, () => {
    const first = start("--version");
    expect(first).toMatchObject({ stdout: "0.1.0\n", status: 0 });
    expect(onlyLine(first)).toMatch(
      /^crm-sync: Preparing \(once\): there was no bundle in .*\/dist … done in \d+\.\d s\n$/u,
    );
    expect(start("--version")).toMatchObject({ stdout: "0.1.0\n", stderr: "", status: 0 });
  });

  it("finds its profiles and its presets where the project stands", { tags: "long" }, () => {
    const init = start("init", "--template", "sqlite");
    expect(init, init.stderr).toMatchObject({ status: 0, stderr: "" });
    onTestFinished(() => rmSync(join(root, "crm-sync.yaml")));
    expect(readFileSync(join(root, "crm-sync.yaml"), "utf8")).toContain("from order_lines");
    const status = start("--sandbox", "--config", "config/northwind.yaml", "status");
    expect(status.stderr).toContain("there is no ledger at");
  });

  it(
    "is never older than the source: not after an edit, be it dated back, nor where a file came, went or moved",
    { tags: "long" },
    () => {
      start("--version");
      const source = join(root, "src/cli/commands/status.ts");
      const edits: Record<string, () => void> = {
        "an edit that is dated back": () => {
          describedAs("an edit that is dated back");
          utimesSync(source, 1, 1);
        },
        "an older file that was moved there": () => {
          const other = join(root, "older.ts");
          copyFileSync(source, other);
          describedAs("an older file that was moved there", "older.ts");
          utimesSync(other, 1, 1);
          renameSync(other, source);
        },
      };
      for (const [what, edit] of Object.entries(edits)) {
        edit();
        const after = start("--help");
        expect(onlyLine(after), what).toContain(`the bundle in ${root}/dist was older than ${root}/src`);
        expect(after.stdout).toContain(what);
        expect(start("--help"), what).toMatchObject({ stderr: "", stdout: after.stdout });
      }
      writeFileSync(join(root, "src/base/new.ts"), "export const fresh = 1;\n");
      onlyLine(start("--version"));
      rmSync(join(root, "src/base/new.ts"));
      onlyLine(start("--version"));
      expect(start("--version").stderr).toBe("");
    },
  );

  it(
    "is made anew where the clock was set back since: what changed by then has an earlier time",
    { tags: "long" },
    () => {
      start("--version");
      const soon = Date.now() / 1_000 + 3_600;
      utimesSync(join(root, "dist/current"), soon, soon);
      describedAs("edited after the clock was set back");
      const after = start("--help");
      expect(onlyLine(after)).toContain("the clock was set back after the bundle in ");
      expect(after.stdout).toContain("edited after the clock was set back");
      expect(start("--help").stderr).toBe("");
    },
  );

  it(
    "is made anew where its program is empty, as after a power cut, and never ends with 0 having done nothing",
    { tags: "long" },
    () => {
      start("--version");
      const name = readFileSync(join(root, "dist/current"), "utf8").trim();
      writeFileSync(join(root, "dist", name, "main.cjs"), "");
      const after = start("--version");
      expect(after).toMatchObject({ stdout: "0.1.0\n", status: 0 });
      expect(onlyLine(after)).toContain(" … done in ");
      expect(start("--version")).toMatchObject({ stdout: "0.1.0\n", stderr: "", status: 0 });
    },
  );

  it(
    "is made whole by each of two starts at once, and the one in effect stays whole meanwhile",
    { tags: "long" },
    async () => {
      start("--version");
      describedAs("edited for two");
      const broken: string[] = [];
      const watch = setInterval(() => {
        const name = readFileSync(join(root, "dist/current"), "utf8").trim();
        if (!existsSync(join(root, "dist", name, "main.cjs"))) broken.push(name);
      }, 1);
      const started = ["--help", "--help"].map((word) =>
        promisify(execFile)(join(root, "bin/crm-sync"), [word], { env: environment }),
      );
      for (const { stdout, stderr } of await Promise.all(started).finally(() => clearInterval(watch))) {
        expect(stdout).toContain("edited for two");
        expect(stderr).not.toContain("cannot be built");
      }
      expect(broken).toEqual([]);
      expect(start("--help").stderr).toBe("");
      expect(readdirSync(join(root, "dist")).filter((name) => name.startsWith("."))).toEqual([]);
      expect(readdirSync(join(root, "dist")).length, "bundles that are kept").toBeLessThanOrEqual(4);
    },
  );

  it("is passed by, with one line that says what to do, where it cannot be made", { tags: "long" }, () => {
    describedAs("edited where nobody may write");
    withoutRight(() => {
      const said = start("--help");
      expect(said.stdout).toContain("edited where nobody may write");
      expect(onlyLine(said)).toMatch(/may not write there, so the program starts from source.*`npm run build`/u);
    });
    const builder = join(root, "scripts/build/bundle.ts");
    const whole = readFileSync(builder, "utf8");
    writeFileSync(builder, `throw new Error("no room\\nat all");\n${whole}`);
    const failed = start("--help");
    expect(failed.stdout).toContain("edited where nobody may write");
    expect(onlyLine(failed)).toMatch(
      /cannot be built \(no room\), so the program starts from source.*`npm run build`/u,
    );
    writeFileSync(builder, whole);
    const bundler = join(root, "node_modules/rolldown");
    rmSync(bundler);
    const without = start("--help");
    symlinkSync(realpathSync(join(project, "node_modules/rolldown")), bundler);
    expect(without.stdout).toContain("edited where nobody may write");
    expect(onlyLine(without)).toMatch(/no bundler is installed, so the program starts from source/u);
  });

  it(
    "keeps its compiled code beside itself, and does without where that is damaged or cannot be written",
    { tags: "long" },
    () => {
      start("--version");
      const { stdout } = start("--help");
      const whole = { stdout, stderr: "", status: 0 };
      const bundle = join(root, "dist", readFileSync(join(root, "dist/current"), "utf8").trim());
      const compiled = join(bundle, "compiled");
      const files = readdirSync(compiled, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      expect(files.length).toBeGreaterThan(0);
      for (const damage of [
        (text: Buffer) => text.fill(0x5a, text.length / 2),
        (text: Buffer) => text.subarray(0, 9),
      ]) {
        for (const path of files) writeFileSync(path, damage(readFileSync(path)));
        expect(start("--help")).toMatchObject(whole);
      }
      rmSync(compiled, { recursive: true });
      withoutRight(() => expect(start("--help")).toMatchObject(whole));
      expect(existsSync(compiled)).toBe(false);
    },
  );

  it("is what a package holds, and runs there without its source", { tags: "long" }, () => {
    mkdirSync(join(root, "dist/older"), { recursive: true });
    writeFileSync(join(root, "dist/older/main.cjs"), "");
    const packed = execFileSync("npm", ["run", "--silent", "package", "--", "--silent"], {
      cwd: root,
      encoding: "utf8",
    });
    const file = packed.trim().split("\n").at(-1) ?? "";
    const elsewhere = mkdtempSync(join(tmpdir(), "crm-sync package "));
    onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
    execFileSync("tar", ["-xzf", join(root, file), "-C", elsewhere]);
    const installed = join(elsewhere, "package");
    const name = readFileSync(join(installed, "dist/current"), "utf8").trim();
    expect(readdirSync(join(installed, "dist")).toSorted(), "no other bundle").toEqual([name, "current"].toSorted());
    expect(readdirSync(join(installed, "dist", name)), "no compiled code").not.toContain("compiled");
    expect(readdirSync(installed).toSorted()).toEqual(["bin", "config", "dist", "npm-shrinkwrap.json", "package.json"]);
    symlinkSync(join(project, "node_modules"), join(installed, "node_modules"));
    const said = spawnSync(join(installed, "bin/crm-sync"), ["init", "--template", "sqlite"], {
      cwd: elsewhere,
      encoding: "utf8",
    });
    expect(said, said.stderr).toMatchObject({ status: 0, stderr: "" });
    expect(existsSync(join(elsewhere, "crm-sync.yaml"))).toBe(true);
  });

  it("is compared with the same sources by the launcher and by the tests", () => {
    const launcher = readFileSync(join(project, "bin/crm-sync"), "utf8");
    const compared = /find -L ((?:"[^"]+"[\s\\]+)+)\\\(/u.exec(launcher)?.[1];
    expect(compared?.match(/(?<=\$root\/)[^"]+/gu)).toEqual(sources);
  });
});

/** Does something while nobody may write in the project, not even root. */
function withoutRight(work: () => void): void {
  if (process.getuid?.() !== 0) {
    for (const path of [join(root, "dist"), root]) chmodSync(path, 0o555);
    try {
      return work();
    } finally {
      for (const path of [join(root, "dist"), root]) chmodSync(path, 0o755);
    }
  }
  execFileSync("mount", ["--bind", root, root]);
  try {
    execFileSync("mount", ["-o", "remount,bind,ro", root]);
    work();
  } finally {
    execFileSync("umount", ["-l", root]);
  }
}
