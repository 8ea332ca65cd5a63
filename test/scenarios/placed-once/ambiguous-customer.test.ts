import { expect, it } from "vitest";
import { world, type Parsed } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";
import { callerOf, createEnterprise } from "../../sandbox/caller.ts";

it("creates no third enterprise for a customer that two fit, and uses the one that a person chose", async () => {
  const w = await world({ records: company(3, 1) });
  const platform = callerOf(w.sandbox.url);
  const both = [await createEnterprise(platform, "C2"), await createEnterprise(platform, "C2")];
  const ids = both.map(({ enterpriseGlobalId }) => enterpriseGlobalId);
  const neighboursOnly = { E2: 2, E5: 2, E9: 1, M1: 2, M9: 2 };
  expect(outcome(await w.does("run", "everything"))).toEqual([3, neighboursOnly]);

  const { record, candidates } = await w.ask("explain", "customer", "C2");
  expect(record.deferred.code).toBe("enterprise.ambiguous");
  for (const id of ids) expect(record.deferred.reason).toContain(id);
  expect(candidates.map(({ enterprise }: Parsed) => enterprise)).toEqual(ids);

  expect(outcome(await w.does("link", "C2", ids[1] ?? "", "--reason", "the service desk named it"))).toEqual([0, {}]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E4: 1, E5: 1, M1: 1, M9: 1 }]);
  expect(w.sandbox.state()).toMatchObject({ enterprises: 4, assignments: 3 });
  expect((await w.ask("explain", "customer", "C2")).candidates).toEqual([]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("binds a customer if its record says so, and never creates a second enterprise for it", async () => {
  const w = await world({ records: company(2, 1) });
  const creates = (creation: "bind" | "create"): void => {
    w.customers = w.customers.map((row) => (row.id === "C2" ? { ...row, creation } : row));
    w.write();
  };
  creates("bind");
  const first = await w.does("run", "everything");
  expect([first.exitCode, first.calls]).toMatchObject([0, { E1: 1, E2: 1 }]);
  creates("create");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  const { links } = await w.ask("explain", "customer", "C2");
  expect(links).toMatchObject([{ origin: "bound", to: null }]);
});
