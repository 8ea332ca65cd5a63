import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { startService } from "../../source/http-service.ts";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import type { Stream } from "../../../src/crm/model.ts";
import { document, world, type World } from "../../support/cli.ts";
import { LedgerView } from "../../support/ledger-view.ts";
import { fileSource, mappingOf } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";
import { changeFile } from "../../support/world/start.ts";

const salt = "d1f0c2b7a6954e38";
const addresses = ["wanda.fremdling@example.com", "willi.fremdling@example.com"];

/** A configuration whose source has these fields in its mappings instead of the usual ones. */
function mapped(w: World, changed: Partial<Record<Stream, JsonObject>> = {}): void {
  const streams = Object.fromEntries(
    (["customers", "orders", "staff"] as const).map((stream) => [
      stream,
      { files: `${stream}.ndjson`, key: "id", mapping: { ...mappingOf(stream), ...changed[stream] } },
    ]),
  );
  const jobs = { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  const crm = { kind: "file", directory: "data", streams };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", sources: { crm }, jobs }));
}

/** What `check` says of ids. */
async function warnings(w: World): Promise<string[]> {
  const checked = await w.run("--json", "check");
  const findings: { warning?: true; detail: string; cure: string }[] = document(checked).findings ?? document(checked);
  return findings
    .filter(({ warning, detail }) => warning === true && detail.startsWith("the ids"))
    .map(({ detail, cure }) => `${detail} → ${cure}`);
}

/** Texts of the ledger that hold any of these, but for the private table. */
function inClear(w: World, texts: readonly string[]): string[] {
  const view = new LedgerView(w.path("ledger.db"));
  try {
    const found = [...view.texts(["private_value"])].filter(({ text }) => texts.some((one) => text.includes(one)));
    return [...new Set(found.map(({ place }) => place))];
  } finally {
    view.close();
  }
}

it("check asks for a hash where ids are e-mail addresses, and with it they stand nowhere in clear", async () => {
  const records = company(2, 1);
  const [first = "", second = ""] = addresses;
  const renamed = (id: string): string => (id === "C1" ? first : second);
  const w = await world({
    records: {
      customers: records.customers.map((row) => ({ ...row, id: renamed(row.id) })),
      orders: records.orders.map((row) => ({ ...row, customer: renamed(row.customer) })),
      staff: records.staff.map((row) => ({ ...row, customer: renamed(row.customer) })),
    },
    isNew: true,
  });
  w.environment["CRM_SYNC__log__level"] = "trace";
  mapped(w);
  const [warned = ""] = await warnings(w);
  expect(warned).toContain("the ids of 2 of 2 rows look like e-mail addresses");
  expect(warned).toContain('`id: {hash: "id", salt: TEXT}`, and `customerId` of orders and staff the same way');
  expect(warned).not.toContain("fremdling");
  const hashed = { customerId: { hash: "customer", salt } };
  mapped(w, { customers: { id: { hash: "id", salt } }, orders: hashed, staff: hashed });
  expect(await warnings(w)).toEqual([]);
  const ran = await w.does("run", "everything");
  expect([ran.exitCode, ran.calls], ran.stdout).toEqual([0, { E2: 2, E5: 2, E9: 1, M1: 2, M9: 2 }]);
  expect(ran.stdout + ran.stderr).not.toContain("fremdling");
  expect(inClear(w, ["fremdling"])).toEqual([]);
});

it("check asks for a hash where an id is the login, and says nothing of usual ids", async () => {
  const w = await world({ records: company(1, 1) });
  mapped(w);
  expect(await warnings(w)).toEqual([]);
  mapped(w, { staff: { id: "login" } });
  const [warned = ""] = await warnings(w);
  expect(warned).toContain("are read from a private field");
  expect(warned).toContain('`id: {hash: "login", salt: TEXT}`; or map another id');
});

it.each([
  ["the login beside another id", "id"],
  ["the login that is hashed for the id", { hash: "login", salt }],
])("a key in a database that is %s stands in no place of a record", async (_what, id) => {
  const w = await world({ records: company(2, 2), isNew: true });
  w.environment["CRM_SYNC__log__level"] = "trace";
  const columns = ["id", "customer", "login", "name", "mobile", "holds"] as const;
  const logins = w.staff.map((_, index) => `wandafremdling${index}`);
  const rows = w.staff.map((row, index) => ({ ...staffRow(row), login: logins[index], holds: row.holds?.[0] ?? "" }));
  const insert = rows.map((row) => `insert into staff values (${columns.map((name) => `'${row[name]}'`).join(", ")})`);
  // One row cannot be used: what is said of it names its place.
  insert.push("insert into staff values ('S9', 'C1', 'wandafremdling9', '', '', '')");
  changeFile(w.path("hr.db"), `create table staff (${columns.join(", ")}); ${insert.join("; ")}`);
  const mapping = { ...mappingOf("staff", "csv"), id };
  const hr = {
    kind: "sql",
    connection: { kind: "sqlite", file: "hr.db" },
    streams: { staff: { query: "select * from staff", key: "login", mapping } },
  };
  const crm = fileSource("data", ["customers", "orders"]);
  const jobs = { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", sources: { crm, hr }, jobs }));
  const ran = await w.run("run", "everything");
  expect(ran.exitCode, ran.stdout).toBe(3);
  const listed = await w.run("quarantine", "list");
  expect(listed.stdout).toContain("hr/staff, row 5");
  expect(ran.stdout + ran.stderr + listed.stdout).not.toContain("wandafremdling");
  expect(inClear(w, ["wandafremdling"])).toEqual([]);
});

it.each([{ hash: "login", salt }, { upper: { hash: "login", salt } }, { first: [{ hash: "login", salt }, "id"] }])(
  "a mapping that gives the id %o shows no login",
  async (id) => {
    const w = await world({ records: company(1, 1) });
    mapped(w, { staff: { id } });
    expect(await warnings(w)).toEqual([]);
    const shown = await w.run("map", "crm", "staff");
    expect(shown.exitCode, shown.stderr).toBe(0);
    expect(shown.stdout).toContain("login");
    expect(shown.stdout).not.toContain(w.staff[0]?.login);
  },
);

it.each(["", " ", "n/a"])(
  "a row without what its id is the hash of has no id, and is of nobody else without it (%j)",
  async (none) => {
    const w = await world({ records: company(2, 1), isNew: true });
    w.customers = w.customers.map((row) =>
      row.id === "C2" ? { ...row, email: none } : { ...row, email: "a@example.com" },
    );
    w.orders = w.orders.map((row) => ({ ...row, customer: row.customer === "C1" ? "a@example.com" : none }));
    w.staff = [];
    w.write();
    const without = (field: string) => ({ hash: { replace: field, pattern: "n/a" }, salt });
    const hashed = { customerId: without("customer") };
    mapped(w, { customers: { id: without("email") }, orders: hashed, staff: hashed });
    const ran = await w.does("run", "everything");
    expect([ran.exitCode, ran.calls], ran.stdout).toEqual([3, { E2: 1, E5: 1, E9: 1 }]);
    expect(await w.ask("quarantine", "list")).toHaveLength(2);
  },
);

it.each([
  ["are hashed for ids", { key: "login", id: { hash: "login", salt }, page: "login" }],
  ["no mapping reads", { key: "id", id: "id", page: "mail" }],
])("a reading by keys of a service that %s keeps no position of them", async (_, { key, id, page }) => {
  const w = await world({ records: company(1, 1), isNew: true });
  const rows = [0, 1].map((number) => ({
    ...staffRow(w.staff[0] ?? { id: "", customer: "" }),
    id: `S${number}`,
    [page]: `wandafremdling${number}`,
  }));
  const service = await startService(({ query }) => (query["after"] === undefined ? { body: rows } : { status: 500 }));
  const staff = {
    url: `${service.origin}/staff`,
    key,
    paging: { kind: "keyset", parameter: "after", size: 2, key: page },
    mapping: { ...mappingOf("staff"), id },
  };
  const hr = { kind: "http", retries: 0, streams: { staff } };
  const crm = fileSource("data", ["customers", "orders"]);
  const jobs = { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", sources: { crm, hr }, jobs }));
  expect((await w.run("run", "everything")).exitCode).toBe(7);
  expect(inClear(w, ["wandafremdling"])).toEqual([]);
});
