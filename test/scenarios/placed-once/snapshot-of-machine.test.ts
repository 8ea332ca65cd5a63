import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

const files = ["ledger.db", "ledger.db.heads"];

function copyAll(from: (name: string) => string, to: (name: string) => string): void {
  for (const name of files) copyFileSync(from(name), to(name));
  for (const suffix of ["-wal", "-shm"]) rmSync(`${to("ledger.db")}${suffix}`, { force: true });
}

/** A world after one run, which keeps a head of the audit log elsewhere. */
async function withHeads(): Promise<World> {
  const w = await world({ records: company(1, 1) });
  w.extra = "audit: { heads: [{ kind: file, path: elsewhere/crm.heads }] }\n";
  mkdirSync(w.path("elsewhere"));
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** The same with a snapshot that was put back after one more order was placed. */
async function putBack(): Promise<World> {
  const w = await withHeads();
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
  it("is refused by the next run, if a head was kept elsewhere, and nothing is sent", async () => {
    const w = await putBack();
    const before = w.sandbox.state();
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls, run.stderr]).toEqual([65, {}, expect.stringContaining("is an older copy")]);
    expect((await w.run("status")).exitCode).toBe(65);
    expect((await w.run("run", "everything")).exitCode).toBe(65);
    expect(w.sandbox.state()).toEqual(before);
  });

  it("is read back by a rebuild, after which runs go on and place nothing again", async () => {
    const w = await putBack();
    const before = w.sandbox.state();
    expect((await w.run("run", "everything")).exitCode).toBe(65);
    expect((await w.run("rebuild")).exitCode).toBeLessThan(5);
    for (let run = 0; run < 3; run += 1) {
      const { exitCode, calls } = await w.does("run", "everything");
      expect([exitCode === 65, calls["E5"] ?? 0, calls["E2"] ?? 0]).toEqual([false, 0, 0]);
    }
    expect(w.sandbox.state()).toEqual(before);
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
