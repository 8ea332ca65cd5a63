import { describe, expect, it } from "vitest";
import { startService, type Answer } from "../../source/http-service.ts";
import {
  annLee,
  replayChanges,
  branch,
  customer,
  firstTimes,
  instancesOf,
  products,
  replay,
  sourceOf,
} from "./replay.ts";

const stamp = "2026-11-01T10:00:00.000+0000";
const accounts = ["001A", "001B", "001C"].map((Id, index) => ({
  attributes: { type: "Account", url: `/services/data/v64.0/sobjects/Account/${Id}` },
  Id,
  Name: `Customer ${index}`,
  BillingStreet: index === 0 ? "Main Street 1" : null,
  BillingPostalCode: "53111",
  BillingCity: "Bonn",
  BillingCountry: null,
  SystemModstamp: stamp,
}));
const order = (Id: string, StatusCode: string) => ({
  attributes: { type: "Order" },
  Id,
  AccountId: "001A",
  StatusCode,
  ActivatedDate: StatusCode === "Draft" ? null : stamp,
  CreatedDate: "2026-10-30T08:00:00.000+0000",
  SystemModstamp: stamp,
});
const orders = [order("801A", "Activated"), order("801B", "Draft"), order("801C", "Canceled")];
const lines = [
  ["802A", "801A", 5],
  ["802B", "801C", 1],
  ["802C", "801B", 1],
].map(([Id, OrderId, Quantity]) => ({
  attributes: { type: "OrderItem" },
  Id,
  OrderId,
  Quantity,
  Product2: { attributes: { type: "Product2" }, ProductCode: "CAD-10", Name: "CAD" },
}));
const contacts = [
  {
    Id: "003A",
    AccountId: "001A",
    Name: "Ann Lee",
    Email: "ann.lee@example.com",
    MobilePhone: null,
    SystemModstamp: stamp,
  },
];
const own = (origin: string) => ({
  baseUrl: origin,
  auth: { tokenUrl: `${origin}/services/oauth2/token`, clientId: "crm-sync" },
  tables: { products },
  streams: { customers: branch, staff: { mapping: { userName: { login: "Email" } } } },
});
const canonicalOrders = [
  {
    namespace: "crm",
    id: "801A",
    customerId: "001A",
    placedAt: "2026-11-01T10:00:00.000Z",
    cancelled: false,
    instances: instancesOf("802A", 5),
  },
  {
    namespace: "crm",
    id: "801C",
    customerId: "001A",
    placedAt: "2026-11-01T10:00:00.000Z",
    cancelled: true,
    instances: instancesOf("802B", 1),
  },
];
const expired: Answer = {
  status: 401,
  body: [{ message: "Session expired or invalid", errorCode: "INVALID_SESSION_ID" }],
};
const tokenAnswer = (number: number): Answer => ({
  body: { access_token: `token-${number}`, token_type: "Bearer", instance_url: "https://yours.my.salesforce.com" },
});

describe("the preset salesforce", () => {
  async function start(most: number) {
    const isFirst = firstTimes();
    let tokens = 0;
    const service = await startService(({ path, query, headers }) => {
      if (path === "/services/oauth2/token") return tokenAnswer((tokens += 1));
      if (headers.authorization === "Bearer token-1") return expired;
      if (isFirst("limit")) return { status: 503, body: [{ message: "Too busy", errorCode: "SERVER_UNAVAILABLE" }] };
      const [, object = "", from = 0] = /^.*\/query\/(\w+)-(\d+)$/u.exec(path) ?? [
        "",
        / FROM (\w+)/u.exec(query["q"] ?? "")?.[1],
      ];
      const all = { Account: accounts, Order: orders, OrderItem: lines, Contact: contacts }[object] ?? [];
      const [begin, end] = [Number(from), Number(from) + most];
      const done = end >= all.length;
      const next = done ? {} : { nextRecordsUrl: `/services/data/v64.0/query/${object}-${end}` };
      return { body: { totalSize: all.length, done, ...next, records: all.slice(begin, end) } };
    });
    return { service, source: sourceOf("salesforce", own(service.origin)) };
  }

  it("gives accounts page by page, with a new token where the old one is over", async () => {
    const { service, source } = await start(2);
    const { records, refused, outcome } = await replay(source, "customers");
    expect(records).toEqual([
      customer("001A", "Customer 0", { address: "Main Street 1, 53111 Bonn" }),
      customer("001B", "Customer 1", { address: "53111 Bonn" }),
      customer("001C", "Customer 2", { address: "53111 Bonn" }),
    ]);
    expect([refused, outcome.complete, outcome.full]).toEqual([[], true, true]);
    expect(service.asked.filter(({ path }) => path.endsWith("/token"))).toHaveLength(2);
  });

  it("gives activated orders with their order products, and contacts", async () => {
    const { source } = await start(2);
    const read = await replay(source, "orders");
    expect([read.records, read.skipped, read.refused]).toEqual([canonicalOrders, 1, []]);
    expect(read.outcome.complete).toBe(true);
    expect((await replay(source, "staff")).records).toEqual([annLee("003A", "001A")]);
  });

  it("asks for what changed since the newest SystemModstamp that it saw", async () => {
    const { service, source } = await start(9);
    await replayChanges(source, "customers");
    expect(service.asked.at(-1)?.query["q"]).toMatch(/ FROM Account WHERE SystemModstamp >= 2026-11-01T09:55:00\S*Z$/u);
  });
});
