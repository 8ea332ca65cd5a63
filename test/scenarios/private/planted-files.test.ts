import { spawnSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { world, type World } from "../../support/cli.ts";
import { fileSource } from "../../support/world/crm-files.ts";

/** A job that writes into a folder where a colleague may write too; its name for October ends in `orders-2026-10.csv`. */
async function reporting(): Promise<World> {
  const w = await world();
  w.extra = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
  monthly: { kind: report, reports: [{ kind: orders, format: csv, to: shared }] }
  copies: { kind: backup, to: shared }
`;
  w.write();
  mkdirSync(w.path("shared"));
  await w.run("run", "everything");
  return w;
}

const report = "orders-2026-10.csv";

describe("a colleague who may write in the folder of reports", () => {
  it.each([report, `${report}.part`])("has nothing written to where a link %s leads", async (name) => {
    const w = await reporting();
    const before = readFileSync(w.path("ledger.db"));
    symlinkSync(w.path("ledger.db"), w.path(`shared/${name}`));
    expect((await w.run("run", "monthly")).exitCode).toBe(0);
    expect(readFileSync(w.path(`shared/${report}`), "utf8")).toContain("order");
    expect(lstatSync(w.path(`shared/${report}`)).isFile()).toBe(true);
    expect(readFileSync(w.path("ledger.db")).subarray(0, 16)).toEqual(before.subarray(0, 16));
    expect((await w.run("audit", "verify", "--within", "9999d")).exitCode).toBe(0);
  });

  it("has no file made where a link without a target leads", async () => {
    const w = await reporting();
    symlinkSync(w.path("made-elsewhere"), w.path(`shared/${report}`));
    expect((await w.run("run", "monthly")).exitCode).toBe(0);
    expect(readdirSync(w.folder)).not.toContain("made-elsewhere");
  });

  it("stops the report with a folder of its name, and is told of", async () => {
    const w = await reporting();
    mkdirSync(w.path(`shared/${report}`));
    const ended = await w.run("run", "monthly");
    expect([ended.exitCode, ended.stderr]).toEqual([64, expect.stringContaining("a folder has this name")]);
  });

  it.each<[what: string, plant: (path: string, elsewhere: string) => void, why: string]>([
    ["a link to a folder", (path, elsewhere) => symlinkSync(elsewhere, path), "a folder has this name"],
    ["a link to a device, as /dev/stdout is one", (path) => symlinkSync("/dev/null", path), "a device has this name"],
    ["a pipe that somebody reads", pipe, "a device has this name"],
  ])("loses nothing by %s in the place of the file", async (_what, plant, why) => {
    const w = await reporting();
    const path = w.path(`shared/${report}`);
    plant(path, w.path("data"));
    const was = lstatSync(path);
    const ended = await w.run("run", "monthly");
    expect([ended.exitCode, ended.stderr]).toEqual([64, expect.stringContaining(why)]);
    expect(lstatSync(path).ino).toBe(was.ino);
  });

  it("keeps no backup from being made with a pipe in the place of a manifest", async () => {
    const w = await reporting();
    pipe(w.path("shared/ledger-20200101T000000.000Z.json"));
    expect((await w.run("run", "copies")).exitCode).toBe(0);
  });

  it("has no plan written to where a link leads", async () => {
    const w = await reporting();
    for (const target of ["ledger.db", "made-elsewhere"]) {
      symlinkSync(w.path(target), w.path(`shared/${target}.plan`));
      const ended = await w.run("plan", "--out", w.path(`shared/${target}.plan`));
      expect([ended.exitCode, ended.stderr]).toEqual([64, expect.stringContaining("was not written to")]);
    }
    expect(readdirSync(w.folder)).not.toContain("made-elsewhere");
  });
});

function pipe(path: string): void {
  rmSync(path, { force: true });
  expect(spawnSync("mkfifo", [path]).status).toBe(0);
}

/** A world whose people come from a source with a look-up table and a completion marker. */
async function exporting(): Promise<World> {
  const w = await world();
  const source = fileSource("people", ["staff"]);
  const table = { branches: { files: "branches.csv", key: "name", value: "code" } };
  w.extra = `  people: ${JSON.stringify({ ...source, tables: table })}
jobs:
  everything: { kind: sync, streams: [customers, orders] }
  people: { kind: sync, streams: [staff], sources: [people] }
`;
  w.write();
  mkdirSync(w.path("people"));
  writeFileSync(w.path("people/branches.csv"), "name,code\nNorth,1\n");
  renameSync(w.path("data/staff.ndjson"), w.path("people/staff.ndjson"));
  return w;
}

describe("a source reads regular files inside its folder", () => {
  it.each(["staff.ndjson", "branches.csv"])("a pipe %s is told, and nothing waits for it", async (name) => {
    const w = await exporting();
    pipe(w.path(`people/${name}`));
    const ended = await w.run("run", "people");
    expect([ended.exitCode, ended.stderr]).toEqual([
      7,
      expect.stringContaining(`${name} cannot be used: it is no regular file`),
    ]);
  });

  it.each(["staff.ndjson", "branches.csv"])("a link %s that leads out of the folder is told", async (name) => {
    const w = await exporting();
    renameSync(w.path(`people/${name}`), w.path(name));
    symlinkSync(w.path(name), w.path(`people/${name}`));
    const ended = await w.run("run", "people");
    expect([ended.exitCode, ended.stderr]).toEqual([7, expect.stringContaining("a link leads out of its folder")]);
  });

  it("a link inside the folder, and a folder that is a link, are read", async () => {
    const w = await exporting();
    renameSync(w.path("people"), w.path("of-today"));
    symlinkSync("of-today", w.path("people"));
    renameSync(w.path("people/staff.ndjson"), w.path("people/staff-2.json"));
    symlinkSync("staff-2.json", w.path("people/staff.ndjson"));
    await w.run("run", "everything");
    expect(await w.does("run", "people")).toMatchObject({ exitCode: 0, calls: { M1: 2 } });
  });

  it.each([{ file: "{file}.done" }, { file: "{file}.done", contains: "rows" }])(
    "a pipe as a marker of completion ends no file (%o)",
    async (completeWhen) => {
      const w = await world();
      const source = JSON.stringify(fileSource("data", ["staff"])).replace(
        '"files":',
        `"completeWhen":${JSON.stringify(completeWhen)},"files":`,
      );
      w.extra = `  people: ${source}\njobs:\n  people: { kind: sync, streams: [staff], sources: [people] }\n`;
      w.write();
      pipe(w.path("data/staff.ndjson.done"));
      const ended = await w.run("run", "people");
      expect([ended.exitCode, ended.stderr]).toEqual([7, expect.stringContaining("it is no regular file")]);
    },
  );

  it("a pipe as a secret is told", async () => {
    const w = await world();
    pipe(w.path("key"));
    w.environment["CRM_SYNC__ledger__sealKey"] = `file:${w.path("key")}`;
    const ended = await w.run("run", "everything");
    expect([ended.exitCode, ended.stderr]).toEqual([78, expect.stringContaining("it is no regular file")]);
  });
});

it("a head of the audit log is appended to no file that a link leads to, and to no pipe", async () => {
  for (const plant of [(path: string) => symlinkSync(join(dirname(path), "other"), path), pipe]) {
    const w = await world();
    w.extra = "audit: { heads: [{ kind: file, path: heads }] }\n";
    w.write();
    writeFileSync(w.path("other"), "");
    plant(w.path("heads"));
    const ended = await w.run("run", "everything");
    expect(ended.stderr).toContain("a head of the audit log could not be kept");
    expect(readFileSync(w.path("other"), "utf8")).toBe("");
  }
});

it("what a dead process left of a copy beside the ledger is removed by the next command", async () => {
  const w = await world();
  await w.run("run", "everything");
  const left = w.path("crm-sync-unfinished-abc123");
  mkdirSync(left, { mode: 0o700 });
  writeFileSync(join(left, "ledger.db"), "SQLite format 3\u0000");
  await w.run("status");
  expect(readdirSync(w.folder)).not.toContain("crm-sync-unfinished-abc123");
});
