import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { breaches, importsOf, type SourceFile } from "./rules.ts";

const project = join(import.meta.dirname, "../..");

function readTree(): SourceFile[] {
  return ["src", "jobs", "migrations"].flatMap((folder) => {
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

  it("import only from the rooms to their left, and do no I/O where they are pure", () => {
    expect(files.length).toBeGreaterThan(20);
    expect(breaches(files)).toEqual([]);
  });
});

describe("the check of the rooms", () => {
  const one = (path: string, text: string): string[] => breaches([{ path, text }]);

  it.each([
    ["src/base/a.ts", `import { x } from "../crm/model.ts";`, "base imports crm"],
    ["src/crm/a.ts", `import type { X } from "../contract/codes.ts";`, "crm imports contract"],
    [
      "src/engine/plan/a.ts",
      `import { x } from "../../http/client.ts";`,
      "model imports http (../../http/client.ts) as more than a type",
    ],
    ["src/engine/plan/a.ts", `import { x } from "../../resources/order/index.ts";`, "model imports resources"],
    ["src/engine/plan/a.ts", `import {\n  x,\n  y,\n} from "../../ledger/journal.ts";`, "model imports ledger"],
    ["src/source/a.ts", `export * from "../platform/outcome.ts";`, "source imports platform"],
    ["src/ledger/a.ts", `const x = await import("../engine/send.ts");`, "ledger imports engine"],
    ["src/ledger/a.ts", `import type { Inquiry } from "../inquiry/inquiry.ts";`, "ledger imports inquiry"],
    ["src/inquiry/a.ts", `import { x } from "../recovery/rebuild.ts";`, "inquiry imports recovery"],
    ["src/operate/a.ts", `import { x } from "../books/books.ts";`, "operate imports books"],
    ["src/books/a.ts", `import { x } from "../recovery/backup.ts";`, "books imports recovery"],
    ["src/requests/a.ts", `import { x } from "../app/application.ts";`, "requests imports app"],
    ["src/operate/a.ts", `import { x } from "../config/config.ts";`, "operate imports config"],
    ["src/cli/a.ts", `import { x } from "../inquiry/status.ts";`, "as more than a type"],
    ["src/web/a.ts", `import { x } from "../cli/print.ts";`, "web imports cli"],
    ["src/engine/a.ts", `import { x } from "../cli/print.ts";`, "engine imports cli"],
    ["src/engine/a.ts", `import { x } from "../app/application.ts";`, "engine imports app"],
    ["src/app/a.ts", `import { x } from "../cli/print.ts";`, "app imports cli"],
    ["src/app/a.ts", `import { x } from "../web/health.ts";`, "app imports web"],
    ["src/engine/a.ts", `import type { Config } from "../config/config.ts";`, "engine imports config"],
    ["src/cli/a.ts", `import { x } from "../../jobs/verify.ts";`, "cli imports jobs"],
    [
      "src/cli/a.ts",
      `const x = await import("../engine/run/run.ts");`,
      "cli imports run (../engine/run/run.ts) as more than a type",
    ],
    ["src/web/a.ts", `import { x } from "../ledger/ledger.ts";`, "as more than a type"],
    ["src/ledger/a.ts", `import type { Config } from "../config/schema.ts";`, "ledger imports config"],
    ["src/config/a.ts", `import { x } from "../http/client.ts";`, "config imports http"],
    ["src/sandbox/a.ts", `import { x } from "../contract/codes.ts";`, "sandbox imports contract"],
    ["src/engine/a.ts", `import { startSandbox } from "../sandbox/sandbox.ts";`, "engine imports sandbox"],
    ["src/crm/a.ts", `import { readFileSync } from "node:fs";`, "a pure room imports node:fs"],
    ["src/source/mapping/a.ts", `import { request } from "undici";`, "a pure room imports undici"],
    ["src/report/a.ts", `const now = Date.now();`, "a pure room reads Date.now"],
    ["src/report/a.ts", `const now = new Date( );`, "a pure room reads new Date()"],
    ["src/engine/plan/a.ts", `setTimeout(() => {}, 1);`, "a pure room reads timers"],
    ["src/engine/plan/a.ts", `const x = Math.random();`, "a pure room reads Math.random"],
    ["src/contract/a.ts", `const x = process.env["HOME"];`, "a pure room reads process.env"],
    ["src/contract/a.ts", `const x = performance.now();`, "a pure room reads performance.now"],
    ["src/recovery/a.ts", `import Database from "better-sqlite3";`, "SQL belongs to ledger"],
    ["src/engine/a.ts", `import { sql } from "kysely";`, "SQL belongs to ledger"],
    ["migrations/0001-a.ts", `import { hashOf } from "../../src/base/canonical-json.ts";`, "migrations imports base"],
    ["jobs/a.ts", `import { x } from "../../src/operate/job.ts";`, "as more than a type"],
    ["jobs/a.ts", `import type { x } from "../../src/ledger/journal/journal-tables.ts";`, "jobs imports ledger"],
    ["src/report/a.ts", `import { x } from "../engine/operation-type.ts";`, "report imports engine"],
    ["src/engine/plan/a.ts", `import type { X } from "../../resources/lock/index.ts";`, "model imports resources"],
    ["src/engine/plan/a.ts", `import { x } from "../settle.ts";`, "model imports engine"],
    ["src/ledger/a.ts", `import type { X } from "../resources/lock/index.ts";`, "ledger imports resources"],
    ["src/engine/a.ts", `import type { X } from "../resources/lock/index.ts";`, "engine imports resources"],
    ["src/engine/run/a.ts", `import type { X } from "../../resources/lock/index.ts";`, "run imports resources"],
    ["src/operate/a.ts", `import { x } from "../resources/lock/index.ts";`, "operate imports resources"],
    ["src/resources/lock/a.ts", `import { x } from "../../engine/run/run.ts";`, "resources imports run"],
    ["src/resources/lock/a.ts", `import { x } from "../loan/index.ts";`, "the resource lock imports loan/index.ts"],
    ["src/resources/loan/a.ts", `import { x } from "../lock/plan.ts";`, "the resource loan imports lock/plan.ts"],
    ["src/elsewhere/a.ts", `import { x } from "../base/ids.ts";`, "lies in no known room"],
  ])("finds what is wrong in a file such as %s (case %#)", (path, text, what) => {
    expect(one(path, text).join("\n")).toContain(what);
  });

  it.each([
    ["src/engine/plan/a.ts", `import { x } from "../../crm/model.ts";\nimport { z } from "zod";`],
    [
      "src/engine/plan/a.ts",
      `// Date.now() is not read here, see ../ledger/journal.ts\n/* import x from "../../http/a.ts" */ const d = new Date(ms);`,
    ],
    ["src/report/a.ts", `const text = "Date.now"; const other = record.setTimeout;`.replace(`"Date.now"`, `"of now"`)],
    ["src/report/a.ts", `import { x } from "../engine/model/registry.ts";`],
    ["src/ledger/a.ts", `import Database from "better-sqlite3";\nimport { sql } from "kysely";`],
    ["src/inquiry/a.ts", `import { sql } from "kysely";\nimport { x } from "../ledger/tables.ts";`],
    ["src/engine/run/a.ts", `import { x } from "../../inquiry/status.ts";`],
    ["src/config/a.ts", `import { x } from "../http/http-settings.ts";\nimport { y } from "../http/secrets.ts";`],
    ["src/main.ts", `import { x } from "./sandbox/sandbox.ts";\nimport { y } from "./config/load.ts";`],
    ["src/app/a.ts", `import { x } from "../config/load.ts";\nimport { y } from "../../jobs/verify.ts";`],
    [
      "src/cli/commands/a.ts",
      `import type { Summary } from "../../engine/run/run.ts";\nimport { x } from "../../requests/plans.ts";`,
    ],
    ["jobs/a.ts", `import type { Job } from "../../src/operate/job.ts";`],
    ["migrations/0001-a.ts", `import type { Kysely } from "kysely";`],
  ])("finds nothing in a file such as %s (case %#)", (path, text) => {
    expect(one(path, text)).toEqual([]);
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
