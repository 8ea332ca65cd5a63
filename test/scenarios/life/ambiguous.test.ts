import { expect, it } from "vitest";
import { world, document } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { callerOf, createEnterprise } from "../../sandbox/caller.ts";

it("a customer that two enterprises fit waits with both of them shown, and goes on with the one that a person chose", async () => {
  const w = await world({ records: company(3, 1) });
  const platform = callerOf(w.sandbox.url);
  const first = await createEnterprise(platform, "C2");
  const second = await createEnterprise(platform, "C2");
  const run = await w.does("run", "everything");
  expect(run.exitCode, run.stdout).toBe(3);
  expect(run.calls, "its neighbours are done").toEqual({ E2: 2, E5: 2, E9: 1, M1: 2, M9: 2 });

  const told = await w.run("explain", "customer", "C2");
  for (const candidate of [first, second]) {
    expect(told.stdout.replaceAll(/\s+/gu, " ")).toContain(
      `enterprise ${candidate.enterpriseGlobalId}: customers ${candidate.customerId} (default), ` +
        candidate.industryCustomerId,
    );
  }
  const facts = document(await w.run("explain", "customer", "C2", "--json"));
  expect(facts.record.deferred).toMatchObject({ code: "enterprise.ambiguous" });
  for (const { enterpriseGlobalId } of [first, second])
    expect(facts.record.deferred.reason).toContain(enterpriseGlobalId);
  expect(facts.candidates.map((item: { enterprise: string }) => item.enterprise)).toEqual([
    first.enterpriseGlobalId,
    second.enterpriseGlobalId,
  ]);

  const chosen = await w.does("link", "C2", second.enterpriseGlobalId, "--reason", "the service desk named it");
  expect(chosen.exitCode, chosen.stderr).toBe(0);
  expect(chosen.calls, "nothing is sent by it").toEqual({});
  const then = await w.does("run", "everything");
  expect(then.exitCode, then.stdout).toBe(0);
  expect(then.calls).toEqual({ E4: 1, E5: 1, M1: 1, M9: 1 });
  expect(w.sandbox.state()).toMatchObject({ enterprises: 4, assignments: 3 });
  expect(document(await w.run("explain", "customer", "C2", "--json")).candidates).toEqual([]);
  expect((await w.does("run", "everything")).calls).toEqual({});
});
