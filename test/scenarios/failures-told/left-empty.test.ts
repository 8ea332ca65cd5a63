import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { line, orderOf } from "../../support/world/placed-orders.ts";

const packages = [{ id: "K1", parent: "A1" }];
const order = orderOf("1", "C1", { packages, products: [line("P1", "A1"), line("X1", "K1")] });
const staff = [{ id: "S1", customer: "C1", holds: ["A1"] }];

it.each([
  ["M7", "timeDurationExpression"],
  ["M7", "trialEndDate"],
  ["M7", "srcLicenseOrderId"],
  ["M7", "assetId"],
  ["M7", "assetInsId"],
  ["M7", "merchandiseInsId"],
  ["M7", "assetNum"],
  ["M7", "updateTime"],
  ["M7", "parentId"],
  ["E8", "limitStartTime"],
  ["E8", "limitEndTime"],
  ["E8", "updateTime"],
  ["M1", "departmentId"],
  ["M1", "departmentName"],
  ["M1", "remark"],
] as const)("what %s may leave empty (%s) is no difference", async (operation, field) => {
  const w = await world({ records: { customers: [{ id: "C1" }], orders: [order], staff } });
  w.sandbox.faults.add({ operation, fault: "oddField", field, value: null });
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E2: 1, E5: 1, M1: 1 } });
  const { exit, findings } = await w.ask("run", "verify");
  expect([exit, findings.counts]).toMatchObject([0, { differs: 0, "not-shown": 0 }]);
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
});
