import { systemClock } from "../../src/base/clock.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import { loadConfig, type Config } from "../../src/config/config.ts";
import type { Environment, Loaded } from "../../src/config/load.ts";
import type { Customer, Order, Package, Product, Staff } from "../../src/crm/model.ts";
import { buildAssets } from "../../src/crm/tree.ts";
import { createStaging } from "../../src/ledger/records/staging.ts";
import { validate } from "../../src/engine/plan/validate.ts";
import { createSource } from "../../src/source/source.ts";

/** Loads a configuration that has to be right. */
export async function loadExample(
  path: string,
  options: { profiles?: string[]; environment?: Environment } = {},
): Promise<Loaded<Config>> {
  const result = loadConfig({ path, environment: {}, ...options });
  if (result.ok) return result.value;
  throw new Error(result.error.map(({ place, message, cure }) => `${place} ${message} ${cure}`).join("\n"));
}

export interface ExampleRecords {
  customers: Customer[];
  orders: Order[];
  staff: Staff[];
  /** `place code` of everything that would go to quarantine. */
  bad: string[];
}

/** What a run would take up from the sources of a configuration: read, mapped, validated. */
export async function readExample({ config, directory }: Loaded<Config>): Promise<ExampleRecords> {
  const records: ExampleRecords = { customers: [], orders: [], staff: [], bad: [] };
  for (const [name, settings] of Object.entries(config.sources)) {
    const source = createSource(name, settings, {
      clock: systemClock,
      random: systemRandomness,
      secrets: (reference) => `secret of ${reference}`,
      staging: createStaging(),
      baseDirectory: directory,
    });
    for (const stream of source.streams) {
      const { map } = await source.mapping(stream);
      const reading = source.read(stream, {});
      for (;;) {
        const next = await reading.next();
        if (next.done === true) {
          if (!next.value.complete) throw next.value.problem ?? new Error(`${name} ${stream} was not read whole`);
          break;
        }
        for (const item of next.value) {
          if ("bad" in item) {
            records.bad.push(`${name} ${item.bad.place} ${item.bad.code}`);
            continue;
          }
          const mapped = map(item.raw.value);
          const fault = mapped.ok ? validate(mapped.value, config.assumptions) : mapped.error;
          if (fault !== undefined) records.bad.push(`${name} ${item.raw.place} ${fault.code}`);
          else if (!mapped.ok) throw new TypeError("a record that cannot be mapped has a fault");
          else if (mapped.value.stream === "customers") records.customers.push(mapped.value.record);
          else if (mapped.value.stream === "orders") records.orders.push(mapped.value.record);
          else records.staff.push(mapped.value.record);
        }
      }
    }
    await source.close();
  }
  return records;
}

/**
 * What orders hold: instances of each kind, and what they come to when each asset number holds everything that its
 * asset does.
 */
export function contentsOf(orders: readonly Order[]): Record<string, number> {
  const counts: Record<string, number> = {};
  const add = (what: string, number: number): void => {
    counts[what] = (counts[what] ?? 0) + number;
  };
  const addProducts = (products: readonly Product[], numbers: number): void => {
    add("products", products.length);
    add("products on numbers", products.length * numbers);
    for (const product of products) add("features", product.features.length);
  };
  const addPackage = (item: Package, numbers: number): void => {
    add("packages", 1);
    add("packages on numbers", numbers);
    addProducts(item.products, numbers);
    for (const child of item.children) addPackage(child, numbers);
  };
  for (const order of orders) {
    for (const asset of buildAssets(order.instances).assets) {
      add("assets", 1);
      add("numbers", asset.quantity);
      add("numbers of the CRM", asset.assetNumbers.length);
      add("extensions", asset.extensions.length);
      addProducts(asset.products, asset.quantity);
      for (const item of asset.packages) addPackage(item, asset.quantity);
    }
  }
  return counts;
}
