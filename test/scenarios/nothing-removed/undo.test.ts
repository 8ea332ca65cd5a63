import { describe, expect, it } from "vitest";
import { numberOf, openHold, operationsOf, ran } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { assetRow, company } from "../../support/world/crm.ts";
import { membersOf, personOf } from "../../support/world/members.ts";
import { removeFreely, runOf, takesBack, undo } from "../../support/world/undone.ts";
import { amend, line, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

/** The holds that are open or approved, as `state id`. */
async function holds(w: World): Promise<string[]> {
  const { holds: all } = await w.ask("status");
  return all.map(({ state, id }: Parsed) => `${state} ${id}`).toSorted();
}

async function approve(w: World, hold: string): Promise<void> {
  expect((await w.run("approve", hold, "--reason", "it was a mistake")).exitCode).toBe(0);
}

async function expectRun(w: World, exitCode: number, calls: Record<string, number>): Promise<void> {
  const run = await ran(w);
  expect([run.exitCode, run.calls], JSON.stringify(run.said)).toEqual([exitCode, calls]);
}

/** What each person of a customer holds. */
async function seats(w: World, customer: string): Promise<unknown> {
  return [...(await membersOf(w, customer))].map(([name, { assetNums }]) => [name, assetNums]);
}

describe("what taking a run back removes", () => {
  const onlyC1 = ["--customer", "C1"];

  /** A run that bought an order for each of two customers, and which run that was. */
  async function bought(): Promise<{ w: World; run: string }> {
    const w = await placedOrders();
    w.orders.push(orderOf("3", "C1"), orderOf("4", "C2"));
    return { w, run: await runOf(w) };
  }

  it("waits for a person, whom no other run answers, and goes once", async () => {
    const { w, run } = await bought();
    const before = standing(w);
    const held = await takesBack(w, run, ...onlyC1);
    expect([held.exitCode, held.calls]).toEqual([4, {}]);
    const hold = await openHold(w);
    await expectRun(w, 4, {});
    expect(await openHold(w)).toBe(hold);
    await approve(w, hold);
    await expectRun(w, 0, {});
    expect(standing(w)).toEqual(before);
    expect((await takesBack(w, run, ...onlyC1)).calls).toEqual({ E5: 1 });
    expect(await holds(w)).toEqual([]);
    expect(w.sandbox.state()).toMatchObject({ assets: 3, products: 6 });
  });

  it("stops nothing that a person approved of an ordinary run", { tags: "long" }, async () => {
    const { w, run } = await bought();
    amend(w, "1", { products: [line("P1", "A1")] });
    await expectRun(w, 4, {});
    const ordinary = await openHold(w);
    await approve(w, ordinary);
    expect((await takesBack(w, run, ...onlyC1)).exitCode).toBe(4);
    const undoing = await openHold(w);
    expect(await holds(w)).toEqual([`approved ${ordinary}`, `open ${undoing}`]);
    await expectRun(w, 4, { E5: 1 });
    expect(await holds(w)).toEqual([`open ${undoing}`]);
    await approve(w, undoing);
    expect((await takesBack(w, run, ...onlyC1)).calls).toEqual({ E5: 1 });
    expect(standing(w)).toEqual({ products: 5, assets: 3, assignments: 2 });
  });

  it("stays approved while a run holds something else of that customer", { tags: "long" }, async () => {
    const { w, run } = await bought();
    await takesBack(w, run, ...onlyC1);
    const undoing = await openHold(w);
    await approve(w, undoing);
    amend(w, "1", { products: [line("P1", "A1")] });
    await expectRun(w, 4, {});
    const ordinary = await openHold(w);
    expect((await takesBack(w, run, ...onlyC1)).calls).toEqual({ E5: 1 });
    expect(standing(w)).toEqual({ products: 6, assets: 3, assignments: 2 });
    expect(await holds(w)).toEqual([`open ${ordinary}`]);
    const held = (await operationsOf(w, "order", "1")).find(({ state }) => state === "held");
    await approve(w, held.id);
    expect((await takesBack(w, run, ...onlyC1)).calls).toEqual({});
  });

  it("stays approved if it could not be sent, whatever runs come between", { tags: "long" }, async () => {
    const { w, run } = await bought();
    await takesBack(w, run, ...onlyC1);
    const undoing = await openHold(w);
    await approve(w, undoing);
    w.sandbox.faults.add({ operation: "E5", fault: "refused" });
    const failed = await w.does("apply", w.path(`undo-${run}.ndjson`), ...onlyC1);
    expect([failed.exitCode, failed.calls]).toEqual([3, { E5: 4 }]);
    w.sandbox.faults.clear();
    w.staff = w.staff.map((person) => ({ ...person, name: "Another name" }));
    w.write();
    expect((await ran(w)).exitCode).toBe(0);
    expect((await takesBack(w, run, ...onlyC1)).calls).toEqual({ E5: 1 });
    expect(await holds(w)).toEqual([]);
  });
});

describe("taking a run back", () => {
  it("leaves a seat as a newer run left it, and gives the other customer's back", { tags: "long" }, async () => {
    const w = await placedOrders();
    removeFreely(w);
    const [first, second] = [personOf(w, "S1"), personOf(w, "S2")];
    first.holds = second.holds = [];
    const taken = await runOf(w);
    first.holds = ["A1"];
    const given = await runOf(w);
    first.holds = [];
    await runOf(w);
    expect(await takesBack(w, taken)).toMatchObject({
      steps: ["exact M9 staff:crm/S2", "impossible M9 staff:crm/S1"],
      calls: { M9: 1 },
    });
    expect(standing(w)["assignments"]).toBe(1);
    first.holds = ["A1"];
    w.write();
    await ran(w);
    expect(await takesBack(w, given)).toMatchObject({ steps: ["impossible M9 staff:crm/S1"], calls: {} });
    expect(standing(w)["assignments"]).toBe(1);
  });

  it("leaves a name and a branch that were changed there and back", { tags: "long" }, async () => {
    const w = await placedOrders();
    w.customers = w.customers.map((item) => ({ ...item, branch: "South" }));
    const person = personOf(w, "S1");
    person.name = "Another name";
    const run = await runOf(w);
    const customers = structuredClone(w.customers);
    Object.assign(w.customers[0] ?? {}, { branch: "North" });
    person.name = "Third name";
    await runOf(w);
    w.customers = customers;
    person.name = "Another name";
    await runOf(w);
    expect(await takesBack(w, run)).toMatchObject({
      steps: ["exact E4 customer:crm/C2", "impossible E4 customer:crm/C1", "impossible M2 profile:crm/S1"],
      calls: { E4: 1 },
    });
  });

  it("takes no seat from another person who has it since", { tags: "long" }, async () => {
    const w = await placedOrders();
    personOf(w, "S1").holds = [];
    const run = await runOf(w);
    w.staff.push({ id: "S4", customer: "C1", holds: ["A1"] });
    await runOf(w);
    expect(await takesBack(w, run)).toMatchObject({ steps: ["impossible M9 staff:crm/S1"], calls: {} });
  });

  it("gives a seat back that the run gave to somebody else", { tags: "long" }, async () => {
    const w = await placedOrders();
    w.staff.push({ id: "S5", customer: "C1", holds: [] });
    await runOf(w);
    const before = await seats(w, "C1");
    Object.assign(personOf(w, "S1"), { holds: [] });
    Object.assign(personOf(w, "S5"), { holds: ["A1"] });
    const run = await runOf(w);
    expect(await seats(w, "C1")).not.toEqual(before);
    expect((await takesBack(w, run)).calls).toEqual({ M9: 2 });
    expect(await seats(w, "C1")).toEqual(before);
  });

  it("deletes no account that a later run made, and adds a deleted one again", { tags: "long" }, async () => {
    const w = await placedOrders();
    removeFreely(w);
    w.extra = "limits: { absenceReads: 1, absenceTime: 0s }\n";
    const before = structuredClone(w.staff);
    const all = [...before, { id: "S3", customer: "C1", holds: [] }, { id: "S4", customer: "C2", holds: [] }];
    const withoutS3 = all.filter(({ id }) => id !== "S3");
    const runs: string[] = [];
    for (const staff of [all, withoutS3, all]) {
      w.staff = structuredClone(staff);
      runs.push(await runOf(w));
    }
    const [added = "", left = ""] = runs;
    expect((await takesBack(w, added)).calls).toEqual({ M4: 1 });
    expect((await membersOf(w, "C1")).size).toBe(4);
    expect((await undo(w, left)).left).toBe(0);
    // This run adds S4 again, which goes, and deletes S3, who comes back.
    w.staff = structuredClone(withoutS3);
    expect((await takesBack(w, await runOf(w))).calls).toEqual({ M1: 1, M4: 1 });
    expect((await ran(w)).calls).toEqual({ M1: 1, M4: 1 });
  });

  it.each(["refused", "held"])("leaves the new form while the old one is %s", { tags: "long" }, async (what) => {
    const w = await placedOrders();
    removeFreely(w);
    amend(w, "1", { products: [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")] });
    const run = await runOf(w);
    if (what === "held") rule(w, "orders.added", "ask");
    const { file } = await undo(w, run);
    if (what === "refused") w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
    await w.run("apply", file);
    expect(standing(w)).toMatchObject({ products: 4 });
  });

  it("removes a renewal, and leaves the asset to the earlier order and its holder", { tags: "long" }, async () => {
    const w = await placedOrders();
    removeFreely(w);
    const before = [standing(w), numberOf(w, "P1"), await seats(w, "C1")];
    const assets = [{ id: "B3", continues: { order: "1", instance: "A1" } }];
    w.orders.push({ id: "3", customer: "C1", assets, products: [line("R3", "B3"), line("T3", "B3")] });
    expect((await takesBack(w, await runOf(w))).calls).toEqual({ E5: 1 });
    expect([standing(w), numberOf(w, "P1"), await seats(w, "C1")]).toEqual(before);
    expect((await w.ask("run", "verify")).findings.first).toEqual([]);
  });

  it("switches locks back that the CRM had locked, until somebody asks otherwise", { tags: "long" }, async () => {
    const records = company(2, 1);
    const lock = (locked?: boolean): void => {
      w.orders = records.orders.map((order) => ({
        ...order,
        assets: order.assets.map((asset) => ({ ...assetRow(asset), type: "normal_recover_usbkey", locked })),
      }));
    };
    const w = await world({ records });
    removeFreely(w);
    lock();
    await runOf(w);
    lock(true);
    const run = await runOf(w);
    const locked = w.sandbox.state().lockedAssets;
    expect(locked).toBeGreaterThan(0);
    expect((await takesBack(w, run, "--customer", "C1")).calls).toEqual({ E7: 1 });
    expect(w.sandbox.state().lockedAssets).toBe(locked / 2);
    await expectRun(w, 0, {});
  });
});
