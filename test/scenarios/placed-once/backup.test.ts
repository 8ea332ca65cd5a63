import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exitCodes } from "../../../src/base/errors.ts";
import { headsPath } from "../../../src/ledger/audit/audit-heads.ts";
import { runsOf } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

/** A world whose one customer has an order that is placed. */
async function lived(): Promise<World> {
  const w = await world({ records: company(1, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

async function backedUp(w: World, ...words: string[]): Promise<Parsed> {
  const { exitCode, stdout, stderr } = await w.run("--json", "backup", "--to", w.path("backups"), ...words);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

/** The CRM has a customer and an order more. */
function grows(w: World): void {
  const { customers, orders } = company(2, 1);
  w.customers.splice(0, w.customers.length, ...customers);
  w.orders.splice(0, w.orders.length, ...orders);
  w.write();
}

describe("a backup", () => {
  it("is the ledger of one moment in a file of its own, for its owner alone, with what it is beside it", async () => {
    const w = await lived();
    const { path, manifest } = await backedUp(w);
    const { sequence } = await w.ask("audit", "head");
    expect(manifest).toMatchObject({ form: "crm-sync backup 1", audit: { sequence }, periods: [] });
    expect(readdirSync(w.path("backups")).toSorted()).toEqual(
      [".db", ".json"].map((ending) => manifest.file.replace(".db", ending)),
    );
    for (const name of readdirSync(w.path("backups")))
      expect(statSync(join(w.path("backups"), name)).mode & 0o777, name).toBe(0o600);
    w.losesItsLedger(path);
    expect((await w.ask("status")).known).toMatchObject({ orders: 1 });
    expect(readFileSync(path.replace(".db", ".json"), "utf8")).not.toMatch(/Zqcanary/u);
  });

  it("takes older ones of its ledger away once it is whole, and nothing else", { tags: "long" }, async () => {
    const w = await lived();
    const first = await backedUp(w);
    writeFileSync(w.path("backups/notes.json"), "{}");
    writeFileSync(w.path("backups/other.db"), "kept by hand");
    const second = await backedUp(w);
    const third = await backedUp(w, "--keep", "2");
    expect(third.removed).toEqual([first.path]);
    expect([first, second, third].map(({ path }) => existsSync(path))).toEqual([false, true, true]);
    expect(existsSync(w.path("backups/notes.json")) && existsSync(w.path("backups/other.db"))).toBe(true);
  });

  it("is none where the record was changed: those before it stay", async () => {
    const w = await lived();
    const first = await backedUp(w);
    w.tamper("drop trigger audit_refuses_update; update audit set body = '{}' where sequence = 2");
    const ended = await w.run("backup", "--to", w.path("backups"), "--keep", "1");
    expect([ended.exitCode, ended.stderr]).toEqual([exitCodes.ledgerRefused, expect.stringContaining("entry 2")]);
    expect(readdirSync(w.path("backups")).filter((name) => name.endsWith(".db"))).toEqual([first.manifest.file]);
    expect(readdirSync(w.path("backups"))).toHaveLength(2);
  });

  it("is none where files of closed periods are missing or changed", async () => {
    const w = await lived();
    w.later(31 * 24);
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect((await w.run("report", "close", "2026-11")).exitCode).toBe(0);
    const { manifest } = await backedUp(w);
    const names: string[] = manifest.periods;
    expect(names.toSorted()).toEqual(readdirSync(w.path("periods")).toSorted());
    expect(readdirSync(w.path("backups/periods")).toSorted()).toEqual(names.toSorted());
    const refused = async (): Promise<void> => {
      const ended = await w.run("backup", "--to", w.path("others"));
      expect([ended.exitCode, ended.stdout]).toEqual([exitCodes.ledgerRefused, ""]);
      expect(ended.stderr).toMatch(/the file \S+ of a closed period (?:is missing|was changed after the close)/u);
      expect(readdirSync(w.path("others"))).toEqual(["periods"]);
    };
    const [name = ""] = names.toSorted();
    const file = w.path(`periods/${name}`);
    chmodSync(file, 0o600);
    writeFileSync(file, "other figures");
    await refused();
    rmSync(file);
    await refused();
    rmSync(w.path("periods"), { recursive: true });
    await refused();
  });

  it("that cannot be written leaves nothing, and says where and why", async () => {
    const w = await lived();
    writeFileSync(w.path("file"), "");
    const ended = await w.run("backup", "--to", w.path("file"));
    expect([ended.exitCode, ended.stderr]).toEqual([exitCodes.other, expect.stringContaining(w.path("file"))]);
    expect(ended.stderr).toContain("no backup was made");
  });

  it("by a job is a run of its own, and one that fails stops no other job", { tags: "long" }, async () => {
    const w = await lived();
    writeFileSync(w.path("file"), "");
    w.extra = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
  nightly: { kind: backup, to: backups, keep: 3 }
  lost: { kind: backup, to: file }
`;
    w.write();
    const good = await w.run("run", "nightly");
    expect([good.exitCode, good.stdout]).toEqual([0, expect.stringContaining("written and verified")]);
    const bad = await w.run("run", "lost");
    expect([bad.exitCode, bad.stderr]).toEqual([exitCodes.other, expect.stringContaining("no backup was made")]);
    expect((await w.run("status")).stdout).toContain("lost");
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect((await runsOf(w)).map(({ job, state }) => [job, state]).slice(1, 3)).toEqual([
      ["lost", "failed"],
      ["nightly", "done"],
    ]);
  });
});

describe("a backup that is put back", () => {
  it(
    "goes on where nothing was done after it, with the ledger that stood there kept aside",
    { tags: "long" },
    async () => {
      const w = await lived();
      const { path } = await backedUp(w);
      writeFileSync(w.path("ledger.db"), "the disk spoiled it".repeat(1_000));
      const restored = await w.run("restore", path);
      expect([restored.exitCode, restored.stdout]).toEqual([0, expect.stringContaining("nothing was done after it")]);
      const aside = readdirSync(w.folder).filter((name) => /^ledger\.db\.before-[^-]*$/u.test(name));
      expect(aside.map((name) => readFileSync(w.path(name), "utf8").slice(0, 19))).toEqual(["the disk spoiled it"]);
      grows(w);
      const ended = await w.does("run", "everything");
      expect([ended.exitCode, ended.calls]).toMatchObject([0, { E2: 1, E5: 1 }]);
      expect((await w.run("audit", "verify")).exitCode).toBe(0);
    },
  );

  it("is read, and refused by whatever writes, while it lacks what was done after it", { tags: "long" }, async () => {
    const w = await lived();
    const { path } = await backedUp(w);
    grows(w);
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const restored = await w.run("restore", path);
    expect([restored.exitCode, restored.stdout]).toEqual([
      exitCodes.recordsRejected,
      expect.stringMatching(/it does not have the changes until .*: \d+ groups of changes, \d+ audit entries/u),
    ]);
    const { result, calls } = await w.writes(async () => await w.run("run", "everything"));
    expect([result.exitCode, calls]).toEqual([exitCodes.ledgerRefused, {}]);
    expect((await w.run("status")).exitCode).toBe(exitCodes.ledgerRefused);
    const newest = readdirSync(w.folder).find((name) => name.startsWith("ledger.db.before-"));
    w.losesItsLedger(newest);
    expect((await w.ask("status")).known).toMatchObject({ orders: 2 });
  });

  it("from before the first run lacks all that was done, and is refused as any other", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1) });
    const { path, manifest } = await backedUp(w);
    expect(manifest).toMatchObject({ ledger: null, audit: null });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const restored = await w.run("restore", path);
    expect([restored.exitCode, restored.stdout]).toEqual([
      exitCodes.recordsRejected,
      expect.stringContaining("it does not have the changes until"),
    ]);
    const { result, calls } = await w.writes(async () => await w.run("run", "everything"));
    expect([result.exitCode, calls]).toEqual([exitCodes.ledgerRefused, {}]);
  });

  it(
    "from before the first run is that of the same ledger once it was rebuilt, and a later one is put back over it",
    { tags: "long" },
    async () => {
      const w = await world({ records: company(1, 1) });
      const first = await backedUp(w);
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const later = await backedUp(w);
      const name = async (): Promise<string> => (await w.ask("status")).identity;
      const before = await name();
      await w.run("restore", first.path);
      expect((await w.run("rebuild")).exitCode).toBe(0);
      expect(await name()).toBe(before);
      const back = await w.run("restore", later.path);
      expect([back.exitCode, back.stderr]).toEqual([exitCodes.recordsRejected, ""]);
    },
  );

  it("is refused too where the file of heads is gone, as nobody knows what was done", { tags: "long" }, async () => {
    const w = await lived();
    const { path } = await backedUp(w);
    grows(w);
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    rmSync(headsPath(w.path("ledger.db")));
    const restored = await w.run("restore", path);
    expect([restored.exitCode, restored.stdout]).toEqual([
      exitCodes.recordsRejected,
      expect.stringContaining("it is not known which changes are newer"),
    ]);
    const { result, calls } = await w.writes(async () => await w.run("run", "everything"));
    expect([result.exitCode, calls]).toEqual([exitCodes.ledgerRefused, {}]);
  });

  it.each([
    ["a byte of it was changed", (path: string) => writeFileSync(path, spoiled(readFileSync(path)))],
    ["it was cut", (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 8_192))],
    ["its manifest is gone", (path: string) => rmSync(path.replace(".db", ".json"))],
    ["it is gone", (path: string) => rmSync(path)],
  ])("touches nothing where %s", { tags: "long" }, async (_, spoil) => {
    const w = await lived();
    const { path } = await backedUp(w);
    spoil(path);
    const before = readFileSync(w.path("ledger.db"));
    const ended = await w.run("restore", path);
    expect([ended.exitCode, ended.stderr]).toEqual([exitCodes.ledgerRefused, expect.stringContaining(path)]);
    expect(readFileSync(w.path("ledger.db")).equals(before)).toBe(true);
    expect(readdirSync(w.folder).filter((name) => /before|restored/u.test(name))).toEqual([]);
  });

  it(
    "touches nothing where the ledger that stands there is another one, or a run is on",
    { tags: "long" },
    async () => {
      const [w, other] = [await lived(), await lived()];
      const { path } = await backedUp(other);
      const ended = await w.run("restore", path);
      expect([ended.exitCode, ended.stderr]).toEqual([
        exitCodes.ledgerRefused,
        expect.stringContaining("the backup is of ledger"),
      ]);
      expect((await w.run("run", "everything")).exitCode).toBe(0);
    },
  );
});

/** The same with one byte of a page in the middle changed. */
function spoiled(bytes: Buffer): Buffer {
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 0x01;
  return bytes;
}

it("a folder that others may read becomes no reason for backups to be readable", { tags: "long" }, async () => {
  const w = await lived();
  mkdirSync(w.path("backups"));
  chmodSync(w.path("backups"), 0o755);
  const { path } = await backedUp(w);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});
