import { expect, it } from "vitest";
import { CustomerState } from "../../src/engine/customer.ts";
import { lookForRefused, refusedOrderOf, unsentOrders } from "../../src/engine/carry-out.ts";
import type { OrderService } from "../../src/platform/services.ts";
import { ApplyWorld, customer, permitted, settleMs } from "../support/world/apply-world.ts";
import { key, orderRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";

it(
  "an order that was refused and has another customer now is looked for beside the other orders of the one it was sent for",
  { tags: "long" },
  async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("orders", orderRecord("O1", "C1"));
    await world.carryOut("place-order");
    await world.take("orders", orderRecord("O2", "C1"));
    const refuses: OrderService["placeOrders"] = async (_, call) => {
      await permitted(call);
      return { kind: "rejected", status: 200, code: "13004", raw: {} };
    };
    const refused = await world.planned("place-order");
    const { orderService } = world.deps.platform;
    const refusing = world.with({ orderService: { ...orderService, placeOrders: refuses } });
    expect(await refusing.deliver(refused)).toMatchObject({ kind: "rejected" });
    const now = { ...world.deps, reader: world.reader, knows: new CustomerState(world.deps, customer) };
    expect(await lookForRefused(now, refusedOrderOf(now, refused)), "it may still come to be shown").toEqual({
      kind: "too-early",
    });
    world.clock.pass(settleMs + 1);

    const other = key("C2");
    await world.take("orders", orderRecord("O2", "C2"));
    const deps = { ...world.deps, reader: world.reader, knows: new CustomerState(world.deps, other) };
    const reads = world.calls("M7");
    expect(await lookForRefused(deps, refusedOrderOf(deps, { ...refused, customer: other }))).toEqual({
      kind: "clear",
    });
    expect(world.calls("M7") - reads, "what stands under the number of O1 is not read").toBe(0);
  },
);

it("an order that was refused, done all the same and cancelled in the CRM is not done: its run says that it looks again", async () => {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1"));
  const { orderService } = world.deps.platform;
  const does: OrderService["placeOrders"] = async (...given) => {
    await orderService.placeOrders(...given);
    return { kind: "rejected", status: 200, code: "13004", raw: {} };
  };
  const doing = world.with({ orderService: { ...orderService, placeOrders: does } });
  expect(await doing.deliver(await world.planned("place-order"))).toMatchObject({ kind: "rejected" });
  await world.take("orders", { ...orderRecord("O1", "C1"), cancelled: true });
  const { exitCode, open } = await runWorld(world);
  expect(exitCode).toBe(3);
  expect(open).toMatchObject([{ code: "settle-time", examples: [{ record: "crm/O1" }] }]);
});

it("only orders that the CRM gave up, that nobody decided on since and that are not placed are looked for", async () => {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1"));
  const { known, orders } = world.ledger.state.load(customer);
  const [first] = orders;
  if (first === undefined) throw new Error("no order was taken");
  const cancelled = { ...first, pending: true, state: "current" as const, body: { ...first.body, cancelled: true } };
  const asked = (order: typeof first): string[] => unsentOrders({ orders: [order], known }).map(({ id }) => id);
  expect(asked(cancelled)).toEqual([first.key.id]);
  expect(asked({ ...cancelled, body: first.body, state: "absent" })).toEqual([first.key.id]);
  expect(asked({ ...cancelled, pending: false })).toEqual([]);
  expect(asked({ ...cancelled, body: first.body })).toEqual([]);
  expect(asked({ ...cancelled, state: "quarantined" })).toEqual([]);
});
