import { generateKeyPairSync } from "node:crypto";
import { appendFileSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

const files = ["ledger.db", "ledger.db.heads"];

function copyAll(from: (name: string) => string, to: (name: string) => string): void {
  for (const name of files) copyFileSync(from(name), to(name));
  for (const suffix of ["-wal", "-shm"]) rmSync(`${to("ledger.db")}${suffix}`, { force: true });
}

/** A world after one run, which keeps a head of the audit log elsewhere. */
async function withHeads(signed = false): Promise<World> {
  const w = await world({ records: company(1, 1) });
  const key = signed ? "signKey: env:AUDIT_KEY, " : "";
  w.extra = `audit: { ${key}heads: [{ kind: file, path: elsewhere/crm.heads }] }\n`;
  w.environment["AUDIT_KEY"] = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
  mkdirSync(w.path("elsewhere"));
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** The same with a snapshot that was put back after one more order was placed. */
async function putBack(signed = false): Promise<World> {
  const w = await withHeads(signed);
  const snapshot = (name: string): string => w.path(`snapshot-${name}`);
  const place = (name: string): string => w.path(name);
  copyAll(place, snapshot);
  w.orders.push({ id: "O1-more", customer: "C1", assets: ["O1-more-A1"] });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  copyAll(snapshot, place);
  return w;
}

describe("a snapshot of the whole machine that was put back", () => {
  it("is refused by every run, if a head was kept elsewhere, and nothing is sent", async () => {
    const w = await putBack();
    const before = w.sandbox.state();
    for (let run = 0; run < 2; run += 1) {
      const { exitCode, calls, stderr } = await w.does("run", "everything");
      expect([exitCode, calls, stderr]).toEqual([65, {}, expect.stringContaining("is an older copy: ")]);
    }
    expect((await w.run("lock", "C1", "8000000001", "--reason", "lost")).exitCode).not.toBe(0);
    expect((await w.run("rebuild", "--dry-run")).exitCode).not.toBe(0);
    expect((await w.does("run", "everything")).exitCode).toBe(65);
    expect(w.sandbox.state()).toEqual(before);
  });

  it.each([
    ["that nobody had to sign", false, 65],
    ["that is not signed, while there is a key,", true, 0],
  ])("a head %s of an entry that the ledger lacks", async (_what, signed, exitCode) => {
    const w = await withHeads(signed);
    const line = readFileSync(w.path("elsewhere/crm.heads"), "utf8").split("\n").at(-1) ?? "";
    const head = { ...JSON.parse(line), sequence: 9_999, hash: "0".repeat(64), at: "2099-01-01T00:00:00.000Z" };
    appendFileSync(w.path("elsewhere/crm.heads"), `\n${JSON.stringify(head)}`);
    expect((await w.run("run", "everything")).exitCode).toBe(exitCode);
  });

  it("a head that nobody signed stops nothing while the key cannot be used", async () => {
    const w = await withHeads(true);
    const line = readFileSync(w.path("elsewhere/crm.heads"), "utf8").split("\n").at(-1) ?? "";
    const { checkpoint: _, ...head } = JSON.parse(line);
    const unsigned = { ...head, sequence: 9_999, hash: "0".repeat(64), at: "2099-01-01T00:00:00.000Z" };
    appendFileSync(w.path("elsewhere/crm.heads"), `\n${JSON.stringify(unsigned)}`);
    w.environment["AUDIT_KEY"] = "no key at all";
    expect((await w.run("run", "everything")).exitCode).not.toBe(65);
  });

  it("is refused by a signed head too, also while the key cannot be used", async () => {
    const w = await putBack(true);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 65, calls: {} });
    w.environment["AUDIT_KEY"] = "no key at all";
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 65, calls: {} });
  });

  it("is read back into a new ledger by a rebuild, after which nothing is placed again", async () => {
    const w = await putBack();
    const before = w.sandbox.state();
    w.losesItsLedger("new.db");
    w.write();
    expect((await w.run("rebuild")).exitCode).toBeLessThan(5);
    for (let run = 0; run < 3; run += 1) {
      const { exitCode, calls } = await w.does("run", "everything");
      expect([exitCode === 65, calls["E5"] ?? 0, calls["E2"] ?? 0]).toEqual([false, 0, 0]);
    }
    expect(w.sandbox.state()).toEqual(before);
  });

  it("says nothing of a ledger that was restored and rebuilt on purpose", async () => {
    const w = await withHeads();
    expect((await w.run("backup", "--to", w.path("backups"))).exitCode).toBe(0);
    w.orders.push({ id: "O1-more", customer: "C1", assets: ["O1-more-A1"] });
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const [made = ""] = readdirSync(w.path("backups")).filter((name) => name.endsWith(".db"));
    expect((await w.run("restore", join(w.path("backups"), made))).exitCode).toBe(3);
    expect((await w.run("rebuild")).exitCode).toBeLessThan(5);
    const run = await w.does("run", "everything");
    expect([run.exitCode === 65, run.calls["E5"] ?? 0]).toEqual([false, 0]);
  });

  it("heads of another ledger at the same place stop nothing", async () => {
    const w = await withHeads();
    w.losesItsLedger("other.db");
    w.write();
    expect((await w.run("rebuild")).exitCode).toBeLessThan(5);
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.losesItsLedger("ledger.db");
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
  });

  it("a place that cannot be read stops nothing", async () => {
    const w = await withHeads();
    rmSync(w.path("elsewhere"), { recursive: true });
    expect((await w.does("run", "everything")).exitCode).not.toBe(65);
  });
});
