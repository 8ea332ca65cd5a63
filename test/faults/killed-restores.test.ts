/** @module-tag sized */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { orderOf } from "../scenarios/life/placed-orders.ts";
import { document, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { startCrmSync } from "../support/process.ts";
import type { Ended } from "../support/program.ts";
import { sizes } from "../support/sizes.ts";
import { outcome } from "../support/world/members.ts";

const preloads = { step: "kill-at-file-step.ts", commit: "kill-at-commit.ts" };

/** A command line in a process of its own that is killed at that step, or comes to its end and says how many it had. */
async function killed(
  w: World,
  kind: keyof typeof preloads,
  at: number | undefined,
  ...words: string[]
): Promise<Ended> {
  const name = kind === "step" ? "KILL_STEP" : "KILL_COMMIT";
  const environment = { ...w.place.environment, ...(at === undefined ? {} : { [name]: String(at) }) };
  const preload = join(import.meta.dirname, "../support", preloads[kind]);
  return await startCrmSync({ ...w.place, environment, preload }, ...words).ended;
}

function countIn({ stderr }: Ended): number {
  return Number(/(?:file steps|commits): (\d+)/u.exec(stderr)?.[1]);
}

/** All of them where they are few; else so many, in even steps. */
function someOf(all: number, most: number): number[] {
  const many = Math.min(all, most);
  return [...new Set(Array.from({ length: many }, (_, index) => 1 + Math.round((index * (all - 1)) / (many - 1))))];
}

const most = Math.max(12, Math.round(sizes.backups / 4));

/** What is known of the platform, as far as a rebuild has to bring it back. */
const known = [
  "select customer_id, enterprise_global_id from link where to_at is null order by 1",
  "select order_id, channel_order_id, customer_id from placed_order where to_at is null order by 1",
  "select staff_id, member_global_id from staff_link where to_at is null order by 1",
  "select asset_number, staff_id from assignment where to_at is null order by 1",
];

/** A company that was backed up, and for which things were bought, amended and given since. */
async function livedOn(): Promise<{ w: World; backup: string; before: unknown }> {
  const w = await world({
    records: {
      customers: [{ id: "C1" }, { id: "C2" }],
      orders: [orderOf("1", "C1"), orderOf("2", "C2")],
      staff: [{ id: "S1", customer: "C1", holds: ["A1"] }],
    },
  });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const backup: string = document(await w.run("--json", "backup", "--to", w.path("backups"))).path;
  w.customers.push({ id: "C3" });
  w.orders.push(orderOf("3", "C3"));
  w.staff.push({ id: "S3", customer: "C3", holds: ["A3"] });
  const [first] = w.orders;
  if (first !== undefined) first.products = [...(first.products ?? []), { id: "R1", parent: "A1", pid: "PID-R1" }];
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return { w, backup, before: known.map((sql) => w.rows(sql)) };
}

async function expectAllBack(w: World, before: unknown, told: string): Promise<void> {
  const rebuilt = await w.does("rebuild");
  expect(outcome(rebuilt), `${told}: ${rebuilt.stdout}`).toEqual([0, {}]);
  expect(
    known.map((sql) => w.rows(sql)),
    told,
  ).toEqual(before);
  expect(outcome(await w.does("run", "everything")), told).toEqual([0, {}]);
  expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
}

describe("a restore that is killed at any step and made again", () => {
  it.each([[true], [false]])(
    "lets nothing be sent in between, and its rebuild brings all of it back (with heads: %s)",
    { tags: "long", timeout: 600_000 },
    async (hasHeads) => {
      const { w, backup, before } = await livedOn();
      const newest: string = document(await w.run("--json", "backup", "--to", w.path("newest"))).path;
      const reset = async (): Promise<void> => {
        rmSync(w.path("ledger.db.heads"));
        const back = await w.run("restore", newest);
        // Without heads it counts as one that lacks something; here it is what was there last.
        expect(back.exitCode).toBe(3);
        rmSync(w.path("ledger.db.heads"));
        expect((await w.run("run", "everything")).exitCode).toBe(0);
        if (!hasHeads) rmSync(w.path("ledger.db.heads"));
      };
      const steps = countIn(await killed(w, "step", undefined, "restore", backup));
      expect(steps).toBeGreaterThan(4);
      for (const at of someOf(steps, most)) {
        await reset();
        const { signal } = await killed(w, "step", at, "restore", backup);
        expect(signal, `killed at step ${at}`).toBe("SIGKILL");
        const isThere = existsSync(w.path("ledger.db"));
        const between = await w.does("run", "everything");
        expect(between.calls, `after step ${at}`).toEqual({});
        // Before anything was moved what stood there goes on; after that nothing does.
        expect([0, 65], `after step ${at}, ledger there: ${isThere}`).toContain(between.exitCode);
        const again = await w.run("restore", backup);
        expect(again.exitCode, `again after step ${at}: ${again.stderr}`).toBe(3);
        if (at % 3 === 1) await expectAllBack(w, before, `step ${at}`);
      }
    },
  );
});

describe("a rebuild of a restored ledger that is killed at any commit and made again", () => {
  it("lets nobody write in between, and brings all of it back", { tags: "long", timeout: 600_000 }, async () => {
    const { w, backup, before } = await livedOn();
    const restored = async (): Promise<void> => expect((await w.run("restore", backup)).exitCode).toBe(3);
    await restored();
    const whole = await killed(w, "commit", undefined, "rebuild");
    expect(whole.exitCode, whole.stdout + whole.stderr).toBe(0);
    let kills = 0;
    for (const at of someOf(countIn(whole), most)) {
      await restored();
      const { signal } = await killed(w, "commit", at, "rebuild");
      if (signal !== null) kills += 1;
      const between = await w.does("run", "everything");
      expect(between.calls, `after commit ${at}`).toEqual({});
      // What comes after the gap was closed is the end of the run alone.
      if (w.rows("select 1 from audit where kind = 'gap-closed'").length > 0) continue;
      expect(between.exitCode, `after commit ${at}`).toBe(65);
      await expectAllBack(w, before, `commit ${at}`);
    }
    expect(kills).toBeGreaterThan(most / 2);
    const verdict = await w.run("audit", "verify");
    expect([verdict.exitCode, verdict.stdout]).toEqual([3, expect.stringContaining("are lost")]);
  });
});
