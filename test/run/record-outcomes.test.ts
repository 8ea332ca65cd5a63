import { expect, it } from "vitest";
import { deferredUnsent, noOutcomes, noted } from "../../src/run/record-outcomes.ts";
import type { Operation } from "../../src/operation/operation.ts";
import { operation } from "../../src/operation/new-operation.ts";
import { growth, notQuadratic } from "../support/growth.ts";
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

function deferredOf(many: number): ReturnType<typeof deferredUnsent>["all"] {
  const ids = Array.from({ length: many }, (_, index) => `S${index}`);
  const operations = ids.map(grant);
  const planned = noted(
    noOutcomes,
    ids.slice(1).map((id) => ({ stream: "staff", key: key(id), outcome: "planned" })),
  );
  return deferredUnsent(planned, [...operations, ...operations.slice(0, 2)], why).all;
}

it("what a service keeps from being sent is deferred once for each record, and costs the same however much it is", async () => {
  const all = deferredOf(1000);
  const deferred = { outcome: "deferred", code: why.code, reason: `M9: ${why.reason}`, again: true };
  expect(all.size).toBe(1000);
  // Of somebody of whom this attempt decides nothing it is the customer's matter.
  expect([...all.keys()]).not.toContain("staff crm/S0");
  expect(all.get("customers crm/C1")).toEqual({ stream: "customers", key: customer, ...deferred });
  expect(all.get("staff crm/S999")).toEqual({ stream: "staff", key: key("S999"), ...deferred });
  expect(await growth(2500, (many) => void deferredOf(many))).toBeLessThan(notQuadratic);
});
