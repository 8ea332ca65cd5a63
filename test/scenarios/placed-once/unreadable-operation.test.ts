/** @module-tag long */
import { describe, expect, it } from "vitest";
import { operationsOf } from "../../support/asking.ts";
import { TwoCustomers } from "../../support/world/two-customers.ts";
import { orderOf } from "../../support/world/small.ts";

/** Two customers that agree with the CRM; then each gets another order, and an operation is open and damaged. */
async function damaged(kind: string, column: string, text: string): Promise<{ both: TwoCustomers; id: string }> {
  const both = await TwoCustomers.start();
  await both.runBoth();
  both.world.orders.push(orderOf("O2", { A7: "cloud_account" }, "C1"), orderOf("O8", { B7: "cloud_account" }, "C2"));
  const [found] = await operationsOf(
    both.w,
    kind === "place-order" ? "order" : "staff",
    kind === "place-order" ? "O1" : "S1",
  );
  both.w.tamper(`create table good as select * from operation where id = '${found.id}';
    update operation set state = 'unknown', ${column} = '${text}' where id = '${found.id}'`);
  return { both, id: found.id };
}

describe("an open operation that cannot be read", () => {
  it.each([
    ["grant-assets", "before", "[1]"],
    ["grant-assets", "before", "{"],
    ["place-order", "context", '{"platformCustomers":7}'],
    ["place-order", "payload", '{"channelOrderId":"O1"}'],
  ])("refuses every run, and nothing is sent until it is repaired (%s, %s %s)", async (kind, column, text) => {
    const { both, id } = await damaged(kind, column, text);
    const { effects } = both.sandbox.counts();
    expect((await both.does("plan")).exitCode).toBe(65);
    for (const job of ["deals", "people", "verify"]) {
      const { exitCode, stderr } = await both.does("run", job);
      expect([job, exitCode, stderr]).toEqual([job, 65, expect.stringContaining(id)]);
    }
    expect(both.sandbox.counts().effects).toEqual(effects);
    both.w.tamper(`update operation set state = 'done', ${column} = (select ${column} from good) where id = '${id}'`);
    expect(await both.run("deals")).toMatchObject({ exit: 0, calls: { E5: 2 } });
    expect(await both.placed()).toMatchObject({ O2: "placed", O8: "placed" });
  });
});
