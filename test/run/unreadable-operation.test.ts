import { describe, expect, it } from "vitest";
import { TwoCustomers } from "../support/world/two-customers.ts";
import { orderOf } from "../support/world/small.ts";

/** Two customers that agree with the CRM; then each gets another order, and an operation is open and damaged. */
async function damaged(
  kind: string,
  column: string,
  text: string,
): Promise<{ both: TwoCustomers; id: string; written: string }> {
  const both = await TwoCustomers.start();
  await both.runBoth();
  both.world.orders.push(orderOf("O2", { A7: "cloud_account" }, "C1"), orderOf("O8", { B7: "cloud_account" }, "C2"));
  const [row] = both.rows<{ id: string; written: string }>(
    `select id, ${column} as written from operation where kind = ? and customer_id in ('C1', '') limit 1`,
    kind,
  );
  const { id, written } = row ?? { id: "", written: "" };
  both.change(`update operation set state = 'unknown', ${column} = '${text}' where id = '${id}'`);
  return { both, id, written };
}

describe("an open operation of a form that this version does not know", () => {
  it.each([
    ["grant-assets", "before", "[1]"],
    ["add-staff", "payload", '{"staff":7}'],
    ["place-order", "context", '{"platformCustomers":7}'],
    ["place-order", "payload", '{"channelOrderId":"O1"}'],
  ])(
    "keeps its own customer from being sent anything, and no other one (%s, %s)",
    { tags: "long" },
    async (kind, column, text) => {
      const { both, id, written } = await damaged(kind, column, text);
      const { exit: planned, text: plan } = await both.plan();
      expect({ planned, plan }).toEqual({ planned: 65, plan: expect.stringContaining(`(column ${column})`) });
      const runs = [await both.run("deals"), await both.run("people"), await both.run("deals")];
      expect(runs.map(({ exit, calls }) => ({ exit, calls }))).toEqual([
        { exit: 65, calls: { E5: 1 } },
        { exit: 65, calls: {} },
        { exit: 65, calls: {} },
      ]);
      const placed = "select order_id as id from placed_order where order_id in ('O2', 'O8')";
      expect(both.rows(placed)).toEqual([{ id: "O8" }]);
      expect(both.waiting()).toMatchObject({
        O2: expect.stringMatching(
          `^operation.unknown-form: the ledger holds operation ${id} .* in a form that this version does not know ` +
            `\\(column ${column}\\): its outcome stays open, and nothing is sent for crm/C1$`,
        ),
      });
      // Also where nothing of the customer is pending.
      both.change("update record set deferred_code = null, pending = 0");
      expect(await both.status()).toContain("an open operation that this version does not know");
      both.change("update record set pending = 1 where id = 'O2'");
      const [alert] = both.rows<{ body: string }>("select body from alert where key = ?", `unknown:${id}`);
      expect(alert?.body).toContain("nothing is sent for crm/C1");
      expect(alert?.body).toContain("start the version of this program that wrote it, or restore the ledger");

      both.change(`update operation set state = 'done', ${column} = '${written}' where id = '${id}'`);
      expect(await both.run("deals")).toMatchObject({ exit: 0, calls: { E5: 1 } });
      expect(both.rows(placed)).toEqual([{ id: "O2" }, { id: "O8" }]);
    },
  );

  it("was being sent when its program ended: its outcome is open, and the run adds up", async () => {
    const { both, id } = await damaged("grant-assets", "before", "[1]");
    both.change(`update operation set state = 'sending' where id = '${id}'`);
    both.change(`update attempt set finished_at = null, outcome = null where operation_id = '${id}'`);
    expect(await both.run("deals")).toMatchObject({ exit: 65, calls: { E5: 1 } });
    const rows = both.rows("select state, settle_after is not null as settles from operation where id = ?", id);
    expect(rows).toEqual([{ state: "unknown", settles: 1 }]);
    expect(await both.run("deals")).toMatchObject({ exit: 65, calls: {} });
  });

  it("keeps what was open before it from being sent again", { tags: "long" }, async () => {
    const both = await TwoCustomers.start();
    await both.runBoth();
    both.environment = { CRM_SYNC__settle__maxWaitMs: "0" };
    both.world.customers = both.world.customers.map((customer) => ({ ...customer, branch: "East" }));
    both.fault({ operation: "E4", fault: "resetBefore", times: 2 });
    expect(await both.run("deals")).toMatchObject({ exit: 5, calls: { E4: 2 } });
    both.change(
      `update operation set state = 'unknown', before = '[1]', created_at = '2100-01-01T00:00:00.000Z'
       where kind = 'grant-assets' and customer_id = 'C1'`,
    );
    expect(await both.run("deals")).toMatchObject({ exit: 65, calls: { E4: 1 } });
    const open = "select customer_id, endpoint from operation where state = 'unknown' order by endpoint";
    expect(both.rows(open)).toEqual([
      { customer_id: "C1", endpoint: "E4" },
      { customer_id: "C1", endpoint: "M9" },
    ]);
  });

  it("is left to whoever understands it, and stops no decision on another one", { tags: "long" }, async () => {
    const { both, id } = await damaged("grant-assets", "before", "[1]");
    both.environment = { CRM_SYNC__settle__timeMs: "1", CRM_SYNC__orders__unseen: "ask" };
    both.fault({ operation: "E5", fault: "resetBefore", times: 1 });
    expect(await both.run("deals")).toMatchObject({ exit: 65, calls: { E5: 1 } });
    const [other] = both.rows<{ id: string }>("select id from operation where endpoint = 'E5' and state <> 'done'");
    const { exitCode, stderr } = await both.settleNotApplied(id, other?.id ?? "");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 65,
      stderr: expect.stringContaining("nothing is sent for crm/C1"),
    });
    const states = both.rows("select state from operation where id in (?, ?) order by state", id, other?.id);
    expect(states).toEqual([{ state: "dropped" }, { state: "unknown" }]);
  });

  it.each([
    ["place-order", "payload", "{}"],
    ["take-asset-numbers", "payload", '{"size":"many"}'],
    ["grant-assets", "before", "{"],
  ])(
    "refuses every run where more than its customer depends on it (%s, %s %s)",
    { tags: "long" },
    async (kind, column, text) => {
      const { both, id } = await damaged(kind, column, text);
      await expect(both.run("deals")).rejects.toThrow(`column ${column} of operation ${id} cannot be read`);
    },
  );
});
