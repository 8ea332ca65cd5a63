import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createPrivateFile, keepPrivate, makePrivateFolder } from "../../src/base/private-files.ts";
import { temporaryFolder } from "../support/northwind.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("a private file", () => {
  it("is made for its owner alone, and one that is there is left as it is", () => {
    const path = join(folder.path, "made");
    expect(createPrivateFile(path)).toBe(true);
    expect(modeOf(path)).toBe("600");
    writeFileSync(path, "kept");
    expect(createPrivateFile(path)).toBe(false);
    expect(statSync(path).size).toBe(4);
  });

  it.each([0o644, 0o666, 0o640])("that was open (%o) is closed to everybody but its owner", (mode) => {
    const path = join(folder.path, `open-${mode}`);
    writeFileSync(path, "");
    chmodSync(path, mode);
    keepPrivate(path, undefined);
    expect(modeOf(path)).toBe("600");
  });

  it("that is not there is not made, and a folder is not touched", () => {
    keepPrivate(join(folder.path, "none"), undefined);
    expect(existsSync(join(folder.path, "none"))).toBe(false);
    chmodSync(folder.path, 0o755);
    keepPrivate(folder.path, undefined);
    expect(modeOf(folder.path)).toBe("755");
  });
});

describe("a private folder", () => {
  it("is made for its owner alone, with those above it that are missing", () => {
    makePrivateFolder(join(folder.path, "one", "two"), undefined);
    expect([modeOf(join(folder.path, "one")), modeOf(join(folder.path, "one", "two"))]).toEqual(["700", "700"]);
  });

  it(
    "is refused, and not waited for, where none can be made: in a file, behind a link to nowhere, in /proc",
    { tags: "long" },
    () => {
      const file = join(folder.path, "a-file");
      writeFileSync(file, "");
      const link = join(folder.path, "a-link");
      symlinkSync(join(folder.path, "nowhere"), link);
      const made = `const { makePrivateFolder } = await import(process.argv[1]); makePrivateFolder(process.argv[2]);`;
      const module = join(import.meta.dirname, "../../src/base/private-files.ts");
      for (const path of [file, join(file, "x"), link, join(link, "x"), "/proc/nowhere", "/proc/nowhere/x"]) {
        const { status, signal, stderr } = spawnSync(
          process.execPath,
          ["--input-type=module", "-e", made, module, path],
          { encoding: "utf8", timeout: 30_000 },
        );
        expect([status, signal], path).toEqual([1, null]);
        expect(stderr).toMatch(/E(?:EXIST|NOENT|NOTDIR|ACCES)/u);
      }
      makePrivateFolder(join(folder.path, "one"), undefined);
      expect(modeOf(join(folder.path, "one"))).toBe("700");
    },
  );
});
