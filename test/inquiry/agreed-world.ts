import type { JsonObject } from "../../src/base/canonical-json.ts";
import type { Operation } from "../../src/engine/model/operation.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { LedgerWorld, shownOf } from "../support/world/ledger-world.ts";

/**
 * A customer whose one order is placed, whose one person holds its asset, and all of which the platform shows as sent.
 */
export async function agreedWorld(options: { isNew?: true } = {}): Promise<{
  world: LedgerWorld;
  operation: Operation;
  shown: ReturnType<typeof shownOf>;
}> {
  const world = await LedgerWorld.open(options);
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.link(key("C1"), "E1");
  await world.read("orders", [{ orders: orderRecord("O1", "C1") }]);
  await world.read("staff", [{ staff: staffRecord("S1", "C1", { assets: [{ instanceId: "A-O1" }] }) }]);
  await world.addStaff(key("C1"), key("S1"), "M1");
  const operation = await world.orderOperation(key("C1"), key("O1"));
  await world.place(key("C1"), key("O1"));
  await world.grant(key("C1"), key("S1"), "M1", "8000000001");
  await world.ledger.records.setOutcomes(world.run, [{ stream: "staff", key: key("S1"), outcome: "planned" }]);
  const shown = [
    ...shownOf(operation, "8000000001", "L-O1").filter((item) => item.kind !== "asset"),
    { kind: "asset", subject: "8000000001", body: { assetId: "a1", holder: "M1", borrowed: false } },
    { kind: "member", subject: "M1", body: { deleted: false, assetNums: ["8000000001"] } },
    { kind: "enterprise", subject: "E1", body: { customers: [{ customerId: "E1-d", isDefault: true }] } },
  ];
  await world.observe(key("C1"), shown);
  return { world, operation, shown };
}

/** The same observations with one body changed. */
export function changed(
  shown: ReturnType<typeof shownOf>,
  kind: string,
  subject: string,
  fields: JsonObject,
): ReturnType<typeof shownOf> {
  return shown.map((item) =>
    item.kind === kind && item.subject === subject ? { ...item, body: { ...item.body, ...fields } } : item,
  );
}
