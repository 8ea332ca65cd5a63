import { expect, it } from "vitest";
import type { World } from "../support/cli.ts";
import { amend, line, numberOf, openHold, placedOrders, rule } from "../scenarios/life/placed-orders.ts";

/** Two orders of a lock whose licence orders neither M7 nor the ledger knows, and of which a line ended. */
async function unowned(): Promise<World> {
  const lock = (id: string) => ({ assets: [{ id: `A${id}`, type: "normal_recover_usbkey" as const }] });
  const w = await placedOrders({ first: lock("1"), staff: [] });
  rule(w, "orders.ended", "apply");
  w.tamper("delete from licence_order");
  for (const crmProductId of ["P1", "Q1"]) {
    const assetNum = numberOf(w, "A1");
    w.sandbox.hand({ action: "show-product", assetNum, crmProductId, fields: { licenseOrderId: "" } });
  }
  amend(w, "1", { products: [line("P1", "A1")] });
  return w;
}

it(
  "an empty source of a deletion is sent only once its very operation was approved, with a reason",
  { tags: "long" },
  async () => {
    const w = await unowned();
    for (const _ of [1, 2]) {
      const held = await w.does("run", "everything");
      expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    }
    const [operation] = w.rows<{ id: string; kind: string }>("select id, kind from operation where state = 'held'");
    expect(operation?.kind).toBe("delete-everywhere");
    const explained = await w.run("explain", "customer", "C1");
    expect(explained.stdout).toContain("out of all orders of the customer");
    const bare = await w.run("approve", operation?.id ?? "");
    expect(bare.exitCode, bare.stderr).toBe(64);
    const approved = await w.run("approve", operation?.id ?? "", "--reason", "the customer has no other");
    expect(approved.exitCode, approved.stderr).toBe(0);
    const run = await w.does("run", "everything");
    expect(run.calls, run.stdout).toEqual({ E5: 1 });
    expect(w.sandbox.state()).toMatchObject({ products: 3 });
    expect(w.sandbox.batches("1-1").map(({ body }) => /"srcLicenseOrderId":"[^"]*"/u.exec(body)?.[0])).toEqual([
      '"srcLicenseOrderId":""',
    ]);
    const last = await w.does("run", "everything");
    expect([last.exitCode, last.calls], last.stdout).toEqual([0, {}]);
  },
);

it("an approval of another operation does not let an empty source out: the intent refuses it", async () => {
  const w = await unowned();
  expect((await w.does("run", "everything")).exitCode).toBe(4);
  const hold = openHold(w);
  // As if somebody had said that exactly this was approved, without a person having done so.
  w.tamper(`insert into approved_operation (kind, hash, hold_id, at, by)
    select kind, 'of another', '${hold}', '2026-01-01T00:00:00.000Z', 'nobody' from operation where state = 'held'`);
  w.tamper("update hold set state = 'approved'");
  const run = await w.does("run", "everything");
  expect(run.calls, run.stdout).toEqual({});
  expect(w.sandbox.state()).toMatchObject({ products: 4 });
});
