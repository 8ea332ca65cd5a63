import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { approveAll, auditEntries, enterpriseOf, openHolds, waitsFor } from "../../support/asking.ts";
import { document, type World } from "../../support/cli.ts";
import { outcome } from "../../support/world/members.ts";
import { holdings } from "../../support/world/moved-orders.ts";
import { adds, renewal } from "../../support/world/renewals.ts";
import { amend, line, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

/** A backup of now. */
async function backedUp(w: World): Promise<string> {
  return (await w.ask("backup", "--to", w.path("backups"))).path;
}

/** Restores it, and rebuilds what it lacks; answers what the rebuild came to. */
async function restored(w: World, backup: string) {
  expect((await w.run("restore", backup)).exitCode).toBe(3);
  expect(outcome(await w.does("run", "everything"))).toEqual([65, {}]);
  return await w.does("rebuild", "--by", "anna");
}

/** The products that the first order has from now on. */
function has(w: World, ...ids: string[]): void {
  amend(w, "1", { products: ids.map((id) => line(id, "A1")) });
}

/** Runs, and approves all that they hold; the calls that this takes. */
async function approvedRuns(w: World): Promise<Record<string, number>> {
  const { calls } = await w.writes(async () => {
    for (let round = 0; round < 4; round += 1) {
      await approveAll(w);
      await w.run("run", "everything");
    }
  });
  return calls;
}

async function expectQuiet(w: World): Promise<void> {
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
}

it("sends nothing a second time that was placed, made and given since a backup that is restored", async () => {
  const w = await placedOrders();
  const backup = await backedUp(w);
  w.customers.push({ id: "C3" });
  w.orders.push(orderOf("3", "C3"));
  w.staff.push({ id: "S3", customer: "C3", holds: ["A3"] });
  w.write();
  expect(outcome(await w.does("run", "everything"))).toMatchObject([0, { E2: 1, E5: 1, M1: 1, M9: 1 }]);
  const [before, { known }] = [standing(w), await w.ask("status")];
  expect(outcome(await restored(w, backup))).toEqual([0, {}]);
  await expectQuiet(w);
  expect([standing(w), (await w.ask("status")).known]).toEqual([before, known]);
});

it(
  "says in the audit log which entries a restored ledger lacks, and finds one that changed after that",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    const backup = await backedUp(w);
    has(w, "P1", "Q1", "R1");
    await w.run("run", "everything");
    await restored(w, backup);
    const gap = (await auditEntries(w)).filter(({ kind }) => ["gap", "gap-closed"].includes(kind));
    expect(gap.map(({ kind, body }) => [kind, JSON.parse(body).by])).toEqual([
      ["gap", "anna"],
      ["gap-closed", "anna"],
    ]);
    const verdict = await w.run("audit", "verify", "--json");
    expect(verdict.exitCode).toBe(3);
    expect(document(verdict)).toMatchObject({ good: true, lost: [{ by: "anna" }], completeness: { good: null } });
    expect((await w.run("backup", "--to", w.path("backups"))).exitCode).toBe(0);
    // A head that was kept after the restore, of an entry that is another one now.
    const heads = w.path("ledger.db.heads");
    const last = readFileSync(heads, "utf8").trim().split("\n").at(-1) ?? "";
    appendFileSync(heads, `\n${last.replace(/"hash":"[0-9a-f]{8}/u, '"hash":"00000000')}`);
    expect((await w.run("audit", "verify")).exitCode).toBe(65);
  },
);

it.each([
  ["stands", [["P1", "Q1", "R1"]]],
  [
    "came and went",
    [
      ["P1", "Q1", "R1"],
      ["P1", "Q1"],
    ],
  ],
])("buys nothing under the number of an amendment that %s since the backup", { tags: "long" }, async (_, forms) => {
  const w = await placedOrders({ staff: [] });
  const numbers = (): string[] => Object.keys(w.sandbox.state().orders);
  const backup = await backedUp(w);
  for (const ids of forms) {
    has(w, ...ids);
    await approvedRuns(w);
  }
  const used = numbers();
  expect(outcome(await restored(w, backup))).toEqual([0, {}]);
  has(w, "P1", "Q1", "R1", "U1");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(numbers()).toHaveLength(used.length + 1);
  await expectQuiet(w);
});

describe("after renewals since the backup", () => {
  it.each([
    ["before the renewal", 0, 1],
    ["before two renewals in a row", 0, 2],
    ["between the renewal and the end of the earlier order", 1, 1],
    ["between two renewals", 1, 2],
    ["before a renewal of one asset of an order that goes on", 0, 1, true],
  ])("leaves a seat to its holder (backup %s)", { tags: "long" }, async (_, done, all, goesOn = false) => {
    const w = await placedOrders(
      goesOn ? { first: { assets: ["A1", "A9"], products: [line("P1", "A1"), line("P9", "A9")] } } : {},
    );
    for (const name of ["cancelled", "added", "ended"]) rule(w, `orders.${name}`, "apply");
    const renewals = [
      renewal("3"),
      renewal("4", { assets: [{ id: "B4", continues: { order: "3", instance: "B3" } }] }),
    ];
    const ends = (id: string): void => {
      if (goesOn && id === "1") amend(w, id, { assets: ["A9"], products: [line("P9", "A9")] });
      else amend(w, id, { cancelled: true });
    };
    const held = await holdings(w);
    let backup = await backedUp(w);
    for (const [index, order] of renewals.slice(0, all).entries()) {
      adds(w, order);
      await approvedRuns(w);
      if (index + 1 === done) backup = await backedUp(w);
      ends(index === 0 ? "1" : "3");
      await approvedRuns(w);
    }
    const before = standing(w);
    expect(outcome(await restored(w, backup))).toEqual([0, {}]);
    for (const __ of [1, 2]) await expectQuiet(w);
    expect([await holdings(w), standing(w)]).toEqual([held, before]);
    amend(w, String(2 + all), { cancelled: true });
    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [] } : item));
    w.write();
    await approvedRuns(w);
    expect(standing(w)).toMatchObject({ assets: goesOn ? 2 : 1, assignments: 1 });
  });

  it.each([true, false])(
    "waits with an order whose renewed line is not removed yet (order in the backup: %s)",
    { tags: "long" },
    async (isInBackup) => {
      const w = await placedOrders({ staff: [] });
      rule(w, "orders.added", "apply");
      rule(w, "orders.ended", "ask");
      const first = await backedUp(w);
      adds(w, orderOf("5", "C1"));
      await approvedRuns(w);
      const backup = isInBackup ? await backedUp(w) : first;
      const assets = [{ id: "B5", continues: { order: "5", instance: "A5" } }];
      amend(w, "5", { assets, products: [line("P5", "B5"), line("Q5", "B5")] });
      expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
      const before = standing(w);
      expect(outcome(await restored(w, backup))).toEqual([3, {}]);
      expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
      expect([await waitsFor(w, "5"), standing(w)]).toEqual(["order.amended-elsewhere", before]);
    },
  );
});

it("goes on with an order that changed in the CRM before the rebuild", { tags: "long" }, async () => {
  const w = await placedOrders();
  const backup = await backedUp(w);
  amend(w, "2", { products: [line("P2", "A2")] });
  await approvedRuns(w);
  has(w, "P1", "Q1", "R1");
  expect((await restored(w, backup)).exitCode).toBe(3);
  expect((await approvedRuns(w))["E5"]).toBe(1);
  await expectQuiet(w);
});

it("asks a person before it buys an order again that ended since the backup", { tags: "long" }, async () => {
  const w = await placedOrders({ staff: [] });
  const backup = await backedUp(w);
  amend(w, "1", { cancelled: true });
  expect((await approvedRuns(w))["E5"]).toBe(1);
  amend(w, "1", { cancelled: false });
  expect((await restored(w, backup)).exitCode).toBe(3);
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect((await approvedRuns(w))["E5"]).toBe(1);
  await expectQuiet(w);
});

it("forgets what was approved in the backup and not carried out", { tags: "long" }, async () => {
  const w = await placedOrders({ staff: [] });
  amend(w, "1", { cancelled: true });
  await w.run("run", "everything");
  await approveAll(w);
  const backup = await backedUp(w);
  await w.run("run", "everything");
  const { products } = orderOf("1", "C1");
  amend(w, "1", { cancelled: false, products: products ?? [] });
  await restored(w, backup);
  expect(await openHolds(w)).toEqual([]);
  amend(w, "1", { cancelled: true });
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it(
  "is refused to everybody while its rebuild has not ended, and the next rebuild goes on",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    const backup = await backedUp(w);
    has(w, "P1", "Q1", "R1");
    await w.run("run", "everything");
    await w.run("restore", backup);
    w.sandbox.faults.add({ operation: "E3", fault: "refused" });
    expect((await w.run("rebuild", "--dry-run")).exitCode).toBe(7);
    w.sandbox.faults.clear();
    expect((await w.run("run", "everything")).exitCode).toBe(65);
    expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
    await expectQuiet(w);
  },
);

describe("a rebuild while something is down", () => {
  it("places no order of a source that was down, in any job", { tags: "long" }, async () => {
    const w = await placedOrders();
    w.extra = `jobs:
  everything: { kind: sync, streams: [customers, orders] }
  people: { kind: sync, streams: [staff] }
`;
    w.write();
    const backup = await backedUp(w);
    w.orders.push(orderOf("3", "C1"));
    w.write();
    expect((await w.does("run", "everything")).calls["E5"]).toBe(1);
    await w.run("restore", backup);
    rmSync(w.path("data/orders.ndjson"));
    expect((await w.does("rebuild")).exitCode).toBe(7);
    expect((await w.does("run", "people")).calls["E5"]).toBeUndefined();
    w.write();
    for (const job of ["everything", "people", "everything"]) {
      const { calls } = await w.does("run", job);
      expect([calls["E5"], calls["M10"], calls["M4"]], job).toEqual([undefined, undefined, undefined]);
    }
    expect((await approvedRuns(w))["E5"]).toBeUndefined();
    expect((await w.ask("status")).known.orders).toBe(3);
  });

  it("trusts nothing of a customer that could not be read, and works on the others", { tags: "long" }, async () => {
    const w = await placedOrders({ staff: [] });
    const backup = await backedUp(w);
    has(w, "P1", "Q1", "R1");
    await w.run("run", "everything");
    const about = await enterpriseOf(w, "C1");
    await w.run("restore", backup);
    w.sandbox.faults.add({ operation: "M6", about, fault: "oddData", value: "broken" });
    expect((await w.does("rebuild")).exitCode).toBe(7);
    amend(w, "2", { products: ["P2", "Q2", "R2"].map((id) => line(id, "A2")) });
    expect((await w.does("run", "everything")).calls["E5"]).toBe(1);
    w.sandbox.faults.clear();
    has(w, "P1", "Q1", "R1", "U1");
    expect((await approvedRuns(w))["E5"]).toBeUndefined();
    expect(await waitsFor(w, "1")).toMatch(/^order\./u);
  });
});
