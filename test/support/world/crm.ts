import type { LicenseType, Stream } from "../../../src/crm/model.ts";

/**
 * The CRM of the tests: what a row of its export holds, stream by stream, and what stands in it where a test says
 * nothing. `crm-files.ts` writes such rows and has their mapping.
 */

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
  licence: "zqcanary-licence",
  seal: "zqcanary-sealing-key-0123456789abcdef",
  password: "zqcanary-password",
} as const;

/** What is seen where something private of these rows stands. */
export const privateText = /zqcanary|\+4917700700700/iu;

const companies = new RegExp(String.raw`${canary.name}(?: [\w-]+)?`, "gu");

/** What a command printed. `plan` and `explain` may name companies to people, and nobody may in JSON. */
export function withoutCompanies(words: readonly string[], stdout: string): string {
  const mayName = !words.includes("--json") && words.some((word) => word === "plan" || word === "explain");
  return mayName ? stdout.replaceAll(companies, "") : stdout;
}

/** What every private text of these rows holds. */
export const personal: readonly string[] = ["Zqcanary", "zqcanary", canary.mobile];
/** What stands nowhere in clear. */
export const secrets: readonly string[] = [canary.licence, canary.seal];

/** What the configuration of such a world reads from the environment. */
export const sealEnvironment = { SEAL_KEY: canary.seal };

export interface CustomerRow {
  id: string;
  name: string;
  branch: string;
  /** null: the CRM has none. */
  address: string | null;
  contact: string;
  account: string;
  email: string;
  mobile: string;
  /** Whether its enterprise is made or bound, where the CRM says so. */
  creation?: "create" | "bind";
  /** The customer that it was merged into. */
  mergedInto?: string;
}

export interface AssetRow {
  id: string;
  type?: LicenseType;
  quantity?: number;
  /** Numbers that the CRM knows. */
  numbers?: string[];
  limitEnd?: string;
  /** Whether the CRM wants it locked; it says nothing where this is left out. */
  locked?: boolean | undefined;
  /** It is a lock that is lent. */
  forLending?: boolean;
  /** The order and the instance that it renews. */
  continues?: { order: string; instance: string };
}

export interface PackageRow {
  id: string;
  /** Its asset, or the package that it stands in. */
  parent: string;
}

export interface ProductRow {
  id: string;
  /** Its asset or package. */
  parent: string;
  name?: string;
  pid?: string;
  nodes?: number;
  limitStart?: string;
  limitEnd?: string;
  /** Its term; one year where nothing is said. With both limits it has to be what lies between them. */
  years?: number;
  passwords?: string[];
  /** The order and the instance that it is transferred from. */
  from?: { order: string; instance: string };
  /** What it costs, in euros. */
  price?: string;
}

export interface OrderRow {
  id: string;
  customer: string;
  cancelled: boolean;
  placedAt: string;
  /** What the whole order costs, in euros. */
  price?: string;
  assets: AssetRow[];
  packages: PackageRow[];
  products: ProductRow[];
}

export interface StaffRow {
  id: string;
  customer: string;
  login: string;
  name: string;
  /** null: the CRM has none, here and below. */
  mobile: string | null;
  note?: string | null;
  department?: string | null;
  password?: string | null;
  /** Assets by the id that they have in their order. */
  holds: string[];
  /** Assets by their number. */
  numbers: string[];
  /** Locks, with the ids of the assets that go into them. */
  borrows?: { lock: string; assets: string[] }[];
}

/** Rows as a test gives them: only what it is about. */
export type GivenCustomer = Pick<CustomerRow, "id"> & Partial<CustomerRow>;
/** Without `products` each asset has one, `${asset}-P`. */
export type GivenOrder = Pick<OrderRow, "id" | "customer"> &
  Partial<Omit<OrderRow, "assets">> & { assets: (string | AssetRow)[] };
export type GivenStaff = Pick<StaffRow, "id" | "customer"> & Partial<StaffRow>;

/** What the CRM holds. */
export interface Crm {
  customers: GivenCustomer[];
  orders: GivenOrder[];
  staff: GivenStaff[];
}

/**
 * The product number of a product that says none. Two products of one asset have two of them, as two with equal terms
 * could not be told apart on the platform; the one that an asset has by itself (`${asset}-P`) has always had PID-1.
 */
function productNumber({ id }: ProductRow): string {
  return id.endsWith("-P") ? "PID-1" : `PID-${id}`;
}

/** A line of an order that was given as its asset's id alone. */
export function assetRow(asset: string | AssetRow): AssetRow {
  return typeof asset === "string" ? { id: asset } : asset;
}

export function customerRow(given: GivenCustomer): CustomerRow {
  const { address, admin: contact, account, email, mobile } = canary;
  return { name: `${canary.name} ${given.id}`, branch: "Branch", address, contact, account, email, mobile, ...given };
}

export function orderRow({ assets, packages = [], products, ...given }: GivenOrder): OrderRow {
  const lines = assets.map(assetRow);
  const inside = products ?? lines.map(({ id }) => ({ id: `${id}-P`, parent: id }));
  return {
    cancelled: false,
    placedAt: "2026-10-05T08:00:00Z",
    ...given,
    assets: lines.map((line) => ({ type: "cloud_account", ...line })),
    packages,
    products: inside.map((product) => ({
      name: `Product ${product.id}`,
      pid: productNumber(product),
      nodes: 3,
      ...product,
    })),
  };
}

export function staffRow(given: GivenStaff): StaffRow {
  return {
    login: canary.login + given.id.toLowerCase().replaceAll(/[^a-z0-9]/gu, "x"),
    name: `${canary.person} ${given.id}`,
    mobile: canary.mobile,
    holds: [],
    numbers: [],
    ...given,
  };
}

/** The rows of a stream as the CRM exports them. */
export function exportedRows(stream: Stream, crm: Crm): object[] {
  switch (stream) {
    case "customers":
      return crm.customers.map(customerRow);
    case "orders":
      return crm.orders.map(orderRow);
    case "staff":
      return crm.staff.map(staffRow);
  }
}

/**
 * `count` customers C1…, each with one order O1… of `assets` assets (O1-A1…) and as many people (S1-1…) who hold one
 * each.
 */
export function company(count: number, assets: number): Crm {
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
        holds: [`O${n}-A${a}`],
      })),
    ),
  };
}
