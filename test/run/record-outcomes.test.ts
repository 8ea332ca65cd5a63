import { expect, it } from "vitest";
import { deferredUnsent, noOutcomes, noted } from "../../src/run/record-outcomes.ts";
import type { Operation } from "../../src/operation/operation.ts";
import { operation } from "../../src/operation/new-operation.ts";
import { key } from "../support/world/records.ts";

const customer = key("C1");
const why = { code: "service.not-sent", reason: "the service could not be reached" };

function grant(id: string): Operation {
  return operation("grant-assets", {
    customer,
    subject: `staff:crm/${id}`,
    records: [{ stream: "staff", ...key(id) }],
    target: { memberGlobalId: `M-${id}` },
    payload: { deleteAssets: [], addAssets: ["A"] },
    reason: "the CRM gives it",
    before: null,
    after: ["A"],
  });
}

it("what a service keeps from being sent is deferred once for each record, and costs the same however much it is", () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `S${index}`);
  const operations = ids.map(grant);
  const planned = noted(
    noOutcomes,
    ids.slice(1).map((id) => ({ stream: "staff", key: key(id), outcome: "planned" })),
  );
  const before = process.cpuUsage();
  const { all } = deferredUnsent(planned, [...operations, ...operations.slice(0, 2)], why);
  // Where what it came to is copied for each of them, it takes more than ten times as long.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(400);
  const deferred = { outcome: "deferred", code: why.code, reason: `M9: ${why.reason}`, again: true };
  expect(all.size).toBe(10_000);
  // Of somebody of whom this attempt decides nothing it is the customer's matter.
  expect([...all.keys()]).not.toContain("staff crm/S0");
  expect(all.get("customers crm/C1")).toEqual({ stream: "customers", key: customer, ...deferred });
  expect(all.get("staff crm/S9999")).toEqual({ stream: "staff", key: key("S9999"), ...deferred });
});
