import { describe, expect, it } from "vitest";
import { startService } from "../../source/http-service.ts";
import {
  annLee,
  branch,
  cursorAfter,
  customer,
  firstTimes,
  instancesOf,
  leftBehind,
  products,
  replay,
  replayChanges,
  replayRefused,
  sourceOf,
} from "./replay.ts";

const at = "2026-11-01T10:00:00Z";
const organizations = [1, 2, 3].map((id) => ({
  id,
  name: `Organization ${id}`,
  owner_id: 9,
  update_time: at,
  address: id === 1 ? { value: "Main Street 1, 53111 Bonn", country: "Germany" } : null,
}));
const deals = [
  [21, "won", at],
  [22, "open", null],
  [23, "won", at],
].map(([id, status, won_time]) => ({
  id,
  title: `Deal ${id}`,
  org_id: 1,
  status,
  won_time,
  value: 100.5,
  currency: "EUR",
  update_time: at,
}));
const dealProducts = [
  [31, 21, 5],
  [32, 23, 1],
  [33, 22, 1],
].map(([id, deal_id, quantity]) => ({ id, deal_id, product_id: 17, name: "CAD", quantity, item_price: 20.1 }));
const persons = [1, null].map((org_id, index) => ({
  id: 40 + index,
  name: "Ann Lee",
  org_id,
  emails: [{ value: "ann.lee@example.com", primary: true, label: "work" }],
  phones: [],
  update_time: at,
}));
const lists: Record<string, unknown[]> = { organizations, deals, persons };

async function start(token = "secret of env:PIPEDRIVE_TOKEN") {
  const isFirst = firstTimes();
  const service = await startService(({ path, query, headers }) => {
    if (headers["x-api-token"] !== token)
      return { status: 401, body: { success: false, error: "unauthorized access", errorCode: 401 } };
    if (isFirst("limit"))
      return {
        status: 429,
        headers: { "x-ratelimit-reset": "1" },
        body: { success: false, error: "request over limit" },
      };
    const name = path.replace("/api/v2/", "");
    const asked = new Set((query["deal_ids"] ?? "").split(","));
    const rows =
      name === "deals/products" ? dealProducts.filter((one) => asked.has(String(one.deal_id))) : (lists[name] ?? []);
    const begin = leftBehind(query["cursor"]);
    const next_cursor = begin + 2 < rows.length ? cursorAfter(begin + 2) : null;
    return { body: { success: true, data: rows.slice(begin, begin + 2), additional_data: { next_cursor } } };
  });
  const source = sourceOf("pipedrive", {
    baseUrl: `${service.origin}/api/v2`,
    tables: { products: { inline: { 17: products.inline["CAD-10"] } } },
    streams: { customers: branch, staff: { mapping: { userName: { login: "emails[0].value" } } } },
  });
  return { service, source };
}

describe("the preset pipedrive", () => {
  it("gives organizations by cursor, and asks again where the limit is reached", async () => {
    const { source, service } = await start();
    const { records, refused, outcome } = await replay(source, "customers");
    expect(records).toEqual([
      customer("1", "Organization 1", { address: "Main Street 1, 53111 Bonn" }),
      customer("2", "Organization 2"),
      customer("3", "Organization 3"),
    ]);
    expect([refused, outcome.complete, outcome.full]).toEqual([[], true, true]);
    expect(service.asked.map(({ query }) => query["cursor"])).toEqual([undefined, undefined, cursorAfter(2)]);
  });

  it("gives won deals with their products, asked for many deals at once, and persons of organizations", async () => {
    const { source, service } = await start();
    const read = await replay(source, "orders");
    const known = {
      namespace: "crm",
      customerId: "1",
      placedAt: "2026-11-01T10:00:00.000Z",
      cancelled: false,
      amount: { currency: "EUR", minor: 10_050 },
    };
    expect(read.records).toEqual([
      { ...known, id: "21", instances: instancesOf("31", 5) },
      { ...known, id: "23", instances: instancesOf("32", 1) },
    ]);
    expect([read.skipped, read.refused, read.outcome.complete]).toEqual([1, [], true]);
    const batches = service.asked.filter(({ path }) => path === "/api/v2/deals/products");
    expect(batches.map(({ query }) => query["deal_ids"])).toEqual(["21,22,23", "21,22,23"]);
    const people = await replay(source, "staff");
    expect([people.records, people.skipped]).toEqual([[annLee("40", "1")], 1]);
  });

  it("asks for what changed since the newest change that it saw", async () => {
    const { source, service } = await start();
    await replayChanges(source, "orders");
    const since = service.asked.flatMap(({ query }) => query["updated_since"] ?? []);
    expect(new Set(since)).toEqual(new Set([expect.stringMatching(/^2026-11-01T09:55:00(\.000)?Z$/u)]));
  });

  it("says that its token is over, and reads nothing", async () => {
    const { source } = await start("another");
    expect(await replayRefused(source)).toContain("does not accept our credentials (HTTP 401)");
  });
});
