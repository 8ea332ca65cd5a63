import { expect, it } from "vitest";
import { openHold, openHolds, waitsFor } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { outcome } from "../../support/world/members.ts";
import { productsBy } from "../../support/world/moved-orders.ts";
import { amend, line, orderOf, placedOrders, removesAll, rule } from "../../support/world/placed-orders.ts";

const why = ["--reason", "asked the customer", "--by", "anna"];

async function decide(w: World, verdict: "approve" | "reject"): Promise<string> {
  const asked = await openHold(w);
  expect((await w.run(verdict, asked, ...why)).exitCode).toBe(0);
  return asked;
}

/** A person was asked about the new order 3, and since then the policy asks nobody. */
async function newOrder(): Promise<{ w: World; asked: string }> {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.added", "ask");
  w.orders = [...w.orders, orderOf("3", "C1", { price: "10.00" })];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  rule(w, "orders.added", "apply");
  return { w, asked: await openHold(w) };
}

it.each(["leave it open", "reject"] as const)(
  "a removal that a person was asked about is asked about anew when it has another reason: %s",
  async (answer) => {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.ended", "ask");
    rule(w, "orders.replaced", "apply");
    removesAll(w);
    amend(w, "1", { products: [line("P1", "A1")] });
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    const asked = answer === "reject" ? await decide(w, "reject") : await openHold(w);
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1", { nodes: 9 })] });
    expect(outcome(await w.does("run", "everything"))).toEqual([4, { E5: 1 }]);
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    expect(await decide(w, "approve")).not.toBe(asked);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
    expect([await waitsFor(w, "1"), (await productsBy(w))["C1"]]).toEqual([undefined, ["P1 1", "Q1 1-1"]]);
  },
);

it.each(["leave it open", "approve", "reject"] as const)(
  "a new order that a person was asked about is asked about anew when its price changes: %s",
  async (answer) => {
    const { w, asked } = await newOrder();
    if (answer !== "leave it open") await decide(w, answer);
    amend(w, "3", { price: "12.00" });
    await w.run("plan", "--out", w.path("plan.ndjson"));
    expect(outcome(await w.does("apply", w.path("plan.ndjson")))).toEqual([4, {}]);
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    expect(await decide(w, "approve")).not.toBe(asked);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
    expect(await waitsFor(w, "3")).toBeUndefined();
  },
);

it("a decision on a new order counts, although the policy asks nobody since then", async () => {
  const { w, asked } = await newOrder();
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  expect(await decide(w, "reject")).toBe(asked);
  for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect([await waitsFor(w, "3"), await openHolds(w)]).toEqual(["revokes.rejected", []]);
  expect((await w.run("reject", asked, "--withdraw", ...why)).exitCode).toBe(0);
  expect(await decide(w, "approve")).toBe(asked);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
});
