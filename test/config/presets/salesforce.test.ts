import { describe, expect, it } from "vitest";
import { startService } from "../../source/http-service.ts";
import type { Answer } from "../../source/http-service.ts";
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

describe("the preset salesforce-bulk", () => {
  const columns: Record<string, [string[], Record<string, unknown>[]]> = {
    Account: [
      ["Id", "Name", "BillingStreet", "BillingPostalCode", "BillingCity", "BillingCountry", "SystemModstamp"],
      accounts,
    ],
    Order: [["Id", "AccountId", "StatusCode", "ActivatedDate", "CreatedDate", "SystemModstamp"], orders],
    OrderItem: [
      ["Id", "OrderId", "Quantity", "Product2.ProductCode", "Product2.Name"],
      lines.map((line) => ({
        ...line,
        "Product2.ProductCode": line.Product2.ProductCode,
        "Product2.Name": line.Product2.Name,
      })),
    ],
    Contact: [["Id", "AccountId", "Name", "Email", "MobilePhone", "SystemModstamp"], contacts],
  };
  const cellOf = (value: unknown): string =>
    typeof value === "string" ? value.replace("+0000", "Z") : typeof value === "number" ? `${value}` : "";

  async function start(most: number) {
    const isFirst = firstTimes();
    let tokens = 0;
    const jobs: string[] = [];
    const service = await startService(({ path, query, headers, body }) => {
      if (path === "/services/oauth2/token") return tokenAnswer((tokens += 1));
      if (headers.authorization === "Bearer token-1") return expired;
      if (path === "/services/data/v64.0/jobs/query") {
        const { query: asked }: { query: string } = JSON.parse(body);
        jobs.push(asked);
        return { body: { id: `750-${jobs.length}`, operation: "query", state: "UploadComplete" } };
      }
      const [, number = "1", results] = /^.*\/query\/750-(\d+)(\/results)?$/u.exec(path) ?? [];
      if (results === undefined)
        return { body: { id: `750-${number}`, state: isFirst("progress") ? "InProgress" : "JobComplete" } };
      const object = / FROM (\w+)/u.exec(jobs[Number(number) - 1] ?? "")?.[1] ?? "";
      const [names, all] = columns[object] ?? [[], []];
      const begin = Number(query["locator"] ?? 0);
      const rows = all.slice(begin, begin + most);
      const text = [names, ...rows.map((row) => names.map((name) => cellOf(row[name])))];
      return {
        headers: {
          "content-type": "text/csv",
          "sforce-numberofrecords": String(rows.length),
          "sforce-locator": begin + most < all.length ? String(begin + most) : "null",
        },
        body: text.map((row) => `${row.map((cell) => `"${cell}"`).join(",")}\n`).join(""),
      };
    });
    const { streams, ...rest } = own(service.origin);
    const job = { every: "1s" };
    const soon = {
      ...rest,
      streams: { customers: { ...streams.customers, job }, orders: { job }, staff: streams.staff },
    };
    return { jobs, source: sourceOf("salesforce-bulk", soon) };
  }

  it("gives accounts and orders from exports in parts, and asks for what changed", { tags: "long" }, async () => {
    const { jobs, source } = await start(2);
    const read = await replay(source, "customers");
    expect([read.records, read.refused]).toEqual([
      [
        customer("001A", "Customer 0", { address: "Main Street 1, 53111 Bonn" }),
        customer("001B", "Customer 1", { address: "53111 Bonn" }),
        customer("001C", "Customer 2", { address: "53111 Bonn" }),
      ],
      [],
    ]);
    expect([read.outcome.complete, read.outcome.cursor]).toEqual([true, "2026-11-01T09:55:00.000Z"]);
    const found = await replay(source, "orders");
    expect([found.records, found.skipped, found.refused]).toEqual([canonicalOrders, 1, []]);
    await replay(source, "customers", { since: "2026-11-01T09:55:00.000Z" });
    expect(jobs.at(-1)).toMatch(/ FROM Account WHERE SystemModstamp >= 2026-11-01T09:55:00\S*Z$/u);
  });
});
