import { expect, test } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

/** Two customers with two people each, as the CRM has them; from then on these policies rule. */
async function under(policies: string): Promise<World> {
  const w = await world({ records: company(2, 2) });
  const first = await w.run("run", "everything");
  expect(first.exitCode, first.stdout + first.stderr).toBe(0);
  w.extra = `policies: ${policies}\n`;
  w.write();
  return w;
}

function holds(w: World): { id: string; customer: string; explanation: string }[] {
  return w.rows("select id, customer_id as customer, explanation from hold where state = 'open' order by customer_id");
}

function person(w: World, id: string): World["staff"][number] {
  const found = w.staff.find((row) => row.id === id);
  if (found === undefined) throw new Error(`no person ${id}`);
  return found;
}

test(
  "what a policy holds waits for a person, with what needs it, and everything else of the customer goes on",
  { tags: "long" },
  async () => {
    const w = await under("{ seats: { revoked: hold } }");
    // The first person loses an asset that the second is to get; both customers have other work.
    person(w, "S1-1").holds = [];
    person(w, "S1-2").holds = ["O1-A1", "O1-A2"];
    w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] });
    person(w, "S2-1").holds = ["O2-A1", "O4-A1"];
    w.orders.push({ id: "O4", customer: "C2", assets: ["O4-A1"] });
    w.write();
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls]).toEqual([4, { E5: 2, M9: 1 }]);
    expect(holds(w)).toMatchObject([
      {
        customer: "C1",
        explanation:
          "the CRM no longer gives this person 1 asset: 1 seat; 1 person loses their last asset; " +
          "policies.seats.revoked is hold",
      },
    ]);
    expect(w.rows("select kind, state from operation where state = 'held' order by kind")).toEqual([
      { kind: "grant-assets", state: "held" },
      { kind: "revoke-assets", state: "held" },
    ]);
    expect((await w.run("status")).stdout).toContain("policies.seats.revoked is hold");

    const [hold] = holds(w);
    expect((await w.run("approve", hold?.id ?? "", "--reason", "she moved to another team")).exitCode).toBe(0);
    const done = await w.does("run", "everything");
    expect([done.exitCode, done.calls], done.stdout).toEqual([0, { M9: 2 }]);
    const silent = await w.does("run", "everything");
    expect([silent.exitCode, silent.calls]).toEqual([0, {}]);
  },
);

test(
  "what is earned is held until so many different operations of its kind were approved, and then goes by itself",
  { tags: "long" },
  async () => {
    const w = await under("{ seats: { revoked: earn }, approvalsToEarn: 2 }");
    for (const [id, approved] of [
      ["S1-1", 0],
      ["S2-1", 1],
    ] as const) {
      person(w, id).holds = [];
      w.write();
      const held = await w.does("run", "staff");
      expect([held.exitCode, held.calls]).toEqual([4, {}]);
      expect(holds(w)[0]?.explanation).toContain(
        `policies.seats.revoked is earn, and ${approved} of 2 operations of this kind (revoke-assets) were approved`,
      );
      expect((await w.run("approve", holds(w)[0]?.id ?? "", "--reason", "seen")).exitCode).toBe(0);
      const done = await w.does("run", "staff");
      expect([done.exitCode, done.calls]).toEqual([0, { M9: 1 }]);
    }
    person(w, "S1-2").holds = [];
    w.write();
    const earned = await w.does("run", "staff");
    expect([earned.exitCode, earned.calls]).toEqual([0, { M9: 1 }]);
  },
);

test(
  "what is rejected under a policy stays, and is not asked for again while it is the same",
  { tags: "long" },
  async () => {
    const w = await under("{ seats: { revoked: hold } }");
    person(w, "S1-1").holds = [];
    w.write();
    await w.run("run", "staff");
    expect((await w.run("reject", holds(w)[0]?.id ?? "", "--reason", "a mistake in the CRM")).exitCode).toBe(0);
    w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] });
    w.write();
    const other = await w.does("run", "everything");
    expect([other.exitCode, other.calls], other.stdout).toEqual([0, { E5: 1 }]);
    expect(holds(w)).toEqual([]);
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("a person rejected taking this away");
  },
);

test(
  "an order waits for a person where additions are held, is placed once it was approved, and not before",
  { tags: "long" },
  async () => {
    const w = await under("{ orders: { added: hold } }");
    w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] });
    person(w, "S2-1").holds = [];
    w.write();
    for (let run = 1; run <= 2; run += 1) {
      const held = await w.does("run", "everything");
      expect([held.exitCode, held.calls]).toEqual([4, run === 1 ? { M9: 1 } : {}]);
    }
    expect(holds(w)).toMatchObject([{ customer: "C1", explanation: expect.stringContaining("orders.added is hold") }]);
    expect((await w.run("approve", holds(w)[0]?.id ?? "", "--reason", "they pay")).exitCode).toBe(0);
    const placed = await w.does("run", "everything");
    expect([placed.exitCode, placed.calls], placed.stdout).toEqual([0, { E5: 1 }]);
  },
);

test("what is only reported is told of and never counted, and what is ignored is not even told", async () => {
  const w = await under("{ seats: { revoked: report } }");
  person(w, "S1-1").holds = [];
  w.write();
  const reported = await w.does("run", "staff");
  expect([reported.exitCode, reported.calls], reported.stdout).toEqual([0, {}]);
  const explained = await w.run("explain", "staff", "S1-1");
  expect(explained.stdout).toContain("policies.seats.revoked is report, so nothing is done of it");

  // Another word in the configuration: what was told and left is looked at by the next run.
  w.extra = "";
  w.write();
  const applied = await w.does("run", "staff");
  expect([applied.exitCode, applied.calls], applied.stdout).toEqual([0, { M9: 1 }]);

  w.extra = "policies: { seats: { revoked: ignore } }\n";
  person(w, "S2-1").holds = [];
  w.write();
  const ignored = await w.does("run", "staff");
  expect([ignored.exitCode, ignored.calls]).toEqual([0, {}]);
  expect((await w.run("explain", "staff", "S2-1")).stdout).not.toContain("policies.");
  expect(w.sandbox.state().assignments).toBe(3);
});
