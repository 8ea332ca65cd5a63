import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { customerRecord } from "../../support/world/records.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { cells, month, statementOf } from "./statement-world.ts";

it("the cover sheet says whom ids stand for, or that it was erased, and no other statement names anybody", async () => {
  const world = await LedgerWorld.open();
  await world.read("customers", [
    { customers: customerRecord("C1", { name: "Alpha Works" }) },
    { customers: customerRecord("C2", { name: "Beta Works", branchCode: "B2" }) },
  ]);
  const columns = ["customer", "name", "branch"] as const;
  const cover = async (filters = {}) =>
    cells((await statementOf(world.path, "cover", month("2026-10"), { filters }))["cover"], ...columns);
  const branch = customerRecord("C1").branchCode;
  expect(await cover()).toEqual([
    ["crm/C1", "Alpha Works", branch],
    ["crm/C2", "Beta Works", "B2"],
  ]);
  expect(await cover({ branch: "B2" })).toEqual([["crm/C2", "Beta Works", "B2"]]);
  const database = new Database(world.path);
  database.exec("update private_value set body = null, wiped_at = '2026-10-02' where ref = 'customers/crm/C1'");
  database.close();
  expect(await cover({ customer: "crm/C1" })).toEqual([["crm/C1", "erased", branch]]);
});
