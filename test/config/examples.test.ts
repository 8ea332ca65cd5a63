import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { endpointIds } from "../../src/contract/endpoints.ts";
import { channelCodesOf, missingAssumptions } from "../../src/contract/assumption-settings.ts";
import { sandboxSettingsSchema } from "../../src/sandbox/sandbox-settings.ts";
import { ordersOf } from "./example-bodies.ts";
import { contentsOf, loadExample, readExample } from "./example-records.ts";

const examples = resolve(import.meta.dirname, "../../config");
const northwind = process.env["NORTHWIND_DIR"] ?? resolve(examples, "../../shared/data/northwind");
const northwindIsThere = existsSync(join(northwind, "customers.csv"));

describe("config/northwind.yaml", () => {
  const path = join(examples, "northwind.yaml");
  const load = () =>
    loadExample(path, {
      profiles: ["sandbox"],
      environment: { CRM_SYNC__sources__northwind__directory: northwind },
    });

  it("loads with the profile of the sandbox, and leaves no assumption open", async () => {
    const { config } = await load();
    for (const operation of endpointIds) expect(missingAssumptions(config.assumptions, operation)).toEqual([]);
    expect(channelCodesOf(config.assumptions)).toContain(sandboxSettingsSchema.parse({}).channelCode);
  });

  it("looks for the data beside the project where nothing else is said", async () => {
    const { config, directory } = await loadExample(path, { profiles: ["sandbox"] });
    expect(resolve(directory, config.sources["northwind"]?.directory ?? "")).toBe(
      resolve(examples, "../../shared/data/northwind"),
    );
  });

  if (!northwindIsThere) {
    it(`is not read here, because its data is not at ${northwind}; set NORTHWIND_DIR`, () => {
      expect(northwindIsThere).toBe(false);
    });
    return;
  }

  it(
    "makes 91 customers and 830 orders with 2,155 products of it, all of which the sandbox takes",
    { tags: "long" },
    async () => {
      const loaded = await load();
      const records = await readExample(loaded);
      expect(records.bad).toEqual([]);
      expect([records.customers.length, records.orders.length, records.staff.length]).toEqual([91, 830, 0]);
      const { bodies, placed, waiting } = ordersOf(records, loaded.config.assumptions);
      expect(waiting).toEqual([]);
      expect(bodies).toHaveLength(830);
      expect(contentsOf(placed)).toEqual({
        assets: 830,
        numbers: 830,
        "numbers of the CRM": 0,
        extensions: 0,
        products: 2_155,
        "products on numbers": 2_155,
        features: 0,
      });
    },
  );

  it("sends no date of its own as a limit, and its quantities as nodes", { tags: "long" }, async () => {
    const loaded = await load();
    const { bodies } = ordersOf(await readExample(loaded), loaded.config.assumptions);
    expect(JSON.stringify(bodies)).not.toMatch(/limit(?:Start|End)Date|199[678]/);
    expect(bodies[0]).toMatchObject({
      channelCode: "crm",
      channelOrderId: "10248",
      orderList: [
        {
          crmCustomerId: "VINET",
          customerName: "Vins et alcools Chevalier",
          address: "59 rue de l'Abbaye, 51100, Reims, France",
          adminEmail: "VINET@northwind.example.com",
          licenseType: "cloud_account",
          assets: [
            {
              assetNos: ['assetNumber of ["crm","10248","A-10248",0]'],
              products: [
                { crmProductId: "10248-11", productUri: "NW-11", productName: "Queso Cabrales", limitConcurrent: 12 },
                { crmProductId: "10248-42", limitConcurrent: 10 },
                { crmProductId: "10248-72", limitConcurrent: 5 },
              ],
            },
          ],
        },
      ],
    });
  });
});
