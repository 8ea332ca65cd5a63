import { expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { amend, line, numberOf, placedOrders, rule } from "../scenarios/life/placed-orders.ts";
import { document, promptRetries, world } from "../support/cli.ts";

it("an order that was placed and is gone from the platform is a finding: exit 3 and an alert, as long as it is so", async () => {
  const w = await world({ records: company(3, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const well = await w.run("run", "verify");
  expect(well.exitCode, well.stdout).toBe(0);

  expect(w.sandbox.dropOrders("O2")).toBeGreaterThan(0);
  const { result: gone, calls } = await w.writes(() => w.run("run", "verify"));
  expect(gone.exitCode, gone.stdout).toBe(3);
  expect(calls, "nothing is sent again by itself").toEqual({});
  expect(gone.stdout).toMatch(/not as placed: crm\/C2: product of order crm\/O2 O2-A1-P under asset number \d+: /u);
  expect(gone.stdout).toMatch(/exit 3: the platform does not show everything as it was placed/u);
  expect(gone.stdout).not.toContain("crm/C1");
  expect(gone.stderr, "an alert").toContain("not-as-placed");
  expect(document(await w.run("--json", "runs"))[0]).toMatchObject({ job: "verify", exitCode: 3 });
  const other = await w.run("run", "everything");
  expect(other.stderr, "told once").not.toContain("not-as-placed");
  expect((await w.run("run", "verify")).exitCode, "as long as it is so").toBe(3);
});

it.each(["E3", "M5", "M6", "E8", "M7"] as const)(
  "where one list of one customer cannot be read (%s), nothing says that all agrees, and the others are verified",
  { tags: "long" },
  async (operation) => {
    const w = await world({ records: company(3, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    const lost = "select count(*) as count from observation where to_at is not null";
    const asked =
      operation === "M7"
        ? "select json_extract(body, '$.assetId') as id from observation where kind = 'asset' and customer_id = 'C2'"
        : "select enterprise_global_id as id from link where customer_id = 'C2'";
    const about = operation === "E3" ? "C2" : String(w.rows<{ id: string }>(asked)[0]?.id);
    w.sandbox.faults.add({ operation, fault: "wrongShape", about });
    const half = await w.run("run", "verify");
    w.sandbox.faults.clear();
    expect(half.exitCode, half.stdout).toBe(7);
    expect(half.stdout).toContain("2 customers read back, 1 could not be");
    expect(w.rows("select complete, count(*) as count from observation_read group by complete order by 1")).toEqual([
      { complete: 0, count: 1 },
      { complete: 1, count: 2 },
    ]);
    expect(w.rows(lost), "what was not read is not taken for gone").toEqual([{ count: 0 }]);
    const whole = await w.run("run", "verify");
    expect(whole.exitCode, whole.stdout).toBe(0);
    expect(w.rows("select count(*) as count from observation_read where complete = 0")).toEqual([{ count: 0 }]);
  },
);

it(
  "a product that was taken away and is shown again under our number is a finding; a stranger's is told, and is none",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.ended", "apply");
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    const [bought] = w.rows<{ number: string }>(
      "select channel_order_id as number from order_step where kind = 'bought'",
    );
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1")] });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    const add = (customer: string, id: string, channelOrderId: string): void =>
      void w.sandbox.hand({
        action: "add-product",
        assetNum: numberOf(w, `A${customer}`),
        like: `P${customer}`,
        fields: { crmProductId: id },
        channelOrderId,
      });
    add("2", "R9", "somebody-else");
    const strange = await w.run("run", "verify");
    expect([strange.exitCode, strange.stdout]).toEqual([0, expect.stringContaining("1 extra and not ours")]);
    add("1", "R1", bought?.number ?? "");
    const { result: still, calls } = await w.writes(() => w.run("run", "verify"));
    expect([still.exitCode, calls], still.stdout).toEqual([3, {}]);
    expect(still.stdout).toMatch(/not as placed: crm\/C1: product R1 under asset number \d+: .*is gone/u);
    expect(still.stdout).toContain("1 shown although taken away");
    expect(still.stdout).toContain("1 extra and not ours");
    w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, "A1"), crmProductId: "R1" });
    expect((await w.run("run", "verify")).exitCode, "as long as it is so").toBe(0);
  },
);

it(
  "ends with what is worse than a difference where something is held or in doubt, whichever run left it so",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 2) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.extra = "policies: { seats: { revoked: hold } }\n";
    for (const person of w.staff.slice(0, 1)) person.holds = [];
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(4);
    const held = await w.run("run", "verify");
    expect([held.exitCode, held.stdout]).toEqual([4, expect.stringContaining("exit 4: something waits for approval")]);
    w.sandbox.dropOrders("O2");
    const gone = await w.run("run", "verify");
    expect([gone.exitCode, gone.stdout]).toEqual([4, expect.stringContaining("not as placed:")]);
    const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open'");
    expect((await w.run("reject", hold?.id ?? "", "--reason", "they keep it")).exitCode).toBe(0);
    expect((await w.run("run", "verify")).exitCode).toBe(3);

    Object.assign(w.environment, { CRM_SYNC__settle__maxWaitMs: "0", CRM_SYNC__settle__timeMs: "60000" });
    w.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", nth: 1 });
    w.orders.push({ id: "O3", customer: "C2", assets: ["O3-A1"] });
    w.write();
    w.sandbox.faults.add({ operation: "M6", fault: "http502" });
    Object.assign(w.environment, promptRetries);
    expect((await w.run("run", "everything")).exitCode).toBe(5);
    w.sandbox.faults.clear();
    const inDoubt = await w.run("run", "verify");
    expect([inDoubt.exitCode, inDoubt.stdout]).toEqual([5, expect.stringContaining("crm-sync settle list")]);
  },
);
