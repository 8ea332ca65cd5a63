import { expect, it } from "vitest";
import { company } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";

const twice = { enterprises: [], orders: [], products: [], staff: [] };

it("a customer that E1 binds gets its orders, its staff and their assets, and no E4 unless the setting says so", async () => {
  const w = await world({ records: company(3, 2) });
  w.environment["CRM_SYNC__assumptions__enterpriseCreation"] = "E1";
  const first = await w.writes(() => w.run("run", "everything"));
  expect(first.result.exitCode, first.result.stdout).toBe(0);
  expect(first.calls).toEqual({ E1: 3, E5: 3, E9: 1, M1: 3, M9: 6 });
  expect(w.sandbox.state()).toMatchObject({ enterprises: 3, assignments: 6 });
  expect(w.sandbox.duplicates()).toEqual(twice);
  for (const _ of [2, 3]) {
    const again = await w.writes(() => w.run("run", "everything"));
    expect(again.calls).toEqual({});
    expect(again.result.exitCode, again.result.stdout).toBe(0);
  }

  w.customers[0] = { id: "C1", name: "Another name" };
  w.customers[1] = { id: "C2", name: w.customers[1]?.name ?? "", address: "Another road 1" };
  w.write();
  const renamed = await w.writes(() => w.run("run", "everything"));
  expect(renamed.calls, "C1 is not sent, and says so").toEqual({});
  expect((await w.run("explain", "customer", "C1")).stdout).toMatch(
    /the name changed in the CRM.*assumptions\.boundEnterpriseUpdate/u,
  );
  w.environment["CRM_SYNC__assumptions__boundEnterpriseUpdate"] = "send";
  const sent = await w.writes(() => w.run("resync", "--customer", "C1"));
  expect(sent.calls).toEqual({ E4: 1 });
});
