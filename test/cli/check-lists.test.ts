import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { startServer } from "../support/http-server.ts";
import { crmSync } from "../support/program.ts";
import { folder as newFolder } from "../support/world/start.ts";

const customer = (id: string): string =>
  `{ id: ${id}, name: name, customerType: { value: company }, branchCode: { value: B1 }, branchName: { value: Bonn } }`;

const environment = { SEAL_KEY: "a key of this test that seals passwords" };

/** A configuration whose only source is this one, checked against a sandbox. */
async function checked(place: string, source: string): ReturnType<typeof crmSync> {
  const config = join(place, "crm-sync.yaml");
  writeFileSync(
    config,
    `ledger: { path: ledger.db, sealKey: env:SEAL_KEY }\nsources:\n  crm:\n${source.replaceAll(/^/gmu, "    ")}`,
  );
  return await crmSync({ config, environment }, "--sandbox", "check");
}

describe("check of the lists of a source", () => {
  it("names what is wrong with each of them at once, with its place, and still maps the others", async () => {
    const place = newFolder();
    const file = (name: string, text: string): void => writeFileSync(join(place, name), text);
    file("customers.csv", "id,nome\n1,Ann\n");
    file("orders.csv", "id,customer,product\n7,1,CAD\n");
    file("staff.csv", "id,login\n3,ann\n");
    const { exitCode, stdout } = await checked(
      place,
      `kind: file
streams:
  customers: { files: customers.csv, mapping: ${customer("id")} }
  orders:
    files: orders.csv
    mapping:
      id: id
      customerId: customer
      instances:
        - { kind: asset, one: { id: { value: A }, licenseType: { value: softkey } } }
  staff: { files: staff.csv, mapping: { id: id, customerId: customer, userName: login, name: login } }
`,
    );
    expect(exitCode).toBe(7);
    expect(stdout).toMatch(/^BAD +source crm: .*no column "name".*"nome".*\n +in customers\.csv:1$/mu);
    expect(stdout).toMatch(/^BAD +source crm, staff: .*no column "customer".*\n +in staff\.csv:1$/mu);
    expect(stdout).toMatch(/^good +source crm, orders: all 1 rows/mu);
    expect(stdout.match(/^BAD /gmu)).toHaveLength(2);
  });

  it("names file, line and key of a query that lacks a column", async () => {
    const place = newFolder();
    const database = new DatabaseSync(join(place, "erp.db"));
    database.exec("create table party (id integer primary key, name text); insert into party values (1, 'Ann')");
    database.close();
    const { exitCode, stdout } = await checked(
      place,
      `kind: sql
connection: { kind: sqlite, file: erp.db }
streams:
  customers: { query: select * from party, key: id, mapping: ${customer("nr")} }
`,
    );
    expect(exitCode).toBe(7);
    expect(stdout).toMatch(
      /^BAD +source crm: .*customers\.query` gives no column nr.*\n +in .*crm-sync\.yaml:7:\d+$/mu,
    );
  });

  it("warns of a column of changes that holds no times, in each source that has one", async () => {
    const place = newFolder();
    const database = new DatabaseSync(join(place, "erp.db"));
    database.exec(
      "create table party (id integer primary key, name text, changed, at);" +
        "insert into party values (1, 'Ann', 'last week', '2026-01-02 03:04:05'), (2, 'Bob', 'today', null)",
    );
    database.close();
    const source = (column: string): string => `kind: sql
connection: { kind: sqlite, file: erp.db }
streams:
  customers: { query: select * from party, key: id, since: { column: ${column} }, mapping: ${customer("id")} }
`;
    const wrong = await checked(place, source("changed"));
    expect([wrong.exitCode, wrong.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^warn +source crm, customers: changed \(`since\.column`\) holds no time.* in 2 of 2 rows/mu,
      ),
    ]);
    expect((await checked(place, source("at"))).stdout).not.toContain("since.column");
  });

  it("is not content with an id that several records have, as a run is not", { tags: "long" }, async () => {
    const place = newFolder();
    writeFileSync(join(place, "customers.csv"), "nr,land,name\n1,DE,Ann\n2,DE,Bob\n3,AT,Eva\n4,DE,Bob\n");
    const { exitCode, stdout } = await checked(
      place,
      `kind: file
streams:
  customers: { files: customers.csv, mapping: ${customer("land")} }
`,
    );
    expect(exitCode).toBe(3);
    expect(stdout).toMatch(
      /^BAD .*customers: all 4 rows were read, and 3 would be quarantined: 3 rows \(duplicate-id: .*customers\.csv:2\)/mu,
    );
    const planned = await crmSync({ config: join(place, "crm-sync.yaml"), environment }, "--sandbox", "plan");
    expect(planned.stdout).toMatch(/1 customer is in quarantine \(duplicate-id\)/u);
  });

  it("warns where the field that says when a record was changed is in no row, or in a few", async () => {
    const place = newFolder();
    const url = await startServer((_request, response) => {
      response.setHeader("content-type", "application/json");
      const rows = Array.from({ length: 31 }, (_, index) => ({
        id: index,
        name: "Ann",
        changed: index < 10 ? `2026-01-${index + 10}T00:00:00Z` : null,
      }));
      response.end(JSON.stringify(rows));
    });
    const list = (changedAt: string): string => `kind: http
baseUrl: ${url}
streams:
  customers: { url: /customers, key: id, since: { parameter: since, changedAt: ${changedAt} }, mapping: ${customer("id")} }
`;
    const few = await checked(place, list("changed"));
    expect(few.exitCode, few.stdout).toBe(0);
    expect(few.stdout).toMatch(/^warn .*changed \(`since\.changedAt`\) holds something in 10 of 31 rows/mu);
    const none = await checked(place, list("updated"));
    expect(none.stdout).toMatch(/^warn .*updated \(`since\.changedAt`\) holds nothing in any of 31 rows/mu);
  });
});
