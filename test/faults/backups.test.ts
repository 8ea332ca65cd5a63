/** @module-tag sized */
import { readdirSync, mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { describe, expect, it, onTestFinished } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { document, world, type World } from "../support/cli.ts";
import { sizes } from "../support/sizes.ts";
import { company } from "../support/world/crm.ts";
import { rowsOf } from "../support/world/start.ts";
import { Draws } from "../simulation/timeline.ts";

/** Customers that a CRM grows by between two runs. */
const growth = 3;

function growTo(w: World, customers: number): void {
  const grown = company(customers, 1);
  w.customers.splice(0, w.customers.length, ...grown.customers);
  w.orders.splice(0, w.orders.length, ...grown.orders);
  w.write();
}

interface Taken {
  path: string;
  commits: number;
}

/** Operations that a run sends for each new customer. */
const sent = ["E2", "E5"] as const;

/** A backup while a random call of a run waits for its answer, before or after the service did it. */
async function backedUpMeanwhile(w: World, draws: Draws): Promise<Taken> {
  const when = draws.chance(0.5) ? "before" : "after";
  const stop = w.stopsAt(draws.pick(sent) ?? "E5", { nth: draws.whole(1, growth), when });
  const running = w.run("run", "everything");
  await stop.reached;
  const { path, manifest } = document(await w.run("--json", "backup", "--to", w.path("backups")));
  stop.goOn();
  expect((await running).exitCode).toBe(0);
  return { path, commits: manifest.commits };
}

/** What stands on the platform: nothing of it is there twice, and each order of the CRM once. */
function expectEachOnce(w: World, told: string): void {
  expect(w.sandbox.duplicates(), told).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
  expect(Object.keys(w.sandbox.state().orders), told).toHaveLength(w.orders.length);
}

it(
  `a backup of ${sizes.backups} random moments of runs is whole, and with what it lacks nothing is done twice`,
  { tags: "long" },
  async () => {
    const draws = new Draws(7);
    const w = await world({ records: company(growth, 1) });
    const backups: Taken[] = [];
    for (let round = 1; round <= sizes.backups; round += 1) {
      growTo(w, growth * round);
      backups.push(await backedUpMeanwhile(w, draws));
    }
    expect(new Set(backups.map(({ commits }) => commits)).size, "moments that differ").toBe(sizes.backups);
    const newest = document(await w.run("--json", "backup", "--to", w.path("backups")));

    const wrong: string[] = [];
    // Only the first lacks nothing: from then on every backup lacks what the run and the rebuild after it wrote.
    let lacks = false;
    for (const { path } of [newest, ...backups.slice(0, sizes.backups), newest]) {
      const restored = await w.run("--json", "restore", path);
      const { gap } = document(restored);
      expect(gap, restored.stdout + restored.stderr).toBeDefined();
      const { result, calls } = await w.writes(async () => await w.run("run", "everything"));
      const told = `${path}: restore ${restored.exitCode} ${JSON.stringify(gap)}, run ${result.exitCode}`;
      if (Object.keys(calls).length > 0) wrong.push(`${told}: ${JSON.stringify(calls)}`);
      const expected = lacks ? [exitCodes.recordsRejected, "known", exitCodes.ledgerRefused] : [0, "none", 0];
      if (JSON.stringify([restored.exitCode, gap.kind, result.exitCode]) !== JSON.stringify(expected)) wrong.push(told);
      if (!lacks) {
        lacks = true;
        continue;
      }
      const rebuilt = await w.writes(async () => await w.run("rebuild", "--by", "anna"));
      const after = await w.writes(async () => await w.run("run", "everything"));
      // What was on its way when the backup was made is told of, and nothing of it is sent.
      const ended = `${told}, rebuild ${rebuilt.result.exitCode}: ${rebuilt.result.stdout}`;
      if (Object.keys(rebuilt.calls).length + Object.keys(after.calls).length > 0)
        wrong.push(`${ended}: ${JSON.stringify([rebuilt.calls, after.calls])}`);
      if (after.result.exitCode !== 0) wrong.push(`${ended}, run ${after.result.exitCode}: ${after.result.stdout}`);
      expectEachOnce(w, ended);
    }
    expect(wrong).toEqual([]);

    const back = await w.run("restore", newest.path);
    expect([back.exitCode, back.stdout], back.stderr).toEqual([
      exitCodes.recordsRejected,
      expect.stringContaining("it does not have the changes until"),
    ]);
    expect((await w.run("rebuild")).exitCode).toBe(0);
    growTo(w, w.customers.length + 1);
    const { result, calls } = await w.writes(async () => await w.run("run", "everything"));
    expect([result.exitCode, calls["E2"], calls["E5"]]).toEqual([0, 1, 1]);
    expect(rowsOf(w.path("ledger.db"), "select count(*) as n from placed_order where to_at is null")).toEqual([
      { n: w.orders.length },
    ]);
    expectEachOnce(w, "in the end");
  },
);

/** Mounts a small disk; false where this user may not. */
function smallDisk(place: string, size: string): boolean {
  mkdirSync(place);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", place]).status !== 0) return false;
  onTestFinished(() => void spawnSync("umount", ["-l", place]));
  return true;
}

describe("a disk for backups that is full", () => {
  it("is named, leaves the backups that are there, and stops no other job", async ({ annotate }) => {
    const w = await world({ isOnMachineTime: true, records: company(1, 1) });
    if (!smallDisk(w.path("disk"), "8m")) {
      await annotate("NOT tried here: file systems cannot be mounted");
      return;
    }
    w.extra = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
  nightly: { kind: backup, to: disk, keep: 1 }
`;
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect((await w.run("run", "nightly")).exitCode).toBe(0);
    const kept = readdirSync(w.path("disk")).toSorted();
    const { bavail, bsize } = statfsSync(w.path("disk"));
    writeFileSync(w.path("disk/filler"), Buffer.alloc(bavail * bsize - 64 * 1024));
    const full = await w.run("run", "nightly");
    expect([full.exitCode, full.stderr]).toEqual([exitCodes.other, expect.stringContaining(w.path("disk"))]);
    expect(full.stderr).toMatch(/no backup was made: .*full/u);
    expect(readdirSync(w.path("disk")).toSorted()).toEqual([...kept, "filler"].toSorted());
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect((await w.run("status")).stdout).toContain("nightly");
  });
});
