import Database from "better-sqlite3";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { canonicalJson } from "../../src/base/canonical-json.ts";
import { openSource, readAll } from "../source/support.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { startServer } from "../support/http-server.ts";

/** What a CRM has of its customers, in rows as any of its exports gives them. */
interface Company {
  customers: Record<string, string>[];
  orders: Record<string, string>[];
  lines: Record<string, string>[];
  staff: Record<string, string>[];
}

const lists = ["customers", "orders", "lines", "staff"] as const;
type List = (typeof lists)[number];

function customer(number: number): Record<string, string> {
  return {
    id: `C${number}`,
    company: `Zqcanary Works ${number}`,
    street: `Zqcanary Road ${number}`,
    contact: `Zqcanary Boss ${number}`,
    account: `zqcanaryboss${number}`,
    email: `zqcanary${number}@example.com`,
    mobile: "+4917700700700",
  };
}

function order(number: number, of: number): Record<string, string> {
  return { id: `O${number}`, customer: `C${of}`, placed: "2026-07-01", status: "OPEN", total: `${number}99.50` };
}

function line(of: number, number: number, seats: number): Record<string, string> {
  return { id: `O${of}-${number}`, order_id: `O${of}`, product: `CAD-${number}`, seats: String(seats) };
}

function person(number: number, of: number, asset: string): Record<string, string> {
  const name = `Zqcanary Person ${number}`;
  return { id: `S${number}`, customer: `C${of}`, login: `zqcanarylogin${number}`, name, asset };
}

/** The same mapping for every form: what differs is how the rows come. */
const mappings = {
  customers: {
    id: "id",
    name: "company",
    customerType: { value: "company" },
    branchCode: { value: "B1" },
    branchName: { value: "Head office" },
    address: "street",
    adminName: "contact",
    adminAccount: "account",
    adminEmail: "email",
    adminMobile: "mobile",
    purchaserMobile: "mobile",
  },
  orders: {
    id: "id",
    customerId: "customer",
    placedAt: { date: "placed", format: "yyyy-MM-dd", zone: "Europe/Berlin" },
    cancelled: { boolean: "status", true: ["CANCELLED"], false: ["OPEN"] },
    amount: { money: "total", currency: "EUR" },
    instances: [
      { kind: "asset", one: { id: { template: "A-{id}" }, licenseType: { value: "cloud_account" } } },
      {
        kind: "product",
        each: "lines",
        fields: {
          id: "id",
          parentId: { template: "A-{order_id}" },
          name: "product",
          gmsPid: "product",
          type: { value: "tool" },
          nodes: { multiply: ["seats", { value: 5 }] },
          timeUnit: { value: "YEAR" },
          timeUnitQuantity: { value: 1 },
          term: { value: "1-0-0" },
        },
      },
    ],
  },
  staff: {
    id: "id",
    customerId: "customer",
    userName: "login",
    name: "name",
    assets: [{ one: { instanceId: "asset" }, when: { path: "asset", present: true } }],
  },
};

interface Form {
  name: string;
  /** What the CRM has is there for this form to be read. */
  write(company: Company): void;
  settings: Record<string, unknown>;
}

function asFiles(folder: string): Form {
  mkdirSync(folder, { recursive: true });
  return {
    name: "files",
    write(company) {
      for (const list of lists) {
        const [first] = company[list];
        const names = Object.keys(first ?? {});
        const rows = company[list].map((row) => names.map((name) => row[name]).join(","));
        writeFileSync(join(folder, `${list}.csv`), `${[names.join(","), ...rows].join("\n")}\n`);
      }
    },
    settings: {
      kind: "file",
      directory: folder,
      streams: {
        customers: { files: "customers.csv", key: "id", mapping: mappings.customers },
        orders: {
          files: "orders.csv",
          key: "id",
          details: { lines: { files: "lines.csv", key: "order_id" } },
          mapping: mappings.orders,
        },
        staff: { files: "staff.csv", key: "id", mapping: mappings.staff },
      },
    },
  };
}

async function overHttp(): Promise<Form> {
  let company: Company | undefined;
  const origin = await startServer(({ path, query }, response) => {
    const list = lists.find((name) => path === `/${name}`) ?? "customers";
    const page = Number(query["page"]);
    const rows = company?.[list] ?? [];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ items: rows.slice((page - 1) * 2, page * 2), total: rows.length }));
  });
  const paged = { records: "items", total: "total", paging: { kind: "page", size: 2 } };
  return {
    name: "http",
    write: (now) => (company = now),
    settings: {
      kind: "http",
      baseUrl: origin,
      streams: {
        customers: { url: "customers", key: "id", ...paged, mapping: mappings.customers },
        orders: {
          url: "orders",
          key: "id",
          ...paged,
          details: { lines: { url: "lines", key: "order_id", ...paged } },
          mapping: mappings.orders,
        },
        staff: { url: "staff", key: "id", ...paged, mapping: mappings.staff },
      },
    },
  };
}

async function overGraphql(): Promise<Form> {
  let company: Company | undefined;
  const origin = await startServer(({ body }, response) => {
    const { query, variables } = JSON.parse(body) as { query: string; variables: { after?: string } };
    const list = lists.find((name) => query.includes(` ${name}(`)) ?? "customers";
    const rows: Record<string, unknown>[] =
      list === "orders"
        ? (company?.orders ?? []).map((row) => ({
            ...row,
            lines: company?.lines.filter(({ order_id: of }) => of === row["id"]),
          }))
        : (company?.[list] ?? []);
    const from = Number(variables.after ?? 0);
    const pageInfo = { hasNextPage: from + 2 < rows.length, endCursor: String(from + 2) };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data: { [list]: { nodes: rows.slice(from, from + 2), pageInfo } } }));
  });
  const asked = (list: Exclude<List, "lines">): Record<string, unknown> => ({
    url: "graphql",
    method: "POST",
    body: { query: `query ($after: String) { ${list}(first: 2, after: $after) { nodes }}`, variables: {} },
    parametersIn: "body",
    records: `data.${list}.nodes`,
    key: "id",
    paging: {
      kind: "cursor",
      parameter: "variables.after",
      next: `data.${list}.pageInfo.endCursor`,
      hasMore: `data.${list}.pageInfo.hasNextPage`,
    },
    mapping: mappings[list],
  });
  return {
    name: "graphql",
    write: (now) => (company = now),
    settings: {
      kind: "http",
      baseUrl: origin,
      streams: { customers: asked("customers"), orders: asked("orders"), staff: asked("staff") },
    },
  };
}

function inDatabase(folder: string): Form {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "erp.db");
  return {
    name: "sql",
    write(company) {
      rmSync(file, { force: true });
      const database = new Database(file);
      for (const list of lists) {
        const names = Object.keys(company[list][0] ?? {});
        const types = names.map((name) => `${name} ${name === "seats" ? "integer" : "text"}`);
        database.exec(`create table ${list} (${types.join(", ")})`);
        const insert = database.prepare(`insert into ${list} values (${names.map(() => "?").join(", ")})`);
        for (const row of company[list]) insert.run(names.map((name) => row[name]));
      }
      database.close();
    },
    settings: {
      kind: "sql",
      connection: { kind: "sqlite", file },
      streams: {
        customers: { query: "select * from customers", key: "id", mapping: mappings.customers },
        orders: {
          query: "select * from orders",
          key: "id",
          details: { lines: { query: "select * from lines order by id", key: "order_id" } },
          mapping: mappings.orders,
        },
        staff: { query: "select * from staff", key: "id", mapping: mappings.staff },
      },
    },
  };
}

/** The canonical records that a form gives, each as its canonical JSON. */
async function recordsOf({ settings }: Form, folder: string): Promise<string[]> {
  const source = openSource(settings, folder);
  const records: string[] = [];
  for (const stream of ["customers", "orders", "staff"] as const) {
    const { raws, bads, outcome } = await readAll(source, stream);
    expect([bads, outcome.complete, outcome.problem?.message]).toEqual([[], true, undefined]);
    const { map } = await source.mapping(stream);
    for (const { value } of raws) {
      const mapped = map(value);
      if (!mapped.ok) throw new Error(`${stream}: ${mapped.error.message}`);
      records.push(canonicalJson({ ...mapped.value.record }));
    }
  }
  await source.endReading();
  return records.sort();
}

async function worldOf({ settings }: Form): Promise<World> {
  const w = await world({ isNew: true });
  const jobs = { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", sources: { crm: settings }, jobs }));
  return w;
}

it(
  "a company gives the same records and the same calls as files, over HTTP, as GraphQL and from a database",
  { tags: "long" },
  async () => {
    const company: Company = {
      customers: [customer(1), customer(2), customer(3)],
      orders: [order(1, 1), order(2, 2), order(3, 2)],
      lines: [line(1, 1, 2), line(1, 2, 1), line(2, 1, 4), line(3, 1, 1)],
      staff: [person(1, 1, "A-O1"), person(2, 2, "A-O2"), person(3, 3, "")],
    };
    const edits: ((of: Company) => void)[] = [
      () => undefined,
      ({ customers: [first] }) => Object.assign(first ?? {}, { street: "Zqcanary Road 99" }),
      (of) => of.customers.push(customer(4)),
      (of) => {
        of.orders.push(order(4, 4));
        of.lines.push(line(4, 1, 3));
      },
      ({ lines: [first] }) => Object.assign(first ?? {}, { seats: "3" }),
      (of) => of.staff.push(person(4, 4, "A-O4")),
      ({ staff: [, second] }) => Object.assign(second ?? {}, { asset: "" }),
      ({ orders }) => Object.assign(orders[2] ?? {}, { status: "CANCELLED" }),
      ({ staff: [first] }) => Object.assign(first ?? {}, { name: "Zqcanary Renamed" }),
      () => undefined,
    ];
    const places = await world({ isNew: true });
    const forms = [
      asFiles(places.path("files")),
      await overHttp(),
      await overGraphql(),
      inDatabase(places.path("sql")),
    ];
    const worlds: World[] = [];
    for (const [at, edit] of edits.entries()) {
      edit(company);
      const told: { calls: Record<string, number>; exitCode: number | null }[] = [];
      const records: string[][] = [];
      for (const [which, form] of forms.entries()) {
        form.write(company);
        const w = (worlds[which] ??= await worldOf(form));
        const { exitCode, calls, stdout, stderr } = await w.does("run", "everything");
        expect([0, 3, 4], `${form.name}, run ${at + 1}: ${stdout}${stderr}`).toContain(exitCode);
        told.push({ calls, exitCode });
        records.push(await recordsOf(form, places.folder));
      }
      const [first, ...others] = records;
      expect(first?.length).toBe(company.customers.length + company.orders.length + company.staff.length);
      for (const other of others) expect(other).toEqual(first);
      for (const other of told) expect(other, `run ${at + 1}`).toEqual(told[0]);
      if (at === 0) expect(told[0]).toMatchObject({ exitCode: 0, calls: { E2: 3, E5: 3, M1: 3, M9: 2 } });
    }
  },
);
