import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openHold, openHolds } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { lines } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";

/** @module-tag long */

async function synchronised(customers: number, people: number): Promise<World> {
  const w = await world({ records: company(customers, people) });
  w.environment["CRM_SYNC__limits__massChange__floor"] = "1000";
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** The CRM takes all assets from the first `count` people, and a run comes to it. */
async function takeAway(w: World, count: number): Promise<[number | null, Record<string, number>]> {
  w.staff = w.staff.map((person, index) => (index < count ? { ...person, holds: [] } : person));
  w.write();
  return await runs(w, "staff");
}

async function runs(w: World, job: string): Promise<[number | null, Record<string, number>]> {
  const { exitCode, calls } = await w.does("run", job);
  return [exitCode, calls];
}

async function decide(w: World, ...words: string[]): Promise<void> {
  const ended = await w.run(...words, "--reason", "asked the customer");
  expect(ended.exitCode, ended.stderr).toBe(0);
}

describe("more than the limits allow", () => {
  it.each([
    [1, 8, 5, 0, 5],
    [1, 8, 6, 4, 0],
    [5, 5, 25, 4, 0],
  ])(
    "is held: %i customers with %i people each, %i of whom lose their seats, end with %i and %i calls",
    async (customers, people, count, exitCode, calls) => {
      const w = await synchronised(customers, people);
      expect(await takeAway(w, count)).toEqual([exitCode, calls === 0 ? {} : { M9: calls }]);
    },
  );

  it("goes as a person approved it, and what comes after that is judged by itself", async () => {
    const w = await synchronised(1, 16);
    await takeAway(w, 6);
    const hold = await openHold(w);
    await decide(w, "approve", hold);
    expect(await takeAway(w, 12)).toEqual([4, { M9: 6 }]);
    expect((await openHolds(w)).map(({ id, count }) => [id === hold, count])).toEqual([[false, 6]]);
  });

  it("is not removed once a person rejected it, and what else changed is done", async () => {
    const w = await synchronised(1, 8);
    await takeAway(w, 6);
    await decide(w, "reject", await openHold(w));
    w.orders.push({ id: "O2", customer: "C1", assets: ["O2-A1"] });
    w.staff[7] = { ...w.staff[7], id: "S1-8", customer: "C1", holds: ["O1-A8", "O2-A1"] };
    w.write();
    expect(await runs(w, "everything")).toEqual([0, { E5: 1, M9: 1 }]);
    expect(await runs(w, "everything")).toEqual([0, {}]);
    expect(w.sandbox.state().assignments).toBe(9);
  });

  it("is not removed when a person rejects what was approved, until that is withdrawn and approved again", async () => {
    const w = await synchronised(2, 8);
    await takeAway(w, 6);
    const hold = await openHold(w);
    await decide(w, "approve", hold);
    await decide(w, "reject", hold);
    for (const _ of [1, 2]) expect((await runs(w, "staff"))[1]).toEqual({});
    expect((await w.run("approve", hold, "--reason", "again")).exitCode).toBe(64);
    await decide(w, "reject", hold, "--withdraw");
    expect(await runs(w, "staff")).toEqual([4, {}]);
    await decide(w, "approve", await openHold(w));
    expect((await runs(w, "staff"))[1]).toEqual({ M9: 6 });
  });
});

describe("a source that cannot be believed", () => {
  const rows = (w: World, count: number): string => lines(w.staff.slice(0, count).map(staffRow));
  // Of fewer than 20 rows, the rows that are lost count and not their share.
  const losses: [string, number, (w: World) => string][] = [
    ["lost a fifth of its 20 rows", 4, (w) => rows(w, 16)],
    ["lost three of its five rows", 1, (w) => rows(w, 2)],
    ["is empty", 1, () => ""],
    ["was half-written", 1, (w) => rows(w, 5).slice(0, -60)],
    ["holds something else", 1, () => "<html>502 Bad Gateway</html>\n"],
  ];

  it.each(losses)("removes nothing when it %s, however often it is read", async (_what, customers, content) => {
    const w = await synchronised(customers, 5);
    writeFileSync(w.path("data/staff.ndjson"), content(w));
    for (const job of ["staff", "everything", "staff", "staff"]) expect(await runs(w, job)).toEqual([7, {}]);
    w.write();
    expect(await runs(w, "staff")).toEqual([0, {}]);
  });

  it("removes nothing of a customer with a record in quarantine, and goes on for another customer", async () => {
    const w = await synchronised(2, 3);
    w.staff = w.staff.map((person) => (["S1-2", "S2-1"].includes(person.id) ? { ...person, holds: [] } : person));
    w.write();
    const tooLong = { ...staffRow({ id: "S1-1", customer: "C1" }), name: "x".repeat(31) };
    writeFileSync(w.path("data/staff.ndjson"), lines([tooLong, ...w.staff.slice(1).map(staffRow)]));
    expect(await runs(w, "staff")).toEqual([3, { M9: 1 }]);
    w.write();
    expect(await runs(w, "staff")).toEqual([0, { M9: 1 }]);
    expect(w.sandbox.state().assignments).toBe(4);
  });
});
