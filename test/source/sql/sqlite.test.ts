import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { directoryWith, openFiles, readAll } from "../support.ts";
import { sourceOf, type TestDatabase } from "./database.ts";
import { everyDialect } from "./every-dialect.ts";

function newDatabase(): Promise<TestDatabase> {
  const file = join(directoryWith({}), "erp.db");
  const make = new Database(file);
  make.pragma("journal_mode = wal");
  make.close();
  return Promise.resolve({
    connection: { kind: "sqlite", file },
    secret: "",
    types: { big: "integer", moment: "timestamptz", local: "timestamp", json: "json", double: "double" },
    run: (...statements) => {
      const database = new Database(file);
      for (const statement of statements) database.exec(statement);
      database.close();
      return Promise.resolve();
    },
    connections: () => Promise.resolve(openFiles(file).length),
  });
}

everyDialect("SQLite", newDatabase);

describe("a SQLite file", () => {
  it("gives a change also where its time is written with an offset behind UTC", async () => {
    const database = await newDatabase();
    await database.run("create table c (id text, at text)", "insert into c values ('C1', '2026-11-20T10:00:00Z')");
    const customers = { query: "select id, at from c", key: "id", since: { column: "at" } };
    const source = sourceOf(database, { customers });
    const { cursor } = (await readAll(source, "customers")).outcome;
    await source.endReading();
    await database.run("insert into c values ('C2', '2026-11-20T05:30:00-05:00'), ('C3', '2026-11-19T10:00:00Z')");
    const { raws } = await readAll(source, "customers", { since: cursor ?? "" });
    expect(raws.map(({ key }) => key)).toEqual(["C1", "C2"]);
    await source.close();
  });

  it("gives rows of a day without a time in each reading of changes", async () => {
    const database = await newDatabase();
    await database.run("create table c (id text, at text)", "insert into c values ('C1', '2026-11-20T10:00:00Z')");
    const customers = { query: "select id, at from c", key: "id", since: { column: "at" } };
    const source = sourceOf(database, { customers });
    const { cursor } = (await readAll(source, "customers")).outcome;
    await source.endReading();
    await database.run("insert into c values ('C2', '2026-11-20'), ('C3', '2026-11-19 10:00:00')");
    const { raws } = await readAll(source, "customers", { since: cursor ?? "" });
    expect(raws.map(({ key }) => key)).toEqual(["C1", "C2"]);
  });

  it.each(["2025-13-45T10:00:00Z", "2025-01-01T99:00:00", "2025-01-01T10:00:00.1234567891Z"])(
    "is asked for everything after a latest time that is none: %s",
    async (at) => {
      const database = await newDatabase();
      await database.run("create table c (id text, at text)", `insert into c values ('C1', '${at}')`);
      const customers = { query: "select id, at from c", key: "id", since: { column: "at" } };
      const { raws, outcome } = await readAll(sourceOf(database, { customers }), "customers");
      expect([raws.length, outcome]).toEqual([1, { complete: true, full: true, rows: 1 }]);
    },
  );

  it.each(["?", "?1", ":id", "@id", "$id"])("is asked by no query with a placeholder: %s", async (placeholder) => {
    const database = await newDatabase();
    await database.run("create table c (id text)");
    const source = sourceOf(database, { customers: { query: `select id from c where id = ${placeholder}` } });
    expect(await source.check()).toMatchObject({ code: "source.wrong-query" });
    const { raws, outcome } = await readAll(source, "customers");
    expect([raws, outcome]).toMatchObject([[], { complete: false, problem: { code: "source.wrong-query" } }]);
  });

  it("that is missing, is none, or holds bytes, is named", async () => {
    const database = await newDatabase();
    const missing = { ...database, connection: { kind: "sqlite", file: "nowhere.db" } };
    const customers = { query: "select 1 as id" };
    expect(await sourceOf(missing, { customers }).check()).toMatchObject({
      code: "source.missing-file",
      message: expect.stringMatching(/there is no file \S+nowhere\.db\.$/u),
    });
    const none = { ...database, connection: { kind: "sqlite", file: "text.db" } };
    const files = { "text.db": "this is a text, and a long one, and no database at all" };
    expect(await sourceOf(none, { customers }, {}, { files }).check()).toMatchObject({ code: "source.down" });
    const bytes = { query: "select 1 as id, x'00ff' as photo union all select 2, 'text'", key: "id" };
    const { raws, bads } = await readAll(sourceOf(database, { customers: bytes }), "customers");
    expect(raws.map(({ key }) => key)).toEqual(["2"]);
    expect(bads).toMatchObject([{ code: "binary", key: "1", message: expect.stringContaining("the column photo") }]);
  });

  it("tells no place of a row whose key is an e-mail address or a phone number", async () => {
    const database = await newDatabase();
    await database.run(
      "create table customer (id text, name text)",
      "insert into customer values ('+4915112345678', 'A'), ('C1', 'B')",
      "insert into customer values ('anna%40example.com', 'C'), ('b@example.com', 'D'), ('015112345678', 'E')",
    );
    const source = sourceOf(database, { customers: { query: "select * from customer", key: "id" } });
    const { raws } = await readAll(source, "customers");
    expect(raws).toHaveLength(5);
    expect(raws.map(({ place }) => place).sort()).toEqual([
      "crm/customers, id C1",
      ...[1, 2, 4, 5].map((row) => `crm/customers, row ${row}`),
    ]);
  });

  it.each([
    "delete from c",
    "delete from c returning id",
    "select 1 as id; delete from c",
    "select 1 as id) q; delete from c; select * from (select 1 as id",
    "select 1 as id) q; commit",
    String.raw`select '\') q; commit; delete from c; select * from (select '' as id`,
    String.raw`select '\') q; commit; delete from c; --' as id`,
    "select 1 as [id') q; delete from c; --]",
    "with x as (select 1) delete from c",
    "commit",
    "pragma query_only = off",
    "pragma journal_mode = delete",
    "attach 'other.db' as other",
    "select 1 as id) q; attach 'other.db' as other; select * from (select 1 as id",
    "vacuum into 'copy.db'",
    "select 1 as id) q; vacuum into 'copy.db'; --",
    "select * from pragma_journal_mode('delete')",
    "select load_extension('x') as id",
    "select writefile('stolen', id) as id from c",
    "select 1 as id /* and more",
    "select id from c) q union all select * from (select id from c",
    "select id from c) q, (select id as other from c",
    "c",
    "-- nothing\n;",
  ])("is written by no query: %s", async (query) => {
    const database = await newDatabase();
    await database.run("create table c (id text)", "insert into c values ('C1')");
    const details = { query: "select 1 as id", key: "id", details: { lines: { query, key: "id" } } };
    for (const stream of [{ query }, details, { query, since: { column: "id" } }]) {
      const source = sourceOf(database, { customers: stream, orders: { query: "select id, id as customer from c" } });
      expect((await readAll(source, "customers")).outcome.complete).toBe(false);
      expect((await readAll(source, "orders")).raws.map(({ value }) => value)).toEqual([{ id: "C1", customer: "C1" }]);
      await source.close();
    }
    expect(
      readdirSync(dirname(String(database.connection["file"]))).filter((name) => !name.startsWith("erp.db")),
    ).toEqual([]);
    expect(existsSync("other.db") || existsSync("copy.db") || existsSync("stolen")).toBe(false);
  });
});
