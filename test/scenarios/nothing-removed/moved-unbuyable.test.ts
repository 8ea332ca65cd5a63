import { expect, it } from "vitest";
import { approveAll, enterpriseOf, notDone, waitsFor } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { productsBy } from "../../support/world/moved-orders.ts";
import { amend, line, orderOf, placedOrders, removesAll, rule } from "../../support/world/placed-orders.ts";

const because = ["--reason", "asked the service desk", "--by", "anna"];

/** Three orders, the first and the third of C1. What ends, is replaced or moves is carried out at once. */
async function company(): Promise<World> {
  const w = await placedOrders({ staff: [] });
  for (const name of ["orders.ended", "orders.replaced", "orders.moved"]) rule(w, name, "apply");
  removesAll(w);
  w.orders = [...w.orders, orderOf("3", "C1", { products: [line("P3", "A3")] })];
  w.write();
  expect((await w.does("run", "everything")).exitCode).toBe(0);
  return w;
}

async function renumbered(w: World): Promise<void> {
  const enterpriseGlobalId = await enterpriseOf(w, "C2");
  w.sandbox.hand({ action: "copy-customer", enterpriseGlobalId, channelCustomerId: "C2-new" });
  const link = ["link", "C2", enterpriseGlobalId, "--channel-customer-id", "C2-new", ...because];
  expect((await w.run(...link)).exitCode).toBe(0);
}

/** The order service rejects another purchase with words that contradict an assumption. */
async function contradicted(w: World): Promise<void> {
  w.orders = [...w.orders, orderOf("9", "C1")];
  w.write();
  const words = "timeUnit is not valid";
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", words, times: 1 });
  await w.does("run", "everything");
  w.orders = w.orders.filter(({ id }) => id !== "9");
}

const takesQ1 = [line("P3", "A3", { from: { order: "1", instance: "Q1" } })];

type Step = (w: World) => Promise<void> | void;

/** Why C2 cannot buy the order, and how that can end. */
const cases: [why: RegExp, begins: Step, ends: Step | undefined][] = [
  [/orders.added is report$/u, (w) => rule(w, "orders.added", "report"), (w) => rule(w, "orders.added", "apply")],
  [/orders.added is ignore$/u, (w) => rule(w, "orders.added", "ignore"), (w) => rule(w, "orders.added", "apply")],
  [
    /contradict the assumption A22/u,
    contradicted,
    async (w) => void (await w.run("assumptions", "accept", "A22", ...because)),
  ],
  [/linked under C2-new/u, renumbered, undefined],
  [
    /is transferred from Q1 of the order crm\/1/u,
    (w) => amend(w, "3", { products: takesQ1 }),
    (w) => amend(w, "1", { customer: "C2" }),
  ],
];

it.each(cases)(
  "an order that moved stays with its customer while the new one cannot buy it: %s",
  async (why, begins, ends) => {
    const w = await company();
    await begins(w);
    await w.does("run", "everything");
    const before = (await productsBy(w))["C1"];
    amend(w, "3", { customer: "C2" });
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).exitCode).not.toBe(0);
    expect((await productsBy(w))["C1"]).toEqual(before);
    const told = (await notDone(w)).find(({ record }) => record === "customers C1");
    expect(told).toMatchObject({ code: "order.move-stopped", reason: expect.stringMatching(why) });
    if (ends === undefined) return;
    await ends(w);
    w.write();
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect((await productsBy(w))["C2"]).toContainEqual(expect.stringMatching(/^P3 /u));
    expect(await waitsFor(w, "C1", "customer")).toBeUndefined();
  },
);

it("an order that moved stays with its customer while its record is missing, also after an approval", async () => {
  const w = await company();
  w.orders = [...w.orders, ...Array.from({ length: 30 }, (_, n) => orderOf(`${n + 10}`, "C2"))];
  w.write();
  await w.does("run", "everything");
  rule(w, "orders.moved", "ask");
  amend(w, "3", { customer: "C2" });
  await w.does("run", "everything");
  const { orders } = w;
  w.orders = orders.filter(({ id }) => id !== "3");
  w.write();
  await w.does("run", "everything");
  await approveAll(w);
  expect((await w.does("run", "everything")).calls).toEqual({});
  w.orders = orders;
  w.write();
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect((await productsBy(w))["C2"]).toContainEqual(expect.stringMatching(/^P3 /u));
});

it("an order moves once E3 shows the customer of the new enterprise that it needs", async () => {
  const w = await company();
  w.tamper("delete from platform_customer where is_default = 1");
  amend(w, "3", { customer: "C2" });
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect((await productsBy(w))["C2"]).toContainEqual(expect.stringMatching(/^P3 /u));
});
