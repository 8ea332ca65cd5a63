import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import type { SandboxOptions } from "../../../src/sandbox/sandbox.ts";
import { amend, line, numberOf, orderOf, rule, standing, waitsFor } from "./placed-orders.ts";

/** Two customers with an order each that are sent asynchronously; the platform shows them `delayMs` after the call. */
async function asynchronous(delayMs: number, settings: SandboxOptions["settings"] = {}): Promise<World> {
  const w = await world({
    records: {
      customers: [{ id: "C1" }, { id: "C2" }],
      orders: [orderOf("1", "C1"), orderOf("2", "C2")],
      staff: [
        { id: "S1", customer: "C1", holds: ["A1"] },
        { id: "S2", customer: "C2", holds: ["A2"] },
      ],
    },
    sandbox: { settings: { asyncDelayMs: delayMs, ...settings } },
  });
  w.environment["CRM_SYNC__assumptions__syncMode"] = "async";
  w.environment["CRM_SYNC__settle__asyncPauseMs"] = "100";
  return w;
}

const assumption = async (w: World, row: string): Promise<string | undefined> => {
  const listed = await w.run("assumptions");
  return listed.stdout.split("\n").find((text) => text.startsWith(row));
};

it.each(["orders", "none"] as const)(
  "an order that was taken asynchronously counts once the platform shows it, whatever was answered (%s)",
  { tags: "long" },
  async (asyncAnswer) => {
    const w = await asynchronous(700, { asyncAnswer });
    const first = await w.does("run", "everything");
    expect(first.exitCode, first.stdout).toBe(0);
    expect(first.calls).toMatchObject({ E5: 2 });
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
    expect(w.rows("select state, verdict from operation where kind = 'place-order'")).toEqual([
      { state: "done", verdict: "applied" },
      { state: "done", verdict: "applied" },
    ]);
    const [known] = w.rows<{ count: number }>("select count(*) as count from licence_order");
    expect(known?.count).toBe(2);
    expect(await assumption(w, "A15")).toMatch(/confirmed 2 times/u);
    for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it(
  "until the platform shows it nothing of the order counts, and the next run sends it no second time",
  { tags: "long" },
  async () => {
    const w = await asynchronous(3_000);
    w.environment["CRM_SYNC__settle__maxWaitMs"] = "0";
    w.environment["CRM_SYNC__orders__unseen"] = "resend";
    const first = await w.does("run", "everything");
    expect(first.exitCode, first.stdout).toBe(5);
    expect(first.calls).toMatchObject({ E5: 2 });
    expect(w.rows("select * from placed_order")).toEqual([]);
    const second = await w.does("run", "everything");
    expect(second.calls["E5"] ?? 0).toBe(0);
    w.environment["CRM_SYNC__settle__maxWaitMs"] = "20000";
    const third = await w.does("run", "everything");
    expect(third.exitCode, third.stdout).toBe(0);
    expect(third.calls["E5"] ?? 0).toBe(0);
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
  },
);

it(
  "an order that is not shown by its deadline is a person's, is never sent again, and stops only its own kind",
  { tags: "long" },
  async () => {
    const w = await asynchronous(3_600_000);
    w.environment["CRM_SYNC__settle__asyncDeadlineMs"] = "600";
    w.environment["CRM_SYNC__orders__unseen"] = "resend";
    w.orders = w.orders.filter((order) => order.id === "1");
    w.staff = w.staff.filter((person) => person.id === "S1");
    w.write();
    const first = await w.does("run", "everything");
    expect(first.exitCode, first.stdout).toBe(5);
    expect(first.calls).toMatchObject({ E5: 1 });
    const open = await w.run("settle", "list");
    expect(open.stdout).toContain("syncMode async");
    expect(await assumption(w, "A15")).toMatch(/contradicted/u);

    w.orders = [...w.orders, orderOf("2", "C2")];
    w.staff = [...w.staff, { id: "S2", customer: "C2" }];
    w.write();
    const second = await w.does("run", "everything");
    expect(second.calls["E5"] ?? 0).toBe(0);
    expect(second.calls).toMatchObject({ M1: 1 });
    expect(waitsFor(w, "2")).toBe("assumption.contradicted");

    w.environment["CRM_SYNC__assumptions__syncMode"] = "sync";
    const third = await w.does("run", "everything");
    expect(third.calls).toMatchObject({ E5: 1 });
    expect(Object.keys(w.sandbox.state().orders).toSorted()).toEqual(["1", "2"]);
  },
);

it("one that is shown after a person was asked is done by itself", { tags: "long" }, async () => {
  const w = await asynchronous(2_500);
  w.environment["CRM_SYNC__settle__asyncDeadlineMs"] = "300";
  const first = await w.does("run", "everything");
  expect(first.exitCode, first.stdout).toBe(5);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const second = await w.does("run", "everything");
  expect(second.calls["E5"] ?? 0).toBe(0);
  expect(w.rows("select state from operation where kind = 'place-order'")).toEqual([
    { state: "done" },
    { state: "done" },
  ]);
});

it(
  "what is added and what is taken away asynchronously counts once M7 shows it, and goes once",
  { tags: "long" },
  async () => {
    const w = await asynchronous(400);
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    rule(w, "orders.ended", "apply");
    amend(w, "1", { products: [line("P1", "A1"), line("R1", "A1")] });
    const second = await w.does("run", "everything");
    expect(second.exitCode, second.stdout).toBe(0);
    expect(second.calls).toEqual({ E5: 2 });
    expect(w.rows("select kind, origin from order_step order by number")).toEqual([
      { kind: "bought", origin: "sent" },
      { kind: "removed", origin: "sent" },
    ]);
    expect(standing(w)).toMatchObject({ products: 4, assets: 2 });
    expect(numberOf(w, "A1")).not.toBe("");
    for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it("what is taken away asynchronously stays known until M7 shows that it is gone", { tags: "long" }, async () => {
  const w = await asynchronous(1_200);
  expect((await w.does("run", "everything")).exitCode).toBe(0);
  rule(w, "orders.ended", "apply");
  w.environment["CRM_SYNC__settle__maxWaitMs"] = "0";
  amend(w, "1", { products: [line("P1", "A1")] });
  const second = await w.does("run", "everything");
  expect(second.exitCode, second.stdout).toBe(5);
  expect(second.calls).toEqual({ E5: 1 });
  expect(w.rows("select * from order_step")).toEqual([]);
  w.environment["CRM_SYNC__settle__maxWaitMs"] = "20000";
  const third = await w.does("run", "everything");
  expect(third.exitCode, third.stdout).toBe(0);
  expect(third.calls).toEqual({});
  expect(w.rows("select kind from order_step")).toEqual([{ kind: "removed" }]);
});
