import { describe, expect, it } from "vitest";
import { startService } from "../../source/http-service.ts";
import {
  branch,
  cursorAfter,
  customer,
  firstTimes,
  instancesOf,
  instancesOfAll,
  leftBehind,
  products,
  replay,
  replayChanges,
  sourceOf,
} from "./replay.ts";

const at = "2026-11-01T10:00:00Z";
const gid = (kind: string, number: number): string => `gid://shopify/${kind}/${number}`;
const customers = [1, 2, 3].map((number) => ({
  id: gid("Customer", number),
  displayName: `Customer ${number}`,
  updatedAt: at,
  defaultAddress: number === 1 ? { formatted: ["Main Street 1", "53111 Bonn", "Germany"] } : null,
}));
const orders = [
  { number: 21, cancelledAt: null, test: false },
  { number: 22, cancelledAt: at, test: false },
  { number: 23, cancelledAt: null, test: true },
].map(({ number, cancelledAt, test }) => ({
  id: gid("Order", number),
  createdAt: at,
  updatedAt: at,
  cancelledAt,
  test,
  customer: { id: gid("Customer", 1) },
  currentTotalPriceSet: { shopMoney: { amount: "100.5", currencyCode: "EUR" } },
}));
const linesOf = (order: string): { id: string; sku: string; name: string; currentQuantity: number }[] => {
  const number = Number(order.split("/").at(-1)) * 10;
  return [5, 0, 1].map((currentQuantity, index) => ({
    id: gid("LineItem", number + index),
    sku: "CAD-10",
    name: "CAD",
    currentQuantity,
  }));
};

interface Asked {
  query: string;
  variables: { first: number; after?: string; search?: string; id?: string };
}

async function start() {
  const isFirst = firstTimes();
  let tokens = 0;
  const asked: Asked[] = [];
  const service = await startService(({ path, headers, body }) => {
    if (path === "/admin/oauth/access_token") {
      expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
        grant_type: "client_credentials",
        client_id: "crm-sync",
        client_secret: "secret of env:SHOPIFY_CLIENT_SECRET",
      });
      return { body: { access_token: `token-${(tokens += 1)}`, scope: "read_orders", expires_in: 86_399 } };
    }
    if (path !== "/admin/api/2026-01/graphql.json") return { status: 404 };
    if (headers["x-shopify-access-token"] === "token-1")
      return { status: 401, body: { errors: "[API] Invalid API key or access token" } };
    const one: Asked = JSON.parse(body);
    asked.push(one);
    if (isFirst("limit")) return { body: { errors: [{ message: "Throttled", extensions: { code: "THROTTLED" } }] } };
    const { after, id } = one.variables;
    const begin = leftBehind(after);
    const connection = (rows: unknown[]) => ({
      nodes: rows.slice(begin, begin + 2),
      pageInfo: { hasNextPage: begin + 2 < rows.length, endCursor: cursorAfter(begin + 2) },
    });
    const data =
      id !== undefined
        ? { order: { lineItems: connection(linesOf(id)) } }
        : one.query.includes("orders(")
          ? { orders: connection(orders) }
          : { customers: connection(customers) };
    return { body: { data, extensions: { cost: { requestedQueryCost: 12 } } } };
  });
  const source = sourceOf("shopify", {
    baseUrl: service.origin,
    auth: { login: { body: { client_id: "crm-sync" } } },
    tables: { products },
    streams: { customers: branch },
  });
  return { service, asked, source };
}

describe("the preset shopify", () => {
  it("gives customers by cursor, with a new token, and asks again where the request was throttled", async () => {
    const { source, service, asked } = await start();
    const { records, refused, outcome } = await replay(source, "customers");
    const person = { customerType: "personal" };
    expect(records).toEqual([
      customer(gid("Customer", 1), "Customer 1", { ...person, address: "Main Street 1, 53111 Bonn, Germany" }),
      customer(gid("Customer", 2), "Customer 2", person),
      customer(gid("Customer", 3), "Customer 3", person),
    ]);
    expect([refused, outcome.complete, outcome.full]).toEqual([[], true, true]);
    expect(service.asked.filter(({ path }) => path.endsWith("/access_token"))).toHaveLength(2);
    expect(asked.map(({ variables }) => variables)).toEqual([
      { first: 100 },
      { first: 100 },
      { first: 100, after: cursorAfter(2) },
    ]);
  });

  it("gives orders with all pages of their line items, without those that were taken off", async () => {
    const { source } = await start();
    const read = await replay(source, "orders");
    const known = {
      namespace: "crm",
      customerId: gid("Customer", 1),
      placedAt: "2026-11-01T10:00:00.000Z",
      amount: { currency: "EUR", minor: 10_050 },
    };
    const instances = (order: number) =>
      instancesOfAll(instancesOf(gid("LineItem", order * 10), 5), instancesOf(gid("LineItem", order * 10 + 2), 1));
    expect(read.records).toEqual([
      { ...known, id: gid("Order", 21), cancelled: false, instances: instances(21) },
      { ...known, id: gid("Order", 22), cancelled: true, instances: instances(22) },
    ]);
    expect([read.skipped, read.refused, read.outcome.complete]).toEqual([1, [], true]);
  });

  it("asks for what changed since the newest change that it saw", async () => {
    const { source, asked } = await start();
    await replayChanges(source, "customers");
    expect(asked.at(-1)?.variables.search).toMatch(/^updated_at:>='2026-11-01T09:55:00(\.000)?Z'$/u);
  });
});
