import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { amend, line, numberOf, openHold, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";
import { adds, earlier, holders, numbersSent, renewal, rests, runs } from "./renewals.ts";

const more = [{ id: "B3", quantity: 3, continues: earlier }];

/** Two customers; what is added, ended and cancelled is done at once. */
async function company(given: Parameters<typeof placedOrders>[0] = {}): Promise<World> {
  const w = await placedOrders(given);
  for (const name of ["orders.cancelled", "orders.ended", "orders.added"]) rule(w, name, "apply");
  return w;
}

function refusesNext(w: World): void {
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
}

/** Runs until one calls nothing and nothing waits but for a person: what was refused waits for its settle time. */
async function settles(w: World): Promise<void> {
  for (let run = 0; run < 12; run += 1) {
    const { calls, exitCode } = await w.does("run", "everything");
    if (Object.keys(calls).length === 0 && exitCode !== 3) return;
  }
  expect.fail("no run was quiet");
}

function numbersOf(w: World, channelOrderId: string): string[] {
  const sent = numbersSent(w, channelOrderId) as string[][][];
  return sent.flat(2);
}

it(
  "a renewal with more units than the earlier asset goes on under its number, and the others get numbers of their own",
  { tags: "long" },
  async () => {
    const w = await company();
    const number = numberOf(w, "A1");
    const held = holders(w);
    adds(w, renewal("3", { assets: more }));
    await runs(w, 0, { E5: 1 });
    const numbers = numbersOf(w, "3");
    expect(new Set(numbers).size).toBe(3);
    expect(numbers).toContain(number);
    expect([standing(w), holders(w)]).toEqual([{ products: 7, assets: 4, assignments: 2 }, held]);
    await rests(w);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    amend(w, "1", { cancelled: true });
    await settles(w);
    expect([standing(w), holders(w)]).toEqual([{ products: 5, assets: 4, assignments: 2 }, held]);
    await rests(w);
  },
);

it(
  "of the numbers that the CRM gives a renewal the earlier one is gone on under, and another unit gets the other",
  { tags: "long" },
  async () => {
    const w = await company({ first: { assets: [{ id: "A1", numbers: ["8111111111"] }] } });
    const assets = [{ id: "B3", quantity: 2, numbers: ["8222222222", "8111111111"], continues: earlier }];
    adds(w, renewal("3", { assets }));
    await runs(w, 0, { E5: 1 });
    expect(numbersOf(w, "3").toSorted()).toEqual(["8111111111", "8222222222"]);
    expect(standing(w)).toMatchObject({ assets: 3 });
    await rests(w);
  },
);

it(
  "a renewal that gets more units later buys them under numbers of their own, also once the earlier order has ended",
  { tags: "long" },
  async () => {
    const w = await company();
    const held = holders(w);
    adds(w, renewal("3"));
    await runs(w, 0, { E5: 1 });
    amend(w, "3", { assets: [{ id: "B3", quantity: 2, continues: earlier }] });
    await runs(w, 0, { E5: 1 });
    expect([standing(w), holders(w)]).toEqual([{ products: 6, assets: 3, assignments: 2 }, held]);
    amend(w, "1", { cancelled: true });
    await settles(w);
    amend(w, "3", { assets: more });
    await runs(w, 0, { E5: 1 });
    expect([standing(w), holders(w)]).toEqual([{ products: 5, assets: 4, assignments: 2 }, held]);
    await rests(w);
  },
);

it(
  "a line that takes the place of a renewal goes on under its number, and what it has more gets numbers of its own",
  { tags: "long" },
  async () => {
    const w = await company();
    const held = holders(w);
    adds(w, renewal("3"));
    await runs(w, 0, { E5: 1 });
    amend(w, "3", { assets: [{ id: "B4", quantity: 2, continues: earlier }], products: [line("R4", "B4")] });
    await settles(w);
    expect([waitsFor(w, "3"), holders(w)]).toEqual([null, held]);
    expect(numbersOf(w, "3")).toContain(numberOf(w, "A1"));
    expect(standing(w)).toMatchObject({ assets: 3 });
    await rests(w);
  },
);

it(
  "a renewal waits while units of the earlier asset are still to be bought, and then goes on under each of them",
  { tags: "long" },
  async () => {
    const w = await company();
    refusesNext(w);
    amend(w, "1", { assets: [{ id: "A1", quantity: 2 }] });
    adds(w, renewal("3", { assets: [{ id: "B3", quantity: 2, continues: earlier }] }));
    await runs(w, 3, { E5: 1 });
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect(waitsFor(w, "3")).toBe("order.earlier-too-few");
    expect(w.sandbox.state().orders["3"]).toBeUndefined();
    amend(w, "1", {
      assets: [{ id: "A1", quantity: 2 }],
      products: [line("P1", "A1"), line("Q1", "A1", { name: "Q" })],
    });
    await settles(w);
    expect(numbersOf(w, "3").toSorted()).toEqual([numberOf(w, "A1"), numberOf(w, "A1", 1)].toSorted());
    expect(standing(w)).toMatchObject({ assets: 3 });
  },
);

it(
  "a unit stays while the renewal is to have one more of it, and goes once that stands, whatever else is told of it",
  { tags: "long" },
  async () => {
    const w = await company({ first: { assets: [{ id: "A1", quantity: 2 }] } });
    w.environment["CRM_SYNC__limits__taking__enterprise__floor"] = "100";
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
    await rests(w);
  },
);

it(
  "two assets of one order that continue the same unit are not bought, and the reason names the other asset",
  { tags: "long" },
  async () => {
    const w = await company();
    const assets = ["B3", "B4"].map((id) => ({ id, continues: earlier }));
    adds(w, renewal("3", { assets, products: [line("R3", "B3"), line("R4", "B4")] }));
    await runs(w, 3, {});
    expect(waitsFor(w, "3")).toBe("order.earlier-continued");
    expect((await w.run("explain", "order", "3")).stdout).toContain(
      "the asset B3 of this very order continues already",
    );
  },
);

it.each([false, true])(
  "an asset that takes the place of one which renewed another goes on under its number (earlier order cancelled: %s)",
  { tags: "long" },
  async (cancelled) => {
    const w = await company();
    const number = numberOf(w, "A1");
    const held = holders(w);
    adds(w, renewal("3"));
    await runs(w, 0, { E5: 1 });
    amend(w, "1", { cancelled });
    await settles(w);
    amend(w, "3", { assets: [{ id: "B9", continues: earlier }], products: [line("R9", "B9")] });
    await settles(w);
    expect(numbersOf(w, "3-1")).toEqual([number]);
    expect(standing(w)).toEqual({ products: cancelled ? 3 : 5, assets: 2, assignments: 2 });
    expect(holders(w)).toEqual(held);
    await rests(w);
  },
);

it(
  "a unit in which nothing is left stays with its holder while a renewal of it cannot be bought, and goes on with that",
  { tags: "long" },
  async () => {
    const w = await company({ first: { assets: ["A1", "A5"], products: [line("P1", "A1"), line("Q5", "A5")] } });
    const number = numberOf(w, "A1");
    const held = holders(w);
    amend(w, "1", { products: [line("Q5", "A5")] });
    await runs(w, 0, { E5: 1 });
    w.environment["CRM_SYNC__assumptions__emptyAssets"] = "empty";
    refusesNext(w);
    adds(w, renewal("3"));
    amend(w, "1", { cancelled: true });
    for (const _ of [1, 2]) {
      await w.does("run", "everything");
      expect([numberOf(w, "A1"), holders(w)]).toEqual([number, held]);
    }
    amend(w, "3", { products: [line("R3", "B3", { name: "Another name" })] });
    await settles(w);
    expect([numbersOf(w, "3"), holders(w)]).toEqual([[number], held]);
    await rests(w);
  },
);

it("an asset that M7 shows with nothing in it is not renewed while that may hide something", async () => {
  const w = await company({ first: { assets: ["A1", "A5"], products: [line("P1", "A1"), line("Q5", "A5")] } });
  amend(w, "1", { products: [line("Q5", "A5")] });
  await runs(w, 0, { E5: 1 });
  adds(w, renewal("3"));
  await runs(w, 3, {});
  expect(waitsFor(w, "3")).toBe("order.earlier-not-shown");
});

/** The renewal ends, and the earlier order with it or before it; each ending is held and approved. */
async function bothEnd(before: boolean): Promise<void> {
  const w = await company();
  const held = holders(w);
  adds(w, renewal("3"));
  await runs(w, 0, { E5: 1 });
  if (before) amend(w, "1", { cancelled: true });
  await settles(w);
  rule(w, "orders.cancelled", "hold");
  amend(w, "1", { cancelled: true });
  amend(w, "3", { cancelled: true });
  for (const _ of [1, 2]) {
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(holders(w)).toEqual(held);
  }
  for (const _ of before ? [1] : [1, 2]) {
    expect((await w.run("approve", openHold(w), "--reason", "asked the customer")).exitCode).toBe(0);
    for (let run = 0; run < 3; run += 1) await w.does("run", "everything");
  }
  expect(standing(w)).toEqual({ products: 2, assets: 1, assignments: 1 });
}

it(
  "who holds what ends with both orders keeps it until that was approved, by whichever name the CRM gives it",
  { tags: "long" },
  async () => {
    await bothEnd(false);
  },
);

it(
  "who holds what ends with the renewal alone keeps it until that was approved, by the name of the earlier asset",
  { tags: "long" },
  async () => {
    await bothEnd(true);
  },
);
