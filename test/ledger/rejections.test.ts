import { expect, it } from "vitest";
import { RejectionTables } from "../../src/ledger/journal/rejections.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { customerRecord, key } from "../support/world/records.ts";
import { sqlite } from "../support/world/start.ts";

it("an operation that went through ends the rejections of its own customer only", async () => {
  const world = await LedgerWorld.open();
  await world.read("customers", [{ customers: customerRecord("1") }]);
  const tables = new RejectionTables(sqlite(world.path));
  const record = { stream: "customers", ...key("1") } as const;
  const [left, present] = [key("1"), key("2")];
  for (const [customer, hash] of [
    [left, "a"],
    [present, "b"],
  ] as const) {
    const parts = [{ record, hash, code: "60025", reason: "refused", shared: false }];
    tables.add(`op_${hash}`, { customer, kind: "revoke-assets", settings: "s", parts }, "2026-01-01T00:00:00.000Z");
  }
  tables.forget({ kind: "revoke-assets", customer: present, records: [record] });
  expect([tables.of(left).length, tables.of(present).length]).toEqual([1, 0]);
});
