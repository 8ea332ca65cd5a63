import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import { auditEntries, openHold, operationsOf, runsOf } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

const holdsSeats = "policies: { assignments: { revoked: ask } }\n";

/** Customers with two people each, of whom these lose what they hold, by these settings. */
async function losing(settings: string, customers: number, people: readonly string[]): Promise<World> {
  const w = await world({ records: company(customers, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.extra = settings;
  for (const person of w.staff) if (people.includes(person.id)) person.holds = [];
  w.write();
  return w;
}

/** The operation that is held of a person. */
async function heldOf(w: World, person: string): Promise<Parsed> {
  return (await operationsOf(w, "staff", person)).find(({ state }) => state === "held");
}

it("one operation of a hold is approved, with a reason, and the next run does this one", async () => {
  const w = await losing(holdsSeats, 2, ["S1-1", "S1-2", "S2-1"]);
  expect((await w.does("run", "everything")).calls).toEqual({});
  const { id, questionId } = await heldOf(w, "S1-1");
  const refusals = [
    [id],
    ["--reason", "x"],
    [questionId, "--run", "run_1", "--reason", "x"],
    ["op_none", "--reason", "x"],
  ];
  for (const words of refusals) expect((await w.run("approve", ...words)).exitCode, words.join(" ")).toBe(64);
  const approved = await w.ask("approve", id, "--reason", "asked the customer", "--by", "anna.lee");
  expect(approved).toMatchObject({ operation: id, customer: "crm/C1", state: "approved" });
  const next = await w.does("run", "everything");
  expect([next.exitCode, next.calls, w.sandbox.state().assignments]).toEqual([4, { M9: 1 }, 3]);
  expect(await heldOf(w, "S1-2")).toBeDefined();
});

it("an approval is for one time: the same comes up again, and is held", { tags: "long" }, async () => {
  const w = await losing(holdsSeats, 1, ["S1-1"]);
  await w.run("run", "everything");
  const { id } = await heldOf(w, "S1-1");
  expect((await w.run("approve", id, "--reason", "asked the customer")).exitCode).toBe(0);
  expect((await w.does("run", "everything")).calls).toEqual({ M9: 1 });
  for (const [holds, calls] of [
    [["O1-A1"], { M9: 1 }],
    [[], {}],
  ] as const) {
    w.staff = w.staff.map((person) => (person.id === "S1-1" ? { ...person, holds: [...holds] } : person));
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual(calls);
  }
  expect((await w.run("approve", id, "--reason", "x")).exitCode, "it is not held any more").toBe(64);
});

it("what a run held for its own sum is approved at once", { tags: "long" }, async () => {
  const limit = "limits: { removals: { run: { floor: 1, share: 0 } } }\n";
  const w = await losing(limit, 8, ["S1-1", "S2-1", "S3-1"]);
  const limited = await w.does("run", "everything");
  expect([limited.exitCode, limited.calls]).toEqual([4, {}]);
  const run = (await runsOf(w))[0].id;
  const approve = (which: string) => w.run("approve", "--run", which, "--reason", "a branch was closed");
  expect((await approve("run_none")).exitCode).toBe(64);
  expect((await approve(run)).exitCode).toBe(0);
  const done = await w.does("run", "everything");
  expect([done.exitCode, done.calls], done.stdout).toEqual([0, { M9: 3 }]);
  expect((await approve(run)).exitCode).toBe(64);
});

it("the audit log says who took each decision", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 8) });
  const by = "anna.lee";
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const person of w.staff.slice(0, 6)) person.holds = [];
  w.write();
  appendFileSync(w.path("data/customers.ndjson"), '{"id":"C9"}\n');
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  await w.run("approve", await openHold(w), "--reason", "the customer asked", "--by", by);
  await w.run("quarantine", "retry", "all", "--by", by);
  await w.run("staff", "password", "S1-1", "--by", by);
  expect(
    await w.run("run", "staff", "--accept-shrink", "hr/staff=1", "--accept-drift", "hr/staff=1", "--by", by),
  ).toMatchObject({
    exitCode: 0,
  });
  const entries = await auditEntries(w);
  for (const kind of ["hold-approved", "quarantine-retry", "password-handed-out", "shrink-accepted", "drift-accepted"])
    expect(
      entries.filter((entry) => entry.kind === kind).map(({ body }) => JSON.parse(body).by),
      kind,
    ).toEqual([by]);
});
