import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { waitsFor } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

/** Plans into a file. The operations of it, with the customer that each is for. */
async function planned(w: World): Promise<Parsed[]> {
  await w.run("plan", "--out", w.path("plan.ndjson"));
  const lines = readFileSync(w.path("plan.ndjson"), "utf8").trimEnd().split("\n");
  return lines.flatMap((text): Parsed[] => {
    const line = JSON.parse(text);
    return line.type === "customer" ? line.operations.map((one: Parsed) => ({ ...one, customer: line.id })) : [];
  });
}

const apply = (w: World, ...words: string[]): ReturnType<World["does"]> =>
  w.does("apply", w.path("plan.ndjson"), ...words);

function find(all: readonly Parsed[], endpoint: string, customer: string): Parsed {
  return all.find((one) => one.endpoint === endpoint && one.customer === customer);
}

const short = (operation: Parsed): string => operation.hash.slice(0, 8);

describe("a saved plan", () => {
  it(
    "says of each operation why, what is sent, what it weighs, what would hold it and what it needs",
    { tags: "long" },
    async () => {
      const w = await world({ records: company(2, 2) });
      const first = await planned(w);
      const [enterprise, order] = [find(first, "E2", "C1"), find(first, "E5", "C1")];
      expect(enterprise).toMatchObject({
        needs: [],
        policy: null,
        heldBy: null,
        before: null,
        reason: expect.any(String),
      });
      expect(order.needs).toEqual([enterprise.hash]);
      expect(order.lines.join("\n")).toContain("orderList[0]");
      expect(find(first, "M9", "C1").needs).toEqual([order.hash, find(first, "M1", "C1").hash]);
      expect((await apply(w)).exitCode).toBe(0);

      w.extra = "policies: { assignments: { revoked: ask } }\n";
      for (const person of w.staff) if (person.id === "S1-1") person.holds = [];
      w.write();
      const [revoke] = await planned(w);
      expect(revoke).toMatchObject({
        endpoint: "M9",
        policy: "assignments.revoked",
        weight: { seats: 1, lastAsset: 1 },
        heldBy: { scope: "policy" },
        before: expect.any(Object),
        records: [{ stream: "staff", namespace: "crm", id: "S1-1" }],
      });
    },
  );

  it("is applied in part, each operation once, and the next run does the rest", { tags: "long" }, async () => {
    const w = await world({ records: company(3, 2) });
    const enterprise = find(await planned(w), "E2", "C2");
    const one = await apply(w, "--only", short(enterprise));
    expect([one.exitCode, one.calls], one.stdout).toEqual([3, { E2: 1 }]);
    expect(await waitsFor(w, "O2")).toBe("plan.not-chosen");
    const twice = await apply(w, "--only", short(enterprise));
    expect([twice.exitCode, twice.calls]).toEqual([64, {}]);

    const customer = await apply(w, "--customer", "C2");
    expect([customer.exitCode, customer.calls], customer.stdout).toEqual([0, { E5: 1, E9: 1, M1: 1, M9: 2 }]);
    const rest = await apply(w);
    expect([rest.exitCode, rest.calls], rest.stdout).toEqual([0, { E2: 2, E5: 2, M1: 2, M9: 4 }]);
    const done = await w.does("run", "everything");
    expect([done.exitCode, done.calls]).toEqual([0, {}]);
  });

  it("is refused if what is chosen is not in it or needs what is not chosen", async () => {
    const w = await world({ records: company(2, 1) });
    const all = await planned(w);
    const order = find(all, "E5", "C1");
    const needed = ["E2", "E5", "M1"].map((endpoint) => `--only ${short(find(all, endpoint, "C1"))}`).sort();
    const seat = await apply(w, "--only", short(find(all, "M9", "C1")));
    const named = /→ add (?<words>.*)/u.exec(seat.stderr)?.groups?.["words"] ?? "";
    expect(named.split(/ (?=--only)/u).sort()).toEqual(needed);
    for (const words of [
      ["--only", "00000000"],
      ["--only", short(order).slice(0, 4)],
      ["--only", short(order)],
      ["--customer", "C9"],
    ]) {
      const refused = await apply(w, ...words);
      expect([refused.exitCode, refused.calls], words.join(" ")).toEqual([64, {}]);
    }
    expect((await w.run("apply", "--only", short(order))).exitCode, "without a file").toBe(64);
  });

  it("names what changed since it was made, and applies what did not change", { tags: "long" }, async () => {
    const w = await world({ records: company(3, 2) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const person of w.staff) if (person.id.endsWith("-2")) person.holds = [];
    w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
    w.write();
    await planned(w);
    w.orders.push({ id: "O8", customer: "C1", assets: ["O8-A1"] });
    for (const person of w.staff) if (person.id === "S2-1") person.name = "Another name";
    w.write();
    await w.run("plan");
    const applied = await apply(w);
    expect([applied.exitCode, applied.calls], applied.stdout).toEqual([3, { M9: 1 }]);
    const shown = JSON.stringify(await w.ask("run", "show", "last"));
    for (const record of ["order crm/O8", "staff crm/S2-1"]) expect(shown).toContain(record);
  });

  it.each([
    ["whose answer was lost", "appliedNoReply", 1],
    ["that never arrived", "resetBefore", 0],
  ] as const)("does not send an operation again %s", async (_what, fault, enterprises) => {
    const w = await world({ records: company(2, 1) });
    const enterprise = find(await planned(w), "E2", "C1");
    w.environment["CRM_SYNC__settle__maxWaitMs"] = "0";
    w.sandbox.faults.add({ operation: "E2", fault });
    expect((await apply(w, "--only", short(enterprise))).calls).toEqual({ E2: 1 });
    w.sandbox.faults.clear();
    const second = await apply(w, "--only", short(enterprise));
    expect([second.exitCode, second.calls]).toEqual([64, {}]);
    expect(w.sandbox.state().enterprises).toBe(enterprises);
  });

  it("sends nothing whose need an earlier run took and did not carry out", { tags: "long" }, async () => {
    const w = await world({ records: company(2, 1) });
    w.staff.push({ id: "S1-2", customer: "C1", holds: [] });
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const holds: Record<string, string[]> = { "S1-1": [], "S1-2": ["O1-A1"], "S2-1": [] };
    w.staff = w.staff.map((item) => ({ ...item, holds: holds[item.id] ?? [] }));
    w.write();
    const revoke = (await planned(w)).find(({ subject }) => subject === "staff:crm/S1-1");
    w.sandbox.faults.add({ operation: "M9", fault: "status299", code: "60026", times: 1 });
    expect((await apply(w, "--only", short(revoke))).calls).toEqual({ M9: 1 });
    const applied = await apply(w);
    expect(applied.calls, "the seat of the other customer alone").toEqual({ M9: 1 });
    expect(w.sandbox.state().assignments).toBe(1);
  });
});
