import { expect, it } from "vitest";
import { CustomerState } from "../../src/engine/customer.ts";
import { wireText } from "../../src/contract/answer-json.ts";
import type { Conclusion } from "../../src/ledger/journal/journal-tables.ts";
import type { Operation } from "../../src/engine/model/operation.ts";
import { ApplyWorld, customer } from "../support/world/apply-world.ts";
import { customerRecord, key } from "../support/world/records.ts";

/** An E2 for C1 whose intent is committed, and the state of its attempt. */
async function begun(): Promise<{ world: ApplyWorld; operation: Operation; id: string; state: CustomerState }> {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord("C1"));
  const operation = await world.planned("create-enterprise");
  const intent = { operation, runId: null, wireHash: wireText({}), nonce: "n", context: {} };
  const id = await world.ledger.journal.intend(intent);
  const state = new CustomerState(world.deps, customer);
  expect(state.held.known).toBeDefined();
  return { world, operation, id, state };
}

function linked(enterpriseGlobalId: string): Conclusion {
  const link = { channelCode: "crm", channelCustomerId: "C1", origin: "created" as const, examined: true };
  return {
    state: "done",
    attempt: { outcome: "done", httpStatus: 200 },
    changes: [{ type: "linked", customer, link: { ...link, enterpriseGlobalId } }],
    audit: { kind: "create-enterprise", body: {} },
  };
}

it("what is concluded ahead of its commit is known as its rows say it, whenever it is committed", async () => {
  const { world, operation, id, state } = await begun();
  const failed = () => Promise.reject(new Error("it is committed"));
  expect(state.concludeAhead(operation, id, linked("E1"), failed)).toBe(true);
  expect((await world.row(id)).state, "before its commit").toBe("sending");
  world.clock.set(3_600_000);
  const ahead = state.held.known;
  await state.settled();
  expect(ahead.link).toMatchObject({ enterpriseGlobalId: "E1" });
  expect(await world.ledger.state.known(customer)).toEqual(ahead);
  expect((await world.row(id)).state).toBe("done");
});

it("what was concluded ahead and comes to nothing is told, and known to no later attempt", async () => {
  const { world, operation, id, state } = await begun();
  const [change] = linked("taken").changes;
  if (change?.type !== "linked") throw new Error("no link");
  await world.ledger.state.record(key("X"), [{ ...change, customer: key("X") }]);
  const told: unknown[] = [];
  const failed = async (error: unknown): Promise<void> => void told.push(error);
  expect(state.concludeAhead(operation, id, linked("taken"), failed)).toBe(true);
  state.recordAhead([{ type: "enterprise-code", enterpriseGlobalId: "taken", code: "c" }]);
  const contradiction = { code: "ledger.contradiction" };
  expect(state.isConcluding(operation.subject)).toBe(true);
  await expect(state.settled()).rejects.toMatchObject(contradiction);
  await expect(state.settled()).rejects.toMatchObject(contradiction);
  await expect(state.record([]), "what is read later").rejects.toMatchObject(contradiction);
  expect(told).toMatchObject([contradiction]);
  const later = new CustomerState(world.deps, customer).held.known;
  expect(later).toMatchObject({ link: undefined, enterpriseCode: undefined });
  expect((await world.row(id)).state).toBe("sending");
  expect(world.ledger.broken).toBeUndefined();
});
