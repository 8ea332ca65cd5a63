import { describe, expect, it } from "vitest";
import type { World } from "../support/cli.ts";
import { callerOf, createEnterprise } from "../sandbox/caller.ts";
import { outcome } from "../support/world/members.ts";
import { productsBy, runsUntilQuiet } from "../support/world/moved-orders.ts";
import { amend, line, numberOf, orderOf, placedOrders, rule, standing } from "../scenarios/life/placed-orders.ts";

/** Runs that are taken back after something else happened: other runs, people at the platform, moves and renewals. */

/** What takes things away is done without a person. */
function applyAll(w: World): void {
  for (const name of ["orders.ended", "orders.cancelled", "orders.moved", "staff.left", "locks.locked"])
    rule(w, name, "apply");
  w.environment["CRM_SYNC__limits__taking__enterprise__floor"] = "100";
  w.environment["CRM_SYNC__limits__taking__run__floor"] = "100";
}

/** The last run of the job. */
function lastRun(w: World, job = "everything"): string {
  const [run] = w.rows<{ id: string }>("select id from run where job = ? order by started_at desc limit 1", job);
  return run?.id ?? "";
}

/** Writes the CRM and runs; the id of that run. */
async function runs(w: World, exitCode = 0): Promise<string> {
  w.write();
  const run = await w.does("run", "everything");
  expect(run.exitCode, run.stdout).toBe(exitCode);
  return lastRun(w);
}

/** What an undo prints, and what applying it sends. */
async function undoes(w: World, run: string): Promise<{ text: string; calls: Record<string, number> }> {
  const file = w.path(`undo-${run}.ndjson`);
  const undo = await w.does("undo", run, "--out", file);
  expect(undo.calls, undo.stdout).toEqual({});
  const { calls, stdout } = await w.does("apply", file);
  return { text: undo.stdout + stdout, calls };
}

const newer = "something newer was sent since; take that back first";

describe("undo of a run after others did the same again", () => {
  it("leaves a seat as the newer run left it, and gives the other customer's back", { tags: "long" }, async () => {
    const w = await placedOrders();
    applyAll(w);
    const holds = (...first: string[]): void => {
      w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: first } : item));
    };
    w.staff = w.staff.map((item) => ({ ...item, holds: [] }));
    const taken = await runs(w);
    holds("A1");
    const given = await runs(w);
    holds();
    await runs(w);
    const first = await undoes(w, taken);
    expect(first.text).toMatch(new RegExp(`impossible +op_\\S+ M9 staff:crm/S1: ${newer}`, "u"));
    expect(first.text).toMatch(/exact +op_\S+ M9 staff:crm\/S2\n/u);
    expect(first.calls).toEqual({ M9: 1 });
    expect(standing(w)["assignments"]).toBe(1);

    holds("A1");
    await runs(w);
    expect(standing(w)["assignments"]).toBe(1);
    const second = await undoes(w, given);
    expect(second.text).toMatch(new RegExp(`impossible +op_\\S+ M9 staff:crm/S1: ${newer}`, "u"));
    expect([second.calls, standing(w)["assignments"]]).toEqual([{}, 1]);
  });

  it("leaves a name and a branch that were changed there and back", async () => {
    const w = await placedOrders();
    applyAll(w);
    const called = (name: string, branch: string): void => {
      w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, name } : item));
      w.customers = w.customers.map((item) => (item.id === "C1" ? { ...item, branch } : item));
    };
    w.customers = w.customers.map((item) => ({ ...item, branch: "South" }));
    called("Another name", "South");
    const run = await runs(w);
    called("Third name", "North");
    await runs(w);
    called("Another name", "South");
    await runs(w);
    const { text, calls } = await undoes(w, run);
    expect(text).toMatch(new RegExp(`impossible +op_\\S+ E4 customer:crm/C1: ${newer}`, "u"));
    expect(text).toMatch(new RegExp(`impossible +op_\\S+ M2 profile:crm/S1: ${newer}`, "u"));
    expect(calls).toEqual({ E4: 1 });
  });

  it("buys nothing that was bought again and taken away once more", { tags: "long" }, async () => {
    const w = await placedOrders();
    applyAll(w);
    const [both, one] = [[line("P1", "A1"), line("Q1", "A1")], [line("P1", "A1")]];
    amend(w, "1", { products: one });
    const run = await runs(w);
    amend(w, "1", { products: both });
    await runs(w);
    amend(w, "1", { products: one });
    const last = await runs(w);
    expect(standing(w)["products"]).toBe(3);
    const { text, calls } = await undoes(w, run);
    expect([calls, standing(w)["products"]], text).toEqual([{}, 3]);
    expect((await undoes(w, last)).calls).toEqual({ E5: 1 });
    expect(standing(w)["products"]).toBe(4);
    // A second file of the same, and the same run once more: nothing is bought twice.
    const again = await undoes(w, last);
    expect([again.calls, standing(w)["products"]], again.text).toEqual([{}, 4]);
  });

  it(
    "of two files of the same run, and of a run and what took it back, does each thing once",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      applyAll(w);
      w.orders.push(orderOf("3", "C1"));
      w.staff.push({ id: "S3", customer: "C1", holds: ["A3"] });
      const run = await runs(w);
      for (const name of ["one", "two"]) await w.run("undo", run, "--out", w.path(name));
      expect((await w.does("apply", w.path("one"))).calls).toEqual({ E5: 1, M4: 1, M9: 1 });
      const twice = await w.does("apply", w.path("two"));
      expect(outcome(twice), twice.stdout).toEqual([3, {}]);
      expect(twice.stdout).toContain("refused: crm/C1 changed since the plan was made");

      const applied = w.rows<{ id: string }>("select id from run where job = 'apply' order by started_at limit 1");
      const { text, calls } = await undoes(w, applied[0]?.id ?? "");
      expect(text).toContain("the next run goes by what the CRM says, as ever\n");
      expect(text).toMatch(/impossible +op_\S+ M9 staff:crm\/S3: the account that held them, \d+, is gone/u);
      expect([calls, standing(w)], text).toEqual([
        { E5: 1, M1: 1 },
        { products: 6, assets: 3, assignments: 2 },
      ]);
      expect((await w.does("run", "everything")).calls).toEqual({ M9: 1 });
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    },
  );
});

it("an undo buys nothing in the enterprise that a customer was linked with since", { tags: "long" }, async () => {
  const w = await placedOrders({ staff: [] });
  applyAll(w);
  const [one] = [[line("P1", "A1")]];
  w.orders.push(orderOf("3", "C1"));
  amend(w, "1", { products: one });
  const run = await runs(w);
  const other = await createEnterprise(callerOf(w.sandbox.url), "C1");
  const because = ["--reason", "the service desk said so"];
  expect((await w.run("unlink", "C1", "--keep-standing", ...because)).exitCode).toBe(0);
  expect((await w.run("link", "C1", other.enterpriseGlobalId, ...because)).exitCode).toBe(0);
  const before = standing(w);
  const { text, calls } = await undoes(w, run);
  expect([calls, standing(w)], text).toEqual([{}, before]);
  for (const order of ["1", "3"])
    expect(text).toMatch(new RegExp(`impossible +op_\\S+ E5 order:crm/${order}: it stands in the enterprise`, "u"));
});

describe("undo of a run with an order that moved to another customer", () => {
  const there = { C2: ["P1 1-1", "P2 2", "Q1 1-1", "Q2 2"] };

  it.each(["overlap", "gap"])("never leaves it standing nowhere (%s)", { tags: "long" }, async (replacement) => {
    const w = await placedOrders({ staff: [] });
    applyAll(w);
    w.environment["CRM_SYNC__policies__replacement"] = replacement;
    amend(w, "1", { customer: "C2" });
    const ids: string[] = [];
    for (const _ of [1, 2, 3, 4, 5]) {
      const { calls } = await w.does("run", "everything");
      if (Object.keys(calls).length > 0) ids.push(lastRun(w));
    }
    expect(ids.length).toBeGreaterThan(1);
    const stands = await productsBy(w);
    expect(stands["C1"]).toBeUndefined();
    for (const id of ids) {
      const { text, calls } = await undoes(w, id);
      expect([calls, await productsBy(w)], text).toEqual([{}, stands]);
      expect(text).toMatch(
        /impossible +op_\S+ E5 order:crm\/1: (?:the order moved here in the CRM|the ledger knows of nothing)/u,
      );
    }
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual(stands);
  });

  it(
    "leaves it at both while it stands at both, and takes back what was bought of it later",
    { tags: "long" },
    async () => {
      const w = await placedOrders({ staff: [] });
      applyAll(w);
      rule(w, "orders.moved", "hold");
      amend(w, "1", { customer: "C2" });
      await w.does("run", "everything");
      const bought = lastRun(w);
      const first = await undoes(w, bought);
      expect(first.calls, first.text).toEqual({});
      rule(w, "orders.moved", "apply");
      await runsUntilQuiet(w);
      expect(await productsBy(w)).toEqual(there);
      amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
      const later = await runs(w);
      expect((await undoes(w, later)).calls).toEqual({ E5: 1 });
      expect(await productsBy(w)).toEqual(there);
    },
  );
});

describe("undo of a run with a renewal", () => {
  const renewal = {
    id: "3",
    customer: "C1",
    assets: [{ id: "B3", continues: { order: "1", instance: "A1" } }],
    products: [line("R3", "B3"), line("T3", "B3")],
  };

  it(
    "takes the renewal away, and the asset stays for the earlier order and who holds it",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      applyAll(w);
      const before = standing(w);
      const number = numberOf(w, "A1");
      w.orders.push(renewal);
      const run = await runs(w);
      const { text, calls } = await undoes(w, run);
      expect([calls, standing(w)], text).toEqual([{ E5: 1 }, before]);
      expect(numberOf(w, "A1")).toBe(number);
      expect((await w.does("run", "verify")).stdout).not.toContain("not as placed");
      await runsUntilQuiet(w);
      expect(standing(w)["products"]).toBe(6);
    },
  );

  it("buys a product of it again under the same number, and nothing by guess", { tags: "long" }, async () => {
    const w = await placedOrders();
    applyAll(w);
    w.orders.push(renewal);
    await runs(w);
    amend(w, "3", { products: [line("R3", "B3")] });
    const run = await runs(w);
    expect(standing(w)).toMatchObject({ products: 5, assets: 2 });
    const { text, calls } = await undoes(w, run);
    expect([calls, standing(w)], text).toEqual([{ E5: 1 }, { products: 6, assets: 2, assignments: 2 }]);
  });

  it(
    "of the run that ended the earlier order buys that again beside it, under another number",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      applyAll(w);
      const number = numberOf(w, "A1");
      w.orders.push(renewal);
      const renewed = await runs(w);
      amend(w, "1", { cancelled: true });
      const ended = await runs(w);
      expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
      const { text, calls } = await undoes(w, ended);
      expect([calls, standing(w)], text).toEqual([{ E5: 1 }, { products: 6, assets: 3, assignments: 2 }]);
      expect(text).toMatch(/approximate +op_\S+ E5 order:crm\/1: it is bought again under another order number/u);
      await runsUntilQuiet(w);
      expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
      // The asset goes with the renewal, which is the last that it has: whoever holds it is told of before.
      const undo = await w.run("undo", renewed);
      expect(undo.stdout).toContain(`delete_asset`);
      expect(undo.stdout).toContain(number);
    },
  );
});

it("an undo gives a seat back that the run gave to somebody else", { tags: "long" }, async () => {
  const w = await placedOrders();
  applyAll(w);
  w.staff.push({ id: "S5", customer: "C1", holds: [] });
  await runs(w);
  const held = (): unknown => w.rows("select asset_number, staff_id from assignment where to_at is null order by 1");
  const before = held();
  w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [] } : item));
  w.staff = w.staff.map((item) => (item.id === "S5" ? { ...item, holds: ["A1"] } : item));
  const run = await runs(w);
  expect(held()).not.toEqual(before);
  const { text, calls } = await undoes(w, run);
  expect([calls, held()], text).toEqual([{ M9: 2 }, before]);
});
