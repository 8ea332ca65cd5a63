import { expect, it } from "vitest";
import { z } from "zod";
import { openHold, waitsFor } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { readOrderBodies } from "../../support/platform-view.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, orderOf, standing } from "../../support/world/placed-orders.ts";

const packages = [
  { id: "K1", parent: "A1" },
  { id: "K2", parent: "K1" },
];
const own = line("I0", "A1");
const [first, second, third] = [line("I1", "K1"), line("I2", "K2"), line("I3", "K2")];

/** A customer with an order of one asset, in which a package stands in a package. */
async function nested(products = [own, first, second, third]): Promise<World> {
  const orders = [orderOf("1", "C1", { packages, products })];
  const w = await world({ records: { customers: [{ id: "C1" }], orders, staff: [] } });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E2: 1, E5: 1, E9: 1 }]);
  return w;
}

/** What the one deletion names of each asset. */
async function deleted(w: World): Promise<unknown> {
  const [number = ""] = Object.keys(w.sandbox.state().deletions);
  const [body] = z.array(deletion).parse(await readOrderBodies(w.sandbox.url, number));
  return body?.orderList.map(({ orderType, assets }) => [
    orderType,
    assets.map(({ products }) => products.map(({ crmProductId }) => crmProductId)),
  ]);
}

const product = z.object({ crmProductId: z.string(), strictMatchWhenDelete: z.literal(true) });
const assets = z.array(z.object({ products: z.array(product) }));
const deletion = z.object({ orderList: z.array(z.object({ orderType: z.string(), assets })) });

it.each([
  ["one of two in a package in a package", [own, first, second, third], [own, first, second], { packages }],
  ["all that a package in a package has", [own, first, third], [own, first], { packages }],
  ["a package in a package", [own, first, third], [own, first], { packages: packages.slice(0, 1) }],
])("removes %s, and nothing else, once a person approved it", async (_what, before, after, rest) => {
  const w = await nested(before);
  amend(w, "1", { ...rest, products: after });
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  expect(standing(w)).toMatchObject({ products: before.length });
  expect((await w.run("approve", await openHold(w), "--reason", "a refund")).exitCode).toBe(0);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(await deleted(w)).toEqual([["delete_product", [["I3"]]]]);
  expect(standing(w)).toMatchObject({ products: before.length - 1, assets: 1 });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect((await w.ask("run", "verify")).exit).toBe(0);
  amend(w, "1", { packages, products: before });
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(await waitsFor(w, "1")).toBe("order.not-sendable");
});
