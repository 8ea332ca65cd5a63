import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/** How the generated export (bench/customers.ts, bench/orders.ts) is mapped. */
export const customers = {
  files: "customers.csv",
  key: "number",
  mapping: {
    id: "number",
    name: "company",
    customerType: "kind",
    branchCode: "branch",
    branchName: { template: "Branch {branch}" },
    address: { concat: ["street", "city"], separator: ", " },
    adminName: "contact",
    adminAccount: "mail",
    adminEmail: "mail",
    adminMobile: "phone",
    purchaserMobile: "phone",
  },
};

const orders = {
  files: "orders.csv",
  key: "order",
  details: { lines: { files: "lines.csv", key: "order" } },
  mapping: {
    id: "order",
    customerId: "customer",
    placedAt: { date: "placed", format: "yyyy-MM-dd", zone: "UTC" },
    instances: [
      {
        kind: "asset",
        one: { id: { template: "A-{order}" }, licenseType: { value: "cloud_account" } },
      },
      {
        kind: "product",
        each: "lines",
        fields: {
          id: { template: "{order}-{product}" },
          parentId: { template: "A-{^.order}" },
          name: { template: "Product {product}" },
          gmsPid: "product",
          nodes: "quantity",
          type: { value: "tool" },
          timeUnit: { value: "NONE" },
          timeUnitQuantity: { value: 0 },
          term: { value: "0-0-0" },
        },
      },
    ],
  },
};

/** The jobs of the measured configurations: customers alone, or with their orders. */
export const jobs = { customers: "customers", orders: "everything" } as const;

/**
 * Writes the configuration file of a measured program: services at `baseUrl` of which each takes `lanes` calls at once,
 * what the profile of the sandbox says of assumptions, and the export in `source`. The ledger lies beside the file.
 */
export function writeConfiguration(
  directory: string,
  of: { baseUrl: string; lanes: number; source: string; withOrders?: boolean },
): string {
  const profile = parse(readFileSync(new URL("../config/profiles/sandbox.yaml", import.meta.url), "utf8"));
  const pace = { baseUrl: of.baseUrl, callsAtOnce: of.lanes, callsPerSecond: null };
  const streams = of.withOrders === true ? { customers, orders } : { customers };
  const configuration = {
    ...profile,
    ledger: { path: "ledger.db" },
    log: { level: "warn" },
    zone: "UTC",
    orderService: { ...profile.orderService, ...pace },
    memberCenter: { ...profile.memberCenter, ...pace },
    concurrency: { customers: of.lanes },
    sources: { crm: { kind: "file", directory: of.source, streams } },
    jobs: {
      [jobs.customers]: { kind: "sync", streams: ["customers"] },
      ...(of.withOrders === true ? { [jobs.orders]: { kind: "sync", streams: ["customers", "orders"] } } : {}),
    },
  };
  const path = join(directory, "crm-sync.yaml");
  // JSON is YAML.
  writeFileSync(path, `${JSON.stringify(configuration, null, 2)}\n`);
  return path;
}
