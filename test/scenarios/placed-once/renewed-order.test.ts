import { expect, it } from "vitest";
import { callerOf } from "../../sandbox/caller.ts";
import { approveAll, enterpriseOf, numberOf, openHold, openHolds, waitsFor } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import type { GivenOrder } from "../../support/world/crm.ts";
import { membersOf } from "../../support/world/members.ts";
import { holdings } from "../../support/world/moved-orders.ts";
import { adds, earlier, numbersSent, renewal, rests, runs } from "../../support/world/renewals.ts";
import { amend, line, placedOrders, removesAll, rule, standing } from "../../support/world/placed-orders.ts";

/** Two customers; what is added, ended, replaced and cancelled is carried out at once. */
async function company(given: Parameters<typeof placedOrders>[0] = {}): Promise<World> {
  const w = await placedOrders(given);
  for (const name of ["cancelled", "ended", "added", "replaced"]) rule(w, `orders.${name}`, "apply");
  return w;
}

function gives(w: World, ...held: string[]): void {
  w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: held } : item));
  w.write();
}

function refusesNext(w: World): void {
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
}

/** Runs until one calls nothing and nothing waits but for a person. */
async function settles(w: World): Promise<void> {
  for (let run = 0; run < 12; run += 1) {
    const { calls, exitCode } = await w.does("run", "everything");
    if (Object.keys(calls).length === 0 && exitCode !== 3) return;
  }
  expect.fail("no run was quiet");
}

const numbersOf = (w: World, channelOrderId: string): string[] => numbersSent(w, channelOrderId).flat();

it("buys a renewal under the number of the earlier asset, and leaves that to its holder", async () => {
  const w = await company();
  const [number, held] = [numberOf(w, "A1"), await holdings(w)];
  adds(w, renewal("3"));
  await runs(w, 0, { E5: 1 });
  expect(numbersOf(w, "3")).toEqual([number]);
  expect([standing(w), await holdings(w)]).toEqual([{ products: 5, assets: 2, assignments: 2 }, held]);
  await rests(w, 1);
});

it(
  "removes the asset only with the last order that has it, whichever names its holder has in the CRM",
  { tags: "long" },
  async () => {
    const w = await company();
    const held = await holdings(w);
    adds(w, renewal("3"));
    amend(w, "1", { cancelled: true });
    await settles(w);
    expect([standing(w), await holdings(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    for (const names of [["A1", "B3"], ["B3"]]) {
      gives(w, ...names);
      await rests(w, 1);
    }
    expect(await holdings(w)).toEqual(held);
    gives(w);
    amend(w, "3", { cancelled: true });
    await settles(w);
    expect(standing(w)).toEqual({ products: 2, assets: 1, assignments: 1 });
    await rests(w, 1);
  },
);

const continues = (order: string, instance: string): Partial<GivenOrder> => ({
  assets: [{ id: "B3", continues: { order, instance } }],
});
const key = (more: object = {}) => ({ id: "A1", type: "normal_recover_usbkey" as const, ...more });
const renewsKey: Partial<GivenOrder> = { assets: [{ ...key(), id: "B3", continues: earlier }] };

/** What stands in the way of a renewal, and what ends that. */
const cases: Record<
  string,
  {
    code: string;
    first?: Partial<GivenOrder>;
    renewal?: Partial<GivenOrder>;
    before?: (w: World) => Promise<void> | void;
    after?: (w: World) => Promise<void> | void;
  }
> = {
  "another customer's": { code: "order.earlier-of-another", renewal: continues("2", "A2") },
  unknown: { code: "order.earlier-not-placed", renewal: continues("9", "A9") },
  "its own": { code: "order.earlier-not-placed", renewal: continues("3", "B3") },
  "none of the order": { code: "order.earlier-ended", renewal: continues("1", "A9") },
  "renewed by another order": {
    code: "order.earlier-continued",
    before: async (w) => {
      adds(w, renewal("4"));
      await runs(w, 0, { E5: 1 });
    },
    after: (w) => amend(w, "4", { cancelled: true }),
  },
  disabled: {
    code: "order.earlier-locked",
    first: { assets: [key()] },
    renewal: renewsKey,
    before: async (w) => {
      for (const name of ["locks.locked", "locks.unlocked"]) rule(w, name, "apply");
      amend(w, "1", { assets: [key({ locked: true })] });
      await runs(w, 0, { E6: 1 });
    },
    after: (w) => amend(w, "1", { assets: [key({ locked: false })] }),
  },
  lent: {
    code: "asset.lent",
    first: {
      assets: [{ id: "A1" }, { id: "L1", type: "normal_recover_usbkey", forLending: true }],
      products: [line("P1", "A1"), line("Q1", "L1")],
    },
    before: async (w) => {
      const holder = [...(await membersOf(w, "C1")).values()].find(({ assetNums }) => assetNums.length > 0);
      const lent = { lock: numberOf(w, "L1"), assetNums: [numberOf(w, "A1")] };
      w.sandbox.hand({ action: "lend", memberGlobalId: holder?.globalId ?? "", ...lent });
    },
    after: (w) => void w.sandbox.hand({ action: "return-loan", lock: numberOf(w, "L1") }),
  },
  "no longer shown": {
    code: "order.earlier-not-shown",
    before: (w) => void w.sandbox.hand({ action: "drop-asset", assetNum: numberOf(w, "A1") }),
  },
  "shown with nothing in it": {
    code: "order.earlier-not-shown",
    first: { assets: ["A1", "A5"], products: [line("P1", "A1"), line("Q5", "A5")] },
    before: async (w) => {
      amend(w, "1", { products: [line("Q5", "A5")] });
      await runs(w, 0, { E5: 1 });
    },
    after: (w) => void (w.environment["CRM_SYNC__assumptions__emptyAssets"] = "empty"),
  },
  "shown with the product already": {
    code: "order.there-already",
    before: (w) => {
      const fields = { crmProductId: "R3", productUri: "PID-R3", gmsPid: "PID-R3", limitConcurrent: 3 };
      w.sandbox.hand({ action: "add-product", assetNum: numberOf(w, "A1"), like: "P1", fields });
    },
  },
};

it.each(Object.entries(cases))("does not renew an asset that is %s", { tags: "long" }, async (_, item) => {
  const w = await company(item.first === undefined ? {} : { first: item.first });
  await item.before?.(w);
  adds(w, renewal("3", item.renewal));
  const had = standing(w);
  for (const __ of [1, 2]) await runs(w, 3, {});
  expect([await waitsFor(w, "3"), standing(w)]).toEqual([item.code, had]);
  await item.after?.(w);
  if (item.after === undefined) return;
  for (const __ of [1, 2, 3]) await w.does("run", "everything");
  expect(w.sandbox.state().orders["3"]).toMatchObject({ calls: 1, products: 1 });
  await rests(w, 1);
});

it("does not buy two assets of one order that continue the same unit", { tags: "long" }, async () => {
  const w = await company();
  const assets = ["B3", "B4"].map((id) => ({ id, continues: earlier }));
  adds(w, renewal("3", { assets, products: [line("R3", "B3"), line("R4", "B4")] }));
  await runs(w, 3, {});
  expect(await waitsFor(w, "3")).toBe("order.earlier-continued");
});

it.each(["appliedNoReply", "resetBefore"] as const)(
  "buys a renewal once, under the same number, when the reply is lost (%s)",
  { tags: "long" },
  async (fault) => {
    const w = await company();
    const held = await holdings(w);
    w.sandbox.faults.add({ operation: "E5", fault, nth: 1 });
    adds(w, renewal("3"));
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect(w.sandbox.state().orders["3"]).toMatchObject({ calls: 1, products: 1 });
    expect([standing(w), await holdings(w)]).toEqual([{ products: 5, assets: 2, assignments: 2 }, held]);
    await rests(w, 1);
    expect(w.sandbox.duplicates().products).toEqual([]);
  },
);

it("leaves the earlier asset as it is while the renewal is refused", { tags: "long" }, async () => {
  const w = await company();
  const held = await holdings(w);
  refusesNext(w);
  adds(w, renewal("3"));
  amend(w, "1", { cancelled: true });
  for (const _ of [1, 2]) {
    expect((await w.does("run", "everything")).exitCode).toBe(3);
    expect([standing(w), await holdings(w)]).toEqual([{ products: 4, assets: 2, assignments: 2 }, held]);
  }
});

it("leaves the asset when the earlier order ends before M7 shows its renewal", { tags: "long" }, async () => {
  const w = await company();
  const held = await holdings(w);
  const { member } = callerOf(w.sandbox.url);
  const enterprise = await enterpriseOf(w, "C1");
  const [{ assetId: about }] = (await member("GET", `/enterprise/${enterprise}/asset/assetNums`)).data;
  const { productInstanceList: value } = (await member("GET", `/enterprise/asset/${about}/merchandiseProducts`)).data;
  adds(w, renewal("3"));
  await runs(w, 0, { E5: 1 });
  w.sandbox.faults.add({ operation: "M7", about, fault: "oddField", field: "productInstanceList", value });
  amend(w, "1", { cancelled: true });
  await w.does("run", "everything");
  w.sandbox.faults.clear();
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect([standing(w), await holdings(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
});

it("renews of several units those that somebody holds", { tags: "long" }, async () => {
  const person = (id: string, ...holds: string[]) => ({ id, customer: "C1", holds });
  const w = await company({
    first: { assets: [{ id: "A1", quantity: 3 }] },
    staff: [person("S1", "A1"), person("S3", "A1")],
  });
  w.staff = [person("S1"), person("S3", "A1"), person("S4", "A1")];
  w.write();
  await w.does("run", "everything");
  const held = await holdings(w);
  adds(w, renewal("3", { assets: [{ id: "B3", quantity: 2, continues: earlier }] }));
  await runs(w, 0, { E5: 1 });
  expect(numbersOf(w, "3").toSorted()).toEqual(held.map(({ number }) => number));
  adds(w, renewal("4", { assets: [{ id: "B4", quantity: 2, continues: earlier }] }));
  await runs(w, 3, {});
  expect(await waitsFor(w, "4")).toBe("order.earlier-continued");
  amend(w, "4", { assets: [{ id: "B4", continues: earlier }] });
  await runs(w, 0, { E5: 1 });
  await rests(w, 1);
});

const three = [{ id: "B3", quantity: 3, continues: earlier }];

it(
  "gives further units of a renewal numbers of their own, also after the earlier order ended",
  { tags: "long" },
  async () => {
    const w = await company();
    const [number, held] = [numberOf(w, "A1"), await holdings(w)];
    adds(w, renewal("3", { assets: [{ id: "B3", quantity: 2, continues: earlier }] }));
    await runs(w, 0, { E5: 1 });
    expect(new Set(numbersOf(w, "3")).size).toBe(2);
    expect(numbersOf(w, "3")).toContain(number);
    amend(w, "1", { cancelled: true });
    await settles(w);
    expect([standing(w), await holdings(w)]).toEqual([{ products: 4, assets: 3, assignments: 2 }, held]);
    amend(w, "3", { assets: three });
    await runs(w, 0, { E5: 1 });
    expect([standing(w), await holdings(w)]).toEqual([{ products: 5, assets: 4, assignments: 2 }, held]);
    await rests(w, 1);
  },
);

it("uses the numbers that the CRM gives a renewal, the earlier one among them", { tags: "long" }, async () => {
  const w = await company({ first: { assets: [{ id: "A1", numbers: ["8111111111"] }] } });
  const assets = [{ id: "B3", quantity: 2, numbers: ["8222222222", "8111111111"], continues: earlier }];
  adds(w, renewal("3", { assets }));
  await runs(w, 0, { E5: 1 });
  expect(numbersOf(w, "3").toSorted()).toEqual(["8111111111", "8222222222"]);
  expect(standing(w)).toMatchObject({ assets: 3 });
  await rests(w, 1);
});

it.each([false, true])(
  "keeps the number when another asset of the order replaces the renewal (earlier order cancelled: %s)",
  { tags: "long" },
  async (cancelled) => {
    const w = await company();
    const [number, held] = [numberOf(w, "A1"), await holdings(w)];
    adds(w, renewal("3"));
    await runs(w, 0, { E5: 1 });
    amend(w, "1", { cancelled });
    await settles(w);
    amend(w, "3", { assets: [{ id: "B9", quantity: 2, continues: earlier }], products: [line("R9", "B9")] });
    await settles(w);
    expect(numbersOf(w, "3-1")).toContain(number);
    expect(standing(w)).toEqual({ products: cancelled ? 4 : 6, assets: 3, assignments: 2 });
    expect(await holdings(w)).toEqual(held);
    await rests(w, 1);
  },
);

it("waits with a renewal for units of the earlier asset that are still to be bought", { tags: "long" }, async () => {
  const w = await company();
  refusesNext(w);
  const assets = [{ id: "A1", quantity: 2 }];
  amend(w, "1", { assets });
  adds(w, renewal("3", { assets: [{ id: "B3", quantity: 2, continues: earlier }] }));
  await runs(w, 3, { E5: 1 });
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect(await waitsFor(w, "3")).toBe("order.earlier-too-few");
  amend(w, "1", { assets, products: [line("P1", "A1"), line("Q1", "A1", { name: "Q" })] });
  await settles(w);
  expect(numbersOf(w, "3")).toEqual(expect.arrayContaining(numbersOf(w, "1")));
  expect([numbersOf(w, "3").length, standing(w)]).toMatchObject([2, { assets: 3 }]);
});

it("keeps a unit while the renewal of one more is refused", { tags: "long" }, async () => {
  const w = await company({ first: { assets: [{ id: "A1", quantity: 2 }] } });
  removesAll(w);
  w.environment["CRM_SYNC__limits__removals__enterprise__floor"] = "100";
  adds(w, renewal("3"));
  await runs(w, 0, { E5: 1 });
  refusesNext(w);
  amend(w, "3", { assets: [{ id: "B3", quantity: 2, continues: earlier }] });
  amend(w, "1", { cancelled: true });
  for (const _ of [1, 2]) {
    await w.does("run", "everything");
    expect(standing(w)).toMatchObject({ assets: 3, products: 7 });
  }
  amend(w, "3", { products: [line("R3", "B3", { name: "Another name" })] });
  await settles(w);
  expect(standing(w)).toMatchObject({ assets: 3, products: 4 });
  await rests(w, 1);
});

it("keeps an empty unit and its holder while its renewal is refused", { tags: "long" }, async () => {
  const w = await company({ first: { assets: ["A1", "A5"], products: [line("P1", "A1"), line("Q5", "A5")] } });
  const [number, held] = [numberOf(w, "A1"), await holdings(w)];
  amend(w, "1", { products: [line("Q5", "A5")] });
  await runs(w, 0, { E5: 1 });
  w.environment["CRM_SYNC__assumptions__emptyAssets"] = "empty";
  refusesNext(w);
  adds(w, renewal("3"));
  amend(w, "1", { cancelled: true });
  for (const _ of [1, 2]) {
    await w.does("run", "everything");
    expect(await holdings(w)).toEqual(held);
  }
  amend(w, "3", { products: [line("R3", "B3", { name: "Another name" })] });
  await settles(w);
  expect([numbersOf(w, "3"), await holdings(w)]).toEqual([[number], held]);
  await rests(w, 1);
});

it("amends an order that renews an asset of its own under the number that it has", { tags: "long" }, async () => {
  const w = await company();
  const [number, held] = [numberOf(w, "A1"), await holdings(w)];
  amend(w, "1", { assets: [{ id: "B1", continues: earlier }], products: [line("P1", "B1")] });
  await settles(w);
  expect(numbersOf(w, "1-1")).toEqual([number]);
  expect([standing(w), await holdings(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
  await rests(w, 1);
});

it("changes a renewal within an order while the renewed asset still waits for a person", { tags: "long" }, async () => {
  const w = await company();
  rule(w, "orders.ended", "ask");
  const held = await holdings(w);
  const assets = [{ id: "B1", continues: earlier }];
  const amends = (...products: GivenOrder["products"] & object): void => amend(w, "1", { assets, products });
  amends(line("P1", "B1"), line("Q1", "B1"));
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  amends(line("P1", "B1"));
  expect((await w.does("run", "everything")).exitCode).toBe(4);
  expect((await w.run("approve", await openHold(w), "--reason", "asked the customer")).exitCode).toBe(0);
  await runs(w, 0, { E5: 1 });
  expect([standing(w), await holdings(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
  amends(line("P1", "B1", { nodes: 9 }));
  rule(w, "orders.ended", "apply");
  await settles(w);
  expect([standing(w), await openHolds(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, []]);
  await rests(w, 1);
});

it("gives a renewal other terms before the asset that it renews is removed", { tags: "long" }, async () => {
  const w = await company();
  rule(w, "orders.ended", "ask");
  const held = await holdings(w);
  const assets = [{ id: "B1", continues: earlier }];
  amend(w, "1", { assets, products: [line("R1", "B1")] });
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  amend(w, "1", { assets, products: [line("R1", "B1", { nodes: 5 })] });
  await w.does("run", "everything");
  expect(w.sandbox.state().orders["1-2"]).toMatchObject({ calls: 1, products: 1 });
  rule(w, "orders.ended", "apply");
  await approveAll(w);
  for (const _ of [1, 2, 3]) await w.does("run", "everything");
  expect([standing(w), await holdings(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
  await rests(w, 1);
});

it("leaves each order its own products when both name them alike", { tags: "long" }, async () => {
  const w = await company();
  adds(w, renewal("3", { products: ["P1", "Q1"].map((id) => line(id, "B3")) }));
  await runs(w, 0, { E5: 1 });
  amend(w, "1", { cancelled: true });
  await settles(w);
  expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
  expect(w.sandbox.state().orders["3"]).toMatchObject({ products: 2 });
  await rests(w, 1);
});

it.each(["1", "3"])(
  "changes the terms in order %s alone when the other one names the product too",
  { tags: "long" },
  async (changed) => {
    const w = await company();
    adds(w, renewal("3", { products: [line("P1", "B3")] }));
    await runs(w, 0, { E5: 1 });
    const held = await holdings(w);
    const asset = changed === "1" ? "A1" : "B3";
    const amends = (nodes: number): void => {
      const rest = changed === "1" ? [line("Q1", "A1")] : [];
      amend(w, changed, { products: [line("P1", asset, { nodes }), ...rest] });
    };
    amends(5);
    await settles(w);
    expect([standing(w), await holdings(w)]).toEqual([{ products: 5, assets: 2, assignments: 2 }, held]);
    expect(w.sandbox.state().orders[`${changed}-1`]).toMatchObject({ calls: 1, products: 1 });
    const assetNum = numbersOf(w, "1")[0] ?? "";
    w.sandbox.hand({ action: "add-product", assetNum, like: "P1", fields: { limitConcurrent: 7 } });
    amends(7);
    await runs(w, 3, {});
    expect(await waitsFor(w, changed)).toBe("order.there-already");
  },
);
