import { describe, expect, it } from "vitest";
import type { Source } from "../../../src/source/source.ts";
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

const at = "2026-11-01T11:00:00+01:00";
const accounts = [1, 2, 3].map((number) => ({
  id: `50000000000000${number}`,
  Account_Name: `Account ${number}`,
  Billing_Street: number === 1 ? "Main Street 1" : null,
  Billing_Code: "53111",
  Billing_City: "Bonn",
  Billing_Country: null,
  Modified_Time: at,
}));
const ofAccount = { name: "Account 1", id: "500000000000001" };
const orders = [
  ["7001", "Approved"],
  ["7002", "Cancelled"],
].map(([id, Status]) => ({
  id,
  Subject: `Order ${id}`,
  Account_Name: ofAccount,
  Status,
  Created_Time: at,
  Modified_Time: at,
}));
const items = (order: string): unknown[] => [
  {
    id: `8${order}`,
    Quantity: 5,
    Product_Name: { name: "CAD", Product_Code: "CAD-10", id: "600000000000001" },
    List_Price: 20.1,
  },
];
const contacts = [ofAccount, null].map((Account_Name, index) => ({
  id: `900${index}`,
  Full_Name: "Ann Lee",
  Email: "ann.lee@example.com",
  Mobile: "+49 30 1234",
  Account_Name,
  Modified_Time: at,
}));
const modules: Record<string, unknown[]> = { Accounts: accounts, Sales_Orders: orders, Contacts: contacts };

async function start(refreshToken = "secret of env:ZOHO_REFRESH_TOKEN") {
  const isFirst = firstTimes();
  let tokens = 0;
  const service = await startService(({ path, query, headers, body }) => {
    if (path === "/oauth/v2/token") {
      const asked = Object.fromEntries(new URLSearchParams(body));
      if (asked["refresh_token"] !== refreshToken) return { body: { error: "invalid_code" } };
      expect(asked).toMatchObject({ grant_type: "refresh_token", client_id: "crm-sync" });
      const access_token = `token-${(tokens += 1)}`;
      return { body: { access_token, api_domain: service.origin, token_type: "Bearer", expires_in: 3600 } };
    }
    if (headers.authorization === "Zoho-oauthtoken token-1")
      return {
        status: 401,
        body: { code: "INVALID_TOKEN", details: {}, message: "invalid oauth token", status: "error" },
      };
    if (isFirst("limit"))
      return {
        status: 429,
        body: { code: "TOO_MANY_REQUESTS", details: {}, message: "too many requests", status: "error" },
      };
    const [name = "", id] = path.replace("/crm/v8/", "").split("/");
    if (id !== undefined)
      return { body: { data: [{ ...orders.find((order) => order.id === id), Ordered_Items: items(id) }] } };
    const rows = modules[name] ?? [];
    const begin = leftBehind(query["page_token"]);
    const more = begin + 2 < rows.length;
    const next_page_token = more ? cursorAfter(begin + 2) : null;
    return {
      body: {
        data: rows.slice(begin, begin + 2),
        info: { per_page: 200, count: 2, page: 1, sort_by: "id", next_page_token, more_records: more },
      },
    };
  });
  return { service, source: ofService(service.origin) };
}

function ofService(origin: string): Source {
  return sourceOf("zoho", {
    baseUrl: `${origin}/crm/v8`,
    auth: { login: { url: `${origin}/oauth/v2/token`, body: { client_id: "crm-sync" } } },
    tables: { products },
    streams: { customers: branch, staff: { mapping: { userName: { login: "Email" } } } },
  });
}

describe("the preset zoho", () => {
  it("gives accounts by page_token, with a new token, and asks again where the limit is reached", async () => {
    const { source, service } = await start();
    const { records, refused, outcome } = await replay(source, "customers");
    expect(records).toEqual([
      customer("500000000000001", "Account 1", { address: "Main Street 1, 53111 Bonn" }),
      customer("500000000000002", "Account 2", { address: "53111 Bonn" }),
      customer("500000000000003", "Account 3", { address: "53111 Bonn" }),
    ]);
    expect([refused, outcome.complete, outcome.full]).toEqual([[], true, true]);
    expect(service.asked.filter(({ path }) => path === "/oauth/v2/token")).toHaveLength(2);
  });

  it("gives sales orders with the items of the single record, and contacts of accounts", async () => {
    const { source } = await start();
    const read = await replay(source, "orders");
    const known = { namespace: "crm", customerId: "500000000000001", placedAt: "2026-11-01T10:00:00.000Z" };
    expect(read.records).toEqual([
      { ...known, id: "7001", cancelled: false, instances: instancesOf("87001", 5) },
      { ...known, id: "7002", cancelled: true, instances: instancesOf("87002", 5) },
    ]);
    expect([read.refused, read.outcome.complete]).toEqual([[], true]);
    const people = await replay(source, "staff");
    expect([people.records, people.skipped]).toEqual([
      [annLee("9000", "500000000000001", { mobile: "+49 30 1234" })],
      1,
    ]);
  });

  it("asks for what changed since the newest change that it saw", async () => {
    const { source, service } = await start();
    await replayChanges(source, "customers");
    expect(service.asked.at(-1)?.headers["if-modified-since"]).toMatch(/^2026-11-01T09:55:00(\.000)?Z$/u);
  });

  it("does not take HTTP 204, with which the service answers for an empty list, for everything gone", async () => {
    const { origin } = await startService(({ path }) =>
      path === "/oauth/v2/token"
        ? { body: { access_token: "token-2", token_type: "Bearer", expires_in: 3600 } }
        : { status: 204, body: "" },
    );
    const { records, refused, outcome } = await replay(ofService(origin), "customers");
    expect([records, outcome.complete]).toEqual([[], false]);
    expect(refused.join()).toContain("not JSON, or was cut off");
  });

  it("says that the refresh token is over, which the service tells with HTTP 200", async () => {
    const { source } = await start("another");
    expect(await replayRefused(source)).toContain("invalid_code");
  });
});
