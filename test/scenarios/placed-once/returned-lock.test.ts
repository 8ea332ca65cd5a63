import { expect, it } from "vitest";
import { approveAll, numberOf } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { rule } from "../../support/world/placed-orders.ts";

async function synchronised(): Promise<World> {
  const { customers, orders, staff } = company(2, 2);
  const lending = customers.map(({ id }) => ({
    id: `${id}-L`,
    customer: id,
    assets: [{ id: `${id}-LOCK`, type: "normal_recover_usbkey" as const, forLending: true }],
  }));
  const w = await world({ records: { customers, orders: [...orders, ...lending], staff } });
  rule(w, "loans.lent", "apply");
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

it.each(["restored from a backup before the loan", "restored from a backup after the loan", "lost and rebuilt"])(
  "a ledger that was %s lends a returned lock again only if a person says so",
  async (how) => {
    const w = await synchronised();
    const backup = async (): Promise<string> => (await w.ask("backup", "--to", w.path("backups"))).path;
    const before = await backup();
    const lock = numberOf(w, "C1-LOCK");
    personOf(w, "S1-1").borrows = [{ lock, assets: ["O1-A1"] }];
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M10: 1 }]);
    const after = await backup();
    w.sandbox.hand({ action: "return-loan", lock });
    // Another commit, so that the second backup lacks something too.
    w.staff.push({ id: "S7", customer: "C2" });
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M1: 1 }]);
    if (how.startsWith("lost")) w.losesItsLedger();
    else expect((await w.run("restore", how.includes("before") ? before : after)).exitCode).toBe(3);
    expect((await w.does("rebuild", "--by", "anna")).calls).toEqual({});
    // A ledger that knows the loan sees that the lock came back. Any other one asks.
    const isKnown = how.includes("after");
    expect(outcome(await w.does("run", "everything"))).toEqual([isKnown ? 3 : 4, {}]);
    if (isKnown) return;
    await approveAll(w);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M10: 1 }]);
  },
);
