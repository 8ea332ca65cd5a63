import { expect, it } from "vitest";
import type { GivenOrder } from "../../support/world/crm.ts";
import { amend, line, numberOf, openHold, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";
import { adds, earlier, holders, numbersSent, renewal, rests, runs } from "./renewals.ts";

it(
  "a renewal is bought under the number of the earlier asset, and who holds that keeps it",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    const number = numberOf(w, "A1");
    const held = holders(w);
    adds(w, renewal("3"));
    const plan = await w.run("plan");
    expect(plan.stdout).toContain(number);
    await runs(w, 0, { E5: 1 });
    expect(numbersSent(w, "3")).toEqual([[[number]]]);
    expect([standing(w), holders(w)]).toEqual([{ products: 5, assets: 2, assignments: 2 }, held]);
    await rests(w);

    // The CRM gives the seat by the new asset, which is the same one.
    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: ["B3"] } : item));
    w.write();
    await rests(w);
    expect(holders(w)).toEqual(held);
    const explained = await w.run("explain", "order", "3");
    expect(explained.stdout).toContain(number);
  },
);

it(
  "the earlier order ends once it is renewed: its number stays, and so does who holds it; then the renewal ends",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.cancelled", "apply");
    rule(w, "orders.added", "apply");
    const number = numberOf(w, "A1");
    const held = holders(w);
    adds(w, renewal("3"));
    amend(w, "1", { cancelled: true });
    await w.does("run", "everything");
    await w.does("run", "everything");
    expect([standing(w), holders(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
    const [bought] = JSON.parse(w.sandbox.batches("1").at(-1)?.body ?? "{}").orderList;
    expect(bought.orderType).toBe("new_buy");
    await rests(w);
    expect((await w.run("run", "verify")).exitCode).toBe(0);

    // Also where the CRM still names the seat by the earlier asset, or by both.
    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: ["A1", "B3"] } : item));
    w.write();
    await rests(w);
    expect(holders(w)).toEqual(held);

    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [] } : item));
    amend(w, "3", { cancelled: true });
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect(standing(w)).toEqual({ products: 2, assets: 1, assignments: 1 });
    expect(w.rows("select ended_at is not null as ended from asset_number where wire_number = ?", number)).toEqual([
      { ended: 1 },
    ]);
    await rests(w);
  },
);

it("both orders end at once: each takes its own, and the asset goes with the last", { tags: "long" }, async () => {
  const w = await placedOrders();
  for (const name of ["orders.cancelled", "orders.added"]) rule(w, name, "apply");
  adds(w, renewal("3"));
  await runs(w, 0, { E5: 1 });
  w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [] } : item));
  amend(w, "1", { cancelled: true });
  amend(w, "3", { cancelled: true });
  for (const _ of [1, 2, 3]) await w.does("run", "everything");
  expect(standing(w)).toEqual({ products: 2, assets: 1, assignments: 1 });
  await rests(w);
});

it(
  "two orders renew one asset: the first is bought, and the second waits and names the other",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    adds(w, renewal("3"), renewal("4"));
    const said = await runs(w, 3, { E5: 1 });
    expect(said).toContain("order.earlier-continued");
    for (const _ of [1, 2]) await runs(w, 3, {});
    expect([waitsFor(w, "3"), waitsFor(w, "4")]).toEqual([null, "order.earlier-continued"]);
    const explained = await w.run("explain", "order", "4");
    expect(explained.stdout).toContain("the order crm/3 continues already");
    expect(standing(w)).toEqual({ products: 5, assets: 2, assignments: 2 });
  },
);

it(
  "what is renewed is another customer's, unknown, or not placed: nothing is bought, and the reason says which",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    const of = (order: string, instance: string): Partial<GivenOrder> => ({
      assets: [{ id: "B", continues: { order, instance } }],
      products: [line("R", "B")],
    });
    const cases = [
      ["2", "A2", "order.earlier-of-another", "an order of the customer crm/C2"],
      ["9", "A9", "order.earlier-not-placed", "of which the ledger knows nothing"],
      ["1", "A9", "order.earlier-ended", "nothing of that stands any more"],
      ["3", "B", "order.earlier-not-placed", "this very order"],
    ] as const;
    adds(w, renewal("3"));
    for (const [order, instance, code, reason] of cases) {
      amend(w, "3", of(order, instance));
      await runs(w, 3, {});
      expect(waitsFor(w, "3")).toBe(code);
      expect((await w.run("explain", "order", "3")).stdout).toContain(reason);
    }
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
    amend(w, "3", of("1", "A1"));
    await runs(w, 0, { E5: 1 });
  },
);

it(
  "a renewal whose answer is lost is found under the number, and neither sent again nor taken for another one",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    const held = holders(w);
    w.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", nth: 1 });
    adds(w, renewal("3"));
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect(w.sandbox.state().orders["3"]).toMatchObject({ calls: 1, products: 1 });
    expect([standing(w), holders(w)]).toEqual([{ products: 5, assets: 2, assignments: 2 }, held]);
    await rests(w);
    expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
  },
);

it(
  "a renewal whose call never arrived is sent again under the same number, and nothing is there twice",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", nth: 1 });
    adds(w, renewal("3"));
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect(w.sandbox.state().orders["3"]).toMatchObject({ calls: 1, products: 1 });
    expect(standing(w)).toEqual({ products: 5, assets: 2, assignments: 2 });
    await rests(w);
  },
);

it("a refused renewal leaves the earlier asset and its seat as they are", { tags: "long" }, async () => {
  const w = await placedOrders();
  rule(w, "orders.cancelled", "apply");
  const held = holders(w);
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
  adds(w, renewal("3"));
  amend(w, "1", { cancelled: true });
  for (const _ of [1, 2]) {
    const run = await w.does("run", "everything");
    expect(run.exitCode, run.stdout).toBe(3);
    expect([standing(w), holders(w)]).toEqual([{ products: 4, assets: 2, assignments: 2 }, held]);
  }
});

it("a renewal is renewed again, and the seat stays through both", { tags: "long" }, async () => {
  const w = await placedOrders();
  for (const name of ["orders.cancelled", "orders.added"]) rule(w, name, "apply");
  const held = holders(w);
  adds(w, renewal("3"));
  amend(w, "1", { cancelled: true });
  for (const _ of [1, 2]) await w.does("run", "everything");
  adds(w, renewal("4", { assets: [{ id: "B4", continues: { order: "3", instance: "B3" } }] }));
  amend(w, "3", { cancelled: true });
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect([standing(w), holders(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
  await rests(w);
});

it("of three units two are renewed: those that somebody holds", { tags: "long" }, async () => {
  const w = await placedOrders({
    first: { assets: [{ id: "A1", quantity: 3 }] },
    staff: [
      { id: "S1", customer: "C1", holds: ["A1"] },
      { id: "S3", customer: "C1", holds: ["A1"] },
    ],
  });
  w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [] } : item));
  w.staff = [...w.staff, { id: "S4", customer: "C1", holds: ["A1"] }];
  rule(w, "orders.added", "apply");
  w.write();
  await w.does("run", "everything");
  const held = holders(w) as { number: string }[];
  adds(w, renewal("3", { assets: [{ id: "B3", quantity: 2, continues: earlier }] }));
  await runs(w, 0, { E5: 1 });
  expect(numbersSent(w, "3")).toEqual([[held.map(({ number }) => number)]]);
  adds(w, renewal("4", { assets: [{ id: "B4", quantity: 2, continues: earlier }] }));
  await runs(w, 3, {});
  expect(waitsFor(w, "4")).toBe("order.earlier-continued");
  amend(w, "4", { assets: [{ id: "B4", continues: earlier }] });
  await runs(w, 0, { E5: 1 });
  await rests(w);
});

it("an asset whose lock is disabled is not renewed before that is enabled", { tags: "long" }, async () => {
  const w = await placedOrders({ first: { assets: [{ id: "A1", type: "normal_recover_usbkey" }] } });
  rule(w, "locks.locked", "apply");
  rule(w, "locks.unlocked", "apply");
  amend(w, "1", { assets: [{ id: "A1", type: "normal_recover_usbkey", locked: true }] });
  await w.does("run", "everything");
  expect(w.sandbox.state().lockedAssets).toBe(1);
  adds(w, renewal("3", { assets: [{ id: "B3", type: "normal_recover_usbkey", continues: earlier }] }));
  await runs(w, 3, {});
  expect(waitsFor(w, "3")).toBe("order.earlier-locked");
  amend(w, "1", { assets: [{ id: "A1", type: "normal_recover_usbkey", locked: false }] });
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect([w.sandbox.state().lockedAssets, waitsFor(w, "3")]).toEqual([0, null]);
  await rests(w);
});

it(
  "a lost ledger is built again with its renewals, and the next run finds nothing to do",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    const held = holders(w);
    // The one that renews comes before the one that it renews.
    adds(w, renewal("0"));
    await runs(w, 0, { E5: 1 });
    w.losesItsLedger();
    const rebuilt = await w.does("rebuild");
    expect([rebuilt.exitCode, rebuilt.calls], rebuilt.stdout + rebuilt.stderr).toEqual([0, {}]);
    expect(holders(w)).toEqual(held);
    await rests(w);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    amend(w, "0", { products: [line("R0", "B0"), line("T0", "B0")] });
    await runs(w, 0, { E5: 1 });
    expect(standing(w)).toEqual({ products: 6, assets: 2, assignments: 2 });
  },
);

it("an order that renews one of its own assets is amended under the number that it has", { tags: "long" }, async () => {
  const w = await placedOrders();
  for (const name of ["orders.ended", "orders.added"]) rule(w, name, "apply");
  const held = holders(w);
  const number = numberOf(w, "A1");
  amend(w, "1", { assets: [{ id: "B1", continues: { order: "1", instance: "A1" } }], products: [line("P1", "B1")] });
  for (const _ of [1, 2]) await w.does("run", "everything");
  const [sent] = w.rows<{ wire: string }>("select items as wire from order_step where kind = 'bought'");
  expect(sent?.wire).toContain(number);
  expect([standing(w), holders(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
  await rests(w);
});

it(
  "what renews an asset of its own order gets other terms while the old one still waits to be taken away",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    for (const name of ["orders.added", "orders.replaced"]) rule(w, name, "apply");
    rule(w, "orders.ended", "hold");
    const held = holders(w);
    const assets = [{ id: "B1", continues: earlier }];
    amend(w, "1", { assets, products: [line("R1", "B1")] });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    amend(w, "1", { assets, products: [line("R1", "B1", { nodes: 5 })] });
    await w.does("run", "everything");
    expect([waitsFor(w, "1"), w.sandbox.state().orders["1-2"]]).toEqual([
      expect.not.stringContaining("there-already"),
      expect.objectContaining({ calls: 1, products: 1 }),
    ]);
    rule(w, "orders.ended", "apply");
    for (const { id } of w.rows<{ id: string }>("select id from hold where state = 'open'"))
      await w.run("approve", id, "--reason", "asked the customer");
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect([standing(w), holders(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
    await rests(w);
  },
);

it(
  "what goes of an asset and of the one that renews it in the same order goes of each of them",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.added", "apply");
    rule(w, "orders.ended", "hold");
    const held = holders(w);
    const assets = [{ id: "B1", continues: earlier }];
    // The products move to the new line under the ids that they have, and one of them ends before the old line went.
    amend(w, "1", { assets, products: [line("P1", "B1"), line("Q1", "B1")] });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    amend(w, "1", { assets, products: [line("P1", "B1")] });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    expect((await w.run("approve", openHold(w), "--reason", "asked the customer")).exitCode).toBe(0);
    await runs(w, 0, { E5: 1 });
    expect([standing(w), holders(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
    await rests(w);
    amend(w, "1", { assets, products: [line("P1", "B1", { nodes: 9 })] });
    rule(w, "orders.ended", "apply");
    rule(w, "orders.replaced", "apply");
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect([waitsFor(w, "1"), standing(w)]).toEqual([null, { products: 3, assets: 2, assignments: 2 }]);
    await rests(w);
  },
);

it("a product that somebody put under the number by hand is not bought a second time", { tags: "long" }, async () => {
  const w = await placedOrders();
  const number = numberOf(w, "A1");
  w.sandbox.hand({ action: "add-product", assetNum: number, like: "P1", fields: { crmProductId: "R3" } });
  adds(w, renewal("3"));
  await runs(w, 3, {});
  expect(waitsFor(w, "3")).toBe("order.there-already");
});

it("an asset that the platform shows no more is not renewed", async () => {
  const w = await placedOrders();
  w.sandbox.hand({ action: "drop-asset", assetNum: numberOf(w, "A1") });
  adds(w, renewal("3"));
  await runs(w, 3, {});
  expect(waitsFor(w, "3")).toBe("order.earlier-not-shown");
  expect(w.sandbox.state().orders["3"]).toBeUndefined();
});

it("an asset that is lent is not renewed before it was given back", { tags: "long" }, async () => {
  const w = await placedOrders({
    first: {
      assets: [{ id: "A1" }, { id: "L1", type: "normal_recover_usbkey", forLending: true }],
      products: [line("P1", "A1"), line("L1P", "L1")],
    },
  });
  const [member] = w.rows<{ id: string }>("select member_global_id as id from staff_link where staff_id = 'S1'");
  const lock = numberOf(w, "L1");
  w.sandbox.hand({ action: "lend", lock, memberGlobalId: member?.id ?? "", assetNums: [numberOf(w, "A1")] });
  adds(w, renewal("3"));
  for (const _ of [1, 2]) await runs(w, 3, {});
  expect(waitsFor(w, "3")).toBe("asset.lent");
  w.sandbox.hand({ action: "return-loan", lock });
  await runs(w, 0, { E5: 1 });
  await rests(w);
});

it(
  "a renewal that names its products as the earlier order did is bought, and each order keeps its own",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    for (const name of ["orders.cancelled", "orders.added"]) rule(w, name, "apply");
    const products = [line("P1", "B3", { pid: "PID-P1" }), line("Q1", "B3", { pid: "PID-Q1" })];
    adds(w, renewal("3", { products }));
    await runs(w, 0, { E5: 1 });
    await rests(w);
    amend(w, "1", { cancelled: true });
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
    expect(w.sandbox.state().orders["3"]).toMatchObject({ products: 2 });
    await rests(w);
  },
);

it.each(["1", "3"])(
  "what an order and its renewal both name gets other terms in one of them, and that one alone is changed (order %s)",
  { tags: "long" },
  async (changed) => {
    const w = await placedOrders();
    for (const name of ["orders.replaced", "orders.added"]) rule(w, name, "apply");
    adds(w, renewal("3", { products: [line("P1", "B3", { pid: "PID-P1" })] }));
    await runs(w, 0, { E5: 1 });
    const held = holders(w);
    const asset = changed === "1" ? "A1" : "B3";
    const rest = changed === "1" ? [line("Q1", "A1")] : [];
    amend(w, changed, { products: [line("P1", asset, { pid: "PID-P1", nodes: 5 }), ...rest] });
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect([waitsFor(w, changed), standing(w), holders(w)]).toEqual([
      null,
      { products: 5, assets: 2, assignments: 2 },
      held,
    ]);
    expect(w.sandbox.state().orders[`${changed}-1`]).toMatchObject({ calls: 1, products: 1 });
    await rests(w);

    // Where somebody put it there by hand, it is not bought as well.
    const other = [line("P1", asset, { pid: "PID-P1", nodes: 7 }), ...rest];
    w.sandbox.hand({ action: "add-product", assetNum: numberOf(w, "A1"), like: "P1", fields: { limitConcurrent: 7 } });
    amend(w, changed, { products: other });
    await runs(w, 3, {});
    expect(waitsFor(w, changed)).toBe("order.there-already");
  },
);

it("the asset stays where the earlier order ends before M7 shows what renewed it", { tags: "long" }, async () => {
  const w = await placedOrders();
  for (const name of ["orders.cancelled", "orders.added"]) rule(w, name, "apply");
  const held = holders(w);
  const number = numberOf(w, "A1");
  await w.run("run", "verify");
  const shown = w.rows<{ body: string }>(
    "select body from observation where kind = 'product' and to_at is null and subject like ?",
    `${number}/%`,
  );
  adds(w, renewal("3"));
  await runs(w, 0, { E5: 1 });
  const [asset] = w.rows<{ id: string }>("select body ->> 'assetId' as id from observation where subject = ?", number);
  w.sandbox.faults.add({
    operation: "M7",
    about: asset?.id ?? "",
    fault: "oddField",
    field: "productInstanceList",
    value: shown.map(({ body }): unknown => JSON.parse(body)),
  });
  amend(w, "1", { cancelled: true });
  await w.does("run", "everything");
  w.sandbox.faults.clear();
  const [deletion = ""] = Object.keys(w.sandbox.state().deletions);
  const types = JSON.parse(w.sandbox.batches(deletion)[0]?.body ?? "{}").orderList.map(
    (record: { orderType: string }) => record.orderType,
  );
  expect(types).toEqual(["delete_product"]);
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect([standing(w), holders(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
});

it(
  "an asset number is told of with the order that has it now, and with both while both have it",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.cancelled", "apply");
    const number = numberOf(w, "A1");
    adds(w, renewal("3"));
    await runs(w, 0, { E5: 1 });
    const both = await w.run("explain", "order", number);
    expect([both.exitCode, both.stderr]).toEqual([64, expect.stringContaining("2 records fit: crm/3, crm/1")]);
    amend(w, "1", { cancelled: true });
    for (const _ of [1, 2]) await w.does("run", "everything");
    const now = await w.run("explain", "order", number);
    expect([now.exitCode, now.stdout], now.stderr).toEqual([0, expect.stringContaining("order crm/3:")]);
    for (const [stream, named] of [
      ["customer", "customer crm/C1:"],
      ["staff", "staff crm/S1:"],
    ] as const)
      expect((await w.run("explain", stream, number)).stdout).toContain(named);
    // Where nobody has it any more, the orders that had it are named.
    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [] } : item));
    amend(w, "3", { cancelled: true });
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect((await w.run("explain", "order", number)).stderr).toContain("2 records fit: crm/3, crm/1");
  },
);
