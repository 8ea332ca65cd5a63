/**
 * The company of most lives: its CRM as rows, how they are exported, and the configuration that reads them. A life
 * gives of each row what it is about.
 */

export interface Customer {
  id: string;
  name?: string;
  branch?: string;
  address?: string | null;
  creation?: "create" | "bind";
  mergedInto?: string;
  [field: string]: unknown;
}

export interface Asset {
  id: string;
  type?: string;
  quantity?: number;
  numbers?: string[];
  locked?: boolean;
  forLending?: boolean;
  limitEnd?: string;
  continues?: { order: string; instance: string };
}

export interface Product {
  id: string;
  parent: string;
  name?: string;
  pid?: string;
  nodes?: number;
  years?: number;
  limitStart?: string;
  limitEnd?: string;
  from?: { order: string; instance: string };
  price?: string;
  trialEnd?: string;
  features?: { code: string; name: string; value: string; type: string }[];
}

export interface Package {
  id: string;
  parent: string;
}

export interface Order {
  id: string;
  customer: string;
  cancelled?: boolean;
  placedAt?: string;
  assets: Asset[];
  packages?: Package[];
  products: Product[];
  [field: string]: unknown;
}

export interface Person {
  id: string;
  customer: string;
  login?: string;
  name?: string;
  mobile?: string | null;
  note?: string | null;
  department?: string | null;
  holds?: string[];
  numbers?: string[];
  borrows?: { lock: string; assets: string[] }[];
  [field: string]: unknown;
}

export interface Company {
  customers: Customer[];
  orders: Order[];
  staff: Person[];
}

/** An order of one asset for each id, with one product in each. */
export function order(id: string, customer: string, assets: (string | Asset)[], more: Partial<Order> = {}): Order {
  const lines = assets.map((asset) => (typeof asset === "string" ? { id: asset } : asset));
  return {
    id,
    customer,
    assets: lines,
    products: lines.map((line) => ({ id: `${line.id}-P`, parent: line.id })),
    ...more,
  };
}

/** `count` customers C1…, each with one order O1… of `assets` assets (O1-A1…) and a person for each (S1-1…). */
export function company(count: number, assets: number): Company {
  const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index + 1);
  return {
    customers: numbers(count).map((n) => ({ id: `C${n}` })),
    orders: numbers(count).map((n) =>
      order(
        `O${n}`,
        `C${n}`,
        numbers(assets).map((a) => `O${n}-A${a}`),
      ),
    ),
    staff: numbers(count).flatMap((n) =>
      numbers(assets).map((a) => ({ id: `S${n}-${a}`, customer: `C${n}`, holds: [`O${n}-A${a}`] })),
    ),
  };
}

/** The rows of a stream as the CRM exports them, one a line. */
export function exported({ customers, orders, staff }: Company): Record<string, string> {
  const lines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  return {
    "customers.ndjson": lines(customers.map(customerRow)),
    "orders.ndjson": lines(orders.map(orderRow)),
    "staff.ndjson": lines(staff.map(personRow)),
  };
}

function customerRow(given: Customer): object {
  const login = given.id.toLowerCase().replaceAll(/[^a-z0-9]/gu, "");
  return {
    name: `Firm ${given.id}`,
    branch: "North",
    address: `${given.id} Street 1, 12345 Town`,
    contact: `Chief ${given.id}`,
    account: `chief${login}`,
    email: `chief@${login}.example.com`,
    mobile: "+4915112345678",
    ...given,
  };
}

export function orderRow({ assets, packages = [], products, ...given }: Order): object {
  return {
    cancelled: false,
    placedAt: "2026-03-01T08:00:00Z",
    packages,
    ...given,
    assets: assets.map((asset) => ({ type: "cloud_account", ...asset })),
    products: products.map((product) => ({
      name: `Product ${product.id}`,
      pid: `PID-${product.id}`,
      nodes: 3,
      ...product,
    })),
  };
}

function personRow(given: Person): object {
  const login = given.id.toLowerCase().replaceAll(/[^a-z0-9]/gu, "");
  return {
    login: `user${login}`,
    name: `Person ${given.id}`,
    mobile: "+4915187654321",
    holds: [],
    numbers: [],
    ...given,
  };
}

export const customersMapping = `
          id: id
          name: name
          customerType: { value: company }
          branchCode: { value: B1 }
          branchName: branch
          address: address
          adminName: contact
          adminAccount: account
          adminEmail: email
          adminMobile: mobile
          purchaserMobile: mobile
          creation: creation
          mergedInto: { id: mergedInto }`;

export const ordersMapping = `
          id: id
          customerId: customer
          cancelled: cancelled
          placedAt: placedAt
          amount: { money: total, currency: EUR, decimals: 2 }
          instances:
            - kind: asset
              each: assets
              fields:
                id: id
                licenseType: type
                quantity: quantity
                assetNumbers: numbers
                limitEnd: limitEnd
                borrowedUsbKey: forLending
                locked: locked
                continues: { orderId: continues.order, instanceId: continues.instance }
            - kind: package
              each: { path: packages, default: [] }
              fields: { id: id, parentId: parent, number: id, name: id, term: { value: 1-0-0 } }
            - kind: product
              each: products
              fields:
                id: id
                parentId: parent
                name: name
                gmsPid: pid
                type: { value: tool }
                nodes: nodes
                limitStart: limitStart
                limitEnd: limitEnd
                timeUnit: { value: YEAR }
                timeUnitQuantity: { path: years, default: 1 }
                term: { template: "{years}-0-0", default: 1-0-0 }
                trial: { when: { path: trialEnd, present: true }, then: { value: true }, else: { value: false } }
                trialEnd: trialEnd
                transferredFrom: { orderId: from.order, instanceId: from.instance }
                amount: { money: price, currency: EUR, decimals: 2 }
                features:
                  - each: { path: features, default: [] }
                    fields: { code: code, name: name, value: value, valueType: type }`;

export const staffMapping = `
          id: id
          customerId: customer
          userName: login
          name: name
          mobile: mobile
          remark: note
          departmentId: department
          assets:
            - { each: { path: holds, default: [] }, fields: { instanceId: "." } }
            - { each: { path: numbers, default: [] }, fields: { assetNumber: "." } }
          borrows:
            - { each: { path: borrows, default: [] }, fields: { lock: lock, assets: [{ each: assets, fields: { instanceId: "." } }] } }`;

const stream = (name: string, mapping: string): string =>
  `      ${name}:\n        files: ${name}.ndjson\n        key: id\n        mapping:${mapping}\n`;

/** Two sources: the CRM has customers and orders, the HR system has the staff. */
export const twoSources = `sources:
  crm:
    kind: file
    directory: data
    streams:
${stream("customers", customersMapping)}${stream("orders", ordersMapping)}  hr:
    kind: file
    directory: data
    streams:
${stream("staff", staffMapping)}`;

/** One job that does everything in one run. */
export const everything = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;

export const beginning = `ledger:
  path: ledger.db
  sealKey: env:SEAL_KEY
zone: UTC
log: { level: error }
`;
