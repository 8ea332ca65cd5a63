import { expect, test } from "vitest";
import { batch, newBuy } from "./bodies.ts";
import { addStaff, createEnterprise, started } from "./caller.ts";

test("state, counts and duplicates are seen over HTTP as they are in the program", async () => {
  const { sandbox, control, ...rest } = await started();
  const caller = { control, ...rest };
  const enterprise = await createEnterprise(caller);
  await caller.placeOrders(batch("O1", [newBuy(enterprise)]));
  const staff = await addStaff(caller, enterprise, "ann");
  await caller.member("POST", `/enterprise/member/${staff}/privileges`, { deleteAssets: [], addAssets: ["A-1"] });
  expect((await control("GET", "state")).data).toEqual(sandbox.state());
  expect(sandbox.state()).toEqual({
    enterprises: 1,
    customers: 2,
    licenseOrders: 1,
    assets: 1,
    products: 1,
    merchandises: 0,
    staff: 3,
    addedStaff: 1,
    assignments: 1,
    lentAssets: 0,
    lockedAssets: 0,
    shellNumbers: 0,
    deferred: 0,
    orders: { O1: { calls: 1, licenseOrders: 1, waiting: 0, failed: 0, assets: 1, products: 1, merchandises: 0 } },
    deletions: {},
  });
  expect((await control("GET", "counts")).data).toEqual({
    calls: { E2: 1, E3: 1, E5: 1, M1: 1, M9: 1 },
    writingCalls: 4,
    effects: { E2: 1, E5: 1, M1: 1, M9: 1 },
    faulted: 0,
  });
  expect((await control("GET", "duplicates")).data).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
  expect((await control("GET", "health")).data).toEqual({ ok: true });
});

test("a refused call counts as a call and not as an effect", async () => {
  const { order, sandbox } = await started();
  await order("POST", "/shellnums", {});
  expect(sandbox.counts()).toMatchObject({ calls: { E9: 1 }, writingCalls: 1, effects: {} });
});

test("faults are switched on, listed and off over HTTP", async () => {
  const { order, control } = await started();
  const added = await control("POST", "faults", { operation: "E9", fault: "status299", code: "13004" });
  expect(added.data).toEqual({ id: "fault-1" });
  expect((await order("POST", "/shellnums", { size: 1 })).code).toBe("13004");
  expect((await control("GET", "faults")).data.faults).toMatchObject([
    { id: "fault-1", matched: 1, fired: 1, rule: { operation: "E9", fault: "status299", code: "13004" } },
  ]);
  await control("POST", "faults", { operation: "*", fault: "slow", delayMs: 1 });
  expect((await control("DELETE", "faults?id=fault-1")).data.faults).toHaveLength(1);
  expect((await order("POST", "/shellnums", { size: 1 })).code).toBe(0);
  expect((await control("DELETE", "faults")).data.faults).toEqual([]);
});

test.each([
  [{ operation: "E10", fault: "slow" }, "operation"],
  [{ operation: "E1", fault: "broken" }, "fault"],
  [{ operation: "E1", fault: "slow", probability: 2 }, "probability"],
  [{ operation: "E1", fault: "slow", delay: 5 }, "delay"],
])("a rule that is none (%j) is refused by name", async (rule, named) => {
  const { control } = await started();
  const refused = await control("POST", "faults", rule);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain(named);
});

test("reset empties state, counts and faults", async () => {
  const { sandbox, control, ...rest } = await started();
  const caller = { control, ...rest };
  await createEnterprise(caller);
  await caller.order("POST", "/shellnums", { size: 3 });
  sandbox.faults.add({ operation: "E2", fault: "code500" });
  await control("POST", "reset");
  expect(sandbox.counts()).toEqual({ calls: {}, writingCalls: 0, effects: {}, faulted: 0 });
  expect(sandbox.state()).toMatchObject({ enterprises: 0, staff: 0, shellNumbers: 0, orders: {} });
  expect((await createEnterprise(caller)).enterpriseGlobalId).toBe("6100000000000000001");
});

test("orders that somebody took back on the platform are no longer shown", async () => {
  const { sandbox, control, ...rest } = await started();
  const caller = { control, ...rest };
  const enterprise = await createEnterprise(caller);
  await caller.placeOrders(batch("O1", [newBuy(enterprise)]));
  expect((await control("POST", "drop-orders", { channelOrderId: "O1" })).data).toEqual({ dropped: 1 });
  expect(sandbox.state()).toMatchObject({ assets: 0, products: 0, licenseOrders: 1 });
  expect((await control("POST", "drop-orders", {})).status).toBe(400);
  expect((await control("POST", "drop-orders", { channelOrderId: "O9" })).data).toEqual({ dropped: 0 });
});

test("tokens are called off and connections refused over HTTP", async () => {
  const { control } = await started();
  expect((await control("POST", "expire-tokens")).data).toEqual({ ok: true });
  expect((await control("POST", "refuse", { ms: 50 })).data).toEqual({ ok: true });
  await expect
    .poll(
      () =>
        control("GET", "health").then(
          () => "up",
          (error: { code?: string }) => error.code,
        ),
      { interval: 2 },
    )
    .toBe("ECONNREFUSED");
  await expect
    .poll(() =>
      control("GET", "health").then(
        (reply) => reply.status,
        () => 0,
      ),
    )
    .toBe(200);
});

test("what is not there is 404", async () => {
  const { control } = await started();
  expect((await control("GET", "nothing")).status).toBe(404);
  expect((await control("POST", "faults")).status).toBe(400);
});
