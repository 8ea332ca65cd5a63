import { describe, expect, it } from "vitest";
import { customerKeyOf, formatKey, subjectOf } from "../../src/crm/keys.ts";
import { customerSchema, licenseTypes, orderSchema, staffSchema } from "../../src/crm/model.ts";
import { licenseTypes as contractLicenseTypes } from "../../src/contract/vocabulary.ts";
import { asset, extension, feature, product } from "../support/world/instances.ts";

const order = { id: "10248", customerId: "ALFKI", instances: [asset("a")] };
const person = { id: "1", customerId: "ALFKI", userName: "ann", name: "Ann" };

describe("the key of a record", () => {
  it("is written with its namespace, and no two keys are written alike", () => {
    expect(formatKey({ namespace: "crm", id: "10248" })).toBe("crm/10248");
    expect(formatKey({ namespace: "a", id: "b/c" })).toBe("a/b/c");
    expect(orderSchema.safeParse({ ...order, namespace: "a/b", id: "c" }).success).toBe(false);
    expect(orderSchema.safeParse({ ...order, customerNamespace: "a/b" }).success).toBe(false);
    expect(orderSchema.parse({ ...order, id: "a/b" })).toMatchObject({ namespace: "crm", id: "a/b" });
  });

  it("leads to the customer that the record belongs to", () => {
    expect(customerKeyOf("customers", { namespace: "crm", id: "ALFKI" })).toEqual({ namespace: "crm", id: "ALFKI" });
    expect(customerKeyOf("orders", orderSchema.parse(order))).toEqual({ namespace: "crm", id: "ALFKI" });
    expect(customerKeyOf("staff", staffSchema.parse({ ...person, namespace: "hr", customerNamespace: "crm" }))).toEqual(
      {
        namespace: "crm",
        id: "ALFKI",
      },
    );
    expect(subjectOf("customers", { namespace: "crm", id: "1" })).toBe("customer:crm/1");
    expect(subjectOf("orders", { namespace: "crm", id: "1" })).toBe("order:crm/1");
    expect(subjectOf("staff", { namespace: "crm", id: "1" })).toBe("staff:crm/1");
  });
});

describe("a canonical record", () => {
  it("without the fields that few sources have holds nothing in their place, so that its hash stays as it is", () => {
    const customer = { id: "C", name: "n", customerType: "company", branchCode: "B", branchName: "B" };
    expect(Object.keys(customerSchema.parse(customer)).sort()).toEqual([
      "branchCode",
      "branchName",
      "customerType",
      "id",
      "name",
      "namespace",
    ]);
  });

  it("knows the licence types of the contract and no others", () => {
    expect(licenseTypes).toEqual(contractLicenseTypes);
  });

  it("refuses a field that it does not have and an instant without Z", () => {
    expect(orderSchema.safeParse({ ...order, surprise: 1 }).success).toBe(false);
    expect(orderSchema.safeParse({ ...order, placedAt: "2026-10-01T00:00:00+02:00" }).success).toBe(false);
    expect(orderSchema.safeParse({ ...order, placedAt: "2026-10-01T00:00:00Z" }).success).toBe(true);
    expect(orderSchema.safeParse({ ...order, instances: [] }).success).toBe(false);
    expect(
      customerSchema.safeParse({ id: "1", name: "", customerType: "company", branchCode: "b", branchName: "B" })
        .success,
    ).toBe(false);
  });

  it("has its rows in one order, whatever order the source delivered them in", () => {
    const rows = [
      extension("e", "a"),
      feature("g", "p2"),
      feature("f", "p2"),
      feature("z", "p1"),
      product("p2", "a", {
        features: [
          { code: "2", name: "Two", value: "", valueType: "text" },
          { code: "1", name: "One", value: "", valueType: "text" },
        ],
      }),
      product("p1", "a"),
      asset("a", { quantity: 2, assetNumbers: ["9", "1"] }),
    ];
    const parsed = orderSchema.parse({ ...order, instances: rows });
    expect(parsed.instances.map((item) => ("id" in item ? item.id : item.code))).toEqual([
      "a",
      "p1",
      "p2",
      "z",
      "f",
      "g",
      "e",
    ]);
    expect(parsed.instances.find((item) => item.kind === "product" && item.id === "p2")).toMatchObject({
      features: [{ code: "1" }, { code: "2" }],
    });
    expect(parsed.instances[0]).toMatchObject({ assetNumbers: ["9", "1"] });
    const staff = staffSchema.parse({
      ...person,
      assets: [{ instanceId: "b" }, { assetNumber: "2" }, { instanceId: "a" }, { assetNumber: "1" }],
    });
    expect(staff.assets).toEqual([
      { assetNumber: "1" },
      { assetNumber: "2" },
      { instanceId: "a" },
      { instanceId: "b" },
    ]);
  });
});
