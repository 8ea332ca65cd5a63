import { expect, it } from "vitest";
import { amend, line, openHold, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

const same = { pid: "PID-SAME" };

it("a product in a package does not go with its twin beside it before a person approved that very call", async () => {
  const products = [line("P1", "A1"), line("Q1", "A1", same), line("R1", "K1", same)];
  const w = await placedOrders({ first: { packages: [{ id: "K1", parent: "A1" }], products } });
  rule(w, "orders.ended", "apply");
  amend(w, "1", { packages: [], products: [line("P1", "A1")] });
  const held = await w.does("run", "everything");
  expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
  expect(standing(w)).toMatchObject({ products: 5 });
  const [operation] = w.rows<{ id: string; kind: string }>("select id, kind from operation where state = 'held'");
  expect(operation?.kind).toBe("delete-package-products");
  expect((await w.run("approve", operation?.id ?? "", "--reason", "both are to go")).exitCode).toBe(0);
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ products: 3 });
});

it("twins that go by two policies go together, by the one that asks a person", { tags: "long" }, async () => {
  const w = await placedOrders({
    first: { products: [line("P1", "A1", same), line("Q1", "A1", same), line("R1", "A1")] },
  });
  rule(w, "orders.replaced", "apply");
  amend(w, "1", { products: [line("P1", "A1", { ...same, nodes: 9 }), line("R1", "A1")] });
  const held = await w.does("run", "everything");
  expect([held.exitCode, held.calls], held.stdout).toEqual([4, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ products: 6 });
  expect((await w.run("approve", openHold(w), "--reason", "asked")).exitCode).toBe(0);
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ products: 4 });
  expect(waitsFor(w, "1")).toBeNull();
});

it.each(["terms", "instance"] as const)(
  "twins that both go are gone at last where the platform compares the %s",
  { tags: "long" },
  async (strictMatch) => {
    const products = [line("P1", "A1", same), line("Q1", "A1", same), line("R1", "A1")];
    const w = await placedOrders({ sandbox: { settings: { strictMatch } }, first: { products } });
    rule(w, "orders.ended", "apply");
    amend(w, "1", { products: [line("R1", "A1")] });
    let calls = 0;
    for (const _ of [1, 2, 3]) calls += (await w.does("run", "everything")).calls["E5"] ?? 0;
    expect([calls, standing(w)]).toMatchObject([strictMatch === "instance" ? 2 : 1, { products: 3 }]);
    expect(waitsFor(w, "1")).toBeNull();
    expect((await w.does("run", "everything")).calls).toEqual({});
  },
);
