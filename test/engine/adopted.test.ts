import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { OrderAdoption } from "../../src/resources/order/seek.ts";
import { CustomerState } from "../../src/engine/customer.ts";
import { openSandbox } from "../support/world/start.ts";
import { ApplyWorld, customer } from "../support/world/apply-world.ts";
import { customerRecord, key, orderRecord } from "../support/world/records.ts";
import { shownOrderKind } from "../../src/ledger/state/observations.ts";
import { runJob, runResultOf } from "../support/program.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { putNewLedger } from "../support/new-ledger.ts";
import { changes, configOf, ledgerOf, writeWorld, type SmallWorld } from "../support/world/small.ts";
import { sealEnvironment } from "../support/world/crm.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
let companies = 0;

/** A customer with two orders, all of which another program has placed: the ledger begins anew. */
async function takenOver() {
  const { world } = changes["E5 places an order"] ?? {};
  if (world === undefined) throw new Error("the small world has no second order");
  companies += 1;
  const path = join(folder.path, `company-${companies}`);
  const sandbox = await openSandbox();
  const run = async (next: SmallWorld) => {
    writeWorld(path, next);
    putNewLedger(ledgerOf(path));
    const before = sandbox.counts().calls["E5"] ?? 0;
    const ended = await runJob({
      config: configOf(path),
      sandbox: sandbox.url,
      ledger: ledgerOf(path),
      environment: sealEnvironment,
    });
    return { exit: runResultOf(ended).exit, placed: (sandbox.counts().calls["E5"] ?? 0) - before };
  };
  expect(await run(world)).toEqual({ exit: 0, placed: 2 });
  for (const ending of ["", "-wal", "-shm", ".heads", ".lock"]) rmSync(ledgerOf(path) + ending, { force: true });
  const [first, second] = world.orders;
  if (first === undefined || second === undefined) throw new Error("the small world has too few orders");
  return { world, run, first, second, sandbox };
}

describe("an enterprise that another program has worked for", () => {
  it(
    "an order that is placed there and whose record was not usable at first is not placed again",
    { tags: "long" },
    async () => {
      const { world, run, first, second, sandbox } = await takenOver();
      const unusable = { ...second, placedAt: "yesterday" };
      expect(await run({ ...world, orders: [first, unusable] })).toMatchObject({ exit: 3, placed: 0 });
      // The person who should hold an asset of the adopted order waits for it: that is not "all is well".
      expect(await run(world)).toEqual({ exit: 3, placed: 0 });
      expect(Object.values(sandbox.duplicates()).flat()).toEqual([]);
    },
  );

  it("an order that is placed there and comes into the CRM later is not placed again", { tags: "long" }, async () => {
    const { world, run, first } = await takenOver();
    expect(await run({ ...world, orders: [first] })).toMatchObject({ placed: 0 });
    // The person who should hold an asset of the adopted order waits for it: that is not "all is well".
    expect(await run(world)).toEqual({ exit: 3, placed: 0 });
  });
});

describe("two orders of the CRM under the channel number of one that is placed there", () => {
  it("are one adopted and one that waits; the customer goes on", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("orders", { ...orderRecord("O1", "C1"), channelOrderId: "N1" });
    await world.carryOut("place-order");
    world
      .sqlite()
      .exec("delete from placed_order; delete from licence_order; update link set origin = 'adopted', examined = 0");
    await world.take("orders", { ...orderRecord("O2", "C1"), channelOrderId: "N1" });
    await new OrderAdoption(world.deps, world.reader.of(customer)).seek(new CustomerState(world.deps, customer));
    expect([...(await world.ledger.state.known(customer)).placedOrders.keys()]).toEqual(["crm/O1"]);
    expect(await world.plan()).toEqual([]);
  });
});

describe("existing orders are looked for", () => {
  it("for a customer without an enterprise only if some enterprise showed an order", async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    const isNeeded = (): boolean =>
      new OrderAdoption(world.deps, world.reader.of(customer)).isNeeded(new CustomerState(world.deps, customer));
    await world.take("orders", orderRecord("O1", "C1"));
    expect(isNeeded()).toBe(false);
    const shown = { licenceOrders: {}, products: {}, forms: {} };
    const other = key("C2");
    await world.ledger.state.record(other, [
      { type: "observed", customer: other, kind: shownOrderKind, subject: "O1", body: shown },
    ]);
    expect(isNeeded()).toBe(true);
  });

  it("in the enterprise of a customer that could not be read, although no order is open", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    world.sqlite().exec("update link set origin = 'adopted'");
    const isNeeded = (): boolean =>
      new OrderAdoption(world.deps, world.reader.of(customer)).isNeeded(new CustomerState(world.deps, customer));
    expect(isNeeded()).toBe(false);
    await world.ledger.state.record(customer, [
      { type: "customer-unread", customer, why: "the service was down", ofAllOrders: true },
    ]);
    expect(isNeeded()).toBe(true);
  });
});
