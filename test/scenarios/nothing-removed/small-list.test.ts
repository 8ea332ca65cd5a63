import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("a company of nine does not lose all its seats at once without a person", async () => {
  const w = await world({ records: company(9, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.staff = w.staff.map((person) => ({ ...person, holds: [] }));
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([4, {}]);
  expect(ended.stdout).toContain("9 of 9 (100.0 %) seats of the whole run would have been removed; 5 are allowed");
});
