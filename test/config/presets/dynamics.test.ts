import { describe, expect, it } from "vitest";
import { startService } from "../../source/http-service.ts";
import {
  annLee,
  branch,
  customer,
  firstTimes,
  instancesOf,
  instancesOfAll,
  products,
  replay,
  replayChanges,
  sourceOf,
} from "./replay.ts";

const at = "2026-11-01T10:00:00Z";
const accounts = [1, 2, 3].map((number) => ({
  "@odata.etag": `W/"${number}"`,
  accountid: `a000-${number}`,
  name: `Account ${number}`,
  address1_composite: number === 1 ? "Main Street 1\r\n53111 Bonn" : null,
  modifiedon: at,
}));
const orders = [
  [1, 0],
  [2, 2],
].map(([number, statecode]) => ({
  salesorderid: `o000-${number}`,
  _customerid_value: "a000-1",
  statecode,
  createdon: at,
  modifiedon: at,
}));
const details = [
  ["d000-1", "o000-1", 5],
  ["d000-2", "o000-2", 1],
  ["d000-3", "o000-2", 2],
].map(([salesorderdetailid, _salesorderid_value, quantity]) => ({
  salesorderdetailid,
  _salesorderid_value,
  quantity,
  productid: { productnumber: "CAD-10", name: "CAD" },
}));
const contacts = ["a000-1", null].map((company, index) => ({
  contactid: `c000-${index}`,
  _parentcustomerid_value: company,
  fullname: "Ann Lee",
  emailaddress1: "ann.lee@example.com",
  mobilephone: null,
  modifiedon: at,
}));
const tables: Record<string, unknown[]> = { accounts, salesorders: orders, salesorderdetails: details, contacts };

async function start() {
  const isFirst = firstTimes();
  let tokens = 0;
  const service = await startService(({ path, query, headers, body }) => {
    if (path === "/TENANT/oauth2/v2.0/token") {
      expect(Object.fromEntries(new URLSearchParams(body))).toMatchObject({
        grant_type: "client_credentials",
        scope: "https://yours.example.com/.default",
      });
      return { body: { access_token: `token-${(tokens += 1)}`, token_type: "Bearer", expires_in: 3599 } };
    }
    if (headers.authorization === "Bearer token-1") return { status: 401 };
    if (isFirst("limit"))
      return {
        status: 429,
        headers: { "retry-after": "0" },
        body: { error: { code: "0x80072322", message: "Number of requests exceeded the limit of 6000." } },
      };
    expect(headers).toMatchObject({ "odata-version": "4.0", prefer: "odata.maxpagesize=1000" });
    const name = path.replace("/api/data/v9.2/", "");
    const rows = tables[name] ?? [];
    const begin = Number(query["$skiptoken"] ?? 0);
    const more = begin + 2 < rows.length;
    const next = `${service.origin}${path}?$select=${query["$select"] ?? ""}&$skiptoken=${begin + 2}`;
    return {
      body: {
        "@odata.context": `${service.origin}/api/data/v9.2/$metadata#${name}`,
        value: rows.slice(begin, begin + 2),
        ...(more ? { "@odata.nextLink": next } : {}),
      },
    };
  });
  const source = sourceOf("dynamics", {
    baseUrl: `${service.origin}/api/data/v9.2`,
    auth: {
      tokenUrl: `${service.origin}/TENANT/oauth2/v2.0/token`,
      clientId: "crm-sync",
      scope: "https://yours.example.com/.default",
    },
    tables: { products },
    streams: { customers: branch, staff: { mapping: { userName: { login: "emailaddress1" } } } },
  });
  return { service, source };
}

describe("the preset dynamics", () => {
  it("gives accounts by @odata.nextLink, with a new token, and waits where the limit is reached", async () => {
    const { source, service } = await start();
    const { records, refused, outcome } = await replay(source, "customers");
    expect(records).toEqual([
      customer("a000-1", "Account 1", { address: "Main Street 1, 53111 Bonn" }),
      customer("a000-2", "Account 2"),
      customer("a000-3", "Account 3"),
    ]);
    expect([refused, outcome.complete, outcome.full]).toEqual([[], true, true]);
    expect(service.asked.filter(({ path }) => path.endsWith("/token"))).toHaveLength(2);
  });

  it("gives orders with their products, and contacts of accounts", async () => {
    const { source } = await start();
    const read = await replay(source, "orders");
    const known = { namespace: "crm", customerId: "a000-1", placedAt: "2026-11-01T10:00:00.000Z" };
    expect(read.records).toEqual([
      { ...known, id: "o000-1", cancelled: false, instances: instancesOf("d000-1", 5) },
      {
        ...known,
        id: "o000-2",
        cancelled: true,
        instances: instancesOfAll(instancesOf("d000-2", 1), instancesOf("d000-3", 2)),
      },
    ]);
    expect([read.refused, read.outcome.complete]).toEqual([[], true]);
    const people = await replay(source, "staff");
    expect([people.records, people.skipped]).toEqual([[annLee("c000-0", "a000-1")], 1]);
  });

  it("asks for what changed since the newest change that it saw", async () => {
    const { source, service } = await start();
    await replayChanges(source, "orders");
    const filters = service.asked.map(({ query }) => query["$filter"]).filter((filter) => filter !== undefined);
    expect(filters).toEqual([expect.stringMatching(/^modifiedon ge 2026-11-01T09:55:00\S*Z$/u)]);
  });
});
