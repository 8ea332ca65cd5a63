import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { readAll } from "../support.ts";
import { sourceOf, type TestDatabase } from "./database.ts";
import { everyDialect } from "./every-dialect.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function newDatabase(): Promise<TestDatabase & { database: string }> {
  const database = await server.newDatabase();
  return {
    database,
    connection: {
      kind: "postgres",
      host: "127.0.0.1",
      port: server.port,
      database,
      user: server.user,
      password: "env:ERP_PASSWORD",
      tls: "off",
    },
    secret: server.password,
    types: { big: "bigint", moment: "timestamptz", local: "timestamp", json: "jsonb", double: "double precision" },
    run: async (...statements) => {
      for (const statement of statements) await server.run(database, statement);
    },
    connections: async () => {
      const [row] = await server.run(
        "postgres",
        `select count(*) from pg_stat_activity where datname = '${database}' and application_name = 'crm-sync'`,
      );
      return Number(row?.[0]);
    },
  };
}

everyDialect("PostgreSQL", newDatabase);

describe("a source in PostgreSQL that cannot be read whole", () => {
  const query = "select * from customer";

  async function withCustomers(): Promise<Awaited<ReturnType<typeof newDatabase>>> {
    const database = await newDatabase();
    await database.run(
      "create table customer (id bigint primary key, name text)",
      "insert into customer select n, 'Zqcanary ' || n from generate_series(1, 3000) n",
    );
    return database;
  }

  async function endOf(
    database: TestDatabase,
    stream: Record<string, unknown> = { query, key: "id" },
    more: Record<string, unknown> = {},
  ): Promise<{ code: string | undefined; message: string; cure: string; raws: number }> {
    const { raws, outcome } = await readAll(sourceOf(database, { customers: stream }, more), "customers");
    expect(outcome.complete).toBe(false);
    const { problem } = outcome;
    const said = `${problem?.message} ${problem?.cure} ${problem?.place} ${String(problem?.cause)}`;
    for (const secret of ["Zqcanary", server.password, "wrong-password-1"]) expect(said).not.toContain(secret);
    return { code: problem?.code, message: problem?.message ?? "", cure: problem?.cure ?? "", raws: raws.length };
  }

  it("because it is down, refuses the password, or offers no TLS: named, never thrown", { tags: "long" }, async () => {
    const database = await withCustomers();
    const other = (settings: Record<string, unknown>, secret = database.secret): TestDatabase => ({
      ...database,
      secret,
      connection: { ...database.connection, ...settings },
    });
    expect(await endOf(other({ port: 1 }))).toMatchObject({ code: "source.down", raws: 0 });
    expect(await endOf(other({}, "wrong-password-1"))).toMatchObject({ code: "source.wrong-password", raws: 0 });
    expect(await endOf(other({ database: "nowhere" }))).toMatchObject({ code: "source.wrong-password", raws: 0 });
    const tls = await endOf(other({ tls: "verify" }));
    expect(tls).toMatchObject({ code: "source.down", message: expect.stringContaining("offers no TLS") });
  });

  it("because a query writes, behind a function too: nothing is written", { tags: "long" }, async () => {
    const database = await withCustomers();
    await database.run(
      "create function bump() returns int language plpgsql as $$ begin delete from customer; return 1; end $$",
    );
    const written = await endOf(database, { query: "select bump() as id", key: "id" });
    expect(written).toMatchObject({ code: "source.wrong-query", message: expect.stringContaining("writes") });
    await database.run("create sequence s", "drop role if exists counter", "create role counter login password 'c'");
    const counting = { query: "select nextval('s') as id", key: "id" };
    const owner = await endOf(database, counting);
    const counter = { ...database, secret: "c", connection: { ...database.connection, user: "counter" } };
    const other = await endOf(counter, counting);
    for (const [problem, code] of [
      [owner, "25006"],
      [other, "42501"],
    ] as const) {
      expect(problem).toMatchObject({ code: "source.wrong-query", message: expect.stringContaining(`(${code})`) });
      expect(problem.cure).toMatch(/must only read.*nextval/u);
    }
    await database.run("drop role counter");
    expect(await server.run(database.database, "select count(*) from customer")).toEqual([["3000"]]);
  });

  it(
    "because it takes too long, may not be read, or fails at a row, whose value is not told",
    { tags: "long" },
    async () => {
      const database = await withCustomers();
      const slow = { query: "select id, pg_sleep(5)::text as slept from customer", key: "id" };
      expect(await endOf(database, slow, { statementTimeout: "200ms" })).toMatchObject({ code: "source.timed-out" });
      const wrong = { query: "select id, case when id > 1200 then name::int end as n from customer", key: "id" };
      expect(await endOf(database, wrong)).toMatchObject({ code: "source.half-read" });
      await database.run("drop role if exists reader", "create role reader login password 'reader'");
      const reader = { ...database, secret: "reader", connection: { ...database.connection, user: "reader" } };
      expect(await endOf(reader)).toMatchObject({ code: "source.refused", raws: 0 });
      await database.run("drop role reader");
    },
  );

  it("because its connection is cut in the middle: what came is kept, no other stream is read from a later view", async () => {
    const database = await withCustomers();
    const streams = {
      customers: { query, key: "id" },
      orders: { query: "select id, id as customer from customer", key: "id" },
    };
    const source = sourceOf(database, streams);
    const reading = source.read("customers", { batchSize: 500 });
    expect((await reading.next()).value).toHaveLength(500);
    await server.run(
      "postgres",
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database.database}'`,
    );
    let end = await reading.next();
    while (end.done !== true) end = await reading.next();
    expect(end.value).toMatchObject({ complete: false, rows: 500, problem: { code: "source.down" } });
    const orders = await readAll(source, "orders");
    expect(orders).toMatchObject({ raws: [], outcome: { complete: false, problem: { code: "source.down" } } });
    await source.endReading();
    expect((await readAll(source, "orders")).outcome).toMatchObject({ complete: true, rows: 3_000 });
  });

  it("because it was left in its middle: its cursor is closed, and another stream is read in the same view", async () => {
    const database = await withCustomers();
    const source = sourceOf(database, {
      customers: { query, key: "id" },
      orders: { query: "select name as id, 'C1' as customer from pg_cursors where name <> ''", key: "id" },
    });
    const reading = source.read("customers", { batchSize: 100 });
    await reading.next();
    await reading.return({ complete: false, full: true, rows: 0 });
    const { raws, outcome } = await readAll(source, "orders");
    expect([outcome.complete, raws.map(({ key }) => key)]).toEqual([true, ["c6"]]);
  });

  it("in one of its streams takes no other stream with it", { tags: "long" }, async () => {
    const database = await withCustomers();
    const source = sourceOf(database, {
      customers: { query: "select id, name::int as n from customer", key: "id" },
      orders: { query: "select id, id as customer from customer", key: "id" },
    });
    expect((await readAll(source, "customers")).outcome.complete).toBe(false);
    expect((await readAll(source, "orders")).outcome).toMatchObject({ complete: true, rows: 3_000 });
  });

  it(
    "refuses bytes by the name of their column, and gives what is no number, and lists that are no JSON, as the database writes them",
    { tags: "long" },
    async () => {
      const database = await withCustomers();
      const bytes = await endOf(database, { query: "select id, name::bytea as photo from customer", key: "id" });
      expect(bytes.message).toContain("gives the column photo as bytes (bytea)");
      const odd = `select 1 as id, to_json(array['a b', null]) as texts, array[1,2] as numbers, 'NaN'::float8 as n,
      'infinity'::timestamptz as ever, 12345678901234567890.10 as amount, interval '1 day' as span`;
      const { raws } = await readAll(sourceOf(database, { customers: { query: odd, key: "id" } }), "customers");
      expect(raws[0]?.value).toEqual({
        id: 1,
        texts: ["a b", null],
        numbers: "{1,2}",
        n: "NaN",
        ever: "infinity",
        amount: "12345678901234567890.10",
        span: "P1D",
      });
    },
  );
});

/** Whoever has one of these run is refused by the server, with everything that the owner of the database may do. */
const refusedQueries = [
  "delete from customer",
  "delete from customer returning id",
  "select 1 as id; commit; delete from customer",
  "select 1 as id; select 2 as id",
  "select 1 as id) q; commit; delete from customer; select * from (select 1 as id",
  String.raw`select '\') q; commit; delete from customer; select * from (select '' as id`,
  String.raw`select '\') q; commit; delete from customer; --' as id`,
  String.raw`select e'\') q; commit; delete from customer; --`,
  'select 1 as "\\") q; commit; delete from customer; --"',
  "select 1 as id /* /* */ ' */ ) q; commit; delete from customer; select * from (select 1 as id -- '",
  "select 1 as a$$) q; commit; delete from customer; select * from (select 1 as b$$",
  "select 1 as id) q -- \n; commit; delete from customer --",
  "with x as (delete from customer returning id) select id from x",
  "select 1 as id) q, lateral (with x as (delete from customer returning id) select id from x",
  "select 1 as id) q union all (with x as (delete from customer returning id) select id from x",
  "select id into stolen from customer",
  "select 1 as id) q union all select id into stolen from (select 1 as id",
  "select * from customer for update",
  "select * from customer for key share",
  "copy customer to program 'true'",
  "copy (select 1) to program 'true'",
  "commit",
  "rollback",
  "set transaction read write",
  "set session characteristics as transaction read write",
  "call clean()",
  "do $$ begin delete from customer; end $$",
  "explain analyze delete from customer",
  "merge into customer using customer c on true when matched then delete",
  "select set_config('transaction_read_only', 'off', true) as id, bump() as b",
  "select set_config('transaction_read_only', 'off', false) as id",
  "select clean_twice() as id",
  "select query_to_xml('delete from customer', true, true, '')::text as id",
  "select nextval('counted') as id",
  "select setval('counted', 7) as id",
  "select lo_unlink(7) as id",
  "select lo_create(8) as id",
  "select pg_advisory_xact_lock(1), id from customer for no key update",
  "select $1 as id",
  "select (1 as id",
  "select 1 as id, 'a' as name) x natural join (select 1 as id",
  "-- nothing\n;",
];

describe("a query that would write in PostgreSQL, or end its transaction", () => {
  const prepare = [
    "create table customer (id bigint primary key, name text)",
    "insert into customer select n, 'Name ' || n from generate_series(1, 30) n",
    "create sequence counted",
    "select lo_create(7)",
    "create function bump() returns int language plpgsql as $$ begin delete from customer; return 1; end $$",
    "create procedure clean() language plpgsql as $$ begin delete from customer; commit; end $$",
    `create function clean_twice() returns int language plpgsql as
       $$ begin set local transaction_read_only = off; delete from customer; return 1; end $$`,
  ];
  const held = `select (select count(*) from customer), (select last_value from counted), to_regclass('stolen'),
    (select count(*) from pg_largeobject_metadata)`;
  it("is refused, whatever it hides, and the view stays as it was", async () => {
    const database = await newDatabase();
    await database.run(...prepare);
    const state = `select now()::text || current_setting('transaction_read_only') as id, 'C1' as customer`;
    const before = await server.run(database.database, held);
    const mapping = { id: "id", customerId: "id", userName: "id", name: "id" };
    for (const query of refusedQueries) {
      const source = sourceOf(database, {
        customers: { query },
        staff: { query: "select 1 as id", key: "id", details: { lines: { query, key: "id" } }, mapping },
        orders: { query: state },
      });
      const view = async (): Promise<unknown> => (await readAll(source, "orders")).raws.map(({ value }) => value["id"]);
      const begun = await view();
      for (const stream of ["customers", "staff"] as const) {
        const { raws, outcome } = await readAll(source, stream);
        expect.soft([raws, outcome.problem?.code], `${query} in ${stream}`).toEqual([[], "source.wrong-query"]);
        expect.soft(await view(), query).toEqual(begun);
      }
      await source.close();
      expect.soft(await server.run(database.database, held), query).toEqual(before);
    }
  });

  it.each(["name::regclass::text", "to_tsquery(name || ' foo')::text", "current_setting(name)"])(
    "that fails at a row tells no value of the row: %s",
    async (word) => {
      const database = await newDatabase();
      await database.run(...prepare, "update customer set name = 'zqcanary'");
      const { outcome } = await readAll(
        sourceOf(database, { customers: { query: `select id, ${word} as word from customer` } }),
        "customers",
      );
      expect(outcome.complete).toBe(false);
      expect(JSON.stringify([outcome.problem?.message, outcome.problem?.cure])).not.toContain("canary");
    },
  );

  it("may lock, tell and set for itself alone: nothing of it stays", async () => {
    const database = await newDatabase();
    await database.run(...prepare);
    const query = `select 1 as id, pg_advisory_lock(7)::text as a, pg_notify('told', 'x')::text as b,
      set_config('statement_timeout', '0', false) as c, set_config('default_transaction_read_only', 'off', false) as d`;
    const settings = "select current_setting('statement_timeout') as id, 'C1' as customer";
    const source = sourceOf(database, { customers: { query }, orders: { query: settings } });
    expect((await readAll(source, "customers")).outcome.complete).toBe(true);
    expect((await readAll(source, "orders")).raws.map(({ value }) => value["id"])).toEqual(["10min"]);
    await source.endReading();
    await expect.poll(() => database.connections()).toBe(0);
    const locks = "select count(*) from pg_locks where locktype = 'advisory'";
    expect(await server.run(database.database, locks)).toEqual([["0"]]);
  });
});
