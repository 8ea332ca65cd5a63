import { expect, it } from "vitest";
import { openHold } from "../../support/asking.ts";
import type { Parsed, World } from "../../support/cli.ts";
import { amend, orderOf, placedOrders, rule } from "../../support/world/placed-orders.ts";

/** The records that waited in a month, in the order of the statement. */
async function waits(w: World, month: string): Promise<Parsed[]> {
  const { parts } = await w.ask("report", "exceptions", "--period", month, "--format", "json");
  return parts.exceptions.rows.filter(({ kind }: Parsed) => kind === "deferred");
}

const month = (w: World): string => new Date(w.clock.now()).toISOString().slice(0, 7);

it("what waits for a person's approval is that person's, as long as it did, also in a past month", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "ask");
  amend(w, "1", { customer: "C2" });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  const [then, hold] = [month(w), await openHold(w)];
  const [asked] = await waits(w, then);
  expect(asked).toMatchObject({ code: "order.moving", owner: "operator", customer: "crm/C2" });
  expect(asked.next).toContain(`crm-sync approve ${hold}`);
  w.later(24 * 40);
  expect((await w.run("approve", hold, "--reason", "asked the customer")).exitCode).toBe(0);
  expect((await waits(w, then)).map(({ owner }) => owner)).toEqual(["operator"]);
  expect((await waits(w, month(w))).map(({ owner }) => owner)).toEqual(["program"]);
});

it("what waits for its customer is of whoever can mend that, and of the customer that it waited for then", async () => {
  const w = await placedOrders({ staff: [] });
  w.customers = [...w.customers, { id: "C3", name: "" }];
  w.orders.push(orderOf("3", "C3"));
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  const blocked = async (): Promise<Parsed> =>
    (await waits(w, month(w))).find(({ code }: Parsed) => code === "customer.blocked");
  expect(await blocked()).toMatchObject({ record: "order crm/3", owner: "crm", customer: "crm/C3", open: true });
  amend(w, "3", { customer: "C1" });
  await w.run("run", "everything");
  expect(await blocked()).toMatchObject({ record: "order crm/3", customer: "crm/C3", open: false });
});
