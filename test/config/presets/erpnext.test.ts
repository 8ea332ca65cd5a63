import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import { startService, type Answer, type Service } from "../../source/http-service.ts";
import { branch, replay, sourceOf } from "./replay.ts";
import { comparable, instancesOf, tables as filled } from "./seats.ts";

const customers = Array.from({ length: 5 }, (_, index) => ({
  name: `CUST-0000${index}`,
  customer_name: `Company ${index}`,
  customer_type: index === 1 ? "Individual" : "Company",
  primary_address: "Main Street 1<br>Bonn<br>\nGermany<br>",
  email_id: `info${index}@example.com`,
  mobile_no: null,
  modified: `2026-11-2${index} 08:00:00.123456`,
}));
const orders = [
  { name: "SAL-ORD-2026-00001", customer: "CUST-00000", transaction_date: "2026-03-01", docstatus: 1 },
  { name: "SAL-ORD-2026-00002", customer: "CUST-00001", transaction_date: "2026-03-02", docstatus: 2 },
  { name: "SAL-ORD-2026-00003", customer: "CUST-00001", transaction_date: "2026-03-02", docstatus: 1 },
  { name: "SAL-ORD-2026-00004", customer: "CUST-00001", transaction_date: "2026-03-02", docstatus: 0 },
].map((order) => ({ ...order, modified: "2026-11-20 08:00:00.000000" }));
const item = (
  name: string,
  parent: number,
  docstatus: number,
  code: string,
  qty: number,
  seat: string | null = null,
) => ({
  name,
  parent: `SAL-ORD-2026-0000${parent}`,
  parenttype: "Sales Order",
  docstatus,
  item_code: code,
  item_name: code === "LIC-COST" ? "Costing" : "CAD",
  qty,
  custom_seat_contact: seat,
});
const items = [
  item("a1", 1, 1, "LIC-CAD-10", 2.0, "Ann Lee-Company 0"),
  item("a2", 1, 1, "CHAIR", 4.0),
  item("b1", 2, 2, "LIC-COST", 1.0, "Ann Lee-Company 0"),
  item("c1", 3, 1, "CHAIR", 1.0),
];
const contacts = [
  {
    name: "Ann Lee-Company 0",
    full_name: "Ann Lee",
    email_id: "ann.lee@example.com",
    mobile_no: "+49301",
    custom_customer: "CUST-00000",
  },
  {
    name: "Bob Ray-Company 0",
    full_name: "Bob Ray",
    email_id: "bob@example.com",
    mobile_no: null,
    custom_customer: "CUST-00000",
  },
  { name: "Cy Fox-Supplier", full_name: "Cy Fox", email_id: "cy@example.com", mobile_no: null, custom_customer: null },
];
const lists: Record<string, JsonObject[]> = {
  Customer: customers,
  "Sales Order": orders,
  "Sales Order Item": items,
  Contact: contacts,
};

type Filter = [string, string, unknown];

/** Answers as the documented REST API does. */
async function erpnext(fault?: (path: string, number: number) => Answer | undefined): Promise<Service> {
  return await startService((asked, number) => {
    const wrong = fault?.(asked.path, number);
    if (wrong !== undefined) return wrong;
    if (asked.headers.authorization !== "secret of env:ERPNEXT_TOKEN")
      return {
        status: 401,
        body: { exc_type: "AuthenticationError", exception: "frappe.exceptions.AuthenticationError" },
      };
    const type = decodeURIComponent(asked.path).replace("/api/resource/", "");
    if (type === "Sales Order Item") expect(asked.query["parent"]).toBe("Sales Order");
    const filters = JSON.parse(asked.query["filters"] ?? "[]") as Filter[];
    const fields = JSON.parse(asked.query["fields"] ?? '["name"]') as string[];
    const start = Number(asked.query["limit_start"] ?? 0);
    const found = (lists[type] ?? []).filter((row) => filters.every((filter) => holds(filter, row)));
    const page = found.slice(start, start + Number(asked.query["limit_page_length"] ?? 20));
    return {
      body: { data: page.map((row) => Object.fromEntries(fields.map((field) => [field, row[field] ?? null]))) },
    };
  });
}

function holds([field, operator, value]: Filter, row: JsonObject): boolean {
  const found = row[field];
  if (operator === "in") return (value as unknown[]).includes(found);
  if (operator === ">=") return comparable(found) >= String(value);
  if (operator === "is") return found !== null;
  if (operator === "like") return comparable(found).startsWith(String(value).replace("%", ""));
  return found === value;
}

const own = (baseUrl: string, size = 200): JsonObject => {
  const paging = { size };
  const since = { zone: "Europe/Berlin" };
  return {
    baseUrl,
    tables: filled,
    streams: {
      customers: { paging, since, ...branch },
      orders: { paging, since, details: { lines: { paging } } },
      staff: { paging },
    },
  };
};

it("reads customers page by page, twice", async () => {
  const { origin, asked } = await erpnext();
  const { records, refused, outcome } = await replay(sourceOf("erpnext", own(origin, 2)), "customers");
  expect(outcome).toMatchObject({ complete: true, full: true });
  expect(records).toHaveLength(5);
  expect(records.slice(0, 2)).toMatchObject([
    {
      id: "CUST-00000",
      customerType: "company",
      branchCode: "B1",
      address: "Main Street 1, Bonn, Germany",
      adminAccount: "info0",
    },
    { id: "CUST-00001", customerType: "personal" },
  ]);
  expect(refused).toEqual([]);
  const once = ["0", "2", "4", "5"];
  expect(asked.map(({ query }) => query["limit_start"])).toEqual([...once, ...once]);
});

it("asks for what changed, in the time of the site", async () => {
  const { origin, asked } = await erpnext();
  const source = sourceOf("erpnext", own(origin));
  const first = await replay(source, "customers");
  // The last one was changed at 08:00:00.123 in Berlin; five minutes before that.
  expect(first.outcome.cursor).toBe("2026-11-24T06:55:00.123Z");
  const { records, outcome } = await replay(source, "customers", { since: "2026-11-22T07:00:00Z" });
  expect(outcome).toMatchObject({ complete: true, full: false });
  expect(records).toMatchObject([{ id: "CUST-00002" }, { id: "CUST-00003" }, { id: "CUST-00004" }]);
  expect(asked.at(-1)?.query["filters"]).toBe('[["modified",">=","2026-11-22 08:00:00"]]');
});

it("reads submitted and cancelled orders that have licences", async () => {
  const { origin } = await erpnext();
  const source = sourceOf("erpnext", own(origin));
  const { records, refused, skipped, outcome } = await replay(source, "orders");
  expect(outcome).toMatchObject({ complete: true, full: true, details: { lines: 2 } });
  expect([records, refused]).toMatchObject([
    [
      {
        id: "SAL-ORD-2026-00001",
        customerId: "CUST-00000",
        placedAt: "2026-03-01T00:00:00.000Z",
        cancelled: false,
        instances: instancesOf("a1", "LIC-CAD-10", 20),
      },
      { id: "SAL-ORD-2026-00002", cancelled: true, instances: instancesOf("b1", "LIC-COST", 1) },
    ],
    [],
  ]);
  expect(skipped).toBe(1);
});

it("reads the contacts of customers with the seats of orders that stand", async () => {
  const { origin } = await erpnext();
  const { records, refused } = await replay(sourceOf("erpnext", own(origin)), "staff");
  expect([records, refused]).toMatchObject([
    [
      {
        id: "Ann Lee-Company 0",
        customerId: "CUST-00000",
        userName: "annlee",
        name: "Ann Lee",
        assets: [{ instanceId: "Aa1" }],
      },
      { id: "Bob Ray-Company 0", userName: "bob", assets: [] },
    ],
    [],
  ]);
});

it("is incomplete where a page is an error inside HTTP 200, a web page, or not for us", async () => {
  const error = {
    exc_type: "ValidationError",
    exception: "frappe.exceptions.ValidationError: Unknown column custom_seat_contact",
  };
  const answers: [Answer, string, string][] = [
    [{ body: error }, "source.error-answer", "ValidationError"],
    [{ body: "<html><title>Updating</title></html>" }, "source.not-json", "with a web page"],
    [{ status: 403, body: { exc_type: "PermissionError" } }, "source.wrong-password", "403"],
    [{ status: 401, body: { exc_type: "AuthenticationError" } }, "source.wrong-password", "401"],
  ];
  for (const [answer, code, words] of answers) {
    const { origin } = await erpnext((path) => (path.includes("Item") ? answer : undefined));
    const { records, outcome } = await replay(sourceOf("erpnext", own(origin)), "orders");
    expect([records, outcome.complete]).toEqual([[], false]);
    expect(outcome.problem).toMatchObject({ code, message: expect.stringContaining(words) });
  }
});
