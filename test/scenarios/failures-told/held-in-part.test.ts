import { expect, it } from "vitest";
import { openHold, operationsOf } from "../../support/asking.ts";
import type { Parsed } from "../../support/cli.ts";
import { amend, orderOf, placedOrders, rule } from "../../support/world/placed-orders.ts";

const because = ["--reason", "asked", "--by", "anna"];

it("a hold of which a part was carried out counts what it still holds, also at the end of a past month", async () => {
  const w = await placedOrders({ first: { price: "310.00" }, staff: [] });
  w.orders.push({ ...orderOf("3", "C1"), price: "60.00" });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  rule(w, "orders.cancelled", "ask");
  amend(w, "1", { cancelled: true });
  amend(w, "3", { cancelled: true });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  const month = new Date(w.clock.now()).toISOString().slice(0, 7);
  const then = async (): Promise<Parsed> => {
    const { parts } = await w.ask("report", "exceptions", "--period", month, "--format", "json");
    const { count, reason, orders, at_stake } = parts.exceptions.rows.find(({ kind }: Parsed) => kind === "held");
    return { count, reason, orders, at_stake };
  };
  expect(await then()).toMatchObject({ count: 2, orders: 2, at_stake: "370.00" });
  const [first] = await operationsOf(w, "order", "1");
  expect((await w.run("approve", first.id, ...because)).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  const held = await then();
  expect(held).toMatchObject({ count: 1, orders: 1, at_stake: "60.00" });
  w.later(24 * 40);
  expect((await w.run("approve", await openHold(w), ...because)).exitCode).toBe(0);
  expect(await then()).toEqual(held);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await then()).toEqual(held);
});
