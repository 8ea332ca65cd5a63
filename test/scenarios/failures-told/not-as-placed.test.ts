import { expect, it } from "vitest";
import { enterpriseOf, numberOf, openHold, ran } from "../../support/asking.ts";
import { document, promptRetries, world, type Parsed, type World } from "../../support/cli.ts";
import { PlatformView } from "../../support/platform-view.ts";
import { company } from "../../support/world/crm.ts";
import { amend, line, placedOrders, rule } from "../../support/world/placed-orders.ts";

/** A run of verify: how it ended, and what it says. Nothing is sent by it. */
async function verified(w: World): Promise<{ exitCode: number | null; said: Parsed }> {
  const ended = await w.does("--json", "run", "verify");
  expect(ended.calls).toEqual({});
  return { exitCode: ended.exitCode, said: document(ended) };
}

it("tells of an order that was placed and is missing on the platform, as long as it is missing", async () => {
  const w = await world({ records: company(2, 1) });
  await w.run("run", "everything");
  expect((await verified(w)).exitCode).toBe(0);
  expect(w.sandbox.dropOrders("O2")).toBeGreaterThan(0);
  const gone = await verified(w);
  expect([gone.exitCode, gone.said.findings.counts["not-shown"]]).toEqual([3, 2]);
  for (const found of gone.said.findings.first) expect(found).toMatch(/^crm\/C2: .*crm\/O2 /u);
  const { alerts } = await w.ask("alerts");
  expect(alerts.map(({ kind, count }: Parsed) => [kind, count])).toEqual([["not-as-placed", 2]]);
  expect((await verified(w)).exitCode).toBe(3);
});

it.each(["E3", "M5", "M6", "E8", "M7"] as const)(
  "does not say that all agrees while a list of one customer cannot be read (%s), and verifies the others",
  { tags: "long" },
  async (operation) => {
    const w = await world({ records: company(3, 1) });
    await w.run("run", "everything");
    expect((await verified(w)).exitCode).toBe(0);
    const enterprise = await enterpriseOf(w, "C2");
    const [asset] = await new PlatformView(w.sandbox.url).assets(enterprise);
    const about = operation === "E3" ? "C2" : operation === "M7" ? (asset?.assetId ?? "") : enterprise;
    w.sandbox.faults.add({ operation, fault: "wrongShape", about });
    const half = await verified(w);
    w.sandbox.faults.clear();
    expect([half.exitCode, half.said]).toMatchObject([7, { customers: 3, failed: 1, differences: { missing: 0 } }]);
    expect((await w.ask("status")).verified).toMatchObject({ customers: 3, incomplete: 1 });
    expect((await verified(w)).exitCode).toBe(0);
    expect((await w.ask("status")).verified).toMatchObject({ customers: 3, incomplete: 0 });
  },
);

it("tells what was removed and is shown again under our number; a stranger's is none", { tags: "long" }, async () => {
  const w = await placedOrders();
  rule(w, "orders.ended", "apply");
  const products = ["P1", "Q1"].map((id) => line(id, "A1"));
  amend(w, "1", { products: [...products, line("R1", "A1")] });
  expect((await ran(w)).calls).toEqual({ E5: 1 });
  const { placed } = await w.ask("explain", "order", "1");
  const { channelOrderId } = placed[0].steps.find(({ kind }: Parsed) => kind === "bought");
  amend(w, "1", { products });
  expect((await ran(w)).calls).toEqual({ E5: 1 });
  expect((await verified(w)).exitCode).toBe(0);
  const add = (customer: string, crmProductId: string, number: string): void => {
    const assetNum = numberOf(w, `A${customer}`);
    const fields = { crmProductId };
    w.sandbox.hand({ action: "add-product", assetNum, like: `P${customer}`, fields, channelOrderId: number });
  };
  add("2", "R9", "somebody-else");
  expect(await verified(w)).toMatchObject({ exitCode: 0, said: { differences: { extra: 1 } } });
  add("1", "R1", channelOrderId);
  const still = await verified(w);
  expect([still.exitCode, still.said.findings.counts["shown-still"]]).toEqual([3, 1]);
  expect(still.said.findings.first).toMatchObject([expect.stringMatching(/^crm\/C1: product R1 /u)]);
  w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, "A1"), crmProductId: "R1" });
  expect((await verified(w)).exitCode).toBe(0);
});

it("ends with what is worse than a difference, whichever run left it so", { tags: "long" }, async () => {
  const w = await world({ records: company(2, 2) });
  await w.run("run", "everything");
  w.extra = "policies: { assignments: { revoked: ask } }\n";
  for (const person of w.staff.slice(0, 1)) person.holds = [];
  w.write();
  expect((await ran(w)).exitCode).toBe(4);
  expect((await verified(w)).exitCode).toBe(4);
  w.sandbox.dropOrders("O2");
  expect(await verified(w)).toMatchObject({ exitCode: 4, said: { differences: { missing: 4 } } });
  expect((await w.run("reject", await openHold(w), "--reason", "they keep it")).exitCode).toBe(0);
  expect((await verified(w)).exitCode).toBe(3);

  Object.assign(w.environment, { ...promptRetries, CRM_SYNC__settle__maxWaitMs: "0" });
  w.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", nth: 1 });
  w.sandbox.faults.add({ operation: "M6", fault: "http502" });
  w.orders.push({ id: "O3", customer: "C2", assets: ["O3-A1"] });
  w.write();
  expect((await ran(w)).exitCode).toBe(5);
  w.sandbox.faults.clear();
  expect((await verified(w)).exitCode).toBe(5);
});
