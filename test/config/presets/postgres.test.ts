import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import type { Source } from "../../../src/source/source.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { branch, replay, sourceOf } from "./replay.ts";
import { instancesOf, tables as filled } from "./seats.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function databaseWith(
  preset: string,
  sql: string,
  own: JsonObject,
): Promise<{ source: Source; run: (sql: string) => Promise<unknown> }> {
  const database = await server.newDatabase();
  await server.run(database, sql);
  const connection = { host: "127.0.0.1", port: server.port, database, user: server.user, tls: "off" };
  const source = sourceOf(preset, { connection, ...own }, { secrets: () => server.password });
  return { source, run: (more) => server.run(database, more) };
}

describe("the tables of Odoo", () => {
  const tables = `
    create table res_country (id serial primary key, code varchar);
    create table res_partner (id serial primary key, name varchar, is_company boolean, parent_id integer,
      commercial_partner_id integer, customer_rank integer, active boolean default true, street varchar,
        street2 varchar,
      zip varchar, city varchar, country_id integer, email varchar, phone varchar, write_date timestamp);
    create table product_product (id serial primary key, default_code varchar);
    create table sale_order (id serial primary key, name varchar, partner_id integer, date_order timestamp,
        state varchar,
      write_date timestamp);
    create table sale_order_line (id serial primary key, order_id integer, product_id integer,
        product_uom_qty numeric, name text,
      x_seat_partner_id integer, write_date timestamp);
    insert into res_country values (57, 'DE');
    insert into res_partner values
      (7, 'Northwind', true, null, 7, 1, true, 'Main Street 1', null, '53111', 'Bonn', 57, 'info@example.com',
        '+49 30 1', '2026-11-01 08:00:00.123456'),
      (8, 'A supplier', true, null, 8, 0, true, null, null, null, null, 57, null, null, '2026-11-01 08:00:00'),
      (9, 'Gone but bought', true, null, 9, 1, false, null, null, null, null, 57, null, null, '2026-11-02 08:00:00'),
      (31, 'Ann Lee', false, 7, 7, 0, true, null, null, null, null, null, 'ann.lee@example.com', null,
        '2026-11-01 08:00:00'),
      (32, 'Bob Ray', false, 7, 7, 0, false, null, null, null, null, null, 'bob@example.com', null,
        '2026-11-01 08:00:00');
    insert into product_product values (3, 'LIC-CAD-10'), (4, 'LIC-COST'), (5, 'CHAIR');
    insert into sale_order values
      (20, 'S00020', 31, '2026-03-01 09:30:00', 'sale', '2026-11-01 08:00:00'),
      (21, 'S00021', 9, '2026-03-02 23:30:00', 'cancel', '2026-11-02 08:00:00'),
      (22, 'S00022', 7, '2026-03-03 10:00:00', 'draft', '2026-11-03 08:00:00'),
      (23, 'S00023', 7, '2026-03-03 10:00:00', 'sale', '2026-11-03 08:00:00');
    insert into sale_order_line values
      (41, 20, 3, 2.0, E'[LIC-CAD-10] CAD\\nfor a year', 31, '2026-11-01 08:00:00'),
      (42, 20, 5, 4, 'A chair', null, '2026-11-01 08:00:00'),
      (43, 21, 4, 1, '[LIC-COST] Costing', 32, '2026-11-01 08:00:00'),
      (44, 22, 4, 1, 'Costing', null, '2026-11-01 08:00:00'),
      (45, 23, 5, 1, 'A chair', null, '2026-11-01 08:00:00');`;
  const own = { tables: filled, streams: { customers: branch } };

  it(
    "become customers, orders of the company whose contact ordered, and contacts with their seats",
    { tags: "long" },
    async () => {
      const { source } = await databaseWith("odoo-postgres", tables, own);
      const customers = await replay(source, "customers");
      expect([customers.records, customers.refused]).toMatchObject([
        [
          {
            id: "7",
            branchCode: "B1",
            address: "Main Street 1, 53111, Bonn, DE",
            adminAccount: "info",
            adminMobile: "+49 30 1",
          },
          { id: "9", name: "Gone but bought", branchName: "North" },
        ],
        [],
      ]);
      const orders = await replay(source, "orders");
      expect([orders.records, orders.refused]).toMatchObject([
        [
          {
            id: "20",
            customerId: "7",
            placedAt: "2026-03-01T09:30:00.000Z",
            cancelled: false,
            instances: instancesOf(41, "LIC-CAD-10", 20),
          },
          { id: "21", customerId: "9", cancelled: true, instances: instancesOf(43, "LIC-COST", 1) },
        ],
        [],
      ]);
      const staff = await replay(source, "staff");
      expect([staff.records, staff.refused]).toMatchObject([
        [{ id: "31", customerId: "7", userName: "annlee", assets: [{ instanceId: "A41" }] }],
        [],
      ]);
      expect([customers, orders, staff].map(({ outcome }) => [outcome.complete, outcome.full])).toEqual([
        [true, true],
        [true, true],
        [true, true],
      ]);
    },
  );

  it("are asked for what changed, an order also where one of its lines did", { tags: "long" }, async () => {
    const { source, run } = await databaseWith("odoo-postgres", tables, own);
    const { cursor } = (await replay(source, "orders")).outcome;
    await source.endReading();
    await run("update sale_order_line set product_uom_qty = 3, write_date = '2026-11-05 08:00:00' where id = 41");
    const { records, outcome } = await replay(source, "orders", { since: cursor ?? "" });
    expect(outcome).toMatchObject({ complete: true, full: false });
    expect(records.map((record) => (record as JsonObject)["id"])).toContain("20");
    expect(records[0]).toMatchObject({ instances: instancesOf(41, "LIC-CAD-10", 30) });
  });

  it("are named where a column is not there", async () => {
    const { source } = await databaseWith(
      "odoo-postgres",
      `${tables} alter table sale_order_line drop column x_seat_partner_id`,
      own,
    );
    const { outcome } = await replay(source, "staff");
    expect(outcome.complete).toBe(false);
    expect(outcome.problem).toMatchObject({
      code: "source.wrong-query",
      message: expect.stringContaining("x_seat_partner_id"),
    });
  });
});

describe("a schema of one's own", () => {
  const tables = `
    create table customers (id bigint primary key, name text, kind text, branch_code text, branch_name text,
        address text,
      admin_name text, admin_email text, admin_mobile text, changed_at timestamptz);
    create table orders (id bigint primary key, customer_id bigint, ordered_at timestamptz, cancelled boolean,
        currency text,
      total numeric(12, 2), changed_at timestamptz);
    create table order_lines (id bigint primary key, order_id bigint, product_code text, product_name text,
        seats integer,
      license_type text, product_type text, starts_on date, term_months integer);
    create table staff (id bigint primary key, customer_id bigint, e_mail text, name text, mobile text,
        changed_at timestamptz);
    create table seats (staff_id bigint, order_line_id bigint);
    insert into customers values
      (1, 'Northwind', 'company', 'B1', 'Bonn', 'Main Street 1', 'Ann Lee', 'ann@example.com', '+49301',
        '2026-11-01T08:00Z'),
      (9007199254740993, 'Bob Ray', 'person', 'B2', 'Kiel', null, null, null, null, '2026-11-02T08:00Z'),
      (3, 'Who knows', 'club', 'B2', 'Kiel', null, null, null, null, '2026-11-02T08:00Z');
    insert into orders values (20, 1, '2026-03-01 10:30+01', false, 'EUR', 1190.50, '2026-11-01T08:00Z'),
      (21, 9007199254740993, '2026-03-01 10:30+01', true, 'JPY', 500, '2026-11-02T08:00Z');
    insert into order_lines values (41, 20, 'P-1', 'CAD', 20, 'cloud_account', 'tool', '2026-03-31', 11),
      (42, 21, 'P-2', 'Costing', 1, 'softkey', 'tool', '2026-01-01', 12);
    insert into staff values (31, 1, 'ann.lee@example.com', 'Ann Lee', null, '2026-11-01T08:00Z'),
      (32, 1, 'bob@example.com', 'Bob Ray', '+49302', '2026-11-01T08:00Z');
    insert into seats values (31, 41), (31, 42);`;

  it("becomes canonical records by the queries as they stand", async () => {
    const { source } = await databaseWith("postgres", tables, { zone: "UTC" });
    const customers = await replay(source, "customers");
    expect(customers.records).toMatchObject([
      { id: "1", customerType: "company", branchCode: "B1", adminAccount: "ann", purchaserMobile: "+49301" },
      { id: "9007199254740993", customerType: "personal", branchName: "Kiel" },
    ]);
    expect(customers.refused).toEqual(["customerType unknown-word"]);
    const orders = await replay(source, "orders");
    expect([orders.records, orders.refused]).toMatchObject([
      [
        {
          id: "20",
          customerId: "1",
          placedAt: "2026-03-01T09:30:00.000Z",
          amount: { currency: "EUR", minor: 119_050 },
          instances: [
            { kind: "asset", id: "A41", quantity: 20, licenseType: "cloud_account" },
            {
              kind: "product",
              id: "P41",
              parentId: "A41",
              limitStart: "2026-03-31T00:00:00.000Z",
              limitEnd: "2027-02-28T00:00:00.000Z",
              timeUnitQuantity: 11,
              term: "0-11-0",
            },
          ],
        },
        { id: "21", cancelled: true, amount: { currency: "JPY", minor: 500 } },
      ],
      [],
    ]);
    const staff = await replay(source, "staff");
    expect([staff.records, staff.refused]).toMatchObject([
      [
        { id: "31", userName: "annlee", assets: [{ instanceId: "A41" }, { instanceId: "A42" }] },
        { id: "32", userName: "bob", mobile: "+49302", assets: [] },
      ],
      [],
    ]);
  });

  it("is asked for what changed since the last reading", async () => {
    const { source, run } = await databaseWith("postgres", tables, { zone: "UTC" });
    const { cursor } = (await replay(source, "staff")).outcome;
    await source.endReading();
    await run(
      "delete from seats where order_line_id = 42; update staff set changed_at = '2026-11-20T08:00Z' where id = 31; " +
        "insert into staff values (33, 1, 'cy@example.com', 'Cy Fox', null, '2026-11-20T08:00Z')",
    );
    const { records, outcome } = await replay(source, "staff", { since: cursor ?? "" });
    expect(outcome).toMatchObject({ complete: true, full: false });
    expect(records).toMatchObject([{ id: "31", assets: [{ instanceId: "A41" }] }, { id: "32" }, { id: "33" }]);
  });
});
