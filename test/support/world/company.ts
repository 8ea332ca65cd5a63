/** Texts that stand for personal data and secrets. None of them may ever be seen outside the private table. */
export const canary = {
  name: "Zqcanary Works",
  address: "Zqcanary Road 7",
  admin: "Zqcanary Boss",
  account: "zqcanaryboss",
  email: "zqcanary@example.com",
  mobile: "+4917700700700",
  login: "zqcanarylogin",
  person: "Zqcanary Person",
  seal: "zqcanary-sealing-key-0123456789abcdef",
  password: "zqcanary-password",
} as const;
export interface Person {
  id: string;
  customer: string;
  login: string;
  name: string;
  assets?: ({ instance: string } | { number: string })[];
}

export interface CustomerRow {
  id: string;
  name: string;
  branch?: string;
  address?: string | null;
}

export interface OrderRow {
  id: string;
  customer: string;
  cancelled?: boolean;
  /** Ids of its assets, each with one product `${asset}-P` unless `products` says otherwise. */
  assets: string[];
  products?: { id: string; asset: string; nodes?: number }[];
}

/** What the CRM holds. */
export interface Records {
  customers: CustomerRow[];
  orders: OrderRow[];
  staff: Person[];
}

/** The configuration of a world, without the services: those of the sandbox come from its profile. */
export const worldConfiguration = `ledger:
  path: ledger.db
  sealKey: env:SEAL_KEY
zone: UTC
log: { level: warn }
sources:
  crm:
    kind: file
    directory: data
    streams:
      customers:
        files: customers.ndjson
        key: id
        mapping:
          id: id
          name: name
          customerType: { value: company }
          branchCode: { value: B1 }
          branchName: branch
          address: address
          adminName: admin.name
          adminAccount: admin.account
          adminEmail: admin.email
          adminMobile: admin.mobile
          purchaserMobile: admin.mobile
      orders:
        files: orders.ndjson
        key: id
        mapping:
          id: id
          customerId: customer
          cancelled: cancelled
          placedAt: placedAt
          instances:
            - kind: asset
              each: assets
              fields:
                id: id
                licenseType: { value: cloud_account }
            - kind: product
              each: products
              fields:
                id: id
                parentId: asset
                name: name
                gmsPid: pid
                type: { value: tool }
                nodes: nodes
                timeUnit: { value: YEAR }
                timeUnitQuantity: { value: 1 }
                term: { value: 1-0-0 }
  hr:
    kind: file
    directory: data
    streams:
      staff:
        files: staff.ndjson
        key: id
        mapping:
          id: id
          customerId: customer
          userName: login
          name: name
          mobile: mobile
          assets:
            - each: assets
              when: { path: number, present: true }
              fields: { assetNumber: number }
            - each: assets
              when: { path: instance, present: true }
              fields: { instanceId: instance }
`;

/** The job of a world that does everything in one run. */
export const worldJobs = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;

export function lines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

export function customerLine(customer: CustomerRow): object {
  const { id, name, branch = "Branch", address = canary.address } = customer;
  const { admin, account, email, mobile } = canary;
  return { id, name, branch, ...(address === null ? {} : { address }), admin: { name: admin, account, email, mobile } };
}

export function orderLine(order: OrderRow): object {
  const products = order.products ?? order.assets.map((asset) => ({ id: `${asset}-P`, asset }));
  return {
    id: order.id,
    customer: order.customer,
    cancelled: order.cancelled ?? false,
    placedAt: "2026-10-05T08:00:00Z",
    assets: order.assets.map((id) => ({ id })),
    products: products.map((product) => ({ name: `Product ${product.id}`, pid: "PID-1", nodes: 3, ...product })),
  };
}

export function staffLine(person: Person): object {
  return { mobile: canary.mobile, assets: [], ...person };
}

/**
 * `count` customers C1…, each with one order O1… of `assets` assets (O1-A1…) and as many people (S1-1…) who hold one
 * each.
 */
export function company(count: number, assets: number): Records {
  const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index + 1);
  return {
    customers: numbers(count).map((n) => ({ id: `C${n}`, name: `${canary.name} ${n}` })),
    orders: numbers(count).map((n) => ({
      id: `O${n}`,
      customer: `C${n}`,
      assets: numbers(assets).map((a) => `O${n}-A${a}`),
    })),
    staff: numbers(count).flatMap((n) =>
      numbers(assets).map((a) => ({
        id: `S${n}-${a}`,
        customer: `C${n}`,
        login: `${canary.login}${n}x${a}`,
        name: `${canary.person} ${n} ${a}`,
        assets: [{ instance: `O${n}-A${a}` }],
      })),
    ),
  };
}
