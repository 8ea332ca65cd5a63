import { expect, it } from "vitest";
import { amend, line, numberOf, placedOrders } from "./placed-orders.ts";

it("while an old form waits for a person beside the new one verify is content, and is not where one is there twice", async () => {
  const w = await placedOrders();
  amend(w, "1", { products: [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")] });
  const held = await w.does("run", "everything");
  expect([held.exitCode, held.calls], held.stdout).toEqual([4, { E5: 1 }]);
  const beside = await w.run("run", "verify");
  expect([beside.exitCode, beside.stdout], "held, and nothing else").toEqual([
    4,
    expect.stringContaining("1 in transit"),
  ]);
  expect(beside.stdout).not.toContain("not as placed");

  const assetNum = numberOf(w, "A1");
  w.sandbox.hand({ action: "drop-product", assetNum, crmProductId: "Q1" });
  w.sandbox.hand({
    action: "add-product",
    assetNum,
    like: "P1",
    fields: { crmProductId: "P1" },
    channelOrderId: "1-1",
  });
  const twice = await w.run("run", "verify");
  expect(twice.exitCode, twice.stdout).toBe(4);
  expect(twice.stdout).toContain("the platform shows the product under this asset number 3 times");
  expect(twice.stdout).toContain("2 in all: 1 not shown, 0 with other values, 1 shown twice");
});
