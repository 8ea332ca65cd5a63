import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { breaches, circles, importsOf } from "./rules.ts";
import { functionsOf, tooLong } from "./lengths.ts";
import { expectedNamers, namersOf, ownFiles, requestNames } from "./own-files.ts";
import type { LongFiles, SourceFile } from "./rules.ts";

const project = join(import.meta.dirname, "../..");

/** Each entry owes a reason why the file is better whole. */
const longFiles: LongFiles = {};

function readTree(): SourceFile[] {
  return ["src", "migrations", "test", "bench", "demo", "scripts"].flatMap((folder) => {
    if (!existsSync(join(project, folder))) return [];
    return readdirSync(join(project, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => {
        const full = join(entry.parentPath, entry.name);
        return { path: full.slice(project.length + 1), text: readFileSync(full, "utf8") };
      });
  });
}

describe("the rooms of the program", () => {
  const files = readTree();

  it(
    "import only from the rooms to their left, do no I/O where they are pure, and keep their files short",
    { tags: "long" },
    () => {
      expect(files.length).toBeGreaterThan(20);
      expect(breaches(files, longFiles)).toEqual([]);
    },
  );

  it("have no circles among their files, be it for types", () => {
    expect(circles(files.filter((file) => file.path.startsWith("src/")))).toEqual([]);
  });

  it("have lines within 120 columns, and functions within 60 lines or with a reason", () => {
    expect(tooLong(files)).toEqual([]);
  });

  it.each([
    { maker: "operation", usedBy: ["src/apply/pool.ts", "src/plan/rejections.ts"] },
    { maker: "withTree", usedBy: ["src/ledger/state/known.ts"] },
    { maker: "planCustomer", usedBy: ["src/apply/customer-planning.ts"] },
  ])("make operations, trees and plans of a customer in one place each: $maker", ({ maker, usedBy }) => {
    const taken = new RegExp(`^import \\{[^}]*\\b${maker}\\b[^}]*\\} from`, "mu");
    const users = files.filter(({ path, text }) => path.startsWith("src/") && taken.test(text));
    expect(users.map(({ path }) => path).toSorted()).toEqual(usedBy);
  });

  it.each(requestNames)("name what a person can ask for in its own files and in its lists alone: %s", (of) => {
    expect(namersOf(files, of).toSorted()).toEqual(expectedNamers(of).toSorted());
    const leak = { path: "src/report/a.ts", text: ownFiles[of].leak };
    expect(namersOf([...files, leak], of)).toContain(leak.path);
  });

  it("give a reason only for files that are there and long", () => {
    for (const path of Object.keys(longFiles)) {
      const file = files.find((one) => one.path === path);
      expect(file?.text.split("\n").length, path).toBeGreaterThan(400);
    }
  });
});

describe("the check of the rooms", () => {
  const one = (path: string, text: string): string[] => breaches([{ path, text }]);

  it.each([
    ["src/base/a.ts", `import { x } from "../crm/model.ts";`, "base imports crm"],
    ["src/crm/a.ts", `import type { X } from "../contract/codes.ts";`, "crm imports contract"],
    [
      "src/plan/a.ts",
      `import { x } from "../http/client.ts";`,
      "plan imports http (../http/client.ts) as more than a type",
    ],
    ["src/operation/a.ts", `import { x } from "../plan/plan.ts";`, "operation imports plan"],
    ["src/plan/a.ts", `import {\n  x,\n  y,\n} from "../ledger/journal.ts";`, "plan imports ledger"],
    ["src/source/a.ts", `export * from "../platform/outcome.ts";`, "source imports platform"],
    ["src/ledger/a.ts", `const x = await import("../apply/send.ts");`, "ledger imports apply"],
    ["src/ledger/a.ts", `import type { Inquiry } from "../inquiry/inquiry.ts";`, "ledger imports inquiry"],
    ["src/inquiry/a.ts", `import { x } from "../apply/send.ts";`, "inquiry imports apply"],
    ["src/cli/a.ts", `import { x } from "../inquiry/status.ts";`, "as more than a type"],
    ["src/web/a.ts", `import { x } from "../cli/print.ts";`, "web imports cli"],
    ["src/run/a.ts", `import { x } from "../cli/print.ts";`, "run imports cli"],
    ["src/run/a.ts", `import { x } from "../app/application.ts";`, "run imports app"],
    ["src/app/a.ts", `import { x } from "../cli/print.ts";`, "app imports cli"],
    ["src/app/a.ts", `import { x } from "../web/health.ts";`, "app imports web"],
    ["src/run/a.ts", `import type { Config } from "../config/config.ts";`, "run imports config"],
    ["src/cli/a.ts", `const x = await import("../run/run.ts");`, "cli imports run (../run/run.ts) as more than a type"],
    ["src/web/a.ts", `import { x } from "../ledger/ledger.ts";`, "as more than a type"],
    ["src/ledger/a.ts", `import type { Config } from "../config/schema.ts";`, "ledger imports config"],
    ["src/config/a.ts", `import { x } from "../http/client.ts";`, "config imports http"],
    ["src/sandbox/a.ts", `import { x } from "../contract/codes.ts";`, "sandbox imports contract"],
    ["src/run/a.ts", `import { startSandbox } from "../sandbox/sandbox.ts";`, "run imports sandbox"],
    ["src/crm/a.ts", `import { readFileSync } from "node:fs";`, "a pure room imports node:fs"],
    ["src/source/mapping/a.ts", `import { request } from "undici";`, "a pure room imports undici"],
    ["src/report/a.ts", `const now = Date.now();`, "a pure room reads Date.now"],
    ["src/report/a.ts", `const now = new Date( );`, "a pure room reads new Date()"],
    ["src/plan/a.ts", `setTimeout(() => {}, 1);`, "a pure room reads timers"],
    ["src/plan/a.ts", `const x = Math.random();`, "a pure room reads Math.random"],
    ["src/contract/a.ts", `const x = process.env["HOME"];`, "a pure room reads process.env"],
    ["src/contract/a.ts", `const x = performance.now();`, "a pure room reads performance.now"],
    ["src/apply/a.ts", `import Database from "better-sqlite3";`, "SQL belongs to ledger"],
    ["src/run/a.ts", `import { sql } from "kysely";`, "SQL belongs to ledger"],
    ["migrations/0001-a.ts", `import { hashOf } from "../../src/base/canonical-json.ts";`, "migrations imports base"],
    ["migrations/0001-a.ts", `import { z } from "zod";`, "a migration imports zod"],
    ["src/run/a.ts", `await fetch("https://x.example");`, "global fetch"],
    ["src/run/a.ts", `await globalThis.fetch("https://x.example");`, "global fetch"],
    ["src/run/a.ts", `export class RunManager {}`, "RunManager says nothing"],
    ["src/run/a.ts", `export function dateUtils() {}`, "dateUtils says nothing"],
    ["src/run/string-utils.ts", ``, "name of the file says nothing"],
    ["test/run/helpers.ts", ``, "name of the file says nothing"],
    ["src/run/a.ts", `import { x } from "./b";`, "without its ending"],
    ["src/run/a.ts", `import { x } from "fs";`, "without node:"],
    ["src/elsewhere/a.ts", `import { x } from "../base/ids.ts";`, "lies in no known room"],
    ["src/run/a.ts", "x;\n".repeat(401), "above 400"],
    ["test/run/a.ts", `// ${"word ".repeat(30)}`, "a comment beyond 120 columns"],
    ["src/inquiry/a.ts", `await ledger.db.deleteFrom("record").execute();`, "inquiry only reads"],
    ["src/plan/a.ts", `if (operation.kind === "place-order") x();`, "compares the kind of an operation"],
    ["src/apply/a.ts", `switch (kind) { case "add-staff": }`, "compares the kind of an operation"],
    ["src/run/a.ts", `const sent = ["grant-assets"];`, "names a kind of operation"],
    ["src/run/a.ts", `if (operation.endpoint === "M9") x();`, "compares the endpoint of an operation"],
    ["src/report/a.ts", `switch (row.endpoint) { case "E5": }`, "compares the endpoint of an operation"],
    ["src/run/a.ts", `if (operation.endpoint.startsWith("M")) x();`, "compares the endpoint of an operation"],
  ])("finds what is wrong in a file such as %s (case %#)", (path, text, what) => {
    expect(one(path, text).join("\n")).toContain(what);
  });

  it.each([
    ["src/plan/a.ts", `import { x } from "../crm/model.ts";\nimport { z } from "zod";`],
    [
      "src/plan/a.ts",
      `// Date.now() is not read here, see ../ledger/journal.ts\n/* import x from "../http/a.ts" */ const d = new Date(ms);`,
    ],
    ["src/report/a.ts", `const text = "Date.now"; const other = record.setTimeout;`.replace(`"Date.now"`, `"of now"`)],
    ["src/ledger/a.ts", `import Database from "better-sqlite3";\nimport { sql } from "kysely";`],
    ["src/inquiry/a.ts", `import { sql } from "kysely";\nimport { x } from "../ledger/tables.ts";`],
    ["src/run/a.ts", `import { x } from "../inquiry/status.ts";`],
    ["src/config/a.ts", `import { x } from "../http/http-settings.ts";\nimport { y } from "../http/secrets.ts";`],
    ["src/main.ts", `import { x } from "./sandbox/sandbox.ts";\nimport { y } from "./config/load.ts";`],
    ["src/app/a.ts", `import { x } from "../config/load.ts";`],
    [
      "src/cli/commands/a.ts",
      `import type { Summary } from "../../run/summary.ts";\nimport { x } from "../../app/jobs.ts";`,
    ],
    ["src/http/a.ts", `import { fetch } from "undici";\nawait fetch("https://x.example");`],
    ["migrations/0001-a.ts", `import type { Kysely } from "kysely";`],
    ["src/run/a.ts", `export const utility = 1; export class Helpfulness {}`],
    ["src/run/a.ts", "x;\n".repeat(400)],
  ])("finds nothing in a file such as %s (case %#)", (path, text) => {
    expect(one(path, text)).toEqual([]);
  });

  it("accepts a long file with its reason and refuses one whose reason is empty", () => {
    const file = { path: "src/run/a.ts", text: "x;\n".repeat(401) };
    expect(breaches([file], { "src/run/a.ts": "a table of the contract" })).toEqual([]);
    expect(breaches([file], { "src/run/a.ts": "" })).toHaveLength(1);
  });

  it("finds long lines and functions, and takes a reason for a function", () => {
    const body = "    x();\n".repeat(60);
    const text = (above: string): string =>
      [
        `${above}export function one(`,
        "  a: string,",
        "): { b: string } {",
        `${body}}`,
        "class Two {",
        `  async three() {\n${body}  }`,
        `  #four = () => {\n${body}  };`,
        "}",
        `call(async () => {\n${"  x();\n".repeat(10)}});`,
      ].join("\n");
    expect(functionsOf(text("")).map(({ from, to }) => to - from + 1)).toEqual([64, 62, 62, 12]);
    const path = "src/cli/a.ts";
    expect(tooLong([{ path, text: text("") }])).toHaveLength(3);
    expect(tooLong([{ path, text: text("/** Does it. In one piece: one table. */\n") }])).toHaveLength(2);
    expect(tooLong([{ path, text: `const a = "${"x".repeat(120)}";` }])).toHaveLength(1);
  });

  it("names a circle, be it for types", () => {
    const a = { path: "src/run/a.ts", text: `import { b } from "./b.ts";` };
    const b = { path: "src/run/b.ts", text: `import { c } from "./c.ts";` };
    const c = { path: "src/run/c.ts", text: `import { a } from "./a.ts";` };
    const circle = ["src/run/a.ts → src/run/b.ts → src/run/c.ts → src/run/a.ts"];
    expect(circles([a, b, c])).toEqual(circle);
    expect(circles([a, b, { ...c, text: `import type { a } from "./a.ts";` }])).toEqual(circle);
    expect(circles([a, b])).toEqual([]);
  });

  it("sees imports of every form, with their lines", () => {
    const text = [
      `import a from "one";`,
      `import type { B } from 'two';`,
      `import "three";`,
      `import * as d from "four";`,
      `export { e } from "five";`,
      `export type * from "six";`,
      `const f = await import("seven");`,
      `import g, { type H } from "eight";`,
      `// import x from "nine"`,
      `const i = 'import y from "ten"';`,
    ].join("\n");
    expect(importsOf(text)).toEqual([
      { specifier: "one", typeOnly: false, line: 1 },
      { specifier: "two", typeOnly: true, line: 2 },
      { specifier: "three", typeOnly: false, line: 3 },
      { specifier: "four", typeOnly: false, line: 4 },
      { specifier: "five", typeOnly: false, line: 5 },
      { specifier: "six", typeOnly: true, line: 6 },
      { specifier: "seven", typeOnly: false, line: 7 },
      { specifier: "eight", typeOnly: false, line: 8 },
    ]);
  });
});
