import { describe, expect, it } from "vitest";
import { type Json, hashOf } from "../../src/base/canonical-json.ts";
import { customerSchema, orderSchema, staffSchema } from "../../src/crm/model.ts";
import { customerRecord, staffRecord } from "../support/world/records.ts";
import { asset, product } from "../support/world/instances.ts";

const hash = (record: unknown): string => hashOf(JSON.parse(JSON.stringify(record)) as Json);

/** Hashes of these records as ledgers hold them that were written before the optional fields were there. */
describe("a record without the optional fields of its later life", () => {
  it("has the hash it had, so that no record counts as changed", () => {
    const order = orderSchema.parse({ id: "1", customerId: "A", instances: [asset("a"), product("p", "a")] });
    expect([customerSchema.parse(customerRecord("A")), order, staffSchema.parse(staffRecord("ann", "A"))].map(hash))
      .toMatchInlineSnapshot(`
        [
          "a1579b36e3c40e96f65e4fb1e64075384ae2153da8402c7424330c08171c0056",
          "ab7f7e9060961e43457706b91388a5a8ec34c7ed06e9eb827fb8f0aa1a1e2a68",
          "956ffa6ed650a371f7927f40656ffe7c819746cc26ce70039eb38e506bef7ab1",
        ]
      `);
  });
});

describe("the fields of a record's later life", () => {
  it("name the earlier instance and whether the CRM wants the asset locked", () => {
    const instances = [
      asset("a", { continues: { orderId: "0", instanceId: "old" }, locked: true }),
      product("p", "a", { transferredFrom: { orderId: "0", instanceId: "q" } }),
    ];
    expect(orderSchema.parse({ id: "1", customerId: "A", instances }).instances).toMatchObject(instances);
  });
});
