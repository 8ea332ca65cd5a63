import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { document } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, orderOf, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";
import { adds, holders, renewal } from "./renewals.ts";

const nothingTwice = { enterprises: [], orders: [], products: [], staff: [] };

/** A backup of now. */
async function backedUp(w: World): Promise<string> {
  return document(await w.run("--json", "backup", "--to", w.path("backups"))).path;
}

/** Puts it back, and has the gap rebuilt; answers what the rebuild came to. */
async function restored(w: World, backup: string) {
  const back = await w.run("restore", backup);
  expect([back.exitCode, back.stdout]).toEqual([3, expect.stringContaining("run `crm-sync rebuild`")]);
  expect((await w.does("run", "everything")).exitCode).toBe(65);
  return await w.does("rebuild", "--by", "anna");
}

/** Approves all that is held, and runs; until nothing is. */
async function approvedRuns(w: World): Promise<Record<string, number>> {
  const calls: Record<string, number> = {};
  for (let round = 0; round < 4; round += 1) {
    for (const { id } of w.rows<{ id: string }>("select id from hold where state = 'open'"))
      expect((await w.run("approve", id, "--reason", "looked at", "--by", "anna")).exitCode).toBe(0);
    for (const [name, count] of Object.entries((await w.does("run", "everything")).calls))
      calls[name] = (calls[name] ?? 0) + count;
  }
  return calls;
}

describe("a ledger that was restored and whose gap was rebuilt", () => {
  it(
    "knows what was placed, made and given since, sends nothing of it again, and has its history",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      const backup = await backedUp(w);
      const runs = w.rows("select id from run").length;
      w.customers.push({ id: "C3" });
      w.orders.push(orderOf("3", "C3"));
      w.staff.push({ id: "S3", customer: "C3", holds: ["A3"] });
      w.write();
      expect(outcome(await w.does("run", "everything"))).toMatchObject([0, { E2: 1, E5: 1, M1: 1, M9: 1 }]);
      const before = standing(w);
      expect(outcome(await restored(w, backup))).toEqual([0, {}]);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
      expect(standing(w)).toEqual(before);
      expect(w.sandbox.duplicates()).toEqual(nothingTwice);
      expect(w.rows("select id from run").length).toBeGreaterThan(runs);
      expect(w.rows("select origin from placed_order where to_at is null order by order_id")).toEqual([
        { origin: "placed" },
        { origin: "placed" },
        { origin: "adopted" },
      ]);
    },
  );

  it(
    "says in its audit record from when to when entries are missing and who rebuilt it, and never that it is whole",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      const backup = await backedUp(w);
      amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
      await w.does("run", "everything");
      expect((await w.run("audit", "verify")).exitCode).toBe(0);
      await restored(w, backup);
      const entries = w.rows<{ body: string }>("select body from audit where kind in ('gap', 'gap-closed')");
      expect(entries.map(({ body }): unknown => JSON.parse(body))).toEqual([
        expect.objectContaining({ by: "anna", until: expect.objectContaining({ sequence: expect.any(Number) }) }),
        expect.objectContaining({ by: "anna", unreadable: 0 }),
      ]);
      const verdict = await w.run("audit", "verify");
      expect([verdict.exitCode, verdict.stdout]).toEqual([
        3,
        expect.stringMatching(/the entries \d+ to \d+ are lost/u),
      ]);
      expect(verdict.stdout).toContain("anna");
      expect((await w.run("backup", "--to", w.path("backups"))).exitCode).toBe(0);
    },
  );

  it("says of a record that was written anew after that that it was", async () => {
    const w = await placedOrders({ staff: [] });
    const backup = await backedUp(w);
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
    await w.does("run", "everything");
    await restored(w, backup);
    expect((await w.run("audit", "verify")).exitCode).toBe(3);
    const heads = w.path("ledger.db.heads");
    const last = readFileSync(heads, "utf8").trim().split("\n").at(-1) ?? "";
    // A head that was kept after the restore, of an entry that is another one by now.
    appendFileSync(heads, `\n${last.replace(/"hash":"[0-9a-f]{8}/u, '"hash":"00000000')}`);
    const verdict = await w.run("audit", "verify");
    expect([verdict.exitCode, verdict.stdout]).toEqual([65, expect.stringContaining("BAD at entry")]);
  });

  it("has an amendment that was bought since, and the next one has a number of its own", { tags: "long" }, async () => {
    const w = await placedOrders();
    const has = (...ids: string[]) => amend(w, "1", { products: ids.map((id) => line(id, "A1")) });
    has("P1", "Q1", "R1");
    await w.does("run", "everything");
    const backup = await backedUp(w);
    has("P1", "Q1", "R1", "T1");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
    expect(outcome(await restored(w, backup))).toEqual([0, {}]);
    has("P1", "Q1", "R1", "T1", "U1");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    expect(w.sandbox.duplicates()).toEqual(nothingTwice);
  });

  it("buys nothing under the number of an amendment that came and went since", { tags: "long" }, async () => {
    const w = await placedOrders({ staff: [] });
    const has = (...ids: string[]) => amend(w, "1", { products: ids.map((id) => line(id, "A1")) });
    const backup = await backedUp(w);
    has("P1", "Q1", "R1");
    await w.does("run", "everything");
    has("P1", "Q1");
    await approvedRuns(w);
    const numbers = new Set(
      w.rows<{ n: string }>("select channel_order_id as n from amendment_number").map(({ n }) => n),
    );
    expect(numbers.size).toBeGreaterThan(0);
    expect(outcome(await restored(w, backup))).toEqual([0, {}]);
    has("P1", "Q1", "R1");
    expect((await w.does("run", "everything")).calls["E5"]).toBe(1);
    const after = w.rows<{ n: string }>("select channel_order_id as n from amendment_number").map(({ n }) => n);
    expect(after.filter((n) => numbers.has(n))).toEqual([]);
    expect(w.sandbox.duplicates()).toEqual(nothingTwice);
  });

  it.each([
    ["before the renewal", 0, 1],
    ["before two renewals of which one followed the other", 0, 2],
    ["between the renewal and the end of the earlier order", 1, 1],
    ["between the first renewal and the second one", 1, 2],
    ["before a renewal of an asset of the order that goes on otherwise", 0, 1, true],
  ])(
    "leaves a seat to who has it where its asset was renewed and ended since (a backup from %s)",
    { tags: "long" },
    async (_, done, all, goesOn = false) => {
      const w = await placedOrders(
        goesOn ? { first: { assets: ["A1", "A9"], products: [line("P1", "A1"), line("P9", "A9")] } } : {},
      );
      for (const name of ["orders.cancelled", "orders.added", "orders.ended"]) rule(w, name, "apply");
      const renewals = [
        renewal("3"),
        renewal("4", { assets: [{ id: "B4", continues: { order: "3", instance: "B3" } }] }),
      ];
      const ends = (id: string): void => {
        if (goesOn && id === "1") amend(w, id, { assets: ["A9"], products: [line("P9", "A9")] });
        else amend(w, id, { cancelled: true });
      };
      const held = holders(w);
      let backup = await backedUp(w);
      for (const [index, order] of renewals.slice(0, all).entries()) {
        adds(w, order);
        await approvedRuns(w);
        if (index + 1 === done) backup = await backedUp(w);
        ends(index === 0 ? "1" : "3");
        await approvedRuns(w);
      }
      const before = standing(w);
      expect(holders(w)).toEqual(held);
      const rebuilt = await restored(w, backup);
      expect(outcome(rebuilt), rebuilt.stdout).toEqual([0, {}]);
      for (const __ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
      expect([holders(w), standing(w)]).toEqual([held, before]);
      // The asset ends with the last order that has it.
      amend(w, String(2 + all), { cancelled: true });
      w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [] } : item));
      w.write();
      await approvedRuns(w);
      expect(standing(w)).toMatchObject({ assets: goesOn ? 2 : 1, assignments: 1 });
    },
  );

  it.each(["before the order was placed", "before it was renewed"])(
    "says of an order with a line that was renewed and not yet taken away that it waits (a backup from %s)",
    { tags: "long" },
    async (when) => {
      const w = await placedOrders({ staff: [] });
      rule(w, "orders.added", "apply");
      rule(w, "orders.ended", "hold");
      const first = await backedUp(w);
      adds(w, orderOf("5", "C1"));
      await approvedRuns(w);
      const backup = when === "before it was renewed" ? await backedUp(w) : first;
      const assets = [{ id: "B5", continues: { order: "5", instance: "A5" } }];
      amend(w, "5", { assets, products: [line("P5", "B5"), line("Q5", "B5")] });
      expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
      const before = standing(w);
      const rebuilt = await restored(w, backup);
      expect([...outcome(rebuilt), rebuilt.stdout]).toEqual([3, {}, expect.stringContaining("more than once under")]);
      expect([outcome(await w.does("run", "everything")), waitsFor(w, "5")]).toEqual([
        [3, {}],
        "order.amended-elsewhere",
      ]);
      expect(standing(w)).toEqual(before);
    },
  );

  it(
    "goes on with an order that the CRM changed before the rebuild and that stands as the backup has it",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      const backup = await backedUp(w);
      amend(w, "2", { products: [line("P2", "A2")] });
      await approvedRuns(w);
      amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
      expect((await restored(w, backup)).exitCode).toBe(3);
      expect((await approvedRuns(w))["E5"]).toBe(1);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
      expect(w.sandbox.duplicates()).toEqual(nothingTwice);
    },
  );

  it("asks a person again before an order is bought anew that was ended since", { tags: "long" }, async () => {
    const w = await placedOrders({ staff: [] });
    const backup = await backedUp(w);
    amend(w, "1", { cancelled: true });
    await approvedRuns(w);
    expect(w.rows("select id from operation where endpoint = 'E5' and state = 'done'").length).toBeGreaterThan(2);
    amend(w, "1", { cancelled: false });
    expect((await restored(w, backup)).exitCode).toBe(3);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect((await approvedRuns(w))["E5"]).toBe(1);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    expect(w.sandbox.duplicates()).toEqual(nothingTwice);
  });

  it(
    "lets what was approved and not carried out by then lapse: it may have been carried out since",
    { tags: "long" },
    async () => {
      const w = await placedOrders({ staff: [] });
      amend(w, "1", { cancelled: true });
      await w.does("run", "everything");
      const holds = w.rows<{ id: string }>("select id from hold where state = 'open'");
      expect(holds.length).toBeGreaterThan(0);
      for (const { id } of holds) await w.run("approve", id, "--reason", "left", "--by", "anna");
      const backup = await backedUp(w);
      await w.does("run", "everything");
      await restored(w, backup);
      expect(w.rows("select id from hold where state in ('open', 'approved')")).toEqual([]);
      expect(w.rows("select hash from approved_operation where used_at is null")).toEqual([]);
    },
  );

  it(
    "is refused to everybody else while its rebuild has not come to its end, and the next rebuild goes on",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      const backup = await backedUp(w);
      amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
      await w.does("run", "everything");
      await w.run("restore", backup);
      w.sandbox.faults.add({ operation: "E3", fault: "refused" });
      const dry = await w.does("rebuild", "--dry-run");
      expect(dry.exitCode).toBe(7);
      w.sandbox.faults.clear();
      expect((await w.does("run", "everything")).exitCode).toBe(65);
      expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    },
  );
});

describe("a gap that is rebuilt while something is down", () => {
  /** The customers and orders in one job, the staff in another, each from a source of its own. */
  const jobs = `jobs:
  everything: { kind: sync, streams: [customers, orders] }
  people: { kind: sync, streams: [staff] }
`;

  it(
    "places no order of a source that was down then and that the platform may have, in any job",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      w.extra = jobs;
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
      expect(w.rows("select order_id from placed_order where to_at is null order by 1")).toHaveLength(3);
      expect(w.sandbox.duplicates()).toEqual(nothingTwice);
    },
  );

  it(
    "trusts nothing that the backup says of a customer who could not be read, and lets the others go on",
    { tags: "long" },
    async () => {
      const w = await placedOrders({ staff: [] });
      const backup = await backedUp(w);
      amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
      await w.does("run", "everything");
      await w.run("restore", backup);
      const first = w.rows<{ id: string }>("select enterprise_global_id as id from link where customer_id = 'C1'")[0];
      w.sandbox.faults.add({ operation: "M6", about: first?.id ?? "", fault: "oddData", value: "broken" });
      expect((await w.does("rebuild")).exitCode).toBe(7);
      amend(w, "2", { products: [line("P2", "A2"), line("Q2", "A2"), line("R2", "A2")] });
      expect((await w.does("run", "everything")).calls["E5"]).toBe(1);
      w.sandbox.faults.clear();
      amend(w, "1", { products: ["P1", "Q1", "R1", "U1"].map((id) => line(id, "A1")) });
      const calls = await approvedRuns(w);
      expect([calls["E5"], waitsFor(w, "1")]).toEqual([undefined, expect.stringMatching(/^order\./u)]);
      expect(w.sandbox.duplicates()).toEqual(nothingTwice);
    },
  );
});
