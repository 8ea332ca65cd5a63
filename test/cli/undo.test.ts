import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { World } from "../support/cli.ts";
import { document, world } from "../support/cli.ts";
import { assetRow, company } from "../support/world/crm.ts";
import { membersOf } from "../support/world/members.ts";
import { amend, line, openHold, orderOf, placedOrders, rule, standing } from "../scenarios/life/placed-orders.ts";

/** The last run of the job. */
function lastRun(w: World): string {
  const [run] = w.rows<{ id: string }>("select id from run where job = 'everything' order by started_at desc limit 1");
  return run?.id ?? "";
}

/** The steps of an undo as `how endpoint subject`, newest first. */
async function steps(w: World, run: string, ...words: string[]): Promise<string[]> {
  const undo = document(await w.run("--json", "undo", run, ...words));
  return undo.steps.map((step: Record<string, string>) => `${step["how"]} ${step["endpoint"]} ${step["subject"]}`);
}

/** What takes things away is done without a person. */
function applyAll(w: World): void {
  for (const name of ["orders.ended", "staff.left", "locks.locked"]) rule(w, name, "apply");
  w.environment["CRM_SYNC__limits__taking__enterprise__floor"] = "100";
  w.environment["CRM_SYNC__limits__taking__run__floor"] = "100";
}

describe("undo", () => {
  it("says of a run that carried nothing out that there is nothing to take back", async () => {
    const w = await placedOrders();
    expect((await w.does("run", "everything")).calls).toEqual({});
    const told = await w.run("undo", lastRun(w));
    expect(told.exitCode, told.stderr).toBe(0);
    expect(told.stdout).toBe(`${lastRun(w)} carried nothing out: there is nothing to take back\n`);
  });

  it(
    "takes `last` for the newest run that carried something out, whatever was read or planned since",
    { tags: "long" },
    async () => {
      const nothing = await (await world({ records: company(1, 1) })).run("undo", "last");
      expect([nothing.exitCode, nothing.stderr.split("\n")[0]]).toEqual([
        64,
        "no run of this ledger carried anything out",
      ]);
      const w = await placedOrders();
      applyAll(w);
      const first = lastRun(w);
      w.customers = w.customers.map((item) => ({ ...item, branch: "South" }));
      w.write();
      expect((await w.does("run", "everything")).calls).toEqual({ E4: 2 });
      const renamed = lastRun(w);
      expect((await w.does("run", "everything")).calls).toEqual({});
      for (const words of [["run", "verify"], ["plan"]]) await w.run(...words);
      const file = w.path("undo.ndjson");
      const undo = await w.run("undo", "last", "--out", file);
      expect([undo.exitCode, undo.stdout.split("\n")[0]]).toEqual([
        2,
        `2 step(s) take ${renamed} back: 2 exact, 0 approximate, 0 impossible`,
      ]);
      expect(readFileSync(file, "utf8").split("\n")[0]).toContain(`"undo":"${renamed}"`);
      const applied = await w.does("apply", file);
      expect(applied.calls, applied.stdout).toEqual({ E4: 2 });
      const [again] = (await w.run("undo", "last")).stdout.split("\n");
      expect(again).not.toContain(first);
      expect(again).not.toContain(renamed);
      expect(again).toMatch(/^2 step\(s\) take run_\S+ back/u);
    },
  );

  it(
    "takes back names, people, seats and orders of one run, newest first, and the next run does them again",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      applyAll(w);
      const people = async (): Promise<unknown> =>
        [...(await membersOf(w, "C1")).values()].map(({ globalId, name, assetNums }) => [globalId, name, assetNums]);
      const before = { standing: standing(w), people: await people() };
      const names = (): unknown =>
        w.rows("select customer_id, fields from acknowledged where to_at is null order by 1");
      const acknowledged = names();
      w.customers = w.customers.map((item) => (item.id === "C1" ? { ...item, branch: "South" } : item));
      w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, name: "Another name" } : item));
      w.orders.push(orderOf("3", "C1"));
      w.staff.push({ id: "S3", customer: "C1", holds: ["A3"] });
      w.write();
      const run = await w.does("run", "everything");
      expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E4: 1, E5: 1, M1: 1, M2: 1, M9: 1 }]);
      const second = lastRun(w);

      const undo = await w.does("undo", second, "--out", w.path("undo.ndjson"));
      expect([undo.exitCode, undo.calls], undo.stdout).toEqual([2, {}]);
      expect(undo.stdout.split("\n")[0]).toMatch(
        /^5 step\(s\) take run_\S+ back: 3 exact, 2 approximate, 0 impossible$/u,
      );
      expect(undo.stdout).toContain("the next run of everything does it again unless the CRM changes\n");
      const marked = await steps(w, second);
      expect(marked[0]).toBe("exact M9 staff:crm/S3");
      expect(marked.toSorted()).toEqual([
        "approximate E5 order:crm/3",
        "approximate M1 staff-of:crm/C1",
        "exact E4 customer:crm/C1",
        "exact M2 profile:crm/S1",
        "exact M9 staff:crm/S3",
      ]);
      expect(standing(w)).not.toEqual(before.standing);

      const applied = await w.does("apply", w.path("undo.ndjson"));
      expect([applied.exitCode, applied.calls], applied.stdout).toEqual([3, { E4: 1, E5: 1, M2: 1, M4: 1, M9: 1 }]);
      expect(standing(w)).toEqual(before.standing);
      expect(names()).toEqual(acknowledged);
      expect(await people()).toEqual(before.people);
      const nothing = await w.does("undo", second);
      expect([nothing.exitCode, nothing.calls], nothing.stdout).toEqual([0, {}]);
      expect(nothing.stdout).toContain("nothing of it is left to be taken back");
      expect((await w.does("apply", w.path("undo.ndjson"))).exitCode).toBe(64);

      const again = await w.does("run", "everything");
      expect([again.exitCode, again.calls], again.stdout).toEqual([0, { E4: 1, E5: 1, M1: 1, M2: 1, M9: 1 }]);
      expect((await w.does("run", "everything")).calls).toEqual({});
    },
  );

  it(
    "buys again what a run deleted and gives back the seats that it took, and leaves the other customer alone",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      applyAll(w);
      w.orders = w.orders.map((item) => ({ ...item, products: [line(`P${item.id}`, `A${item.id}`)] }));
      w.staff = w.staff.map((item) => ({ ...item, holds: [] }));
      w.write();
      const run = await w.does("run", "everything");
      expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 2, M9: 2 }]);
      const undone = lastRun(w);
      const marked = await steps(w, undone, "--out", w.path("undo.ndjson"));
      expect(marked.toSorted()).toEqual([
        "approximate E5 order:crm/1",
        "approximate E5 order:crm/2",
        "exact M9 staff:crm/S1",
        "exact M9 staff:crm/S2",
      ]);
      const applied = await w.does("apply", w.path("undo.ndjson"), "--only-customer", "C1");
      expect(applied.calls, applied.stdout).toEqual({ E5: 1, M9: 1 });
      expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 1 });
      const again = await w.does("run", "everything");
      expect(again.calls, again.stdout).toEqual({ E5: 1, M9: 1 });
      expect(standing(w)).toEqual({ products: 2, assets: 2, assignments: 0 });
    },
  );

  it(
    "is held by policies and limits as ever, and an ordinary run does not end the hold",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      w.orders.push(orderOf("3", "C1"), orderOf("4", "C2"));
      w.write();
      expect((await w.does("run", "everything")).exitCode).toBe(0);
      const before = standing(w);
      const undone = lastRun(w);
      await w.run("undo", undone, "--out", w.path("undo.ndjson"));
      const held = await w.does("apply", w.path("undo.ndjson"), "--only-customer", "C1");
      expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
      const hold = openHold(w);
      const again = `crm-sync approve ${hold} --reason TEXT, then crm-sync apply ${w.path("undo.ndjson")} again`;
      expect(held.stdout).toContain(`next: hold ${hold} of crm/C1 takes a run back: ${again}; no other run`);
      expect((await w.run("status")).stdout).toContain(
        "and then crm-sync apply UNDO, since no other run carries it out",
      );
      const between = await w.does("run", "everything");
      expect(between.calls, between.stdout).toEqual({});
      expect(openHold(w)).toBe(hold);
      const approved = await w.run("approve", hold, "--reason", "it was a mistake");
      expect(approved.stdout).toContain(
        "`crm-sync apply UNDO`, with the file of the undo, and no other run carries out",
      );
      const explained = await w.run("explain", "order", "3");
      expect(explained.stdout).toContain("crm-sync apply UNDO, with the file of the undo: no other run carries it out");
      expect((await w.does("run", "everything")).calls).toEqual({});
      expect(standing(w)).toEqual(before);
      const applied = await w.does("apply", w.path("undo.ndjson"), "--only-customer", "C1");
      expect(applied.calls, applied.stdout).toEqual({ E5: 1 });
      expect(w.rows("select state from hold")).toEqual([{ state: "used" }]);
      expect(w.sandbox.state()).toMatchObject({ assets: 3, products: 6 });
    },
  );

  it(
    "says what nothing takes back: what is newer, held by another or not kept, and of what a person asked",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      applyAll(w);
      w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [] } : item));
      w.customers = w.customers.map((item) => ({ ...item, branch: "South" }));
      w.write();
      expect((await w.does("run", "everything")).exitCode).toBe(0);
      const undone = lastRun(w);
      w.staff.push({ id: "S4", customer: "C1", holds: ["A1"] });
      w.customers = w.customers.map((item) => (item.id === "C1" ? { ...item, branch: "North" } : item));
      w.write();
      expect((await w.does("run", "everything")).exitCode).toBe(0);
      const undo = await w.run("undo", undone);
      expect(undo.stdout).toMatch(/impossible +op_\S+ M9 staff:crm\/S1: the asset \d+ is held by another member/u);
      expect(undo.stdout).toMatch(/impossible +op_\S+ E4 customer:crm\/C1: something newer was sent since/u);
      expect(undo.stdout).toMatch(/exact +op_\S+ E4 customer:crm\/C2\n/u);
      const unknown = await w.run("undo", "run_nobody");
      expect([unknown.exitCode, unknown.stderr]).toEqual([64, expect.stringContaining("there is no run run_nobody")]);
    },
  );

  it(
    "that was saved is refused where it was edited, and stale where the CRM or the platform moved",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      applyAll(w);
      w.orders.push(orderOf("3", "C1"), orderOf("4", "C2"));
      w.write();
      expect((await w.does("run", "everything")).exitCode).toBe(0);
      const file = w.path("undo.ndjson");
      await w.run("undo", lastRun(w), "--out", file);
      const saved = readFileSync(file, "utf8");
      writeFileSync(file, saved.replace(/"undo":"run_\w+"/u, '"undo":"run_other"'));
      expect((await w.does("apply", file)).exitCode).toBe(64);
      writeFileSync(file, saved);
      amend(w, "3", { products: [line("P3", "A3")] });
      await w.run("plan");
      const applied = await w.does("apply", file);
      expect([applied.exitCode, applied.calls], applied.stdout).toEqual([3, { E5: 1 }]);
      expect(applied.stdout).toContain("refused: crm/C1 changed since the plan was made: order crm/3");
      expect(w.sandbox.state()).toMatchObject({ assets: 3, products: 6 });
    },
  );

  it("goes on after a lost answer without doing anything twice", { tags: "long" }, async () => {
    const w = await placedOrders();
    applyAll(w);
    w.orders.push(orderOf("3", "C1"), orderOf("4", "C2"));
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    const file = w.path("undo.ndjson");
    await w.run("undo", lastRun(w), "--out", file);
    w.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", times: 1 });
    const applied = await w.does("apply", file);
    w.sandbox.faults.clear();
    expect(applied.calls, applied.stdout).toEqual({ E5: 2 });
    expect(w.sandbox.state()).toMatchObject({ assets: 2, products: 4 });
    expect((await w.does("apply", file)).calls).toEqual({});
    expect(w.sandbox.state()).toMatchObject({ assets: 2, products: 4 });
  });

  it(
    "leaves the enterprises that a first run made, and takes everything else of it away",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      applyAll(w);
      const undo = await w.run("undo", lastRun(w), "--out", w.path("undo.ndjson"));
      expect(undo.stdout).toMatch(/impossible +op_\S+ E2 customer:crm\/C1: no call takes an enterprise away/u);
      const applied = await w.does("apply", w.path("undo.ndjson"));
      expect(applied.calls, applied.stdout).toEqual({ E5: 2, M4: 2, M9: 2 });
      expect(w.sandbox.state()).toMatchObject({ enterprises: 2, products: 0, assets: 0, assignments: 0 });
      const left = await w.does("undo", lastRun(w));
      expect([left.exitCode, left.calls], left.stdout).toEqual([3, {}]);
      const again = await w.does("run", "everything");
      expect(again.calls, again.stdout).toEqual({ E5: 2, M1: 2, M9: 2 });
      expect((await w.does("run", "everything")).calls).toEqual({});
    },
  );

  it(
    "switches locks back that the CRM had locked, and they stay so until somebody asks otherwise",
    { tags: "long" },
    async () => {
      const records = company(2, 1);
      const lockable = records.orders.map((order) => ({
        ...order,
        assets: order.assets.map((asset) => ({ ...assetRow(asset), type: "normal_recover_usbkey" as const })),
      }));
      const w = await world({ records: { ...records, orders: lockable } });
      applyAll(w);
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      w.orders = w.orders.map((order) => ({
        ...order,
        assets: order.assets.map((asset) => ({ ...assetRow(asset), locked: true })),
      }));
      w.write();
      const run = await w.does("run", "everything");
      const locked = w.sandbox.state().lockedAssets;
      expect([run.exitCode, run.calls, locked > 0], run.stdout).toEqual([0, { E6: 2 }, true]);
      expect(await steps(w, lastRun(w), "--out", w.path("undo.ndjson"))).toEqual([
        expect.stringMatching(/^exact E6 locks:/u),
        expect.stringMatching(/^exact E6 locks:/u),
      ]);
      const applied = await w.does("apply", w.path("undo.ndjson"), "--only-customer", "C1");
      expect([applied.calls, w.sandbox.state().lockedAssets], applied.stdout).toEqual([{ E7: 1 }, locked / 2]);
      expect((await w.run("explain", "customer", "C1")).stdout).toMatch(/lock \d+ is unlocked: status 1/u);
      expect((await w.does("run", "everything")).calls).toEqual({});
    },
  );

  it(
    "takes a replacement back: the old form is bought again, and what took its place goes",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      applyAll(w);
      for (const name of ["orders.replaced"]) rule(w, name, "apply");
      w.environment["CRM_SYNC__policies__replacement"] = "gap";
      const nodes = (): unknown => w.rows("select items from order_step order by number");
      amend(w, "1", { products: [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")] });
      const run = await w.does("run", "everything");
      expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 2 }]);
      expect(nodes()).toHaveLength(2);
      const undone = lastRun(w);
      await w.run("undo", undone, "--out", w.path("undo.ndjson"));
      const applied = await w.does("apply", w.path("undo.ndjson"));
      expect(applied.calls, applied.stdout).toEqual({ E5: 2 });
      expect(w.sandbox.state()).toMatchObject({ products: 4, assets: 2 });
      expect((await w.does("undo", undone)).exitCode).toBe(0);
      const again = await w.does("run", "everything");
      expect(again.calls, again.stdout).toEqual({ E5: 2 });
      expect((await w.does("run", "everything")).calls).toEqual({});
      expect(w.sandbox.state()).toMatchObject({ products: 4, assets: 2 });
    },
  );

  it(
    "deletes no account that a later run made, and adds a deleted one again as another member",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      applyAll(w);
      w.extra = "limits: { absenceReads: 1, absenceTime: 0s }\n";
      const crm = structuredClone(w.staff);
      const come = [...crm, { id: "S3", customer: "C1", holds: [] }, { id: "S4", customer: "C2", holds: [] }];
      const runs: string[] = [];
      for (const staff of [come, come.filter(({ id }) => id !== "S3"), come]) {
        w.staff = staff;
        w.write();
        const run = await w.does("run", "everything");
        expect(run.exitCode, run.stdout).toBe(0);
        runs.push(lastRun(w));
      }
      const [added = "", left = ""] = runs;
      const undo = await w.run("undo", added, "--out", w.path("undo.ndjson"));
      expect(undo.stdout).toMatch(/approximate +op_\S+ M1 staff-of:crm\/C1: .*nothing of it is left to be taken back/u);
      expect((await w.does("apply", w.path("undo.ndjson"))).calls).toEqual({ M4: 1 });
      expect([...(await membersOf(w, "C1")).values()]).toHaveLength(4);
      expect((await w.run("undo", left)).stdout).toMatch(/M4 account:crm\/S3: .*nothing of it is left/u);

      w.staff = come.filter(({ id }) => id !== "S3");
      w.write();
      expect((await w.does("run", "everything")).calls).toMatchObject({ M4: 1 });
      await w.run("undo", lastRun(w), "--out", w.path("undo.ndjson"));
      const back = await w.does("apply", w.path("undo.ndjson"));
      // The same run added S4 again, which goes, and deleted S3, who comes back.
      expect(back.calls, back.stdout).toEqual({ M1: 1, M4: 1 });
      expect((await w.does("run", "everything")).calls).toEqual({ M1: 1, M4: 1 });
    },
  );

  it.each(["refused", "held"])(
    "leaves the new form where it is while the old one is %s",
    { tags: "long" },
    async (what) => {
      const w = await placedOrders();
      applyAll(w);
      rule(w, "orders.replaced", "apply");
      amend(w, "1", { products: [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")] });
      expect((await w.does("run", "everything")).calls).toEqual({ E5: 2 });
      if (what === "held") rule(w, "orders.added", "hold");
      await w.run("undo", lastRun(w), "--out", w.path("undo.ndjson"));
      if (what === "refused") w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
      await w.does("apply", w.path("undo.ndjson"));
      expect(standing(w)).toMatchObject({ products: 4 });
    },
  );
});
