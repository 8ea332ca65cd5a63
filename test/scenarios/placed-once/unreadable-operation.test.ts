/** @module-tag long */
import { describe, expect, it } from "vitest";
import { operationsOf, unsettled } from "../../support/asking.ts";
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

describe("an open operation of a form that this version does not know", () => {
  it.each([
    ["grant-assets", "before", "[1]"],
    ["place-order", "context", '{"platformCustomers":7}'],
    ["place-order", "payload", '{"channelOrderId":"O1"}'],
  ])("keeps its own customer from being sent anything, and no other one (%s, %s)", async (kind, column, text) => {
    const { both, id } = await damaged(kind, column, text);
    expect((await both.does("plan")).exitCode).toBe(65);
    const runs = [await both.run("deals"), await both.run("people"), await both.run("deals")];
    expect(runs.map(({ exit, calls }) => ({ exit, calls }))).toEqual([
      { exit: 65, calls: { E5: 1 } },
      { exit: 65, calls: {} },
      { exit: 65, calls: {} },
    ]);
    expect(await both.placed()).toEqual({ O1: "placed", O9: "placed", O8: "placed" });
    expect((await both.waiting())["O2"]).toMatch(new RegExp(`^operation.unknown-form: .*${id}.*column ${column}`, "u"));
    const { alerts } = await both.w.ask("alerts");
    expect(alerts.map(({ key }: { key: string }) => key)).toContain(`unknown:${id}`);
    both.w.tamper(`update operation set state = 'done', ${column} = (select ${column} from good) where id = '${id}'`);
    expect(await both.run("deals")).toMatchObject({ exit: 0, calls: { E5: 1 } });
  });

  it("keeps what was open before it from being sent again", async () => {
    const both = await TwoCustomers.start();
    await both.runBoth();
    both.environment = { CRM_SYNC__settle__maxWaitMs: "0" };
    both.world.customers = both.world.customers.map((customer) => ({ ...customer, branch: "East" }));
    both.fault({ operation: "E4", fault: "resetBefore", times: 2 });
    expect(await both.run("deals")).toMatchObject({ exit: 5, calls: { E4: 2 } });
    both.w.tamper(
      `update operation set state = 'unknown', before = '[1]', created_at = '2100-01-01T00:00:00.000Z'
       where kind = 'grant-assets' and customer_id = 'C1'`,
    );
    expect(await both.run("deals")).toMatchObject({ exit: 65, calls: { E4: 1 } });
  });

  it("is left to whoever understands it, and stops no decision on another one", async () => {
    const { both, id } = await damaged("grant-assets", "before", "[1]");
    both.environment = { CRM_SYNC__orders__unseen: "ask" };
    both.fault({ operation: "E5", fault: "resetBefore", times: 1 });
    expect(await both.run("deals")).toMatchObject({ exit: 65, calls: { E5: 1 } });
    const [other] = (await unsettled(both.w)).filter(({ endpoint }) => endpoint === "E5");
    const why = ["--reason", "the platform has none", "--by", "tester"];
    expect((await both.does("settle", id, other.id, "--not-applied", ...why)).exitCode).toBe(65);
    expect((await operationsOf(both.w, "order", "O8"))[0].state).toBe("dropped");
  });

  it.each([
    ["place-order", "payload", "{}"],
    ["grant-assets", "before", "{"],
  ])("refuses every run where more than its customer depends on it (%s, %s %s)", async (kind, column, text) => {
    const { both, id } = await damaged(kind, column, text);
    const { exitCode, stderr } = await both.does("run", "deals");
    expect([exitCode, stderr]).toEqual([65, expect.stringContaining(id)]);
  });
});
