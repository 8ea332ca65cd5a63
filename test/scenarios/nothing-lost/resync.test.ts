import { expect, it } from "vitest";
import { numberOf } from "../../support/asking.ts";
import { document, world, type World } from "../../support/cli.ts";

async function synchronised(): Promise<World> {
  const w = await world();
  const first = await w.run("run", "everything");
  expect(first.exitCode, first.stdout).toBe(0);
  return w;
}

it("a customer of whom nothing changed costs no call", async () => {
  const w = await synchronised();
  const before = w.sandbox.counts().calls;
  const again = await w.run("--json", "run", "everything");
  expect(again.exitCode).toBe(0);
  expect(document(again)).toMatchObject({ writingCalls: 0, state: "done", balance: { adds: true } });
  expect(w.sandbox.counts().calls).toEqual(before);
});

it(
  "a cancellation that waits for a person stops nothing else of its customer, and is moot when the CRM takes it back",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const cancel = (cancelled: boolean): void => {
      w.orders = w.orders.map((order) => (order.id === "O1" ? { ...order, cancelled } : order));
      w.write();
    };
    w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] });
    cancel(true);
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls]).toEqual([4, { E5: 1 }]);
    expect((await w.run("run", "everything")).exitCode).toBe(4);
    cancel(false);
    const moot = await w.does("run", "everything");
    expect([moot.exitCode, moot.calls]).toEqual([0, {}]);
  },
);

it(
  "resync does all of a customer but what somebody took away on the platform, and nothing of anybody else",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    w.sandbox.hand({ action: "move-holder", assetNum: numberOf(w, "O1-A1"), memberGlobalId: null });
    expect((await w.does("run", "everything")).calls).toEqual({});
    w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] }, { id: "O4", customer: "C2", assets: ["O4-A1"] });
    w.write();
    const one = await w.does("resync", "--customer", "C1");
    expect(one.calls, one.stdout).toEqual({ E5: 1 });
    expect(w.sandbox.state().assignments).toBe(3);
    expect((await w.does("resync", "--order", "O3")).calls).toEqual({});
    expect((await w.does("run", "everything")).calls, "O4 waited for the run").toEqual({ E5: 1 });
  },
);

it(
  "resync goes through what a source gave, also since a time, and refuses what is not there",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const worked = async (...words: string[]): Promise<number> =>
      (await w.ask("resync", "--source", "crm", ...words)).summary.customers.worked;
    expect([await worked(), await worked("--since", "2099-01-01T00:00:00Z")]).toEqual([2, 0]);
    const before = w.sandbox.counts().calls;
    for (const words of [
      [],
      ["--customer", "C1", "--order", "O1"],
      ["--customer", "C1", "--since", "2026-10-01"],
      ["--source", "hrr"],
      ["--source", "crm", "--since", "yesterday"],
      ["--customer", "C9"],
      ["--order", "portal/O1"],
    ])
      expect((await w.run("resync", ...words)).exitCode, words.join(" ")).toBe(64);
    expect(w.sandbox.counts().calls).toEqual(before);
  },
);
