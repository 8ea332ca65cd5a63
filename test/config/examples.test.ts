import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { configSchema } from "../../src/config/config.ts";
import { settingsOf } from "../../scripts/docs/settings.ts";
import { jsonSchemaOf } from "../../src/config/schema.ts";
import { endpointIds } from "../../src/contract/endpoints.ts";
import { missingAssumptions } from "../../src/contract/assumptions/missing.ts";
import { channelCodesOf } from "../../src/contract/assumption-settings.ts";
import { sandboxSettingsSchema } from "../../src/sandbox/sandbox-settings.ts";
import { ordersOf } from "./example-bodies.ts";
import { outlineOf, sameSetting } from "./example-outline.ts";
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

describe("config/production.example.yaml", () => {
  const path = join(examples, "production.example.yaml");
  const text = readFileSync(path, "utf8");
  const secrets = [...text.matchAll(/^#   \| ([A-Z][A-Z_]+) +\|/gm)].map((match) => match[1] ?? "");
  const environment = Object.fromEntries(secrets.map((name) => [name, `value of ${name}`]));
  const shown = outlineOf(text);
  const rows = settingsOf(jsonSchemaOf(configSchema));

  it("loads with the variables of its table, all of which it uses", { tags: "long" }, async () => {
    expect(secrets.length).toBeGreaterThan(5);
    const loaded = await loadExample(path, { environment });
    for (const value of Object.values(environment)) expect(loaded.secrets.known.isIn(value)).toBe(true);
    for (const name of secrets)
      await expect(loadExample(path, { environment: { ...environment, [name]: undefined } })).rejects.toThrow(name);
  });

  it("sends nothing that rests on an assumption without a default before somebody has asked", async () => {
    const { config } = await loadExample(path, { environment });
    expect(missingAssumptions(config.assumptions, "E5").map(({ key }) => key)).toEqual(
      missingAssumptions(configSchema.shape.assumptions.parse({}), "E5").map(({ key }) => key),
    );
  });

  it("shows every setting that there is", () => {
    const names = new Set(shown.map(({ key }) => sameSetting(key)));
    // A file says limits under one of their two names, and the example under the one of today.
    const own = rows.filter(({ key }) => !/\blimits\.revokes\b/u.test(key));
    expect(own.filter(({ key }) => !names.has(sameSetting(key))).map(({ key }) => key)).toEqual([]);
  });

  it("shows no setting that there is not", () => {
    const names = new Set(rows.map(({ key }) => sameSetting(key)));
    const own =
      /^(?:(?:sources|jobs)\.\*(?:\.streams\.\*|\.(?:tables|details)\.\*|\.streams\.\*\.details\.\*|\.auth\.(?:take|secrets)\.\*)?|\w+\.tokens\.userTokens\.\*)$/;
    const unknown = shown.flatMap(({ key, line }) => {
      const name = sameSetting(key);
      return name === undefined || names.has(name) || own.test(name) ? [] : `${line}: ${key}`;
    });
    expect(unknown).toEqual([]);
  });

  it("explains every setting where it stands first", () => {
    const seen = new Set<string>();
    const bare = shown.filter(({ key, explained }) => {
      const name = sameSetting(key);
      if (name === undefined || seen.has(name)) return false;
      seen.add(name);
      return !explained;
    });
    expect(bare.map(({ line, key }) => `${line}: ${key}`)).toEqual([]);
  });

  it("shows the default of every setting that is commented out, where there is one", () => {
    const defaults = Map.groupBy(rows, (row) => sameSetting(row.key));
    const others = shown.flatMap(({ key, line, commentedOut, value }) => {
      const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
      if (!commentedOut || value === undefined || isMap) return [];
      const standard = (defaults.get(sameSetting(key)) ?? []).flatMap((row) => row.default ?? []);
      return standard.length === 0 || standard.includes(JSON.stringify(value))
        ? []
        : `${line}: ${key}, by default ${standard.join(" or ")}`;
    });
    expect(others).toEqual([]);
  });
});

describe("examples", () => {
  it("never hold what only the sandbox may be told", () => {
    const text = readFileSync(join(examples, "production.example.yaml"), "utf8");
    expect(text).not.toMatch(/^\s*(?:unseen: resend|fixed:|callsPerSecond: null)/m);
  });
});
