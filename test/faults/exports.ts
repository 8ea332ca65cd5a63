import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "csv-stringify/sync";

/**
 * Four customers with an order of five assets each, and twenty people of whom everybody holds one asset: as many as the
 * limits of one run would let go, so that nothing but the doubt about a source keeps them.
 */

type Row = Record<string, string>;

export interface Export {
  customers: Row[];
  orders: Row[];
  /** Assets of the orders. */
  assets: Row[];
  staff: Row[];
}

/**
 * How an export is written: `joined` is CSV whose people hold what a second file says; `http` is files for all but the
 * people.
 */
export const formats = ["csv", "joined", "ndjson", "json", "http"] as const;
export type Format = (typeof formats)[number];

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

function person(customer: number, number: number): Row {
  const id = `S${customer}-${number}`;
  return {
    id,
    customer: `C${customer}`,
    login: `zoe${customer}x${number}`,
    name: `Zoë Müller ${id}`,
    mobile: "+4915187654321",
    holds: `A${customer}-${number}`,
  };
}

export function wholeExport(): Export {
  const customers = numbers(4);
  return {
    customers: customers.map((n) => ({
      id: `C${n}`,
      name: `Müller & Söhne ${n}`,
      branch: "North",
      contact: "Zoë Boss",
      account: `boss${n}`,
      email: `boss${n}@example.com`,
      mobile: "+4915112345678",
      address: `Große Straße ${n}`,
    })),
    orders: customers.map((n) => ({ id: `O${n}`, customer: `C${n}` })),
    assets: customers.flatMap((n) =>
      numbers(5).map((a) => ({ order: `O${n}`, product: `P${n}-${a}`, asset: `A${n}-${a}` })),
    ),
    staff: customers.flatMap((n) => numbers(5).map((a) => person(n, a))),
  };
}

/** The export after a day's work: the second customer moved, and somebody new stands first in the list of people. */
export function laterExport(): Export {
  const whole = wholeExport();
  const newcomer = { ...person(1, 9), holds: "" };
  return {
    ...whole,
    customers: whole.customers.map((row) => (row["id"] === "C2" ? { ...row, branch: "South" } : row)),
    staff: [newcomer, ...whole.staff],
  };
}

const without = (row: Row, ...names: string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

function csv(rows: readonly Row[]): string {
  return stringify([...rows], { header: true, columns: Object.keys(rows[0] ?? {}) });
}

const ndjson = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** The rows of the people's list as JSON: what somebody holds is a list. */
export function peopleOf({ staff }: Export): (Omit<Row, "holds"> & { holds: string[] })[] {
  return staff.map((row) => ({
    ...without(row, "holds"),
    holds: [row["holds"] ?? ""].filter((text) => text !== ""),
  })) as (Omit<Row, "holds"> & { holds: string[] })[];
}

/** The files of an export, by name. */
export function filesOf(format: Format, data: Export): Record<string, string> {
  const orders = data.orders.map((order) => ({
    ...order,
    assets: data.assets.filter((asset) => asset["order"] === order["id"]).map((asset) => without(asset, "order")),
  }));
  switch (format) {
    case "csv":
    case "joined": {
      const files: Record<string, string> = {
        "customers.csv": csv(data.customers),
        "orders.csv": csv(data.orders),
        "assets.csv": csv(data.assets),
      };
      if (format === "csv") return { ...files, "staff.csv": csv(data.staff) };
      const held = data.staff.filter((row) => row["holds"] !== "");
      return {
        ...files,
        "staff.csv": csv(data.staff.map((row) => without(row, "holds"))),
        "holds.csv": csv(held.map((row) => ({ person: row["id"] ?? "", asset: row["holds"] ?? "" }))),
      };
    }
    case "ndjson":
    case "http":
      return {
        "customers.ndjson": ndjson(data.customers),
        "orders.ndjson": ndjson(orders),
        ...(format === "http" ? {} : { "staff.ndjson": ndjson(peopleOf(data)) }),
      };
    case "json":
      return {
        "customers.json": JSON.stringify(data.customers, null, 1),
        "orders.json": JSON.stringify(orders, null, 1),
        "staff.json": JSON.stringify({ people: peopleOf(data) }, null, 1),
      };
  }
}

/** Of a customer that the program can make an enterprise of. */
export const customerMapping = {
  id: "id",
  name: "name",
  customerType: { value: "company" },
  branchCode: { value: "B1" },
  branchName: "branch",
  address: "address",
  adminName: "contact",
  adminAccount: "account",
  adminEmail: "email",
  adminMobile: "mobile",
  purchaserMobile: "mobile",
};

const mappings = {
  customers: customerMapping,
  orders: {
    id: "id",
    customerId: "customer",
    instances: [
      { kind: "asset", each: "assets", fields: { id: "asset", licenseType: { value: "cloud_account" } } },
      {
        kind: "product",
        each: "assets",
        fields: {
          id: "product",
          parentId: "asset",
          name: { value: "Planner" },
          gmsPid: { value: "PLAN-1" },
          type: { value: "tool" },
          nodes: { value: 3 },
          timeUnit: { value: "YEAR" },
          timeUnitQuantity: { value: 1 },
          term: { value: "1-0-0" },
        },
      },
    ],
  },
  staff: { id: "id", customerId: "customer", userName: "login", name: "name", mobile: "mobile" },
};

const claims: Record<Format, unknown> = {
  csv: [{ one: { instanceId: "holds" }, when: { path: "holds", present: true } }],
  joined: [{ each: "holds", fields: { instanceId: "asset" } }],
  ndjson: [{ each: "holds", fields: { instanceId: "." } }],
  json: [{ each: "holds", fields: { instanceId: "." } }],
  http: [{ each: "holds", fields: { instanceId: "." } }],
};

/** How the people's list is asked for over HTTP. */
export type HttpShape = "pages" | "total" | "whole";

function sourcesOf(format: Format, http: { origin: string; shape: HttpShape } | undefined): unknown {
  const extension = format === "joined" ? "csv" : format === "http" ? "ndjson" : format;
  const file = (stream: "customers" | "orders" | "staff"): Record<string, unknown> => ({
    files: `${stream}.${extension}`,
    key: "id",
    mapping: stream === "staff" ? { ...mappings.staff, assets: claims[format] } : mappings[stream],
  });
  const orders = extension === "csv" ? { details: { assets: { files: "assets.csv", key: "order" } } } : {};
  const staff =
    format === "joined"
      ? { details: { holds: { files: "holds.csv", key: "person" } } }
      : format === "json"
        ? { records: "people" }
        : {};
  const crm = { customers: file("customers"), orders: { ...file("orders"), ...orders } };
  if (format !== "http")
    return { crm: { kind: "file", directory: ".", streams: { ...crm, staff: { ...file("staff"), ...staff } } } };
  const paging = { kind: "page", parameter: "page", sizeParameter: "size", size: 5 };
  const shape = http?.shape ?? "whole";
  return {
    crm: { kind: "file", directory: ".", streams: crm },
    hr: {
      kind: "http",
      baseUrl: http?.origin ?? "http://127.0.0.1:1",
      retries: 2,
      retryBaseMs: 1,
      retryMaxMs: 2,
      streams: {
        staff: {
          url: "staff",
          key: "id",
          records: "people",
          ...(shape === "whole" ? {} : { paging }),
          ...(shape === "total" ? { total: "total" } : {}),
          mapping: { ...mappings.staff, assets: claims.http },
        },
      },
    },
  };
}

/** Writes the configuration and an export into a folder. The configuration is JSON, which is YAML too. */
export function writeExport(
  folder: string,
  format: Format,
  data: Export,
  http?: { origin: string; shape: HttpShape },
): void {
  mkdirSync(folder, { recursive: true });
  const configuration = {
    ledger: { path: "ledger.db", sealKey: "env:SMALL_WORLD_SEAL_KEY" },
    jobs: { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } },
    sources: sourcesOf(format, http),
  };
  writeFileSync(join(folder, "crm-sync.yaml"), JSON.stringify(configuration, null, 1));
  for (const [name, content] of Object.entries(filesOf(format, data))) {
    rmSync(join(folder, name), { recursive: true, force: true });
    writeFileSync(join(folder, name), content);
  }
}

/** A folder with everything that another one holds. */
export function copyWorld(from: string, folder: string): void {
  cpSync(from, folder, { recursive: true });
}
