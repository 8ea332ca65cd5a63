import { describe, expect, it } from "vitest";
import { canary } from "../support/world/crm.ts";
import { TwoCustomers } from "../support/world/two-customers.ts";

/** Two customers whose people are on the platform, and the enterprise of C1. */
async function atWork(): Promise<{ company: TwoCustomers; enterprise: string }> {
  const company = await TwoCustomers.start();
  expect((await company.runBoth()).exits).toEqual([0, 0]);
  const [link] = company.rows<{ id: string }>("select enterprise_global_id as id from link where customer_id = 'C1'");
  return { company, enterprise: link?.id ?? "" };
}

/** A new person of C1, and one of C2. */
function hires(company: TwoCustomers, ...ids: string[]): void {
  for (const id of ids) company.world.staff.push({ id, customer: "C1" });
  company.world.staff.push({ id: "T7", customer: "C2", holds: ["B2"] });
}

describe("a person whom M5 shows with another ending than the enterprise code", () => {
  it(
    "and whose M1 was not answered is not added in every run: a person is asked, and the other customer's people are served",
    { tags: "long" },
    async () => {
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
      expect(company.parked()).toEqual([
        { endpoint: "M1", outcome_message: expect.stringContaining("another ending") },
      ]);
      expect(company.twice).toEqual([]);
    },
  );

  it("is not added by a plan either: the record waits, and the others go on", { tags: "long" }, async () => {
    const { company, enterprise } = await atWork();
    company.change("delete from staff_link where staff_id = 'S2'; update record set pending = 1 where id = 'S2'");
    hires(company, "S3");
    company.fault({
      operation: "M5",
      fault: "oddField",
      field: "userName",
      value: `${canary.login}s2x77`,
      row: 4,
      about: enterprise,
    });
    expect((await company.run("people")).calls).toEqual({ M1: 2, M9: 1 });
    expect((await company.run("people")).calls).toEqual({});
    expect(company.waiting()).toEqual({ S2: expect.stringMatching(/^staff.other-ending: /) });
    expect(company.sandbox.state().addedStaff).toBe(5);
    company.sandbox.faults.clear();
    const { exit, calls } = await company.run("people");
    expect([exit, calls]).toEqual([0, {}]);
    expect(company.waiting()).toEqual({});
  });
});

describe("an id in M1's answer that cannot be the new person's", () => {
  const ids: Record<string, string> = {
    "a colleague's": "select member_global_id as id from staff_link where staff_id = 'S1'",
    "somebody's at another customer": "select member_global_id as id from staff_link where staff_id = 'T1'",
    "the administrator's": `select p.member_global_id as id from protected_member p
       join link l on l.enterprise_global_id = p.enterprise_global_id where customer_id = 'C1'`,
    "the same for two": "select '6300000000000000099' as id",
  };

  it.each(Object.entries(ids))(
    "(%s) links nobody: the operation is parked, and done with the id that M5 shows",
    { tags: "long" },
    async (whose, sql) => {
      const { company, enterprise } = await atWork();
      const [taken] = company.rows<{ id: string }>(sql);
      hires(company, "S3", "S4");
      const row = whose === "the same for two" ? undefined : 1;
      const odd = { operation: "M1", fault: "oddField", field: "globalId" } as const;
      company.fault({ ...odd, value: taken?.id, row, about: enterprise, times: 1 });
      expect((await company.run("people")).calls).toMatchObject({ M1: 2 });
      expect(company.parked()).toEqual([
        {
          endpoint: "M1",
          outcome_message: expect.stringMatching(/M1 answered .*nobody was linked|belongs to another/),
        },
      ]);
      const linked = "select staff_id from staff_link where to_at is null and staff_id in ('S3', 'S4')";
      expect(company.rows(linked)).toEqual([]);
      expect((await company.run("people")).calls).toEqual({});
      expect(company.rows(linked)).toHaveLength(2);
      expect(company.rows("select 1 from staff_link where member_global_id = ?", taken?.id).length).toBeLessThan(2);
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
    expect(company.waiting()).toEqual({});
    expect(company.sandbox.state()).toMatchObject({ assignments: 2 });
  });
});
