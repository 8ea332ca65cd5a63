import { expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { ApplyWorld, customer, settleMs } from "../support/world/apply-world.ts";
import { customerRecord, key, orderRecord } from "../support/world/records.ts";
import { changeFile } from "../support/world/start.ts";
import { runWorld } from "../support/world/run.ts";

const whose = { by: "tester", reason: "lost" };

/** Two customers, of whom the first has one lock, and what can be asked for of it. */
async function withLock() {
  const world = await ApplyWorld.start({ assumptions: { operatorIdentity: "licence desk" } });
  await world.take("customers", customerRecord("C1"), customerRecord("C2"));
  await world.take("orders", orderRecord("O1", "C1", {}, ["normal_recover_usbkey"]));
  expect((await runWorld(world)).exitCode).toBe(exitCodes.ok);
  const [about = ""] = [...(await world.ledger.state.readTogether((rows) => rows.order.licenceTypes(customer))).keys()];
  const details = { licenseType: "normal_recover_usbkey" as const, largeCustomer: false };
  const asking = (wanted: "locked" | "unlocked") => [{ of: "lock" as const, about, wanted, details, ...whose }];
  return { world, about, asking };
}

it.each(["takes back", "asks for the opposite of"])(
  "a lock that a person %s while a run is at work on its customer is not sent by that run",
  async (how) => {
    const { world, about, asking } = await withLock();
    await world.ledger.requests.ask(customer, asking("locked"), whose);
    await world.take("orders", orderRecord("O2", "C1", {}, ["normal_recover_usbkey"]));
    const { orderService } = world.deps.platform;
    const meanwhile = world.with({
      orderService: {
        ...orderService,
        placeOrders: async (...call) => {
          world.clock.pass(1000);
          if (how === "takes back")
            await world.ledger.requests.withdraw(customer, [{ of: "lock", about, wanted: "locked" }], whose);
          else await world.ledger.requests.ask(customer, asking("unlocked"), whose);
          return await orderService.placeOrders(...call);
        },
      },
    });
    await runWorld(meanwhile);
    expect(world.sandbox.counts().effects).toMatchObject({ E5: 2 });
    expect(world.calls("E6")).toBe(0);

    expect((await runWorld(world)).exitCode).toBe(exitCodes.ok);
    expect([world.calls("E6"), world.calls("E7")]).toEqual(how === "takes back" ? [0, 0] : [0, 1]);
    expect(await world.ledger.records.open()).toEqual([]);
  },
);

it(
  "a lock that moved to another customer is switched for it once what the first one asked for is known",
  { tags: "long" },
  async () => {
    const { world, about, asking } = await withLock();
    const next = key("C2");
    await world.ledger.requests.ask(customer, asking("locked"), whose);
    const lost = world.sandbox.faults.add({ operation: "E6", fault: "appliedNoReply" });
    expect((await runWorld(world, { asked: customer })).exitCode).toBe(exitCodes.unknown);
    world.sandbox.faults.clear(lost);

    await world.take("orders", orderRecord("O1", "C2", {}, ["normal_recover_usbkey"]));
    // The number goes with its order, as where both stand at the other customer.
    changeFile(world.path, "update asset_number set customer_id = 'C2' where fixed_at is not null");
    expect([...(await world.ledger.state.readTogether((rows) => rows.order.licenceTypes(next))).keys()]).toEqual([
      about,
    ]);
    const first = { code: "request.of-another-customer", exitCode: exitCodes.usage };
    await expect(world.ledger.requests.ask(next, asking("unlocked"), whose)).rejects.toMatchObject(first);
    await runWorld(world);
    expect(world.sandbox.state().lockedAssets).toBe(1);
    await world.ledger.requests.ask(next, asking("unlocked"), whose);
    await runWorld(world, { asked: next });
    await runWorld(world);
    expect(world.calls("E7"), "the first E6 may still land").toBe(0);
    world.clock.pass(settleMs + 1);
    await runWorld(world);
    const { requests } = await world.ledger.state.known(next);
    expect([requests, world.sandbox.state().lockedAssets]).toMatchObject([
      [{ wanted: "unlocked", answer: { status: 1 } }],
      0,
    ]);
  },
);

it(
  "a lock that was refused while somebody asked for the opposite is told of no more once that is done",
  { tags: "long" },
  async () => {
    const { world, asking } = await withLock();
    const { orderService } = world.deps.platform;
    for (const asked of [undefined, customer]) {
      world.sandbox.faults.add({ operation: "E6", fault: "status299", code: "13004", times: 1 });
      const meanwhile = world.with({
        orderService: {
          ...orderService,
          lockAssets: async (...call) => {
            const outcome = await orderService.lockAssets(...call);
            world.clock.pass(1000);
            await world.ledger.requests.ask(customer, asking("unlocked"), whose);
            return outcome;
          },
        },
      });
      await world.ledger.requests.ask(customer, asking("locked"), whose);
      await runWorld(meanwhile, { asked });
      expect((await world.ledger.records.open()).map(({ code }) => code)).toEqual(["rejected.13004"]);
      await runWorld(world);
      expect(await world.ledger.records.open()).toEqual([]);
      world.clock.pass(1000);
    }
    expect([world.calls("E6"), world.calls("E7")]).toEqual([2, 2]);
  },
);

it(
  "what is already requested for a customer that is gone from the CRM is sent by the next run, and again while it fails",
  { tags: "long" },
  async () => {
    const { world, asking } = await withLock();
    changeFile(world.path, "update record set state = 'absent', pending = 1 where stream = 'customers' and id = 'C1'");
    await world.ledger.requests.ask(customer, asking("locked"), whose);
    world.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 3, times: 1 });
    await runWorld(world);
    expect([world.calls("E6"), (await world.ledger.records.open()).map(({ code }) => code)]).toEqual([
      1,
      ["request.failed"],
    ]);
    await runWorld(world);
    await runWorld(world);
    const { requests } = await world.ledger.state.known(customer);
    expect([requests, world.calls("E6")]).toMatchObject([[{ answer: { status: 1 } }], 2]);
  },
);
