import Database from "better-sqlite3";
import { expect, it, vi } from "vitest";
import type { RecordKey } from "../../src/crm/model.ts";
import { customerRecord, key, staffRecord } from "../support/world/records.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";

const statement = Object.getPrototypeOf(new Database(":memory:").prepare("select 1")) as Database.Statement;

/** How many statements a customer is loaded with. */
async function statementsOf(world: LedgerWorld, customer: RecordKey): Promise<number> {
  const spies = [vi.spyOn(statement, "get"), vi.spyOn(statement, "all"), vi.spyOn(statement, "run")];
  world.ledger.state.load(customer);
  const count = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  for (const spy of spies) spy.mockRestore();
  return count;
}

it("a customer is loaded with the same number of statements however many people it has, with what is private of each", async () => {
  const world = await LedgerWorld.open();
  const people = Array.from({ length: 21 }, (_, index) => ({
    staff: staffRecord(`S${index}`, index === 0 ? "C1" : "C2", { name: `name of S${index}` }),
  }));
  await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
  await world.read("staff", people);

  const [one, many] = [await statementsOf(world, key("C1")), await statementsOf(world, key("C2"))];
  expect(many).toBe(one);
  const { privateValues } = world.ledger.state.load(key("C2"));
  const values = [...privateValues.values()];
  expect(values.filter((value) => value.startsWith("name of S"))).toEqual(
    people
      .slice(1)
      .map(({ staff }) => staff.name)
      .toSorted(),
  );
});
