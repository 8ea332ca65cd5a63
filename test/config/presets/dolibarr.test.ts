import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import { startService, type Answer, type Service } from "../../source/http-service.ts";
import { branch, replay, sourceOf } from "./replay.ts";
import { comparable, instancesOf, tables as filled } from "./seats.ts";

const epoch = (text: string): number => Temporal.Instant.from(text).epochMilliseconds / 1_000;
const thirdparties = Array.from({ length: 5 }, (_, index) => ({
  id: String(7 + index),
  name: `Company ${index}`,
  typent_code: index === 1 ? "TE_PRIVATE" : null,
  address: "Main Street 1\r\nBackyard",
  zip: "53111",
  town: "Bonn",
  country_code: "DE",
  email: index === 1 ? null : `info${index}@example.com`,
  phone: "+49301",
  client: "1",
  tms: `2026-11-2${index} 08:00:00`,
  date_modification: epoch(`2026-11-2${index}T07:00:00Z`),
}));
const line = (id: string, ref: string, qty: string, seat?: string): JsonObject => ({
  id,
  product_ref: ref,
  product_label: ref === "LIC-COST" ? "Costing" : "CAD",
  qty,
  array_options: seat === undefined ? [] : { options_seat_contact: seat },
});
const order = (id: string, socid: string, status: string, lines: JsonObject[]): JsonObject => ({
  id,
  socid,
  status,
  ref: `CO-${id}`,
  date: epoch("2026-03-01T00:00:00Z"),
  tms: "2026-11-20 08:00:00",
  date_modification: epoch("2026-11-20T07:00:00Z"),
  lines,
});
const orders = [
  order("20", "7", "1", [
    line("41", "LIC-CAD-10", "2", "31"),
    line("42", "CHAIR", "4", "31"),
    line("43", "LIC-COST", "3", "32"),
  ]),
  order("21", "8", "-1", [line("44", "LIC-COST", "1", "31")]),
  order("22", "7", "3", [line("45", "LIC-COST", "1", "31")]),
  order("23", "7", "0", [line("46", "LIC-COST", "1", "31")]),
];
const contacts = [
  {
    id: "31",
    socid: "7",
    firstname: "Ann",
    lastname: "Lee",
    email: "ann.lee@example.com",
    phone_mobile: "+49302",
    phone_pro: null,
  },
  {
    id: "32",
    socid: "7",
    firstname: null,
    lastname: "Ray",
    email: "bob@example.com",
    phone_mobile: "",
    phone_pro: "+49303",
  },
];
const lists: Record<string, JsonObject[]> = { thirdparties, orders, contacts };

/** Answers as the documented API does. */
async function dolibarr(fault?: (path: string, after: number) => Answer | undefined): Promise<Service> {
  return await startService(({ path, query, headers }) => {
    const name = path.replace("/api/index.php/", "");
    const limit = Number(query["limit"]);
    const after = Number(/t\.rowid:>:(\d+)/u.exec(query["sqlfilters"] ?? "")?.[1]);
    const wrong = fault?.(name, after);
    if (wrong !== undefined) return wrong;
    if (headers["dolapikey"] !== "secret of env:DOLIBARR_API_KEY")
      return {
        status: 401,
        body: { error: { code: 401, message: "Unauthorized: Failed to login to API. No parameter API key" } },
      };
    const since = /t\.tms:>=:'([^']*)'/u.exec(query["sqlfilters"] ?? "")?.[1];
    const status = query["sqlfilters"]?.includes("t.fk_statut:>:0") ? ["1", "2", "3"] : ["-1", "1", "2", "3"];
    const found = (lists[name] ?? []).filter(
      (row) =>
        Number(row["id"]) > after &&
        (since === undefined || comparable(row["tms"]) >= since) &&
        (name !== "orders" || status.includes(comparable(row["status"]))) &&
        (query["thirdparty_ids"] === undefined || query["thirdparty_ids"] === row["socid"]),
    );
    const data = found.slice(0, limit);
    const pagination = { total: found.length, page: 0, page_count: Math.ceil(found.length / limit), limit };
    return { body: { data, pagination } };
  });
}

const own = (origin: string, size = 100): JsonObject => {
  const since = { zone: "Europe/Berlin" };
  return {
    baseUrl: `${origin}/api/index.php`,
    tables: filled,
    streams: {
      customers: { paging: { size }, since, ...branch },
      orders: { paging: { size }, since, query: { sqlfilterlines: "(tl.fk_product:in:17,18)" } },
      staff: { paging: { size } },
    },
  };
};

it("reads customers page by page, each after the last one of the page before", async () => {
  const { origin, asked } = await dolibarr();
  const { records, refused, outcome } = await replay(sourceOf("dolibarr", own(origin, 2)), "customers");
  expect([refused, outcome]).toMatchObject([[], { complete: true, full: true }]);
  expect(records).toHaveLength(5);
  expect(records.slice(0, 2)).toMatchObject([
    {
      id: "7",
      customerType: "company",
      branchCode: "B1",
      address: "Main Street 1, Backyard, 53111, Bonn, DE",
      adminAccount: "info0",
    },
    { id: "8", customerType: "personal", adminMobile: "+49301" },
  ]);
  expect(asked.map(({ query }) => query["sqlfilters"])).toEqual([0, 8, 10, 11].map((after) => `(t.rowid:>:${after})`));
});

it("asks for what changed, in the time of the database", async () => {
  const { origin, asked } = await dolibarr();
  const source = sourceOf("dolibarr", own(origin));
  expect((await replay(source, "customers")).outcome.cursor).toBe("2026-11-24T06:55:00.000Z");
  const { records, outcome } = await replay(source, "customers", { since: "2026-11-23T07:00:00Z" });
  expect(outcome).toMatchObject({ complete: true, full: false });
  expect(records).toMatchObject([{ id: "10" }, { id: "11" }]);
  expect(asked.at(-1)?.query["sqlfilters"]).toBe("(t.tms:>=:'2026-11-23 08:00:00') and (t.rowid:>:11)");
  const none = await replay(source, "orders", { since: "2026-12-01T00:00:00Z" });
  expect([none.records, none.outcome.complete]).toEqual([[], true]);
});

it("reads orders with the lines of licences", async () => {
  const { origin, asked } = await dolibarr();
  const { records, refused } = await replay(sourceOf("dolibarr", own(origin)), "orders");
  const [cad, cost] = [instancesOf(41, "LIC-CAD-10", 20), instancesOf(43, "LIC-COST", 3)];
  expect([records, refused]).toMatchObject([
    [
      {
        id: "20",
        customerId: "7",
        placedAt: "2026-03-01T00:00:00.000Z",
        instances: [cad[0], cost[0], cad[1], cost[1]],
      },
      { id: "21", cancelled: true },
      { id: "22", cancelled: false },
    ],
    [],
  ]);
  expect(asked[0]?.query["sqlfilterlines"]).toBe("(tl.fk_product:in:17,18)");
});

it("reads contacts with the seats that lines of their company's orders name them for", async () => {
  const { origin } = await dolibarr();
  const { records, refused } = await replay(sourceOf("dolibarr", own(origin)), "staff");
  expect([records, refused]).toMatchObject([
    [
      {
        id: "31",
        customerId: "7",
        userName: "annlee",
        name: "Ann Lee",
        mobile: "+49302",
        assets: [{ instanceId: "A41" }, { instanceId: "A45" }],
      },
      { id: "32", name: "Ray", mobile: "+49303", assets: [{ instanceId: "A43" }] },
    ],
    [],
  ]);
});

it("is incomplete, in the words of the service, where a page fails or the key is refused", async () => {
  const error = { error: { code: 400, message: "Bad Request: Error when validating parameter sqlfilters" } };
  for (const status of [200, 400]) {
    const { origin } = await dolibarr((_name, after) => (after === 8 ? { status, body: error } : undefined));
    const { outcome } = await replay(sourceOf("dolibarr", own(origin, 2)), "customers");
    expect(outcome.complete).toBe(false);
    expect(outcome.problem?.message).toContain("Bad Request: Error when … parameter …");
  }
  const { origin } = await dolibarr();
  const { outcome } = await replay(sourceOf("dolibarr", own(origin), { secrets: () => "wrong" }), "orders");
  expect([outcome.complete, outcome.problem?.code]).toEqual([false, "source.wrong-password"]);
});
