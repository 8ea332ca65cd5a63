import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Script } from "node:vm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readCode, writeCode } from "../../src/base/code-store.ts";
import { keepCode } from "../../src/base/kept-code.ts";

const require = createRequire(import.meta.filename);
let folder: string;
let store: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "crm-sync code ")));
  store = join(folder, "compiled/one");
});
afterEach(() => {
  delete require.extensions[".cjs"];
  rmSync(folder, { recursive: true, force: true });
});

function program(says: string): void {
  writeFileSync(join(folder, "said.cjs"), `exports.say = () => { throw new Error("${says}"); };\n`);
  writeFileSync(
    join(folder, "program.cjs"),
    `const say = require(__dirname + "/said.cjs"); exports.run = () => say.say();\n`,
  );
}

/** What a process says that runs the program, and where; it keeps what it has compiled. */
function run(): string {
  const keep = keepCode(folder, store);
  for (const path of Object.keys(require.cache))
    if (path.startsWith(folder)) Reflect.deleteProperty(require.cache, path);
  try {
    require(join(folder, "program.cjs")).run();
  } catch (error) {
    return error instanceof Error ? `${error.message} ${/said\.cjs:\d+:\d+/u.exec(error.stack ?? "")?.[0]}` : "";
  } finally {
    keep();
  }
  return "";
}

describe("compiled code that is kept", () => {
  it("is of the functions that ran, and leaves what the program says, and where, as it is", () => {
    program("one");
    expect(run()).toBe("one said.cjs:1:29");
    const kept = readCode(store);
    expect([...kept.keys()]).toEqual([join(folder, "program.cjs"), join(folder, "said.cjs")]);
    const [path = "", loaded] = [...kept][1] ?? [];
    const unrun = new Script(readFileSync(path, "utf8")).createCachedData();
    expect(loaded?.code.length).toBeGreaterThan(unrun.length + 300);
    const first = readFileSync(store);
    expect(run()).toBe("one said.cjs:1:29");
    expect(readFileSync(store), "nothing is written where nothing is new").toEqual(first);
    expect(readdirSync(join(folder, "compiled"))).toEqual(["one"]);
  });

  it("is not used for a file that was changed, be it as long and dated back", () => {
    program("one");
    run();
    program("two");
    utimesSync(join(folder, "said.cjs"), 1, 1);
    expect(run()).toBe("two said.cjs:1:29");
    expect(run()).toBe("two said.cjs:1:29");
  });

  it("is not used where a single byte of it is damaged or missing", () => {
    const files = new Map([["/a.cjs", { form: "1-2", code: Buffer.from("some code") }]]);
    store = join(folder, "one");
    writeCode(store, files);
    expect(readCode(store)).toEqual(files);
    const whole = readFileSync(store);
    for (let at = 0; at < whole.length; at += 1) {
      const damaged = Buffer.from(whole);
      damaged[at] = (whole[at] ?? 0) ^ 1;
      writeFileSync(store, damaged);
      expect(readCode(store).size, `byte ${at}`).toBe(0);
      writeFileSync(store, whole.subarray(0, at));
      expect(
        [...readCode(store).values()].filter(({ code }) => code.length > 0),
        `${at} bytes`,
      ).toEqual([]);
    }
  });

  it.each(["nowhere/compiled/one", "program.cjs/one"])("is passed by where it cannot be kept (%s)", (place) => {
    program("one");
    store = join(folder, place);
    expect(run()).toBe("one said.cjs:1:29");
    expect(run()).toBe("one said.cjs:1:29");
    expect(readdirSync(folder).toSorted()).toEqual(["program.cjs", "said.cjs"]);
  });
});
