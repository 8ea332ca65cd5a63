import { expect, it } from "vitest";
import { openHold } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import type { GivenOrder } from "../../support/world/crm.ts";
import { amend, line, placedOrders, rule } from "../../support/world/placed-orders.ts";

/** `units` of P1, which cost 7.00 each. */
const units = (count: number): Partial<GivenOrder> => ({
  assets: [{ id: "A1", quantity: count }],
  products: [line("P1", "A1", { price: `${7 * count}.00` })],
});

/** What stands of the order costs so much, and the CRM's changes became what. */
async function told(w: World): Promise<{ amount: unknown; became: unknown[] }> {
  const period = ["--period", "2026-10-01..2027-01-31"];
  const { parts } = await w.ask("report", "orders", ...period, "--format", "json");
  const of = parts.orders.rows.find(({ crm_order: order }: { crm_order: string }) => order === "crm/1");
  const { parts: corrections } = await w.ask("report", "corrections", ...period, "--format", "json");
  const changes: { field: string; became: string; reason: string | null }[] = corrections.corrections.rows;
  return {
    amount: of?.lines_amount,
    became: changes.map(({ field, became, reason }) => [field, became, ...(reason === null ? [] : [reason])].join(" ")),
  };
}

it("units whose removal was rejected cost what they cost", async () => {
  const w = await placedOrders({ first: units(4), staff: [] });
  amend(w, "1", units(2));
  rule(w, "orders.ended", "hold");
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  const hold = await openHold(w);
  expect((await w.run("reject", hold, "--reason", "they use them")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await told(w)).toEqual({
    amount: "28.00",
    became: ["quantity deferred revokes.rejected", "amount deferred revokes.rejected"],
  });
  expect((await w.run("reject", hold, "--withdraw", "--reason", "gone by now")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  expect((await w.run("approve", await openHold(w), "--reason", "they left")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await told(w)).toEqual({ amount: "14.00", became: ["quantity taken-away", "amount repriced"] });
});

it.each(["ignore", "hold"])(
  "the amount of what stays is recorded where the removal of the rest is %s",
  async (word) => {
    const of = (price: string, more: readonly string[]): Partial<GivenOrder> => ({
      products: [line("P1", "A1", { price }), ...more.map((id) => line(id, "A1", { price: "50.00" }))],
    });
    const w = await placedOrders({ first: of("7.00", ["Q1"]), staff: [] });
    rule(w, "orders.ended", word);
    amend(w, "1", of("7.00", []));
    await w.run("run", "everything");
    amend(w, "1", of("9.00", []));
    await w.run("run", "everything");
    const { amount, became } = await told(w);
    expect(amount).toBe("59.00");
    expect(became).toContain("amount repriced");
  },
);

it("an order that was cancelled, removed, restored and bought again was amended", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.cancelled", "apply");
  amend(w, "1", { cancelled: true });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  amend(w, "1", { cancelled: false });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await told(w)).became).toEqual(["cancelled taken-away", "cancelled amended"]);
});

it("an order that was restored before anything of it was removed needed nothing, whatever is bought later", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.cancelled", "hold");
  amend(w, "1", { cancelled: true });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  amend(w, "1", { cancelled: false });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await told(w)).became).toEqual(["cancelled superseded", "cancelled nothing"]);
  amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await told(w)).became).toEqual(["cancelled superseded", "cancelled superseded", "product amended"]);
});
