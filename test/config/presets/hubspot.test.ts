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

interface Sought {
  filterGroups: { filters: { propertyName: string; operator: string; value: string | number }[] }[];
  properties: string[];
  limit: number;
}
interface Row {
  id: string;
  properties: Record<string, string | null>;
}

const at = "2026-11-01T10:00:00.000Z";
const stamp = String(Date.parse(at));
const companies: Row[] = [11, 12, 113].map((id) => ({
  id: String(id),
  properties: {
    name: `Company ${id}`,
    address: "Main Street 1",
    zip: "53111",
    city: "Bonn",
    country: null,
    hs_lastmodifieddate: at,
  },
}));
const deals: Row[] = [
  [21, "true"],
  [22, "false"],
  [23, "true"],
].map(([id, won]) => ({
  id: String(id),
  properties: { dealname: `Deal ${id}`, hs_is_closed_won: String(won), closedate: at, hs_lastmodifieddate: at },
}));
const lines = [
  ["31", "21", "5"],
  ["32", "23", "1"],
  ["33", "22", "2"],
].map(([id = "", deal = "", quantity = ""]) => ({
  id,
  properties: { name: "CAD", hs_sku: "CAD-10", quantity },
  associations: { deals: { results: [{ id: deal, type: "line_item_to_deal" }] } },
}));
const contacts: Row[] = [
  [41, "11"],
  [42, null],
].map(([id, company]) => ({
  id: String(id),
  properties: {
    firstname: "Ann",
    lastname: "Lee",
    email: "ann.lee@example.com",
    mobilephone: "+49 30 1234",
    associatedcompanyid: company === null ? null : String(company),
    lastmodifieddate: at,
  },
}));
const ofDeals: Record<string, number> = { 21: 11, 22: 12 };

async function start(token = "secret of env:HUBSPOT_TOKEN") {
  const isFirst = firstTimes();
  const sought: Sought[] = [];
  const service = await startService(({ path, query, headers, body }) => {
    if (headers.authorization !== `Bearer ${token}`)
      return {
        status: 401,
        body: { status: "error", category: "EXPIRED_AUTHENTICATION", message: "The token has expired." },
      };
    if (isFirst("limit"))
      return {
        status: 429,
        headers: { "retry-after": "0" },
        body: { status: "error", errorType: "RATE_LIMIT", policyName: "SECONDLY", message: "Limit reached." },
      };
    if (path === "/crm/v3/objects/line_items") {
      const begin = leftBehind(query["after"]);
      const next = begin + 2 < lines.length ? { paging: { next: { after: cursorAfter(begin + 2), link: "?" } } } : {};
      return { body: { results: lines.slice(begin, begin + 2), ...next } };
    }
    if (path === "/crm/v4/associations/deals/companies/batch/read") {
      const { inputs }: { inputs: { id: string }[] } = JSON.parse(body);
      const known = inputs.filter(({ id }) => ofDeals[id] !== undefined);
      const lacking = inputs.filter(({ id }) => ofDeals[id] === undefined);
      return {
        status: lacking.length > 0 ? 207 : 200,
        body: {
          status: "COMPLETE",
          results: known.map(({ id }) => ({
            from: { id },
            to: [
              { toObjectId: 99, associationTypes: [{ category: "HUBSPOT_DEFINED", typeId: 341, label: null }] },
              {
                toObjectId: ofDeals[id],
                associationTypes: [
                  { category: "HUBSPOT_DEFINED", typeId: 341, label: null },
                  { category: "HUBSPOT_DEFINED", typeId: 5, label: "Primary" },
                ],
              },
            ],
          })),
          ...(lacking.length === 0
            ? {}
            : {
                numErrors: lacking.length,
                errors: [{ status: "error", category: "OBJECT_NOT_FOUND", message: "none" }],
              }),
        },
      };
    }
    const object = /^\/crm\/v3\/objects\/(\w+)\/search$/u.exec(path)?.[1] ?? "";
    const rows = { companies, deals, contacts }[object];
    if (rows === undefined) return { status: 404 };
    const asked: Sought = JSON.parse(body);
    sought.push(asked);
    const [after, since] = asked.filterGroups[0]?.filters ?? [];
    const found = rows.filter(
      ({ id, properties }) =>
        Number(id) > Number(after?.value) &&
        Date.parse(properties[since?.propertyName ?? ""] ?? "") >= Number(since?.value),
    );
    const page = found.slice(0, Math.min(asked.limit, 2));
    return { body: { total: found.length, results: page } };
  });
  const source = sourceOf("hubspot", {
    baseUrl: service.origin,
    tables: { products },
    streams: { customers: branch, staff: { mapping: { userName: { login: "properties.email" } } } },
  });
  return { service, sought, source };
}

describe("the preset hubspot", () => {
  it("gives companies, each page after the id of the last one, and waits where the limit is reached", async () => {
    const { source, sought } = await start();
    const { records, refused, outcome } = await replay(source, "customers");
    expect(records).toEqual(
      ["11", "12", "113"].map((id) => customer(id, `Company ${id}`, { address: "Main Street 1, 53111 Bonn" })),
    );
    expect([refused, outcome.complete, outcome.full]).toEqual([[], true, true]);
    expect(sought.map(({ filterGroups }) => filterGroups[0]?.filters[0]?.value)).toEqual(["0", "12", "113"]);
  });

  it("gives won deals with their primary companies and line items; one without such a company is named", async () => {
    const { source } = await start();
    const read = await replay(source, "orders");
    expect(read.records).toEqual([
      {
        namespace: "crm",
        id: "21",
        customerId: "11",
        placedAt: at,
        cancelled: false,
        instances: instancesOf("31", 5),
      },
    ]);
    expect([read.skipped, read.refused, read.outcome.complete]).toEqual([1, ["customerId missing"], true]);
    const people = await replay(source, "staff");
    expect([people.records, people.skipped]).toEqual([[annLee("41", "11", { mobile: "+49 30 1234" })], 1]);
  });

  it("asks for what changed since the newest change that it saw", async () => {
    const { source, sought } = await start();
    expect(await replayChanges(source, "staff")).toMatchObject({ skipped: 1 });
    expect(Number(sought.at(-1)?.filterGroups[0]?.filters[1]?.value)).toBe(Number(stamp) - 300_000);
  });

  it("says that its token is over, and reads nothing", async () => {
    const { source } = await start("another");
    expect(await replayRefused(source)).toContain("does not accept our credentials (HTTP 401)");
  });
});
