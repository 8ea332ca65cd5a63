import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { company, sealEnvironment } from "../../support/world/crm.ts";
import { line } from "../../support/world/placed-orders.ts";

/** An order whose licence passwords are sealed and wait, because its first call is refused. */
async function sealedOrder() {
  const records = company(1, 0);
  records.orders = [
    {
      id: "1",
      customer: "C1",
      assets: [{ id: "A1" }],
      products: [line("P1", "A1", { passwords: ["zqcanary-licence-1"] })],
    },
  ];
  const w = await world({ records });
  w.sandbox.faults.add({ operation: "E9", fault: "http502", times: 50 });
  expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
  w.sandbox.faults.clear();
  return w;
}

it("a changed sealing key opens with the former one what waits, and seals with the new one", async () => {
  const w = await sealedOrder();
  w.environment["SEAL_KEY"] = "another-sealing-key-0123456789";
  w.environment["FORMER_SEAL_KEY"] = sealEnvironment.SEAL_KEY;
  w.environment["CRM_SYNC__ledger__formerSealKey"] = "env:FORMER_SEAL_KEY";
  w.later(1);
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E5: 1 } });
  // Nothing is sealed with the former key any more.
  delete w.environment["CRM_SYNC__ledger__formerSealKey"];
  w.orders.push({
    id: "2",
    customer: "C1",
    assets: [{ id: "A2" }],
    products: [line("P2", "A2", { passwords: ["zqcanary-licence-2"] })],
  });
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E5: 1 } });
});
