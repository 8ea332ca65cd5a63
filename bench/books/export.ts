import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/base/canonical-json.ts";

/**
 * What stands in the export for the number of a copy, in every id: a customer of the copy 12 is `000012-C1`. As many
 * characters as the digits that take its place.
 */
export const copyMark = "ZZZZZZ";

/** A currency for each customer; one of them has no minor unit. */
const currencies = ["EUR", "USD", "JPY", "CNY", "GBP", "EUR"] as const;
const ordersOfCustomer = 17;
const linesOfOrder = 3;

export const customersOfCopy = currencies.length;
export const ordersOfCopy = customersOfCopy * ordersOfCustomer;
export const linesOfCopy = ordersOfCopy * linesOfOrder;

/** How the export is mapped. */
const streams = {
  customers: {
    files: "customers.ndjson",
    key: "id",
    mapping: {
      id: "id",
      name: { template: "Company {id}" },
      customerType: { value: "company" },
      branchCode: "branch",
      branchName: { template: "Branch {branch}" },
      address: { template: "{id} Main Street" },
      adminName: { template: "Contact {id}" },
      adminAccount: { template: "contact-{id}@example.com" },
      adminEmail: { template: "contact-{id}@example.com" },
      adminMobile: { value: "13800000001" },
      purchaserMobile: { value: "13800000001" },
    },
  },
  orders: {
    files: "orders.ndjson",
    key: "id",
    mapping: {
      id: "id",
      customerId: "customer",
      cancelled: "cancelled",
      placedAt: { date: "placed", format: "yyyy-MM-dd", zone: "UTC" },
      amount: { money: "total", currency: { path: "currency" } },
      instances: [
        {
          kind: "asset",
          one: { id: { template: "A-{id}" }, licenseType: { value: "cloud_account" }, quantity: "quantity" },
        },
        {
          kind: "product",
          each: "lines",
          fields: {
            id: { template: "{^.id}-{product}" },
            parentId: { template: "A-{^.id}" },
            name: { template: "Product {product}" },
            gmsPid: "product",
            nodes: "nodes",
            type: { value: "tool" },
            timeUnit: { value: "YEAR" },
            timeUnitQuantity: { value: 1 },
            term: { value: "1-0-0" },
            amount: { money: "price", currency: { path: "currency" } },
          },
        },
      ],
    },
  },
  staff: {
    files: "staff.ndjson",
    key: "id",
    mapping: {
      id: "id",
      customerId: "customer",
      userName: "login",
      name: { template: "Person {id}" },
      mobile: { value: "13800000002" },
      assets: [{ each: "holds", fields: { instanceId: "." } }],
    },
  },
} satisfies JsonObject;

/** The source of the export in a folder. */
export function source(directory: string): JsonObject {
  return { kind: "file", directory, streams };
}

/**
 * Writes the export: as it was first, or as it was later, when an amount was corrected, an order had more nodes, one
 * had fewer units and one was cancelled. Each customer has `ordersEach` orders.
 */
export function writeExport(folder: string, when: "first" | "later", ordersEach = ordersOfCustomer): void {
  mkdirSync(folder, { recursive: true });
  const customers = currencies.map((currency, index) => ({ id: customerId(index), branch: `B${index % 3}`, currency }));
  const numbers = Array.from({ length: ordersEach }, (_, index) => index);
  const orders = customers.flatMap(({ id, currency }, customer) =>
    numbers.map((number) => orderRow({ id, currency, customer, number }, when === "later")),
  );
  const staff = customers.flatMap(({ id }) =>
    [0, 1].slice(0, ordersEach).map((number) => ({
      id: `${id}-S${number}`,
      login: `person${id.replaceAll("-", "")}S${number}`,
      customer: id,
      holds: [`A-${orderId(id, number)}`],
    })),
  );
  for (const [stream, rows] of Object.entries({ customers, orders, staff }))
    writeFileSync(join(folder, `${stream}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

function customerId(index: number): string {
  return `${copyMark}-C${index}`;
}

function orderId(customer: string, number: number): string {
  return `${customer}-O${String(number).padStart(2, "0")}`;
}

function orderRow(
  { id: customer, currency, ...at }: { id: string; currency: string; customer: number; number: number },
  isLater: boolean,
): JsonObject {
  const { number } = at;
  const changed = (which: number): boolean => isLater && number === which;
  const digits = currency === "JPY" ? 0 : 2;
  const lines = Array.from({ length: linesOfOrder }, (_, line) => {
    const minor = 1_000 + 37 * ((at.customer * 31 + number * 7 + line * 13) % 97) + (changed(2) && line === 0 ? 50 : 0);
    return {
      product: `P${String((number * 7 + line * 13) % 97).padStart(3, "0")}`,
      nodes: ((number + line) % 20) + 1 + (changed(3) && line === 1 ? 5 : 0),
      price: (minor / 10 ** digits).toFixed(digits),
      currency,
    };
  });
  const total = lines.reduce((sum, { price }) => sum + Math.round(Number(price) * 10 ** digits), 0);
  return {
    id: orderId(customer, number),
    customer,
    cancelled: changed(5),
    placed: `2026-09-${String((number % 28) + 1).padStart(2, "0")}`,
    quantity: number === 4 ? (isLater ? 2 : 3) : 1,
    total: (total / 10 ** digits).toFixed(digits),
    currency,
    lines,
  };
}
