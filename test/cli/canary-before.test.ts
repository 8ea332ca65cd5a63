import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { until, world } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";
import type { World } from "../support/cli.ts";
import { placeOf } from "../../src/run/canary.ts";
import { amend, line, numberOf, placedOrders, rule } from "../scenarios/life/placed-orders.ts";

/** Customers in the order in which shares take them, and shares of which the first holds so many of them. */
function taken(w: World, count: number): { ids: string[]; shares: string } {
  const all = w.customers
    .map(({ id }) => ({ id, place: placeOf({ namespace: "crm", id }) }))
    .toSorted((left, right) => left.place - right.place);
  const [last, next] = [all[count - 1]?.place ?? 0, all[count]?.place ?? 100];
  return { ids: all.map(({ id }) => id), shares: String((last + next) / 2) };
}

/** Every customer has another order in the CRM. */
function buyMore(w: World, letter: string): void {
  for (const { id } of w.customers)
    w.orders.push({ id: `${letter}${id}`, customer: id, assets: [`${letter}${id}-A1`] });
  w.write();
}

const drop = (w: World, asset: string): void =>
  void w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, asset), crmProductId: `${asset}-P` });

it.each(["report", "ignore"])(
  "what a run by shares left wrong stops every one after it, however many there are (drift.missing: %s)",
  { tags: "long" },
  async (word) => {
    const w = await world({ records: company(6, 1) });
    rule(w, "drift.missing", word);
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const { ids, shares } = taken(w, 2);
    const [one = ""] = ids;
    drop(w, `O${one.slice(1)}-A1`);
    buyMore(w, "N");
    const beside = await w.does("run", "everything", "--canary", shares);
    expect([beside.exitCode, beside.calls["E5"]], beside.stdout).toEqual([0, 6]);
    expect(beside.stdout).toContain("1 thing(s) stood otherwise before");
    buyMore(w, "M");
    w.sandbox.faults.add({ operation: "E5", fault: "slow", delayMs: 1000, nth: 1 });
    const had = w.sandbox.counts().calls["E5"] ?? 0;
    const running = w.does("run", "everything", "--canary", shares);
    await until("something is bought", () => (w.sandbox.counts().calls["E5"] ?? 0) > had);
    drop(w, `N${one}-A1`);
    const stopped = await running;
    w.sandbox.faults.clear();
    expect([stopped.exitCode, stopped.calls["E5"]], stopped.stdout).toEqual([3, 2]);
    for (const letter of ["K", "L"]) {
      buyMore(w, letter);
      const next = await w.does("run", "everything", "--canary", shares);
      expect([next.exitCode, next.calls["E5"]], `${letter}: ${next.stdout}`).toEqual([3, 2]);
    }
  },
);

it.each(["was free before", "is new"])(
  "a seat that a run by shares gives in vain stops it, where the seat %s",
  { tags: "long" },
  async (which) => {
    const w = await placedOrders(which === "is new" ? { staff: [] } : {});
    w.environment["CRM_SYNC__settle__timeMs"] = "30";
    rule(w, "drift.missing", "apply");
    const { ids, shares } = taken(w, 1);
    const [one = "", two = ""] = ids;
    const [seat, order] = [`A${one.slice(1)}`, two.slice(1)];
    if (which === "is new") w.staff = [{ id: "S1", customer: one, holds: [seat] }];
    else w.sandbox.hand({ action: "move-holder", assetNum: numberOf(w, seat), memberGlobalId: null });
    for (const _ of [1, 2]) {
      await w.run("run", "verify");
      await sleep(40);
    }
    const had = w.orders.find(({ id }) => id === order)?.products ?? [];
    amend(w, order, { products: [...had, line("R", `A${order}`)] });
    // It is said to be given, and is not.
    w.sandbox.faults.add({ operation: "M9", fault: "oddData", value: null, applied: false });
    const run = await w.does("run", "everything", "--canary", shares);
    w.sandbox.faults.clear();
    expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([3, undefined]);
    expect(run.stdout).toContain("1 of 1 customer(s) not as meant");
    const next = await w.does("run", "everything", "--canary", shares);
    expect([next.exitCode, next.calls], next.stdout).toEqual([0, { E5: 1, M9: 1 }]);
  },
);

it("a seat that was free before is judged once a run by shares has given it", { tags: "long" }, async () => {
  const w = await placedOrders();
  w.environment["CRM_SYNC__settle__timeMs"] = "30";
  rule(w, "drift.missing", "apply");
  const { ids, shares } = taken(w, 2);
  const [one = "", two = ""] = ids.map((id) => id.slice(1));
  const free = (): unknown =>
    w.sandbox.hand({ action: "move-holder", assetNum: numberOf(w, `A${one}`), memberGlobalId: null });
  free();
  for (const _ of [1, 2]) {
    expect((await w.run("run", "verify")).exitCode).toBe(3);
    await sleep(40);
  }
  const had = w.orders.find(({ id }) => id === two)?.products ?? [];
  amend(w, two, { products: [...had, line("R", `A${two}`)] });
  w.sandbox.faults.add({ operation: "E5", fault: "slow", delayMs: 2000 });
  const running = w.does("run", "everything", "--canary", shares);
  const given = (): boolean =>
    w.rows("select 1 from operation where kind = 'grant-assets' and state = 'done' and subject like ?", `%S${one}`)
      .length > 1;
  await until("the seat is given again", given);
  free();
  const run = await running;
  w.sandbox.faults.clear();
  expect([run.exitCode, run.calls], run.stdout).toEqual([3, { E5: 1, M9: 1 }]);
  expect(run.stdout).toContain(`crm/C${one}: 1 not as meant`);
});
