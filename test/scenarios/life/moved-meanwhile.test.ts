import { expect, it } from "vitest";
import { callerOf, createEnterprise } from "../../sandbox/caller.ts";
import type { World } from "../../support/cli.ts";
import { membersOf } from "../../support/world/members.ts";
import { places, productsBy, runsUntilQuiet } from "./moved.ts";
import { amend, line, numberOf, openHold, orderOf, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

const because = ["--reason", "asked", "--by", "anna.lee"];
const replacements = ["overlap", "gap"] as const;

const there = { C2: ["P1", "Q1"] };

function applies(w: World, replacement: string): void {
  for (const [name, word] of Object.entries({ "orders.moved": "apply", "seats.revoked": "apply", replacement }))
    rule(w, name, word);
}

/** A third customer, which has nothing yet. */
function addThird(w: World): void {
  w.customers = [...w.customers, { id: "C3" }];
  w.write();
}

it.each(replacements)(
  "an order that is sent asynchronously moves once, by one call for each half (%s)",
  { tags: "long" },
  async (how) => {
    const w = await placedOrders({ staff: [], sandbox: { settings: { asyncDelayMs: 600 } } });
    applies(w, how);
    w.environment["CRM_SYNC__assumptions__syncMode"] = "async";
    w.environment["CRM_SYNC__settle__asyncPauseMs"] = "100";
    w.environment["CRM_SYNC__settle__maxWaitMs"] = "0";
    amend(w, "1", { customer: "C2" });
    const first = await w.does("run", "everything");
    expect(first.calls["E5"] ?? 0, first.stdout).toBeLessThan(2);
    if (how === "overlap") expect((await places(w))["C1"]).toEqual(["P1", "Q1"]);
    w.environment["CRM_SYNC__settle__maxWaitMs"] = "20000";
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual(there);
    expect(w.sandbox.counts().effects["E5"]).toBe(4);
    expect(w.sandbox.duplicates().products).toEqual([]);
  },
);

it.each(replacements)(
  "a disabled lock of a moved order goes with it, and the new one is disabled too (%s)",
  { tags: "long" },
  async (how) => {
    const asset = { id: "A1", type: "normal_recover_usbkey" as const };
    const w = await placedOrders({ first: { assets: [asset] }, staff: [] });
    rule(w, "locks.locked", "apply");
    amend(w, "1", { assets: [{ ...asset, locked: true }] });
    await runsUntilQuiet(w);
    expect(w.sandbox.state().lockedAssets).toBe(1);
    const old = numberOf(w, "A1");
    applies(w, how);
    amend(w, "1", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual(there);
    expect(numberOf(w, "A1")).not.toBe(old);
    expect(w.sandbox.state().lockedAssets).toBe(1);
    const explained = (await w.run("explain", "customer", "C2")).stdout;
    expect(explained).toContain(`lock ${numberOf(w, "A1")} is locked: status 1`);
  },
);

it("a lock that a person had disabled stays where a move is only held, and does not stop it", async () => {
  const w = await placedOrders({ first: { assets: [{ id: "A1", type: "normal_recover_usbkey" }] }, staff: [] });
  const locked = await w.run("lock", "C1", "--asset", numberOf(w, "A1"), ...because);
  expect(locked.exitCode, locked.stderr).toBe(0);
  applies(w, "gap");
  rule(w, "orders.moved", "hold");
  amend(w, "1", { customer: "C2" });
  await w.does("run", "everything");
  await w.does("run", "everything");
  expect(w.sandbox.state().lockedAssets).toBe(1);
  await w.run("approve", openHold(w), "--reason", "both know");
  await runsUntilQuiet(w);
  expect(await places(w)).toEqual(there);
  expect(w.sandbox.state().lockedAssets, "nobody asked that of the new one").toBe(0);
});

it.each(replacements)(
  "what is lent of a moved order stays where it is until it is given back (%s)",
  { tags: "long" },
  async (how) => {
    const lock = { id: "L1", type: "normal_recover_usbkey" as const, forLending: true };
    const products = [line("P1", "A1"), line("Q1", "A1"), line("R1", "A8")];
    const w = await placedOrders({ first: { assets: ["A1", "A8"], products } });
    w.orders = [...w.orders, { id: "9", customer: "C1", assets: [lock] }];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    const memberGlobalId = [...(await membersOf(w, "C1")).values()].find(
      ({ assetNums }) => assetNums.length > 0,
    )?.globalId;
    const lockNumber = numberOf(w, "L1");
    w.sandbox.hand({
      action: "lend",
      lock: lockNumber,
      memberGlobalId: memberGlobalId ?? "",
      assetNums: [numberOf(w, "A1")],
    });
    applies(w, how);
    amend(w, "1", { customer: "C2" });
    w.staff = w.staff.map((row) => (row.id === "S1" ? { ...row, holds: [] } : row));
    w.write();
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    // With a gap none of it goes where not all of it can.
    expect((await places(w))["C1"]).toEqual(how === "overlap" ? ["P1", "Q1"] : ["P1", "Q1", "R1"]);
    expect((await places(w))["C2"]).toEqual(how === "overlap" ? ["P1", "Q1", "R1"] : undefined);
    expect((await w.run("explain", "customer", "C1")).stdout).toMatch(/is lent/u);
    w.sandbox.hand({ action: "return-loan", lock: lockNumber });
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1", "R1"] });
  },
);

it.each(replacements)(
  "what an order left in an enterprise that its customer had before is touched in none (%s)",
  { tags: "long" },
  async (how) => {
    const w = await placedOrders({ staff: [] });
    const other = await createEnterprise(callerOf(w.sandbox.url), "C1");
    expect((await w.run("unlink", "C1", "--keep-standing", ...because)).exitCode).toBe(0);
    expect((await w.run("link", "C1", other.enterpriseGlobalId, ...because)).exitCode).toBe(0);
    applies(w, how);
    amend(w, "1", { customer: "C2" });
    const had = standing(w);
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect((await places(w))["C2"]).toEqual(how === "overlap" ? ["P1", "Q1"] : undefined);
    expect(standing(w)["products"]).toBe(Number(had["products"]) + (how === "overlap" ? 2 : 0));
    expect(w.rows("select kind from order_step where kind = 'removed'")).toEqual([]);
    expect((await w.run("explain", "customer", "C1")).stdout).toMatch(/order\.elsewhere/u);
  },
);

it(
  "an order that moved to a customer and is linked with another enterprise since stays as it is there",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    applies(w, "overlap");
    amend(w, "1", { customer: "C2" });
    await runsUntilQuiet(w);
    const other = await createEnterprise(callerOf(w.sandbox.url), "C2");
    expect((await w.run("unlink", "C2", "--keep-standing", ...because)).exitCode).toBe(0);
    expect((await w.run("link", "C2", other.enterpriseGlobalId, ...because)).exitCode).toBe(0);
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
    const had = standing(w);
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
    expect(standing(w)).toEqual(had);
    expect(waitsFor(w, "1")).toBe("order.elsewhere");
  },
);

it.each(replacements)(
  "an order that moves on before its first move ended stands at the last customer alone (%s)",
  { tags: "long" },
  async (how) => {
    for (const word of ["hold", "apply"]) {
      const w = await placedOrders({ staff: [] });
      addThird(w);
      applies(w, how);
      rule(w, "orders.moved", word);
      amend(w, "1", { customer: "C2" });
      await w.does("run", "everything");
      await w.does("run", "everything");
      amend(w, "1", { customer: "C3" });
      rule(w, "orders.moved", "apply");
      await runsUntilQuiet(w);
      expect(await places(w)).toEqual({ C3: ["P1", "Q1"] });
      expect(w.sandbox.duplicates().products).toEqual([]);
      expect(w.rows("select customer_id from moved_order where ended_at is null")).toEqual([]);
    }
  },
);

it.each(replacements)(
  "an order that moves back before its first move ended stands at the first customer alone (%s)",
  { tags: "long" },
  async (how) => {
    for (const word of ["hold", "apply"]) {
      const w = await placedOrders({ staff: [] });
      applies(w, how);
      rule(w, "orders.moved", word);
      amend(w, "1", { customer: "C2" });
      await w.does("run", "everything");
      await w.does("run", "everything");
      amend(w, "1", { customer: "C1" });
      rule(w, "orders.moved", "apply");
      await runsUntilQuiet(w);
      await w.does("run", "everything");
      expect(await places(w)).toEqual({ C1: ["P1", "Q1"] });
      expect(w.sandbox.duplicates().products).toEqual([]);
      expect(w.rows("select customer_id from moved_order where ended_at is null")).toEqual([]);
      expect(w.rows("select id from hold where state = 'open'")).toEqual([]);
    }
  },
);

it.each(replacements)(
  "an order that is amended while it moves stands at the new customer in its last form (%s)",
  { tags: "long" },
  async (how) => {
    const w = await placedOrders({ staff: [] });
    applies(w, how);
    rule(w, "orders.moved", "hold");
    rule(w, "orders.ended", "apply");
    amend(w, "1", { customer: "C2" });
    await w.does("run", "everything");
    await w.does("run", "everything");
    amend(w, "1", { products: [line("P1", "A1", { nodes: 9 }), line("R1", "A1")] });
    await w.does("run", "everything");
    await w.does("run", "everything");
    expect((await places(w))["C1"]).toEqual(["P1", "Q1"]);
    rule(w, "orders.moved", "apply");
    rule(w, "orders.replaced", "apply");
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "R1"] });
    expect(w.sandbox.duplicates().products).toEqual([]);
  },
);

it.each(replacements)(
  "an order that is cancelled while it moves stands nowhere, and comes back where it belongs (%s)",
  { tags: "long" },
  async (how) => {
    const w = await placedOrders({ staff: [] });
    applies(w, how);
    rule(w, "orders.moved", "hold");
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { customer: "C2" });
    await w.does("run", "everything");
    await w.does("run", "everything");
    amend(w, "1", { cancelled: true });
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({});
    amend(w, "1", { cancelled: false });
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual(there);
  },
);

it.each(replacements)(
  "an order that is cancelled and restored while it moves is never nowhere (%s)",
  { tags: "long" },
  async (how) => {
    const w = await placedOrders({ staff: [] });
    applies(w, how);
    rule(w, "orders.moved", "hold");
    rule(w, "orders.cancelled", "hold");
    amend(w, "1", { customer: "C2" });
    await w.does("run", "everything");
    amend(w, "1", { cancelled: true });
    await w.does("run", "everything");
    await w.does("run", "everything");
    amend(w, "1", { cancelled: false });
    rule(w, "orders.moved", "apply");
    rule(w, "orders.added", "hold");
    for (const _ of [1, 2, 3]) {
      await w.does("run", "everything");
      expect(await places(w)).not.toEqual({});
    }
    rule(w, "orders.added", "apply");
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual(there);
  },
);

it.each(replacements)(
  "people lose the seats of a moved order where it was, counted, and get theirs where it is (%s)",
  { tags: "long" },
  async (how) => {
    const w = await placedOrders();
    applies(w, how);
    rule(w, "orders.moved", "hold");
    w.orders = [...w.orders, orderOf("3", "C1")];
    w.write();
    await runsUntilQuiet(w);
    amend(w, "1", { customer: "C2" });
    w.staff = [...w.staff, { id: "S4", customer: "C2", holds: ["A1"] }];
    w.write();
    await w.does("run", "everything");
    await w.does("run", "everything");
    expect((await w.run("status")).stdout).toMatch(/1 seat, 2 products.*1 person loses their last asset/su);
    expect([...(await membersOf(w, "C1")).values()].filter(({ assetNums }) => assetNums.length > 0)).toHaveLength(1);
    await w.run("approve", openHold(w), "--reason", "both know");
    w.staff = w.staff.map((row) => (row.id === "S1" ? { ...row, holds: [] } : row));
    w.write();
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual(there);
    expect(numberOf(w, "A1")).not.toBe("");
    const holders = [...(await membersOf(w, "C2")).values()].filter(({ assetNums }) => assetNums.length > 0);
    expect(holders.flatMap(({ assetNums }) => assetNums)).toContain(numberOf(w, "A1"));
    expect([...(await membersOf(w, "C1")).values()].flatMap(({ assetNums }) => assetNums)).toEqual([]);
  },
);

it.each([
  ["cancelled", { cancelled: true }, [], false],
  ["wanted", {}, ["P3 3-1", "Q3 3-1"], false],
  ["cancelled, and the customer gone,", { cancelled: true }, [], true],
] as const)(
  "an order in doubt that moves, and whose new customer was looked at before its outcome was known, goes where it is %s",
  { tags: "long" },
  async (_, more, wanted, isGone) => {
    const w = await placedOrders();
    applies(w, "overlap");
    rule(w, "orders.cancelled", "apply");
    w.environment["CRM_SYNC__settle__maxWaitMs"] = "0";
    w.customers = [...w.customers, { id: "C3" }];
    w.orders = [...w.orders, orderOf("3", "C3")];
    w.write();
    w.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", times: 1 });
    w.sandbox.faults.add({ operation: "M7", fault: "oddCode" });
    expect((await w.does("run", "everything")).exitCode).toBe(5);
    if (isGone) w.customers = w.customers.filter(({ id }) => id !== "C3");
    amend(w, "3", { customer: "C2", ...more });
    for (const __ of [1, 2]) await w.does("run", "everything");
    w.sandbox.faults.clear();
    await runsUntilQuiet(w);
    const { C2: shown, C3: left } = await productsBy(w);
    expect([shown, left]).toEqual([["P2 2", ...wanted.slice(0, 1), "Q2 2", ...wanted.slice(1)], undefined]);
    // Restored, it stands for the customer that it moved to.
    amend(w, "3", { cancelled: false });
    await runsUntilQuiet(w);
    const number = wanted.length > 0 ? "3-1" : "3-2";
    expect(await productsBy(w)).toMatchObject({ C2: ["P2 2", `P3 ${number}`, "Q2 2", `Q3 ${number}`] });
    expect(w.sandbox.duplicates().products).toEqual([]);
  },
);
