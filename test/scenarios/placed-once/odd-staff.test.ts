/** @module-tag long */
import { describe, expect, it } from "vitest";
import { PlatformView } from "../../support/platform-view.ts";
import { canary } from "../../support/world/crm.ts";
import { TwoCustomers } from "../../support/world/two-customers.ts";

/** Two customers whose people are on the platform, and the enterprise of C1. */
async function atWork(): Promise<{ company: TwoCustomers; enterprise: string }> {
  const company = await TwoCustomers.start();
  expect((await company.runBoth()).exits).toEqual([0, 0]);
  const { links } = await company.w.ask("explain", "customer", "C1");
  return { company, enterprise: links[0].enterpriseGlobalId };
}

/** A new person of C1, and one of C2. */
function hires(company: TwoCustomers, ...ids: string[]): void {
  for (const id of ids) company.world.staff.push({ id, customer: "C1" });
  company.world.staff.push({ id: "T7", customer: "C2", holds: ["B2"] });
}

describe("a person whom M5 shows with another ending than the enterprise code", () => {
  it("and whose M1 was not answered is not added in every run: a person is asked, and the other customer's people are served", async () => {
    const { company, enterprise } = await atWork();
    hires(company, "S3");
    company.fault({ operation: "M1", fault: "appliedNoReply", about: enterprise, times: 1 });
    company.fault({
      operation: "M5",
      fault: "oddField",
      field: "userName",
      value: `${canary.login}s3x77`,
      row: 5,
      about: enterprise,
    });
    expect((await company.run("people")).calls).toMatchObject({ M1: 2, M9: 1 });
    for (let run = 0; run < 2; run += 1) expect((await company.runBoth()).calls).toEqual({});
    expect(await company.parked()).toEqual([
      { endpoint: "M1", outcomeMessage: expect.stringContaining("another ending") },
    ]);
    expect(company.twice).toEqual([]);
  });

  it("is not added by a plan either: the record waits, and nobody is added twice", async () => {
    const { company, enterprise } = await atWork();
    company.loseLedger();
    const value = `${canary.login}s2x77`;
    company.fault({ operation: "M5", fault: "oddField", field: "userName", value, row: 4, about: enterprise });
    const { addedStaff } = company.sandbox.state();
    await company.runBoth();
    expect((await company.waiting())["S2"]).toMatch(/^staff.other-ending: /u);
    company.sandbox.faults.clear();
    await company.runBoth();
    expect(await company.waiting()).not.toHaveProperty("S2");
    expect(company.sandbox.state().addedStaff).toBe(addedStaff);
  });
});

describe("an id in M1's answer that cannot be the new person's", () => {
  const memberOf = async (company: TwoCustomers, staff: string): Promise<string> =>
    (await company.w.ask("explain", "staff", staff)).staffLinks[0].memberGlobalId;
  const administrator = async ({ sandbox }: TwoCustomers, enterprise: string): Promise<string> => {
    const members = await new PlatformView(sandbox.url).members(enterprise);
    return members.find(({ userName }) => !userName.startsWith(canary.login))?.globalId ?? "";
  };
  const ids: Record<string, (company: TwoCustomers, enterprise: string) => Promise<string>> = {
    "a colleague's": async (company) => await memberOf(company, "S1"),
    "somebody's at another customer": async (company) => await memberOf(company, "T1"),
    "the administrator's": administrator,
    "the same for two": async () => "6300000000000000099",
  };

  it.each(Object.entries(ids))(
    "(%s) links nobody: the operation is parked, and done with the id that M5 shows",
    async (whose, idOf) => {
      const { company, enterprise } = await atWork();
      const taken = await idOf(company, enterprise);
      hires(company, "S3", "S4");
      const row = whose === "the same for two" ? undefined : 1;
      const odd = { operation: "M1", fault: "oddField", field: "globalId" } as const;
      company.fault({ ...odd, value: taken, row, about: enterprise, times: 1 });
      expect((await company.run("people")).calls).toMatchObject({ M1: 2 });
      expect(await company.parked()).toEqual([
        {
          endpoint: "M1",
          outcomeMessage: expect.stringMatching(/M1 answered .*nobody was linked|belongs to another/),
        },
      ]);
      const linked = async (): Promise<string[]> => {
        const found = [];
        for (const id of ["S3", "S4"])
          for (const { memberGlobalId } of (await company.w.ask("explain", "staff", id)).staffLinks)
            found.push(memberGlobalId);
        return found;
      };
      expect(await linked()).toEqual([]);
      expect((await company.run("people")).calls).toEqual({});
      expect(new Set(await linked()).size).toBe(2);
      expect(company.twice).toEqual([]);
    },
  );
});

describe("an asset number that M6 shows with an empty holder", () => {
  it("is held by nobody: it is granted", async () => {
    const company = await TwoCustomers.start();
    await company.run("deals");
    company.fault({ operation: "M6", fault: "oddField", field: "cloudAccountGlobalId", value: "", times: 2 });
    expect(await company.run("people")).toMatchObject({ exit: 0 });
    company.sandbox.faults.clear();
    expect(await company.waiting()).toEqual({});
    expect(company.sandbox.state()).toMatchObject({ assignments: 2 });
  });
});
