import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { until, world } from "../support/cli.ts";
import type { Parsed, World } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";

/** The operations of a saved plan, with the customer that each is for. */
function saved(w: World): Parsed[] {
  const lines = readFileSync(w.path("plan.ndjson"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Parsed => JSON.parse(line));
  return lines.flatMap((line) =>
    line.type === "customer" ? line.operations.map((operation: Parsed) => ({ ...operation, customer: line.id })) : [],
  );
}

async function planned(w: World): Promise<Parsed[]> {
  await w.run("plan", "--out", w.path("plan.ndjson"));
  return saved(w);
}

const short = (operation: Parsed): string => operation.hash.slice(0, 8);

describe("a saved plan", () => {
  it(
    "says of each operation why, what before and after, what is sent, what it weighs, what would hold it and what it needs",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: company(2, 2) });
      const first = await planned(w);
      const of = (endpoint: string) => first.find((item) => item.endpoint === endpoint && item.customer === "C1");
      expect(of("E2")).toMatchObject({
        needs: [],
        policy: null,
        heldBy: null,
        before: null,
        reason: expect.any(String),
      });
      expect(of("E5").needs).toEqual([of("E2").hash]);
      expect(of("E5").lines.join("\n")).toContain("orderList[0]");
      expect(of("M9").needs).toEqual([of("E5").hash, of("M1").hash]);
      expect((await w.run("apply", w.path("plan.ndjson"))).exitCode).toBe(0);

      w.extra = "policies: { seats: { revoked: hold } }\n";
      for (const person of w.staff) if (person.id === "S1-1") person.holds = [];
      w.write();
      const [revoke] = await planned(w);
      expect(revoke).toMatchObject({
        endpoint: "M9",
        policy: "seats.revoked",
        weight: { seats: 1, lastAsset: 1 },
        heldBy: { scope: "policy", explanation: expect.stringContaining("policies.seats.revoked is hold") },
        before: expect.any(Object),
        records: [{ stream: "staff", namespace: "crm", id: "S1-1" }],
      });
      const [header] = readFileSync(w.path("plan.ndjson"), "utf8").split("\n");
      expect(JSON.parse(header ?? "")).toMatchObject({ format: 2, version: expect.stringMatching(/^\d+\.\d+/u) });
    },
  );

  it.each([
    ["parked", "and its outcome is not known yet (parked)"],
    ["dropped", "which did not carry it out (dropped)"],
  ])("names what became of what was taken before: %s", { tags: "long" }, async (state, said) => {
    const w = await world({ isOnMachineTime: true, records: company(1, 1) });
    const order = (await planned(w)).find((item) => item.endpoint === "E5");
    const file = w.path("plan.ndjson");
    expect((await w.run("apply", file)).exitCode).toBe(0);
    w.tamper(`update operation set state = '${state}' where endpoint = 'E5'`);
    const again = await w.does("apply", file, "--only", short(order));
    expect([again.exitCode, again.calls]).toEqual([64, {}]);
    expect(again.stderr).toContain(said);
    expect(again.stderr).not.toContain("was applied");
  });

  it("is applied in part, each operation once, and the rest is left to the next run", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true, records: company(3, 2) });
    const all = await planned(w);
    const [enterprise] = all.filter((item) => item.endpoint === "E2" && item.customer === "C2");
    const file = w.path("plan.ndjson");
    const one = await w.does("apply", file, "--only", short(enterprise));
    expect([one.exitCode, one.calls], one.stdout).toEqual([3, { E2: 1 }]);
    expect(
      w.rows("select code from (select distinct deferred_code as code from record where deferred_code is not null)"),
    ).toEqual([{ code: "plan.not-chosen" }]);
    const twice = await w.does("apply", file, "--only", short(enterprise));
    expect([twice.exitCode, twice.calls]).toEqual([64, {}]);
    expect(twice.stderr).toMatch(
      new RegExp(`op ${short(enterprise)} E2 customer:crm/C2 was applied by run_\\S+ already`, "u"),
    );

    const customer = await w.does("apply", file, "--only-customer", "C2");
    expect([customer.exitCode, customer.calls], customer.stdout).toEqual([0, { E5: 1, E9: 1, M1: 1, M9: 2 }]);
    const rest = await w.does("apply", file);
    expect([rest.exitCode, rest.calls], rest.stdout).toEqual([0, { E2: 2, E5: 2, M1: 2, M9: 4 }]);
    expect(rest.stderr).toContain(`op ${short(enterprise)} E2 customer:crm/C2 was applied by run_`);
    expect(w.sandbox.state()).toMatchObject({ enterprises: 3, addedStaff: 6 });
    const done = await w.does("run", "everything");
    expect([done.exitCode, done.calls]).toEqual([0, {}]);
    expect(w.rows("select count(*) as count, count(distinct hash) as different from applied_plan")).toEqual([
      { count: all.length, different: all.length },
    ]);
  });

  it("is refused where what is chosen is not in it, needs what is not chosen, or no file is named", async () => {
    const w = await world({ isOnMachineTime: true, records: company(2, 1) });
    const all = await planned(w);
    const [order] = all.filter((item) => item.endpoint === "E5" && item.customer === "C1");
    const refusals: [words: string[], why: RegExp][] = [
      [["--only", "00000000"], /it has no operation 00000000/u],
      [["--only", short(order).slice(0, 4)], /is too short for an operation/u],
      [
        ["--only", short(order)],
        /op [0-9a-f]{8} E5 order:crm\/O1 needs [0-9a-f]{8} E2 customer:crm\/C1, which was not chosen/u,
      ],
      [["--only-customer", "C9"], /it has nothing for the customer crm\/C9/u],
    ];
    for (const [words, why] of refusals) {
      const refused = await w.does("apply", w.path("plan.ndjson"), ...words);
      expect([refused.exitCode, refused.calls], words.join(" ")).toEqual([64, {}]);
      expect(refused.stderr).toMatch(why);
    }
    expect((await w.run("apply", "--only", short(order))).exitCode).toBe(64);
  });

  it(
    "says which facts moved, and applies nothing of that customer and everything of the others",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: company(3, 2) });
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      for (const person of w.staff) if (person.id.endsWith("-2")) person.holds = [];
      w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
      w.write();
      await planned(w);
      w.orders.push({ id: "O8", customer: "C1", assets: ["O8-A1"] });
      for (const person of w.staff) if (person.id === "S2-1") person.name = "Another name";
      w.write();
      await w.run("plan");
      const applied = await w.does("apply", w.path("plan.ndjson"));
      expect([applied.exitCode, applied.calls], applied.stdout).toEqual([3, { M9: 1 }]);
      expect(applied.stdout).toContain(
        "refused: crm/C1 changed since the plan was made: order crm/O8 came or changed in the CRM\n",
      );
      expect(applied.stdout).toContain(
        "refused: crm/C2 changed since the plan was made: staff crm/S2-1 changed in the CRM\n",
      );
      const shown = JSON.parse(
        (await w.run("--json", "run", "show", w.rows<{ id: string }>("select max(id) as id from run")[0]?.id ?? ""))
          .stdout,
      );
      expect(JSON.stringify(shown)).toContain("order crm/O8 came or changed in the CRM");
    },
  );

  it("of which one operation was sent and its answer lost is not sent again by the next apply", async () => {
    const w = await world({ isOnMachineTime: true, records: company(2, 1) });
    const all = await planned(w);
    const [enterprise] = all.filter((item) => item.endpoint === "E2" && item.customer === "C1");
    w.sandbox.faults.add({ operation: "E2", fault: "appliedNoReply" });
    const file = w.path("plan.ndjson");
    const first = await w.run("apply", file, "--only", short(enterprise));
    w.sandbox.faults.clear();
    expect(w.rows("select count(*) as count from applied_plan"), first.stdout).toEqual([{ count: 1 }]);
    const second = await w.does("apply", file, "--only", short(enterprise));
    expect([second.exitCode, second.calls]).toEqual([64, {}]);
    expect(w.sandbox.state().enterprises).toBe(1);
  });

  it(
    "sends nothing without what it needs, where an earlier run took that and did not carry it out",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: company(2, 1) });
      w.staff.push({ id: "S1-2", customer: "C1", holds: [] });
      w.write();
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const holds: Record<string, string[]> = { "S1-1": [], "S1-2": ["O1-A1"], "S2-1": [] };
      w.staff = w.staff.map((item) => ({ ...item, holds: holds[item.id] ?? [] }));
      w.write();
      const all = await planned(w);
      const revoke = all.find(({ subject }) => subject === "staff:crm/S1-1");
      w.tamper(
        `insert into applied_plan (plan, hash, run_id, at) select max(id), '${revoke.hash}', 'run_killed', started_at
       from run where job = 'plan'`,
      );
      const applied = await w.does("apply", w.path("plan.ndjson"));
      expect(applied.calls, applied.stdout).toEqual({ M9: 1 });
      expect(w.sandbox.state().assignments).toBe(1);
      expect((await w.does("run", "everything")).calls).toEqual({ M9: 2 });
      expect((await w.does("run", "everything")).calls).toEqual({});
    },
  );

  it(
    "that was killed while it was applied goes on where it was, and nothing of it is sent twice",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: company(6, 1), sandbox: { latencyMs: 40 } });
      // A purchase that the kill kept from being sent is not shown: it goes again once its settle time is over.
      w.extra = "settle: { timeMs: 1000, readings: 1, maxWaitMs: 20000 }\norders: { unseen: resend }\n";
      w.write();
      const all = await planned(w);
      const file = w.path("plan.ndjson");
      const killed = w.start("apply", file);
      const taken = (): number =>
        w.rows<{ count: number }>("select count(*) as count from applied_plan")[0]?.count ?? 0;
      // An enterprise in doubt waits for a person: the kill comes once all of them are there.
      const made = "select count(*) as count from operation where endpoint = 'E2' and state = 'done'";
      const enterprises = (): number => w.rows<{ count: number }>(made)[0]?.count ?? 0;
      await until("some of it is taken", () => taken() > 6 && enterprises() === 6);
      killed.child.kill("SIGKILL");
      await killed.ended;
      w.answerAtOnce();
      const before = taken();
      expect(before).toBeLessThan(all.length);
      const again = await w.run("apply", file);
      expect(again.stderr).toContain("was applied by run_");
      const run = await w.run("run", "everything");
      expect(run.exitCode, run.stdout).toBe(0);
      expect((await w.does("run", "everything")).calls).toEqual({});
      expect(w.sandbox.state()).toMatchObject({ enterprises: 6, licenseOrders: 6, addedStaff: 6 });
      expect(w.rows("select plan, hash from applied_plan group by 1, 2 having count(distinct run_id) > 1")).toEqual([]);
    },
  );
});
