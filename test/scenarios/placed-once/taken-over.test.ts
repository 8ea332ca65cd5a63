/** @module-tag long */
import { describe, expect, it } from "vitest";
import { TwoCustomers } from "../../support/world/two-customers.ts";

/** Two customers whose enterprises, orders and staff another program has made: the ledger begins anew. */
async function takenOver(): Promise<TwoCustomers> {
  const company = await TwoCustomers.start();
  expect(await company.runBoth()).toMatchObject({ exits: [0, 0], calls: { E2: 2, E5: 2 } });
  company.loseLedger();
  return company;
}

/** The two orders are known to be placed, and nothing was made for it. */
async function adoptsBoth(company: TwoCustomers): Promise<void> {
  company.sandbox.faults.clear();
  const { exits, calls } = await company.runBoth();
  // The people who should hold the assets of these orders wait for them: that is not "all is well".
  expect(exits).toEqual([3, 3]);
  expect(calls).not.toHaveProperty("E5");
  expect(await company.placed()).toEqual({ O1: "adopted", O9: "adopted" });
  expect(await company.runBoth()).toEqual({ exits: [3, 3], calls: {} });
  expect(company.twice).toEqual([]);
}

describe("an order of an enterprise that somebody else made", () => {
  it("of which only a part is shown is not taken for placed, nor placed: it waits, and says what is missing, until all of it is shown", async () => {
    const company = await takenOver();
    const hidden = { operation: "M7", fault: "oddField", field: "channelOrderId", value: "another" } as const;
    company.fault({ ...hidden, about: "6500000000000000001" });
    for (let run = 0; run < 2; run += 1) {
      expect((await company.runBoth()).calls).not.toHaveProperty("E5");
      const waiting = Object.entries(await company.waiting()).filter(([id]) => id.startsWith("O"));
      expect(waiting).toHaveLength(1);
      expect(waiting[0]?.[1]).toMatch(/^order.shown-in-part: .*O[19].* [AB]1-P/);
    }
    expect(Object.keys(await company.placed())).toHaveLength(1);
    await adoptsBoth(company);
  });

  it.each([
    ["empty lists", { productInstanceList: [], children: [] }],
    ["null and an empty list", { productInstanceList: null, children: [] }],
  ])("is not placed again where M7 shows an asset without anything in it (%s): it waits", async (_, value) => {
    const company = await takenOver();
    company.fault({ operation: "M7", fault: "oddData", value });
    for (let run = 0; run < 2; run += 1) expect((await company.runBoth()).calls).not.toHaveProperty("E5");
    expect((await company.waiting())["O1"]).toMatch(/^order.assets-ambiguous: .*M7.*assumptions.emptyAssets/);
    await adoptsBoth(company);
  });

  it("is not placed again where its licence type is not known to be shown: it waits, and says which (A43)", async () => {
    const company = await takenOver();
    company.environment = { CRM_SYNC__assumptions__visibleLicenseTypes: '["softkey"]' };
    company.fault({ operation: "M6", fault: "oddData", value: [] });
    company.fault({ operation: "E8", fault: "oddData", value: [] });
    for (let run = 0; run < 2; run += 1) expect((await company.run("deals")).calls).not.toHaveProperty("E5");
    expect((await company.waiting())["O1"]).toMatch(
      /^order.not-observable: .*cloud_account.*assumptions.visibleLicenseTypes/,
    );
    expect((await company.waiting())["O9"]).toMatch(/^order.not-observable: /);
  });

  it("is looked for once more when it comes later than the examination, by the same rules", async () => {
    const company = await takenOver();
    company.world.orders.push({ id: "O2", customer: "C1", assets: [{ id: "A7", type: "lan_softkey" }] });
    company.environment = { CRM_SYNC__assumptions__visibleLicenseTypes: '["cloud_account"]' };
    expect((await company.run("deals")).calls).not.toHaveProperty("E5");
    expect((await company.waiting())["O2"]).toMatch(/^order.not-observable: .*lan_softkey/);
    company.environment = { CRM_SYNC__assumptions__visibleLicenseTypes: '["cloud_account", "lan_softkey"]' };
    expect(await company.run("deals")).toMatchObject({ exit: 0, calls: { E5: 1 } });
    expect(company.twice).toEqual([]);
  });
});

describe("the plan of an enterprise that somebody else made", () => {
  it("says what a run does: whose orders are there, which waits, and which is placed; it keeps nothing, and is applied as it is", async () => {
    const company = await takenOver();
    company.world.orders.push({ id: "O2", customer: "C1", assets: ["A7"] });
    company.world.staff = [];
    // One of O1 and O9 is shown whole, the other in part, O2 not at all.
    const part = { operation: "M7", fault: "oddField", field: "channelOrderId", value: "another" } as const;
    company.fault({ ...part, about: "6500000000000000001" });
    const plan = await company.does("plan", "--out", company.w.path("plan"));
    expect(plan.stdout).toContain("adopt the enterprise");
    const whole = /= adopt the order (O[19]): the platform shows all of it as \1/.exec(plan.stdout)?.[1];
    const shownInPart =
      /1 order waits \(order\.shown-in-part\) +crm\/(O[19]) +the platform shows only a part of the order crm\/\1/.exec(
        plan.stdout,
      )?.[1];
    expect(new Set([whole, shownInPart])).toEqual(new Set(["O1", "O9"]));
    expect(plan.stdout).not.toMatch(/\+ place order O[19]/);
    expect(plan.stdout).toMatch(/\+ place order O2/);
    expect([plan.exitCode, plan.calls]).toEqual([3, {}]);
    expect(await company.placed()).toEqual({});
    const applied = await company.does("apply", company.w.path("plan"));
    expect(applied.calls).toMatchObject({ E5: 1 });
    expect(company.twice).toEqual([]);
  });
});
