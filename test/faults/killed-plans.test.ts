/** @module-tag sized */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { placeOf } from "../../src/run/canary.ts";
import { killPoints } from "../support/kill-points-names.ts";
import type { KillPoint } from "../support/kill-points-names.ts";
import { earlierKill, expectWhole, silentAt } from "../support/killed-at.ts";
import { startCrmSync } from "../support/process.ts";
import type { Ended } from "../support/program.ts";
import { cellsOf, isFull, isSample, sampled } from "../support/sizes.ts";
import { until, world } from "../support/cli.ts";
import type { Parsed, World } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";
import { membersOf } from "../support/world/members.ts";
import { line, orderOf, placedOrders, rule, standing } from "../scenarios/life/placed-orders.ts";

/**
 * Saved plans whose application is killed: an undo at each point of the life of each of its operations, a part of a
 * plan at its commits, and a run by shares between two of them. Each operation is done once, and the same command line
 * said again goes on.
 */
const atPoint = join(import.meta.dirname, "../support/kill-points.ts");
const atCommit = join(import.meta.dirname, "../support/kill-at-commit.ts");

async function killed(w: World, preload: string, orders: Record<string, string>, ...words: string[]): Promise<Ended> {
  const environment = { ...w.place.environment, ...orders };
  return await startCrmSync({ ...w.place, environment, preload }, ...words).ended;
}

interface Undone {
  /** What the run did that is taken back. */
  did: (w: World) => void;
  /** What a run before that one did. */
  first?: (w: World) => void;
  /** The call of the undo that is killed. */
  kind: string;
  endpoint: "E4" | "E5" | "E6" | "E7" | "M1" | "M2" | "M4" | "M9";
  /** How many calls of the endpoint take effect in all; one unless it is said. */
  effects?: number;
  /** It sets a state, so that it may be sent again with the same value. */
  setsState?: true;
}

/** A run that changes a customer, buys an order, and adds somebody who holds what was bought. */
function grows(w: World): void {
  w.customers = w.customers.map((item) => (item.id === "C1" ? { ...item, branch: "South" } : item));
  w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, name: "Another name" } : item));
  w.orders.push(orderOf("3", "C1"));
  w.staff.push({ id: "S3", customer: "C1", holds: ["A3"] });
}

/** A run that deletes a product of an order and an account. */
function shrinks(w: World): void {
  w.orders = w.orders.map((item) => (item.id === "1" ? { ...item, products: [line("P1", "A1")] } : item));
  w.staff = w.staff.filter(({ id }) => id !== "S5");
}

/** A run that takes a seat from one person and gives it to another one. */
function moves(w: World): void {
  const held: Record<string, string[]> = { S1: [], S5: ["A1"] };
  w.staff = w.staff.map((item) => ({ ...item, holds: held[item.id] ?? item.holds ?? [] }));
}

/** A run that replaces a product by another form of it. */
function replaces(w: World): void {
  const products = [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")];
  w.orders = w.orders.map((item) => (item.id === "1" ? { ...item, products } : item));
}

/** A run that disables the lock of one customer, or enables it. */
function switches(locked: boolean): Undone["did"] {
  return (w) => {
    const lock = { id: "L4", type: "normal_recover_usbkey" as const, locked };
    w.orders = [
      ...w.orders.filter(({ id }) => id !== "4"),
      orderOf("4", "C1", { assets: [lock], products: [line("P4", "L4")] }),
    ];
  };
}

/** What taking a run back is killed at. */
const undone: Record<string, Undone> = {
  "sets a branch back": { did: grows, kind: "update-enterprise", endpoint: "E4", setsState: true },
  "sets a name back": { did: grows, kind: "edit-staff", endpoint: "M2", setsState: true },
  "deletes what was bought": { did: grows, kind: "delete-assets", endpoint: "E5" },
  "deletes an account": { did: grows, kind: "delete-staff", endpoint: "M4" },
  "adds a deleted account again": { did: shrinks, kind: "add-staff", endpoint: "M1" },
  "takes a seat from who got it": { did: moves, kind: "revoke-assets", endpoint: "M9", effects: 2 },
  "gives a seat back": { did: moves, kind: "grant-assets", endpoint: "M9", effects: 2 },
  "buys a deleted product again": { did: shrinks, kind: "amend-order", endpoint: "E5" },
  "buys the form again that was replaced": { did: replaces, kind: "amend-order", endpoint: "E5", effects: 2 },
  "deletes the form that took its place": { did: replaces, kind: "delete-products", endpoint: "E5", effects: 2 },
  "enables a lock again": {
    first: switches(false),
    did: switches(true),
    kind: "unlock-assets",
    endpoint: "E7",
    setsState: true,
  },
  "disables a lock again": {
    first: switches(true),
    did: switches(false),
    kind: "lock-assets",
    endpoint: "E6",
    setsState: true,
  },
};

/** Two customers, and a run that is to be taken back; nothing is held. */
async function runToTakeBack({ first, did }: Undone): Promise<{ w: World; run: string; before: unknown }> {
  const w = await placedOrders({
    staff: [
      { id: "S1", customer: "C1", holds: ["A1"] },
      { id: "S2", customer: "C2", holds: ["A2"] },
      { id: "S5", customer: "C1" },
    ],
  });
  for (const name of ["orders.ended", "orders.replaced", "staff.left", "locks.locked"]) rule(w, name, "apply");
  w.environment["CRM_SYNC__limits__taking__enterprise__floor"] = "100";
  w.environment["CRM_SYNC__limits__taking__run__floor"] = "100";
  w.extra = "limits: { absenceReads: 1, absenceTime: 0s }\n";
  if (first !== undefined) {
    first(w);
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(0);
  }
  const before = await stands(w);
  did(w);
  w.write();
  const ended = await w.does("run", "everything");
  expect(ended.exitCode, ended.stdout).toBe(0);
  const [last] = w.rows<{ id: string }>("select id from run where job = 'everything' order by started_at desc limit 1");
  return { w, run: last?.id ?? "", before };
}

/** What stands on the platform, and who the people of the first customer are. */
async function stands(w: World): Promise<unknown> {
  const people = [...(await membersOf(w, "C1")).values()].map(
    ({ userName, name, assetNums }) => `${userName} ${name} ${assetNums.length}`,
  );
  return {
    ...standing(w),
    locked: w.sandbox.state().lockedAssets,
    people: people.toSorted((one, other) => (one < other ? -1 : 1)),
  };
}

function lastOf(w: World, kind: string, since: string): string {
  const [row] = w.rows<{ id: string }>(
    "select id from operation where kind = ? and created_at > ? order by created_at desc, id desc limit 1",
    kind,
    since,
  );
  return row?.id ?? "";
}

/** What was found not done is not sent again under the same plan: each operation of one is taken once. */
const rows = cellsOf(undone, ({ setsState }) =>
  sampled(
    killPoints.filter((point) => setsState === true || point !== "in settling, after a resend"),
    4,
  ),
).map(everyOther);

/** Every other cell of a row, those that the row before leaves out, where a change has to pass; all for a release. */
function everyOther<Column>([name, row, columns]: [string, Undone, Column[]], at: number): [string, Undone, Column[]] {
  return [name, row, isFull || isSample ? columns : columns.filter((_, index) => index % 2 === at % 2)];
}

/** Says the same command line again, and then plans and applies what is left, until nothing is. */
async function goesOn(w: World, run: string, file: string): Promise<void> {
  const again = await w.run("apply", file);
  // All of it was done before.
  const isOver = again.exitCode === 64 && again.stderr.includes("nothing of it is left");
  expect([0, 3], again.stdout + again.stderr).toContain(isOver ? 0 : again.exitCode);
  // What was kept from being sent and was found not done is planned anew.
  for (let left = 0; left < 3; left += 1) {
    const rest = await w.run("undo", run, "--out", file);
    if (rest.exitCode !== 2) break;
    const applied = await w.run("apply", file);
    expect([0, 3], applied.stdout + applied.stderr).toContain(applied.exitCode);
  }
  expect((await w.run("undo", run)).stdout).not.toContain("operation(s) planned for 1");
}

/** How often something may take effect: what sets a state may be sent again with the same value. */
function allowed({ effects = 1, setsState }: Undone): number[] {
  return setsState === true ? [effects, effects + 1] : [effects];
}

describe.each(rows)("an undo that %s,", (name, taken, points) => {
  const { kind, endpoint } = taken;

  it.each(points)(
    "killed %s: said again it goes on, and each of its steps is done once",
    { tags: "long" },
    async (point) => {
      const { w, run, before } = await runToTakeBack(taken);
      const file = w.path("undo.ndjson");
      await w.run("undo", run, "--out", file);
      const since = new Date().toISOString();
      const had = { ...w.sandbox.counts().effects };
      const kill = async (at: KillPoint): Promise<void> => {
        const lift = silentAt(at, w.sandbox, { operation: endpoint, nth: 1 });
        const orders = { KILL_POINT: at, KILL_KIND: kind, KILL_OPERATION: lastOf(w, kind, since) };
        const { signal, stdout, stderr } = await killed(w, atPoint, orders, "apply", file);
        await lift(signal === "SIGKILL");
        expect(signal, `${name}, ${at}: not reached: ${stdout}${stderr.slice(-1500)}`).toBe("SIGKILL");
      };
      const earlier = earlierKill[point];
      if (earlier !== undefined) await kill(earlier);
      await kill(point);
      expectWhole(w);

      await goesOn(w, run, file);
      expect(await stands(w)).toEqual(before);
      const effects = (w.sandbox.counts().effects[endpoint] ?? 0) - (had[endpoint] ?? 0);
      expect(allowed(taken)).toContain(effects);
      expectWhole(w);
    },
  );
});

const lost = ["refused", "resetBefore", "appliedNoReply", "resetMidReply", "http503"] as const;

describe.each(cellsOf(undone, () => lost).map(everyOther))("an undo that %s,", (_name, taken, faults) => {
  it.each(faults)(
    "whose answer is %s: said again it goes on, and each of its steps is done once",
    { tags: "long" },
    async (fault) => {
      const { w, run, before } = await runToTakeBack(taken);
      const { endpoint } = taken;
      const file = w.path("undo.ndjson");
      await w.run("undo", run, "--out", file);
      const had = { ...w.sandbox.counts().effects };
      w.sandbox.faults.add({ operation: endpoint, fault, nth: 1 });
      await w.run("apply", file);
      w.sandbox.faults.clear();
      expectWhole(w);
      await goesOn(w, run, file);
      expect(await stands(w)).toEqual(before);
      const effects = (w.sandbox.counts().effects[endpoint] ?? 0) - (had[endpoint] ?? 0);
      expect(allowed(taken)).toContain(effects);
      expectWhole(w);
    },
  );
});

describe("a part of a saved plan whose application is killed", () => {
  /** The operations of a saved plan, with the customer that each is for. */
  function saved(path: string): Parsed[] {
    const parsed = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((text): Parsed => JSON.parse(text));
    return parsed.flatMap((item) =>
      item.type === "customer" ? item.operations.map((one: Parsed) => ({ ...one, customer: item.id })) : [],
    );
  }

  it.each(sampled([1, 2, 3, 4, 5, 6, 7, 8], 2))(
    "before its commit number %i: each operation is done once, and the rest by what is said next",
    { tags: "long" },
    async (at) => {
      const w = await world({ isOnMachineTime: true, records: company(3, 1) });
      const file = w.path("plan.ndjson");
      await w.run("plan", "--out", file);
      const chosen = saved(file).filter(({ endpoint, customer }) => endpoint === "E2" && customer !== "C3");
      const only = chosen.flatMap(({ hash }) => ["--only", hash.slice(0, 8)]);
      const { signal, exitCode } = await killed(w, atCommit, { KILL_COMMIT: String(at) }, "apply", file, ...only);
      expect(signal ?? exitCode).toBe(signal === null ? 3 : "SIGKILL");
      expectWhole(w);
      const taken = w.rows<{ hash: string }>("select hash from applied_plan").map(({ hash }) => hash);
      for (const { hash } of chosen) {
        const again = await w.does("apply", file, "--only", hash.slice(0, 8));
        expect(again.exitCode, again.stdout + again.stderr).toBe(taken.includes(hash) ? 64 : 3);
      }
      await w.run("apply", file);
      for (const row of w.rows<{ id: string }>("select id from operation where state in ('unknown', 'parked')")) {
        const there = w.sandbox.state().enterprises > 2 ? "--applied" : "--not-applied";
        await w.run("settle", row.id, there, "--reason", "looked on the platform");
      }
      const last = await w.run("run", "everything");
      expect(last.exitCode, last.stdout).toBe(0);
      expect((await w.does("run", "everything")).calls).toEqual({});
      expect(w.sandbox.state()).toMatchObject({ enterprises: 3, licenseOrders: 3, addedStaff: 3, assignments: 3 });
      expect(w.rows("select plan, hash from applied_plan group by 1, 2 having count(distinct run_id) > 1")).toEqual([]);
      expectWhole(w);
    },
  );
});

describe("a run by shares that is killed", () => {
  const customers = 12;

  /** Killed while the first share is read back, with what that reading shows then. */
  async function killedBetweenShares(): Promise<{ w: World; shares: string; first: number }> {
    const w = await world({ isOnMachineTime: true, records: company(customers, 1) });
    const places = w.customers.map(({ id }) => placeOf({ namespace: "crm", id })).toSorted((one, other) => one - other);
    const first = Math.ceil(places[1] ?? 0) + 1;
    const share = places.filter((place) => place < first).length;
    const shares = `${first},${Math.min(99, first + 40)}`;
    // Only reading back asks M7 of an enterprise that was made just now.
    w.sandbox.faults.add({ operation: "M7", fault: "slow", delayMs: 600_000 });
    const running = w.start("run", "everything", "--canary", shares);
    await until("the first share is read back", () => (w.sandbox.counts().calls["M7"] ?? 0) > 0);
    running.child.kill("SIGKILL");
    await running.ended;
    w.sandbox.faults.clear();
    expect(w.sandbox.counts().effects["E2"]).toBe(share);
    return { w, shares, first: share };
  }

  it("between two shares goes on with the others once the first is read back as meant", { tags: "long" }, async () => {
    const { w, shares, first } = await killedBetweenShares();
    const read = w.sandbox.counts().calls["M7"] ?? 0;
    const again = await w.does("run", "everything", "--canary", shares);
    expect([again.exitCode, again.calls["E2"]], again.stdout).toEqual([0, customers - first]);
    expect((w.sandbox.counts().calls["M7"] ?? 0) - read).toBeGreaterThanOrEqual(first);
    expect((await w.does("run", "everything", "--canary", shares)).calls).toEqual({});
    expectWhole(w);
  });

  it(
    "before the first share was read back reads it back first, and stops where it is not as meant",
    { tags: "long" },
    async () => {
      const { w, shares, first } = await killedBetweenShares();
      w.sandbox.faults.add({ operation: "M7", fault: "oddField", field: "crmProductId", value: "ELSE", times: 1 });
      const again = await w.does("run", "everything", "--canary", shares);
      w.sandbox.faults.clear();
      expect([again.exitCode, again.calls], again.stdout).toEqual([3, {}]);
      expect(again.stdout).toMatch(
        /canary \d+ %: 1 of \d+ customer\(s\) not as meant: crm\/C\d+: .*; the rest waits\n/u,
      );
      // Whoever looked at it and found it right says so by the next run, which reads it back once more.
      const next = await w.does("run", "everything", "--canary", shares);
      expect([next.exitCode, next.calls["E2"]], next.stdout).toEqual([0, customers - first]);
      expectWhole(w);
    },
  );
});
