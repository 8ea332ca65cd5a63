import { expect, it } from "vitest";
import { numberOf, operationsOf } from "../../support/asking.ts";
import { amend, line, placedOrders, rule } from "../../support/world/placed-orders.ts";

it(
  "a deletion that cannot name its licence order is sent once a person approved exactly this one",
  { tags: "long" },
  async () => {
    const lock = { assets: [{ id: "A1", type: "normal_recover_usbkey" as const }] };
    const w = await placedOrders({ first: lock, staff: [] });
    rule(w, "orders.ended", "apply");
    // Neither the platform shows the licence order nor does the new ledger know it.
    for (const crmProductId of ["P1", "Q1"]) {
      const assetNum = numberOf(w, "A1");
      w.sandbox.hand({ action: "show-product", assetNum, crmProductId, fields: { licenseOrderId: "" } });
    }
    w.losesItsLedger();
    expect((await w.run("rebuild")).exitCode).toBe(0);
    amend(w, "1", { products: [line("P1", "A1")] });
    for (const _ of [1, 2]) {
      const held = await w.does("run", "everything");
      expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    }
    const [operation] = await operationsOf(w, "order", "1");
    expect(operation).toMatchObject({ kind: "delete-everywhere", state: "held" });
    expect((await w.run("approve", operation.id)).exitCode, "without a reason").toBe(64);
    await w.run("approve", operation.id, "--reason", "the customer has no other");
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    expect(w.sandbox.state()).toMatchObject({ products: 3 });
    const { orders, deletions } = w.sandbox.state();
    const bodies = Object.keys({ ...orders, ...deletions }).flatMap((id) => w.sandbox.batches(id));
    const sources = bodies.flatMap(({ body }) => /"srcLicenseOrderId":"[^"]*"/u.exec(body)?.[0] ?? []);
    expect(sources).toEqual(['"srcLicenseOrderId":""']);
    const last = await w.does("run", "everything");
    expect([last.exitCode, last.calls], last.stdout).toEqual([0, {}]);
  },
);
