import { describe, expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { amend, line, numberOf, orderOf, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

/** An order whose line `Q1` ended, with every policy at `apply`. */
async function ended(before: (w: World) => void, given: Parameters<typeof placedOrders>[0] = {}): Promise<World> {
  const w = await placedOrders(given);
  rule(w, "orders.ended", "apply");
  before(w);
  amend(w, "1", { products: [line("P1", "A1")] });
  return w;
}

const all = { products: 4, assets: 2, assignments: 2 };

describe("what ended is left alone, and a person is told why,", () => {
  it("where M7 shows it with other nodes than were bought", { tags: "long" }, async () => {
    const w = await ended((before) =>
      before.sandbox.hand({
        action: "change-product",
        assetNum: numberOf(before, "A1"),
        crmProductId: "Q1",
        fields: { limitConcurrent: 7 },
      }),
    );
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([3, {}]);
    expect(waitsFor(w, "1")).toBe("order.shown-differently");
    expect(standing(w)).toEqual(all);
    const explained = await w.run("explain", "order", "1");
    expect(explained.stdout).toContain("limitConcurrent");
  });

  it("where a deletion would take a twin that stays", { tags: "long" }, async () => {
    const twins = [line("P1", "A1"), line("Q1", "A1", { pid: "PID-P1" })];
    const w = await ended(() => {}, { first: { products: twins } });
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([3, {}]);
    expect(waitsFor(w, "1")).toBe("order.twin-product");
    expect(standing(w)).toEqual(all);
  });

  it("where its asset is lent, and it is said into which lock", async () => {
    const lock = { id: "L1", forLending: true };
    const w = await ended(
      (before) => {
        const [member] = before.rows<{ id: string }>(
          "select member_global_id as id from staff_link where staff_id = 'S1'",
        );
        before.sandbox.hand({
          action: "lend",
          lock: numberOf(before, "L1"),
          memberGlobalId: member?.id ?? "",
          assetNums: [numberOf(before, "A1")],
        });
      },
      {
        first: {
          assets: ["A1", lock],
          products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "L1")],
        },
      },
    );
    amend(w, "1", { products: [line("P1", "A1"), line("R1", "L1")] });
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([3, {}]);
    expect(waitsFor(w, "1")).toBe("asset.lent");
    expect((await w.run("explain", "order", "1")).stdout).toContain(numberOf(w, "L1"));
    expect(w.sandbox.state()).toMatchObject({ products: 5 });
  });

  it("where neither M6 nor E8 shows its asset number", async () => {
    const w = await ended((before) => before.sandbox.hand({ action: "drop-asset", assetNum: numberOf(before, "A1") }));
    const run = await w.does("run", "everything");
    expect(run.calls, run.stdout).toEqual({});
    expect(waitsFor(w, "1")).toBe("order.not-shown");
  });
});

it("what somebody took away by hand is followed in the ledger, and nothing is sent", { tags: "long" }, async () => {
  const w = await ended((before) =>
    before.sandbox.hand({ action: "drop-product", assetNum: numberOf(before, "A1"), crmProductId: "Q1" }),
  );
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls], run.stdout).toEqual([0, {}]);
  expect(w.rows("select kind, origin from order_step")).toEqual([{ kind: "removed", origin: "found" }]);
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it(
  "what M7 leaves out a moment after it was bought does not count as gone, and goes once M7 shows it",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.ended", "apply");
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    w.environment["CRM_SYNC__settle__timeMs"] = "60000";
    const assetNum = numberOf(w, "A1");
    const shownAs = (fields: Record<string, string>): void =>
      void w.sandbox.hand({ action: "show-product", assetNum, crmProductId: "R1", fields });
    shownAs({ crmProductId: "X9", productUri: "PID-X9", channelOrderId: "another" });
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1")] });
    for (const _ of [1, 2, 3]) {
      const early = await w.does("run", "everything");
      expect([early.exitCode, early.calls], early.stdout).toEqual([3, {}]);
      expect(waitsFor(w, "1")).toBe("order.absence-unsure");
    }
    shownAs({});
    const shown = await w.does("run", "everything");
    expect([shown.exitCode, shown.calls], shown.stdout).toEqual([0, { E5: 1 }]);
    expect(w.rows("select kind, origin from order_step")).toEqual([
      { kind: "bought", origin: "sent" },
      { kind: "removed", origin: "sent" },
    ]);
    expect(w.sandbox.state()).toMatchObject({ products: 4 });
  },
);

it(
  "an asset that M6 shows and M7 does not know keeps nothing else of its customer from going on",
  { tags: "long" },
  async () => {
    const w = await ended((before) =>
      before.sandbox.faults.add({ operation: "M7", fault: "status299", code: "60024" }),
    );
    w.orders = [...w.orders, orderOf("9", "C1")];
    w.write();
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([3, { E5: 1 }]);
    expect([waitsFor(w, "1"), waitsFor(w, "9")]).toEqual(["order.not-shown", null]);
    w.sandbox.faults.clear();
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  },
);

it(
  "what a person did by hand as the program advised is not bought a second time, and counts once that is said",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.added", "report");
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(waitsFor(w, "1")).toBe("policy.reported");
    const fields = { crmProductId: "R1", productUri: "PID-R1", gmsPid: "PID-R1" };
    w.sandbox.hand({ action: "add-product", like: "Q1", assetNum: numberOf(w, "A1"), fields });
    rule(w, "orders.added", "apply");
    for (const _ of [1, 2]) {
      const run = await w.does("resync", "--order", "1");
      expect([run.exitCode, run.calls], run.stdout).toEqual([3, {}]);
      expect(waitsFor(w, "1")).toBe("order.there-already");
    }
    const resolved = await w.does("resolve", "order:1", "--done-by-hand", "--reason", "done on Monday");
    expect([resolved.exitCode, resolved.calls], resolved.stdout + resolved.stderr).toEqual([0, {}]);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(w.sandbox.state()).toMatchObject({ products: 5 });
  },
);

it(
  "a package waits for the approval of its very operation, whatever the policy says (A42)",
  { tags: "long" },
  async () => {
    const first = {
      packages: [{ id: "K1", parent: "A1" }],
      products: [line("P1", "A1"), line("Q1", "A1"), line("X1", "K1")],
    };
    const w = await placedOrders({ first });
    rule(w, "orders.ended", "apply");
    amend(w, "1", { packages: [], products: [line("P1", "A1"), line("Q1", "A1")] });
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    const [operation] = w.rows<{ id: string }>("select id from operation where state = 'held'");
    const approved = await w.run("approve", operation?.id ?? "", "--reason", "asked the customer");
    expect(approved.exitCode, approved.stderr).toBe(0);
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1 }]);
    expect(w.sandbox.state()).toMatchObject({ products: 4, merchandises: 0 });
  },
);
