import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { placeOf } from "../../../src/run/canary.ts";
import type { World } from "../../support/cli.ts";
import { places, productsBy, runsUntilQuiet } from "./moved.ts";
import { amend, numberOf, openHold, orderOf, placedOrders, rule, waitsFor } from "./placed-orders.ts";

const before = { C1: ["P1 1", "Q1 1"], C2: ["P2 2", "Q2 2"] };

/** A world with an order at each of two customers, of which the first moves to the other one, with a gap. */
async function moved(policies: Record<string, string> = {}): Promise<World> {
  const w = await placedOrders({ staff: [] });
  for (const [name, word] of Object.entries({ "orders.moved": "apply", replacement: "gap", ...policies }))
    rule(w, name, word);
  amend(w, "1", { customer: "C2" });
  return w;
}

/** For whom the order stands by the ledger. */
function standsFor(w: World): string | undefined {
  const [row] = w.rows<{ id: string }>("select customer_id as id from placed_order where order_id = '1'");
  return row?.id;
}

it(
  "nothing goes while the purchase at the other customer waits for a person, and it is bought once it was approved",
  { tags: "long" },
  async () => {
    const w = await moved({ "orders.added": "hold" });
    for (const _ of [1, 2, 3]) {
      const held = await w.does("run", "everything");
      expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    }
    expect((await w.run("plan")).stdout).not.toContain("delete_asset");
    expect(await productsBy(w)).toEqual(before);
    expect(standsFor(w)).toBe("C1");
    await w.run("approve", openHold(w), "--reason", "the second customer takes it");
    const calls = await runsUntilQuiet(w);
    expect(calls.reduce((sum, one) => sum + (one["E5"] ?? 0), 0)).toBe(2);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
    expect(w.rows("select id from hold where state = 'open'")).toEqual([]);
  },
);

it("nothing goes where a person rejected the purchase at the other customer", { tags: "long" }, async () => {
  const w = await moved({ "orders.added": "hold" });
  await w.does("run", "everything");
  await w.run("reject", openHold(w), "--reason", "the second customer does not want it");
  for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
  expect(await productsBy(w)).toEqual(before);
});

it("what was to go stays where the purchase comes to be held before it went", { tags: "long" }, async () => {
  const w = await moved({ "orders.moved": "hold" });
  await w.does("run", "everything");
  await w.does("run", "everything");
  expect(standsFor(w)).toBe("C2");
  await w.run("approve", openHold(w), "--reason", "asked the first customer");
  rule(w, "orders.added", "hold");
  for (const _ of [1, 2]) {
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
  }
  expect(await productsBy(w)).toEqual(before);
  expect(standsFor(w)).toBe("C1");
  rule(w, "orders.added", "apply");
  await runsUntilQuiet(w);
  expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
});

it.each(["cannot have it any more", "waits in quarantine", "comes to have something in doubt"])(
  "what was to go stays where the other customer %s before it went",
  { tags: "long" },
  async (why) => {
    const w = await moved({ "orders.moved": "hold" });
    await w.does("run", "everything");
    await w.does("run", "everything");
    await w.run("approve", openHold(w), "--reason", "asked the first customer");
    const customers = w.customers;
    const change = { "cannot have it any more": { address: "" }, "waits in quarantine": { name: "" } }[why];
    w.customers = customers.map((row) => (row.id === "C2" ? { ...row, ...change } : row));
    if (change === undefined) {
      w.environment["CRM_SYNC__settle__maxWaitMs"] = "0";
      w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", nth: 1 });
      w.orders.push({ id: "3", customer: "C2", assets: ["A3"] });
    }
    w.write();
    await w.does("run", "everything");
    expect((await places(w))["C1"]).toEqual(["P1", "Q1"]);
    w.sandbox.faults.clear();
    w.customers = customers;
    w.write();
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
    expect(w.sandbox.duplicates().products).toEqual([]);
  },
);

it(
  "what was to go stays where something that was asked for by hand of the other customer is in doubt",
  { tags: "long" },
  async () => {
    const lock = { id: "A4", type: "normal_recover_usbkey" as const };
    const w = await placedOrders({ staff: [] });
    w.orders = [...w.orders, { id: "4", customer: "C2", assets: [lock] }];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    for (const [name, word] of Object.entries({ "orders.moved": "hold", replacement: "gap" })) rule(w, name, word);
    amend(w, "1", { customer: "C2" });
    await w.does("run", "everything");
    await w.does("run", "everything");
    const patient = w.environment;
    w.environment = { ...patient, CRM_SYNC__settle__maxWaitMs: "0", CRM_SYNC__settle__timeMs: "60000" };
    w.sandbox.faults.add({ operation: "E6", fault: "appliedNoReply" });
    const asked = await w.run("lock", "C2", "--asset", numberOf(w, "A4"), "--reason", "stolen", "--by", "anna.lee");
    expect(asked.exitCode, asked.stdout).toBe(5);
    await w.run("approve", openHold(w), "--reason", "asked the first customer");
    await w.does("run", "everything");
    expect(await places(w)).toEqual({ C1: ["P1", "Q1"] });
    w.environment = patient;
    w.sandbox.faults.clear();
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
  },
);

it("nothing goes where what the purchase rests on was contradicted, or where it was refused before", async () => {
  const w = await moved({ replacement: "overlap" });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  w.sandbox.faults.clear();
  rule(w, "replacement", "gap");
  for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
  expect(await productsBy(w)).toEqual(before);
  expect(standsFor(w)).toBe("C1");
});

it(
  "nothing goes while a limit holds what is taken away, and nothing is bought before it went",
  { tags: "long" },
  async () => {
    const w = await moved();
    w.environment["CRM_SYNC__limits__taking__run__floor"] = "1";
    w.environment["CRM_SYNC__limits__taking__run__share"] = "0";
    for (const _ of [1, 2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
    expect(await productsBy(w)).toEqual(before);
    expect(waitsFor(w, "1")).toBe("order.moving");
    const plan = await w.run("plan");
    expect(plan.stdout).toMatch(/what stands of it for crm\/C1 goes first/u);
    await w.run("approve", openHold(w), "--reason", "both customers know");
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
  },
);

it(
  "a purchase that is refused once the old half went says that the order stands nowhere, and is bought when it can be",
  { tags: "long" },
  async () => {
    const w = await moved();
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 2 });
    const runs = [
      await w.does("run", "everything"),
      await w.does("run", "everything"),
      await w.does("run", "everything"),
    ];
    expect(runs.reduce((sum, { calls }) => sum + (calls["E5"] ?? 0), 0)).toBe(2);
    expect(runs.at(-1)?.exitCode).toBe(3);
    w.sandbox.faults.clear();
    expect(await places(w)).toEqual({});
    expect((await w.run("explain", "order", "1")).stdout).toMatch(/nothing of it stands anywhere/u);
    const resync = async (): Promise<unknown> => (await w.does("resync", "--order", "1")).calls;
    await expect.poll(resync, { timeout: 20_000, interval: 200 }).toEqual({ E5: 1 });
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
  },
);

/** The order stands for the second customer, and what is taken away at the first one was approved. */
async function approvedToGo(): Promise<World> {
  const w = await moved({ "orders.moved": "hold" });
  await w.does("run", "everything");
  await w.does("run", "everything");
  expect(standsFor(w)).toBe("C2");
  await w.run("approve", openHold(w), "--reason", "asked the first customer");
  return w;
}

it(
  "what was to go stays where a run looks at the first customer alone, and goes with one that looks at both",
  { tags: "long" },
  async () => {
    const w = await approvedToGo();
    rule(w, "orders.added", "hold");
    const alone = await w.does("resync", "--customer", "C1");
    expect([alone.exitCode, alone.calls], alone.stdout).toEqual([3, {}]);
    expect(alone.stdout).toMatch(/this run does not look at crm\/C2/u);
    expect((await w.run("plan", "--customer", "C1")).stdout).not.toContain("delete_asset");
    expect(await productsBy(w)).toEqual(before);
    rule(w, "orders.added", "apply");
    expect((await w.does("run", "everything")).calls, "the approval stands").toEqual({ E5: 1 });
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
  },
);

it("what was to go stays where only that is chosen of a saved plan", { tags: "long" }, async () => {
  const w = await approvedToGo();
  const saved = w.path("saved.ndjson");
  await w.run("plan", "--out", saved);
  rule(w, "orders.added", "hold");
  const chosen = await w.does("apply", saved, "--only-customer", "C1");
  expect([chosen.exitCode, chosen.calls], chosen.stdout).toEqual([3, {}]);
  expect(chosen.stdout).toMatch(
    /crm\/C1 changed since the plan was made: .* is not to be done any more as it was planned/u,
  );
  expect(await productsBy(w)).toEqual(before);
});

it(
  "what was to go stays where the saved plan of the other customer is not right any more",
  { tags: "long" },
  async () => {
    const w = await approvedToGo();
    const saved = w.path("saved.ndjson");
    await w.run("plan", "--out", saved);
    rule(w, "orders.added", "hold");
    w.customers = w.customers.map((row) => (row.id === "C2" ? { ...row, contact: "Somebody Else" } : row));
    w.write();
    await w.run("plan");
    const stale = await w.does("apply", saved);
    expect([stale.exitCode, stale.calls], stale.stdout).toEqual([3, {}]);
    expect(stale.stdout).toMatch(/crm\/C2 changed since the plan was made/u);
    expect(await productsBy(w)).toEqual(before);
  },
);

it(
  "what was to go goes no sooner than the share of the customer that it moved to was looked at",
  { tags: "long" },
  async () => {
    const [from, to] = ["C1", "C2"].map((id) => placeOf({ namespace: "crm", id }));
    expect(from).toBeLessThan(to ?? 0);
    const shares = String(Math.ceil(from ?? 0));
    const w = await approvedToGo();
    rule(w, "orders.added", "hold");
    const held = await w.does("run", "everything", "--canary", shares);
    expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    expect(await productsBy(w)).toEqual(before);
    rule(w, "orders.added", "apply");
    rule(w, "orders.moved", "apply");
    for (const _ of [1, 2, 3]) await w.does("run", "everything", "--canary", shares);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
  },
);

it(
  "what E9 gives no asset numbers for once the old half went is told in each run, and bought when it gives some",
  { tags: "long" },
  async () => {
    const w = await moved();
    w.tamper("delete from asset_number where fixed_at is null");
    w.sandbox.faults.add({ operation: "E9", fault: "status299", code: "13004" });
    for (const _ of [1, 2]) await w.does("run", "everything");
    for (const _ of [1, 2]) {
      const lacking = await w.does("run", "everything");
      expect([lacking.exitCode, lacking.calls], lacking.stdout).toEqual([7, { E9: 1 }]);
      expect(waitsFor(w, "1")).toBe("pool.empty");
    }
    expect(await places(w)).toEqual({});
    expect((await w.run("explain", "order", "1")).stdout).toMatch(/nothing of it stands anywhere/u);
    w.sandbox.faults.clear();
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1, E9: 1 });
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
  },
);

it(
  "with a gap what was to go stays where a saved plan is applied without the purchase that it makes room for",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    for (const [name, word] of Object.entries({ "orders.moved": "hold", replacement: "gap" })) rule(w, name, word);
    amend(w, "1", { customer: "C2" });
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect((await w.run("approve", openHold(w), "--reason", "asked both customers")).exitCode).toBe(0);
    w.orders = [...w.orders, orderOf("5", "C2")];
    w.write();
    const saved = w.path("saved.ndjson");
    await w.run("plan", "--out", saved);
    const planned = readFileSync(saved, "utf8")
      .trim()
      .split("\n")
      .flatMap((line) => JSON.parse(line).operations ?? []);
    const hashOf = (kind: string): string => planned.find((one) => one.kind === kind)?.hash ?? kind;
    const only = ["delete-assets", "place-order"].flatMap((kind) => ["--only", hashOf(kind)]);
    const applied = await w.does("apply", saved, ...only);
    expect(applied.calls, applied.stdout + applied.stderr).toEqual({ E5: 1 });
    expect(await places(w)).toEqual({ C1: ["P1", "Q1"] });
    expect(applied.stdout).toMatch(
      /customer is deferred \(order\.moving\).*what stands of it here stays until it does/u,
    );
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
  },
);
