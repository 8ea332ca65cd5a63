import { expect, test } from "vitest";
import { contradictedRows } from "../../src/sandbox/contradictions.ts";
import { batch, newBuy } from "./bodies.ts";
import { createEnterprise, started } from "./caller.ts";

test("a row is contradicted from the start where the settings say so", async () => {
  const caller = await started({ settings: { contradicts: ["A17"] } });
  const enterprise = await createEnterprise(caller);
  const placed = await caller.placeOrders(batch("O1", [newBuy(enterprise)]));
  expect(placed.data).toMatchObject([{ sequence: 0 }]);
});

test("rows are contradicted from one moment to another", async () => {
  const caller = await started();
  const enterprise = await createEnterprise(caller);
  const placed = async (order: string) => (await caller.placeOrders(batch(order, [newBuy(enterprise)]))).code;
  expect(await placed("O1")).toBe(0);
  caller.sandbox.contradict(["A22"]);
  expect(await placed("O2")).toBe("13004");
  expect((await caller.control("POST", "contradict", { rows: [] })).status).toBe(200);
  expect(await placed("O2")).toBe(0);
  const refused = await caller.control("POST", "contradict", { rows: ["A4"] });
  expect(refused.status).toBe(400);
});

test("each row that can be contradicted is an assumption, and named once", () => {
  expect(new Set(contradictedRows).size).toBe(contradictedRows.length);
  const choices = ["A4", "A6", "A7", "A11", "A18", "A30", "A32", "A37", "A40"];
  expect(contradictedRows.filter((row) => choices.includes(row))).toEqual([]);
});
