import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import { startService, type Answer } from "../../source/http-service.ts";
import { branch, replay, sourceOf } from "./replay.ts";
import { comparable, instancesOf, tables as filled } from "./seats.ts";

const companies = Array.from({ length: 5 }, (_, index) => ({
  id: 7 + index,
  name: `Company ${index}`,
  street: "Main Street 1",
  street2: false,
  zip: "53111",
  city: "Bonn",
  country_id: [57, "Germany"],
  email: index === 1 ? false : `info${index}@example.com`,
  phone: index === 1 ? false : "+49 30 1234567",
  write_date: `2026-11-2${index} 08:00:00`,
}));
const orders = [
  { id: 20, name: "S00020", partner_id: [7, "Company 0"], date_order: "2026-03-01 09:30:00", state: "sale" },
  { id: 21, name: "S00021", partner_id: [8, "Company 1"], date_order: "2026-03-02 23:30:00", state: "cancel" },
  { id: 22, name: "S00022", partner_id: [9, "Company 2"], date_order: "2026-04-01 00:00:00", state: "done" },
].map((order) => ({ ...order, amount_total: 119, currency_id: [1, "EUR"], write_date: "2026-11-20 08:00:00" }));
const lines = [
  { id: 41, order_id: [20, "S00020"], product_id: [3, "[LIC-CAD-10] CAD"], product_uom_qty: 2 },
  { id: 42, order_id: [20, "S00020"], product_id: [4, "[LIC-COST] Costing"], product_uom_qty: 3 },
  { id: 43, order_id: [21, "S00021"], product_id: [4, "[LIC-COST] Costing"], product_uom_qty: 1 },
  { id: 44, order_id: [22, "S00022"], product_id: [5, "[LIC-NEW] Not in the table"], product_uom_qty: 1 },
].map((line) => ({ ...line, x_seat_partner_id: line.id === 41 ? [31, "Ann Lee"] : false, price_total: 10 }));
const people = [
  { id: 31, name: "Ann Lee", parent_id: [7, "Company 0"], email: "ann.lee@example.com", phone: false },
  { id: 32, name: "Bob Ray", parent_id: [7, "Company 0"], email: "bob@example.com", phone: "030 7654321" },
];

type Row = JsonObject;
const tables: Record<string, Row[]> = {
  "res.partner": [...companies, ...people],
  "sale.order": orders,
  "sale.order.line": lines,
};

interface Call {
  params: { service: string; method: string; args: unknown[] };
  id: number;
}

/** Answers as the documented service does. */
async function odoo(fault?: (call: Call, number: number) => unknown) {
  const service = await startService((asked, number): Answer => {
    const call = JSON.parse(asked.body) as Call;
    const answer = (rest: object): Answer => ({ body: { jsonrpc: "2.0", id: call.id, ...rest } });
    const { service: name, args } = call.params;
    const wrong = fault?.(call, number);
    if (wrong !== undefined) return answer({ error: wrong });
    if (name === "common") return answer({ result: args[2] === "secret of env:ODOO_API_KEY" ? 5 : false });
    expect(args.slice(0, 3)).toEqual(["secret of env:ODOO_DATABASE", 5, "secret of env:ODOO_API_KEY"]);
    const [domain] = args[5] as [unknown[]];
    const { fields, limit } = args[6] as { fields: string[]; limit: number };
    const found = (tables[String(args[3])] ?? []).filter((row) => holds(domain, row)).slice(0, limit);
    return answer({
      result: found.map((row) =>
        Object.fromEntries([["id", row["id"]], ...fields.map((field) => [field, row[field]])]),
      ),
    });
  });
  return service;
}

/** As much of a search domain as is asked for: conditions, and | before two of them. */
function holds(domain: unknown[], row: Row): boolean {
  const results: boolean[] = [];
  for (const part of domain.toReversed()) {
    if (part === "|") results.push([results.pop(), results.pop()].includes(true));
    else results.push(condition(part as [string, string, unknown], row));
  }
  return results.every(Boolean);
}

function condition([field, operator, value]: [string, string, unknown], row: Row): boolean {
  const found = row[field];
  if (field === "is_company") return "parent_id" in row !== value;
  if (field.includes(".") || field.endsWith("_rank") || (field === "state" && found === undefined))
    return field !== "order_line.write_date";
  const plain = Array.isArray(found) ? found[0] : found;
  if (operator === ">") return Number(plain) > Number(value);
  if (operator === ">=") return comparable(plain) >= String(value);
  if (operator === "in") return (value as unknown[]).includes(plain);
  return plain !== value;
}

const own = (baseUrl: string): JsonObject => ({
  baseUrl,
  tables: filled,
  streams: { customers: branch },
});
const paged = (baseUrl: string): JsonObject => ({
  ...own(baseUrl),
  streams: {
    customers: { ...branch, paging: { size: 2 } },
    orders: { paging: { size: 2 }, details: { lines: { paging: { size: 1 } } } },
  },
});

it("reads companies page by page, and those alone that changed", async () => {
  const { origin, asked } = await odoo();
  const source = sourceOf("odoo", paged(origin));
  const { records, refused, outcome } = await replay(source, "customers");
  expect(refused).toEqual([]);
  expect(records).toHaveLength(5);
  expect(records.slice(0, 2)).toMatchObject([
    {
      id: "7",
      name: "Company 0",
      customerType: "company",
      branchCode: "B1",
      branchName: "North",
      address: "Main Street 1, 53111, Bonn, Germany",
      adminEmail: "info0@example.com",
      adminAccount: "info0",
      adminMobile: "+49 30 1234567",
    },
    { id: "8", name: "Company 1", address: "Main Street 1, 53111, Bonn, Germany" },
  ]);
  expect(records[1]).not.toHaveProperty("adminEmail");
  expect(outcome).toMatchObject({ complete: true, full: true });
  // A log-in, three pages, and one that shows that there are no more.
  expect(asked.map(({ body }) => (JSON.parse(body) as Call).params.method)).toEqual([
    "authenticate",
    ...Array.from({ length: 4 }, () => "execute_kw"),
  ]);
  const changed = await replay(source, "customers", { since: "2026-11-23T00:00:00Z" });
  expect(changed.records).toMatchObject([{ id: "10" }, { id: "11" }]);
  expect(changed.outcome).toMatchObject({ complete: true, full: false });
});

it("reads orders with the lines of licences; one with a product that nobody filled in is kept back", async () => {
  const { origin } = await odoo();
  const { records, refused, outcome } = await replay(sourceOf("odoo", paged(origin)), "orders");
  expect(records).toMatchObject([
    {
      id: "20",
      customerId: "7",
      placedAt: "2026-03-01T09:30:00.000Z",
      cancelled: false,
      instances: [
        ...instancesOf(41, "LIC-CAD-10", 20).slice(0, 1),
        ...instancesOf(42, "LIC-COST", 3).slice(0, 1),
        ...instancesOf(41, "LIC-CAD-10", 20).slice(1),
        ...instancesOf(42, "LIC-COST", 3).slice(1),
      ],
    },
    { id: "21", customerId: "8", cancelled: true },
  ]);
  expect(refused).toEqual(["instances[0].licenseType not-in-table"]);
  expect(outcome).toMatchObject({ complete: true, full: true, details: { lines: 4 } });
});

it("asks for orders by their own time of change, or by that of a line", async () => {
  const { origin, asked } = await odoo();
  const { records, outcome } = await replay(sourceOf("odoo", own(origin)), "orders", {
    since: "2026-11-20T09:00:00Z",
  });
  expect([records, outcome.complete, outcome.full]).toEqual([[], true, false]);
  const domain = ((JSON.parse(asked[1]?.body ?? "") as Call).params.args[5] as [unknown[]])[0];
  expect(domain.slice(0, 4)).toEqual([
    ["id", ">", 0],
    "|",
    ["write_date", ">=", "2026-11-20 09:00:00"],
    ["order_line.write_date", ">=", "2026-11-20 09:00:00"],
  ]);
});

it("reads contacts with the seats that lines of orders name them for", async () => {
  const { origin } = await odoo();
  const { records, refused } = await replay(sourceOf("odoo", own(origin)), "staff");
  expect([records, refused]).toMatchObject([
    [
      { id: "31", customerId: "7", userName: "annlee", name: "Ann Lee", assets: [{ instanceId: "A41" }] },
      { id: "32", customerId: "7", userName: "bob", name: "Bob Ray", mobile: "030 7654321", assets: [] },
    ],
    [],
  ]);
});

const denied = {
  code: 200,
  message: "Odoo Server Error",
  data: {
    name: "odoo.exceptions.AccessDenied",
    message: "Access Denied",
    arguments: ["Access Denied"],
    debug: "Traceback",
  },
};

it("logs in anew where a page is denied inside HTTP 200, and goes on", async () => {
  const { origin, asked } = await odoo((_call, number) => (number === 3 ? denied : undefined));
  const { records, outcome } = await replay(sourceOf("odoo", paged(origin)), "customers");
  expect([records.length, outcome.complete]).toEqual([5, true]);
  expect(asked.filter(({ body }) => body.includes("authenticate"))).toHaveLength(2);
});

it("is incomplete, in the words of the service, where it says inside HTTP 200 that the question is wrong", async () => {
  const wrong = {
    ...denied,
    data: { name: "builtins.ValueError", message: "Invalid field 'x_seat_partner_id' on model 'sale.order.line'" },
  };
  const { origin } = await odoo((call) => (call.params.args[3] === "sale.order.line" ? wrong : undefined));
  const { records, outcome } = await replay(sourceOf("odoo", own(origin)), "staff");
  expect(records).toEqual([]);
  expect(outcome.complete).toBe(false);
  expect(outcome.problem).toMatchObject({
    code: "source.error-answer",
    message: expect.stringContaining("Invalid field"),
  });
});

it("names a key that Odoo does not know", async () => {
  const { origin } = await odoo();
  const source = sourceOf("odoo", own(origin), { secrets: () => "wrong" });
  const { outcome } = await replay(source, "customers");
  expect([outcome.complete, outcome.problem?.code]).toEqual([false, "source.wrong-password"]);
});
