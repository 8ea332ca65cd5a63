import { expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { correlationOf } from "../../src/engine/plan/input.ts";
import { ApplyWorld } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";
import { rowsOf, sqlite } from "../support/world/start.ts";

/** The operations of a customer as the journal holds them, by what they are about. */
function standing(world: ApplyWorld, id: string): Record<string, string> {
  const rows = rowsOf<{ subject: string; endpoint: string; state: string }>(
    world.path,
    `select subject, endpoint, state from operation where customer_id = '${id}' order by id`,
  );
  return Object.fromEntries(rows.map(({ subject, endpoint, state }) => [`${endpoint} ${subject}`, state]));
}

function pending(world: ApplyWorld): string[] {
  return rowsOf<{ id: string }>(world.path, "select id from record where pending = 1 order by id").map(({ id }) => id);
}

/** A world whose E2 for C1 answers with the enterprise of another customer, and whose E3 says the same. */
async function withTakenEnterprise(world: ApplyWorld): Promise<ApplyWorld> {
  const link = { channelCode: "crm", channelCustomerId: "X", origin: "created" as const, examined: true };
  await world.ledger.state.record({ namespace: "crm", id: "X" }, [
    { type: "linked", customer: { namespace: "crm", id: "X" }, link: { ...link, enterpriseGlobalId: "taken" } },
  ]);
  const { orderService } = world.deps.platform;
  return world.with({
    orderService: {
      ...orderService,
      createEnterprise: async (request, call) => {
        const outcome = await orderService.createEnterprise(request, call);
        if (outcome.kind !== "done" || request.crmCustomerId !== "C1") return outcome;
        return { ...outcome, data: { ...outcome.data, enterpriseGlobalId: "taken" } };
      },
      findCustomers: async (channelCode, channelCustomerId, ...asked) => {
        const rows = await orderService.findCustomers(channelCode, channelCustomerId, ...asked);
        if (channelCustomerId !== "C1" || rows === null) return rows;
        return rows.map((row) => ({ ...row, enterpriseGlobalId: "taken" }));
      },
    },
  });
}

it(
  "nothing is sent on an outcome that the ledger cannot hold, although both are handed over together",
  { tags: "long" },
  async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"), customerRecord("C2"));
    await world.take("orders", orderRecord("O1", "C1"), orderRecord("O2", "C1"), orderRecord("O3", "C2"));
    const database = sqlite(world.path);
    database.exec(
      `create trigger taken before insert on placed_order when new.order_id = 'O1'
       begin select raise(abort, 'placed_order.channel_order_id'); end`,
    );
    database.close();
    const { exitCode, balance, customers } = await runWorld(world);
    expect(world.effects("E5"), "of O1 and of O3").toBe(2);
    expect(standing(world, "C1")).toMatchObject({ "E5 order:crm/O1": "parked", "E5 order:crm/O2": "dropped" });
    expect(standing(world, "C2")).toMatchObject({ "E5 order:crm/O3": "done" });
    expect(customers).toMatchObject({ finished: 1, parked: 1 });
    expect({ exitCode, adds: balance.adds }).toEqual({ exitCode: exitCodes.unknown, adds: true });
    expect(pending(world)).toContain("O2");
  },
);

it("an attempt whose last outcome the ledger cannot hold is not finished", async () => {
  const world = await ApplyWorld.start();
  // Confirms the correlation, so that nothing else of C1 waits for the commit of its E2.
  await world.take("customers", customerRecord("C3"));
  await runWorld(world);
  expect(await world.ledger.state.correlationConfirmed(correlationOf(world.settings))).toBe(true);
  await world.take("customers", customerRecord("C1"), customerRecord("C2"));
  const asked = await withTakenEnterprise(world);
  const { exitCode, balance, customers } = await runWorld(asked);
  expect(standing(world, "C1")).toEqual({ "E2 customer:crm/C1": "parked" });
  expect(customers).toMatchObject({ finished: 1, parked: 1 });
  expect({ exitCode, adds: balance.adds }).toEqual({ exitCode: exitCodes.unknown, adds: true });
  expect(pending(world)).toEqual(["C1"]);
  expect((await world.ledger.state.known({ namespace: "crm", id: "C1" })).link).toBeUndefined();
});

it("an outcome that the ledger cannot hold confirms nothing that E2 is sent a second time on", async () => {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord("C1"));
  await world.take("orders", orderRecord("O1", "C1"));
  const { customers } = await runWorld(await withTakenEnterprise(world));
  expect(standing(world, "C1")).toMatchObject({ "E2 customer:crm/C1": "parked" });
  expect(customers).toMatchObject({ finished: 0, parked: 1 });
  expect(await world.ledger.state.correlationConfirmed(correlationOf(world.settings))).toBe(false);
  expect(world.effects("E9"), "numbers for an order that is not sent").toBe(0);
});

it("what was done is kept although what the attempt came to cannot be written with it", async () => {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord("C1"), customerRecord("C2"));
  await world.take("orders", orderRecord("O1", "C1"), orderRecord("O2", "C2"));
  const database = sqlite(world.path);
  database.exec(
    `create trigger full before update of outcome on record when new.id = 'O1' and new.outcome = 'planned'
       begin select raise(abort, 'no room for it'); end`,
  );
  const first = await runWorld(world);
  expect(standing(world, "C1")).toMatchObject({ "E5 order:crm/O1": "done" });
  expect(standing(world, "C2")).toMatchObject({ "E5 order:crm/O2": "done" });
  expect(first.customers).toMatchObject({ finished: 1 });
  expect(first.exitCode, "what is not done is told of").not.toBe(exitCodes.ok);
  expect(pending(world)).toContain("O1");
  database.exec("drop trigger full");
  const { exitCode, balance } = await runWorld(world);
  expect({ exitCode, adds: balance.adds }).toEqual({ exitCode: exitCodes.ok, adds: true });
  expect(world.effects("E5"), "nothing is done twice").toBe(2);
});
