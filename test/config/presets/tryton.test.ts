import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import { startService, type Answer, type Service } from "../../source/http-service.ts";
import { branch, replay, sourceOf } from "./replay.ts";
import { instancesOf, tables as filled } from "./seats.ts";

const date = (year: number, month: number, day: number): JsonObject => ({ __class__: "date", year, month, day });
const parties = Array.from({ length: 5 }, (_, index) => ({
  id: 7 + index,
  name: `Company ${index}`,
  code: `C${index}`,
  email: index === 1 ? null : `info${index}@example.com`,
  phone: "+49 30 1",
  mobile: null,
  // A record that was never changed has no time of change.
  create_date: `2026-11-2${index} 08:00:00`,
  write_date: index === 0 ? "2026-11-24 09:00:00" : null,
}));
const addresses = parties.map(({ id }) => ({
  id: 100 + id,
  party: id,
  full_address: "Main Street 1\n53111 Bonn\nGermany",
}));
const sales = [
  {
    id: 20,
    number: "S20",
    party: 7,
    sale_date: date(2026, 3, 1),
    state: "processing",
    create_date: "2026-03-01 08:00:00",
  },
  {
    id: 21,
    number: "S21",
    party: 8,
    sale_date: date(2026, 11, 9),
    state: "cancelled",
    create_date: "2026-11-09 08:00:00",
  },
];
const line = (id: number, sale: number, quantity: number, code: string, contact?: JsonObject): JsonObject => ({
  id,
  sale,
  quantity,
  "product.": { id: 3, code, rec_name: `[${code}] ${code === "LIC-COST" ? "Costing" : "CAD"}` },
  "sale.": { id: sale, party: sale === 20 ? 7 : 8, contact: contact?.["id"] ?? null, "contact.": contact ?? null },
});
const ann = { id: 90, value: "ann.lee@example.com", name: "Ann Lee" };
const bob = { id: 91, value: "bob@example.com", name: null };
const lines = [
  line(41, 20, 2, "LIC-CAD-10", ann),
  line(42, 20, 3, "LIC-COST", ann),
  line(43, 21, 1, "LIC-COST", bob),
  line(44, 20, 1, "LIC-COST", ann),
];
const tables: Record<string, JsonObject[]> = {
  "party.party": parties,
  "party.address": addresses,
  "sale.sale": sales,
  "sale.line": lines,
};

/** Answers as the documented server does; a session is over after so many requests. */
async function tryton(requests = 1_000, fault?: (method: string) => unknown): Promise<Service> {
  let sessions = 0;
  let left = 0;
  return await startService((asked): Answer => {
    const { id, method, params } = JSON.parse(asked.body) as { id: number; method: string; params: unknown[] };
    expect(asked.path).toBe("/company/");
    if (method === "common.db.login") {
      if ((params[1] as { password: string }).password === "wrong") return { body: { id, result: null } };
      sessions += 1;
      left = requests;
      return { body: { id, result: [1, `session-${sessions}`] } };
    }
    left -= 1;
    const shown = Buffer.from(String(asked.headers.authorization).replace("Session ", ""), "base64").toString();
    if (left < 0 || shown !== `secret of env:TRYTON_USER:1:session-${sessions}`)
      return { status: 401, body: "Unauthorized" };
    const error = fault?.(method);
    if (error !== undefined) return { body: { id, error } };
    const [domain, offset, limit, , fields] = params as [unknown[], number, number, unknown, string[]];
    const found = (tables[method.split(".").slice(1, 3).join(".")] ?? []).filter((row) => holds(domain, row));
    const names = [
      "id",
      ...fields.map((field) => field.replace(/\..*$/u, ".")),
      ...fields.filter((field) => !field.includes(".")),
    ];
    const rows = found.slice(offset, offset + limit);
    return {
      body: { id, result: rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name] ?? null]))) },
    };
  });
}

function holds(domain: unknown[], row: JsonObject): boolean {
  const [first, ...others] = domain;
  if (first === "OR") return others.some((part) => holds(part as unknown[], row));
  if (typeof first !== "string") return domain.every((part) => holds(part as unknown[], row));
  const [operator, value] = others;
  const found = row[first];
  if (first.includes("_date") && first.includes(".")) return false;
  if (first.includes(".") || first === "state") return first !== "sale.state" || row["sale"] !== 21;
  if (operator === ">") return Number(found) > Number(value);
  if (operator === ">=") return typeof found === "string" && found >= String(value);
  return (value as unknown[]).includes(found);
}

const own = (origin: string, size = 200): JsonObject => {
  const paging = { size };
  return {
    baseUrl: `${origin}/company`,
    tables: filled,
    streams: {
      customers: { paging, ...branch },
      orders: { paging, details: { lines: { paging } } },
      staff: { paging },
    },
  };
};

it("reads parties with their addresses page by page", async () => {
  const { origin } = await tryton();
  const { records, refused, outcome } = await replay(sourceOf("tryton", own(origin, 2)), "customers");
  expect(outcome).toMatchObject({ complete: true, full: true, details: { addresses: 5 } });
  expect(records).toHaveLength(5);
  expect(records[0]).toMatchObject({
    id: "7",
    name: "Company 0",
    branchCode: "B1",
    address: "Main Street 1, 53111 Bonn, Germany",
    adminAccount: "info0",
    adminMobile: "+49 30 1",
  });
  expect(refused).toEqual([]);
});

it("asks for what was changed, or made and never changed", async () => {
  const { origin } = await tryton();
  const { records, outcome } = await replay(sourceOf("tryton", own(origin)), "customers", {
    since: "2026-11-23T00:00:00Z",
  });
  expect(outcome).toMatchObject({ complete: true, full: false });
  expect(records).toMatchObject([{ id: "7" }, { id: "10" }, { id: "11" }]);
});

it("reads sales with the lines of licences", async () => {
  const { origin } = await tryton();
  const { records, refused, outcome } = await replay(sourceOf("tryton", own(origin, 1)), "orders");
  expect([outcome.complete, refused]).toEqual([true, []]);
  const [cad, cost, more] = [
    instancesOf(41, "LIC-CAD-10", 20),
    instancesOf(42, "LIC-COST", 3),
    instancesOf(44, "LIC-COST", 1),
  ];
  expect(records).toMatchObject([
    {
      id: "20",
      customerId: "7",
      placedAt: "2026-03-01T00:00:00.000Z",
      cancelled: false,
      instances: [cad[0], cost[0], more[0], cad[1], cost[1], more[1]],
    },
    { id: "21", placedAt: "2026-11-09T00:00:00.000Z", cancelled: true },
  ]);
});

it("makes one record of staff of the lines that name a contact", async () => {
  const { origin } = await tryton();
  const { records, refused, outcome } = await replay(sourceOf("tryton", own(origin, 2)), "staff");
  expect([outcome.complete, refused]).toEqual([true, []]);
  expect(records).toMatchObject([
    {
      id: "90",
      customerId: "7",
      userName: "annlee",
      name: "Ann Lee",
      assets: [{ instanceId: "A41" }, { instanceId: "A42" }, { instanceId: "A44" }],
    },
  ]);
});

it("logs in anew where a session is over, and goes on", async () => {
  const { origin, asked } = await tryton(3);
  const { records, refused, outcome } = await replay(sourceOf("tryton", own(origin, 2)), "customers");
  expect([records.length + refused.length, outcome.complete]).toEqual([5, true]);
  expect(asked.filter(({ body }) => body.includes("common.db.login")).length).toBeGreaterThan(1);
});

it("is incomplete, in the words of the server, where it says inside HTTP 200 that it failed", async () => {
  const error = ["UserError", ['You are not allowed to access "Sale".', "", null]];
  const { origin } = await tryton(1_000, (method) => (method.includes("sale.sale") ? error : undefined));
  const { records, outcome } = await replay(sourceOf("tryton", own(origin)), "orders");
  expect([records, outcome.complete]).toEqual([[], false]);
  expect(outcome.problem).toMatchObject({
    code: "source.error-answer",
    message: expect.stringContaining("not allowed to access"),
  });
});

it("names a password that the server does not know", async () => {
  const { origin } = await tryton();
  const { outcome } = await replay(sourceOf("tryton", own(origin), { secrets: () => "wrong" }), "orders");
  expect([outcome.complete, outcome.problem?.code]).toEqual([false, "source.wrong-password"]);
});
