import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { buildAssets } from "../../src/crm/tree.ts";
import type { Customer, Order } from "../../src/crm/model.ts";
import { northwindSettings } from "./northwind-settings.ts";
import { openSource, readAll } from "./support.ts";

const directory = process.env["NORTHWIND_DIR"] ?? resolve(import.meta.dirname, "../../../shared/data/northwind");
const isThere = existsSync(join(directory, "customers.csv"));

if (!isThere) {
  describe("Northwind", () => {
    it(`is not read here, because its data is not at ${directory}; set NORTHWIND_DIR`, () => {
      expect(isThere).toBe(false);
    });
  });
} else {
  describe("Northwind", () => {
    it("becomes 91 customers, the addresses with unquoted commas whole", async () => {
      const source = openSource(northwindSettings, directory);
      const { raws, bads, outcome } = await readAll(source, "customers");
      expect(bads).toEqual([]);
      expect(outcome).toEqual({ complete: true, full: true, rows: 91 });
      const { map } = await source.mapping("customers");
      const customers = new Map<string, Customer>();
      for (const raw of raws) {
        const mapped = map(raw.value);
        if (!mapped.ok) throw new Error(`${raw.place}: ${JSON.stringify(mapped.error)}`);
        if (mapped.value.stream === "customers") customers.set(mapped.value.record.id, mapped.value.record);
      }
      expect(customers.size).toBe(91);
      expect(raws[6]).toMatchObject({
        place: "customers.csv:8",
        key: "BLONP",
        value: { address: "24, place Kléber", city: "Strasbourg" },
      });
      expect(customers.get("BLONP")?.address).toBe("24, place Kléber, 67000, Strasbourg, France");
      expect(customers.get("ALFKI")).toEqual({
        namespace: "crm",
        id: "ALFKI",
        name: "Alfreds Futterkiste",
        customerType: "company",
        branchCode: "HQ",
        branchName: "Headquarters",
        address: "Obere Str. 57, 12209, Berlin, Germany",
        adminName: "Maria Anders",
        adminMobile: "030-0074321",
        purchaserMobile: "030-0074321",
      });
    });

    it("becomes 830 orders with one asset each and 2,155 products, the same twice", { tags: "long" }, async () => {
      const source = openSource(northwindSettings, directory);
      const { raws, bads, outcome } = await readAll(source, "orders");
      expect(bads).toEqual([]);
      expect(outcome).toEqual({ complete: true, full: true, rows: 830, details: { "#headers": 830, lines: 2155 } });
      const { map } = await source.mapping("orders");
      const orders: Order[] = [];
      for (const raw of raws) {
        const mapped = map(raw.value);
        if (!mapped.ok) throw new Error(`${raw.place}: ${JSON.stringify(mapped.error)}`);
        if (mapped.value.stream === "orders") orders.push(mapped.value.record);
      }
      let products = 0;
      for (const order of orders) {
        const { assets, faults } = buildAssets(order.instances);
        expect(faults).toEqual([]);
        expect(assets).toHaveLength(1);
        products += assets[0]?.products.length ?? 0;
      }
      expect(products).toBe(2_155);
      expect(orders[0]).toMatchObject({
        id: "10248",
        customerId: "VINET",
        placedAt: "1996-07-04T00:00:00.000Z",
        instances: [
          { kind: "asset", id: "A-10248", licenseType: "cloud_customer", quantity: 1 },
          {
            kind: "product",
            id: "P-10248-11",
            parentId: "A-10248",
            name: "Queso Cabrales",
            nodes: 12,
          },
          { kind: "product", id: "P-10248-42", nodes: 10 },
          { kind: "product", id: "P-10248-72", nodes: 5 },
        ],
      });
      expect((await readAll(source, "orders")).raws).toEqual(raws);
    });
  });
}
