import { describe, expect, it } from "vitest";
import { readAll } from "../support.ts";
import { sourceOf, type TestDatabase } from "./database.ts";

const query = "select * from customer";

async function filled(database: TestDatabase, count: number): Promise<void> {
  const { big, moment } = database.types;
  await database.run(`create table customer (id ${big} primary key, name varchar(40), changed_at ${moment} null)`);
  for (let from = 0; from < count; from += 1_000) {
    const rows = Array.from({ length: Math.min(1_000, count - from) }, (_, index) => {
      const id = from + index + 1;
      return `(${id}, 'Name ${id}', '2026-11-20 08:00:${String(id % 60).padStart(2, "0")}')`;
    });
    await database.run(`insert into customer values ${rows.join(", ")}`);
  }
}

/** What every database has to show, each as the others do. */
export function everyDialect(what: string, newDatabase: () => Promise<TestDatabase>): void {
  describe(`a source in ${what}`, () => {
    it("gives the records that any other database would give", async () => {
      const database = await newDatabase();
      const { big, moment, local, json, double } = database.types;
      await database.run(
        `create table thing (id ${big} primary key, name varchar(40), price decimal(12,2), parts decimal(12,3), paid boolean, due date,
           local_at ${local}, changed_at ${moment}, attributes ${json}, weight ${double})`,
        `insert into thing values (9007199254740993, 'Ünal ''Straße'' 中文', 12.50, 2.000, true, '2026-02-28',
           '2026-10-25 02:30:00', '2026-11-20 08:00:00', '{"a":[1,null],"b":9007199254740993}', 0.1)`,
        "insert into thing (id) values (7)",
      );
      const thing = { key: "id", query: "-- all of them\nselect * from thing;\n" };
      const { raws, bads, outcome } = await readAll(sourceOf(database, { customers: thing }), "customers");
      expect([bads, outcome]).toEqual([[], { complete: true, full: true, rows: 2 }]);
      const empty = { name: null, price: null, parts: null, paid: null, due: null, local_at: null, changed_at: null };
      expect(raws).toEqual([
        {
          place: "crm/customers, id 7",
          key: "7",
          value: { id: 7, ...empty, attributes: null, weight: null },
        },
        {
          place: "crm/customers, id 9007199254740993",
          key: "9007199254740993",
          value: {
            id: "9007199254740993",
            name: "Ünal 'Straße' 中文",
            price: "12.50",
            parts: 2,
            paid: true,
            due: "2026-02-28",
            local_at: "2026-10-25T02:30:00",
            changed_at: "2026-11-20T08:00:00Z",
            attributes: { a: [1, null], b: "9007199254740993" },
            weight: 0.1,
          },
        },
      ]);
    });

    it("takes local times for moments of its zone, but for those that its clocks show twice or never", async () => {
      const database = await newDatabase();
      await database.run(
        `create table customer (id ${database.types.big} primary key, at_time ${database.types.local})`,
        "insert into customer values (1, '2026-07-01 12:00:00'), (2, '2026-10-25 02:30:00'), (3, '2026-03-29 02:30:00')",
      );
      const source = sourceOf(database, { customers: { query, key: "id" } }, { zone: "Europe/Berlin" });
      const { raws } = await readAll(source, "customers");
      expect(raws.map(({ value }) => value["at_time"])).toEqual([
        "2026-07-01T10:00:00Z",
        "2026-10-25T02:30:00",
        "2026-03-29T02:30:00",
      ]);
    });

    it("shows all its streams as of one moment, whatever is written meanwhile, and a later one as of a later", async () => {
      const database = await newDatabase();
      await filled(database, 3);
      await database.run(
        "create table bought (id integer primary key, customer integer)",
        "insert into bought values (1, 1), (2, 2)",
      );
      const source = sourceOf(database, {
        customers: { query, key: "id" },
        orders: { query: "select * from bought", key: "id" },
      });
      const ids = async (stream: "customers" | "orders"): Promise<(string | undefined)[]> =>
        (await readAll(source, stream)).raws.map(({ key }) => key);
      expect(await ids("customers")).toEqual(["1", "2", "3"]);
      await database.run("delete from bought where id = 1", "insert into bought values (9, 9)", "delete from customer");
      expect(await ids("orders")).toEqual(["1", "2"]);
      expect(await ids("customers")).toEqual(["1", "2", "3"]);
      await source.endReading();
      expect([await ids("orders"), await ids("customers")]).toEqual([["2", "9"], []]);
    });

    it("is asked for what changed since: ties are kept, late changes are found, and nothing is lost in three runs", async () => {
      const database = await newDatabase();
      await filled(database, 3);
      const since = { column: "changed_at", overlap: "10s" };
      const source = sourceOf(database, { customers: { query, key: "id", since } });
      const next = async (cursor?: string): Promise<{ ids: string; cursor: string | undefined; full: boolean }> => {
        const { raws, outcome } = await readAll(source, "customers", cursor === undefined ? {} : { since: cursor });
        await source.endReading();
        return { ids: raws.map(({ key }) => key).join(), cursor: outcome.cursor, full: outcome.full };
      };
      const first = await next();
      expect(first).toEqual({ ids: "1,2,3", cursor: "2026-11-20T08:00:03Z", full: true });
      // One at the very moment of the largest, one that was written before it and became visible after it.
      await database.run(
        "insert into customer values (4, 'Tie', '2026-11-20 08:00:03'), (5, 'Late', '2026-11-20 07:59:54'), " +
          "(6, 'Old', '2026-11-20 07:59:00'), (7, 'Timeless', null), (8, 'New', '2026-11-20 09:00:00')",
      );
      const second = await next(first.cursor);
      expect(second).toEqual({ ids: "1,2,3,4,5,7,8", cursor: "2026-11-20T09:00:00Z", full: false });
      const third = await next(second.cursor);
      expect(third).toEqual({ ids: "7,8", cursor: "2026-11-20T09:00:00Z", full: false });
      // A single time beyond the clock of the database does not have everything after it missed.
      await database.run("insert into customer values (9, 'Wrong', '2037-01-01 00:00:00')");
      const fourth = await next(third.cursor);
      expect(fourth.ids).toBe("7,8,9");
      expect(Date.parse(fourth.cursor ?? "")).toBeLessThanOrEqual(Date.now() + 60_000);
    });

    it("refuses to be asked by what is no time", async () => {
      const database = await newDatabase();
      await database.run(`create table customer (id integer primary key, version ${database.types.big})`);
      const source = sourceOf(database, { customers: { query, key: "id", since: { column: "version" } } });
      expect(await source.check()).toMatchObject({ message: expect.stringContaining("expected a time") });
    });

    it("joins details by key, and of changes those of what changed alone", async () => {
      const database = await newDatabase();
      const { big, moment } = database.types;
      await database.run(
        `create table bought (id ${big} primary key, customer ${big}, changed_at ${moment})`,
        "create table line (bought integer, product varchar(20))",
        "insert into bought values (2, 7, '2026-11-20 08:00:00'), (1, 7, '2026-11-21 08:00:00')",
        "insert into line values (1, 'A'), (2, 'B'), (1, 'C')",
      );
      const source = sourceOf(database, {
        orders: {
          query: "select * from bought",
          key: "id",
          since: { column: "changed_at" },
          details: { lines: { query: "select bought, product from line order by product", key: "bought" } },
        },
      });
      const whole = await readAll(source, "orders");
      expect(whole.raws.map(({ key, value }) => [key, value["lines"]])).toEqual([
        [
          "1",
          [
            { bought: 1, product: "A" },
            { bought: 1, product: "C" },
          ],
        ],
        ["2", [{ bought: 2, product: "B" }]],
      ]);
      expect(whole.outcome).toMatchObject({ complete: true, full: true, details: { "#headers": 2, lines: 3 } });
      const asked: unknown[] = [];
      const distrust = (...given: unknown[]): undefined => void asked.push(given);
      const changed = await readAll(source, "orders", { since: whole.outcome.cursor ?? "", distrust });
      expect(changed.raws.map(({ key }) => key)).toEqual(["1"]);
      expect(changed).toMatchObject({ bads: [], outcome: { complete: true, full: false } });
      // All rows of details are counted, also those of unchanged records and of none.
      for (const key of ["9", "null"]) {
        await database.run(`insert into line values (${key}, 'D')`);
        await source.endReading();
        await readAll(source, "orders", { since: whole.outcome.cursor ?? "", distrust });
        await database.run("delete from line where product = 'D'");
      }
      expect(asked).toEqual([
        [{ lines: 3 }, false],
        [{ lines: 4 }, true],
        [{ lines: 4 }, true],
      ]);
    });

    it("names a query that cannot be run, with its line and key, before anything is read", async () => {
      const database = await newDatabase();
      await filled(database, 1);
      const placeOf = (key: string): string => `crm-sync.yaml:7:5 (${key})`;
      const problemOf = async (stream: Record<string, unknown>): Promise<unknown> => {
        const source = sourceOf(database, { customers: stream }, {}, { placeOf });
        const found = await source.check();
        const { raws, outcome } = await readAll(source, "customers");
        expect(raws).toEqual([]);
        expect(outcome).toMatchObject({ complete: false, problem: { message: found?.message } });
        return [found?.code, found?.place, found?.message];
      };
      const at = "sources.crm.streams.customers";
      expect(await problemOf({ query: "select id,\n  nmae\nfrom customer" })).toEqual([
        "source.wrong-query",
        `crm-sync.yaml:7:5 (${at}.query)`,
        expect.stringContaining("nmae"),
      ]);
      expect(await problemOf({ query, key: "number" })).toEqual([
        "source.wrong-query",
        `crm-sync.yaml:7:5 (${at}.key)`,
        `\`${at}.query\` gives no column number, which \`${at}.key\` reads; it gives id, name, changed_at.`,
      ]);
      expect(await problemOf({ query: "select id from customer", mapping: unknownColumn })).toEqual([
        "source.wrong-query",
        `crm-sync.yaml:7:5 (${at}.mapping.name)`,
        expect.stringContaining("gives no column mail"),
      ]);
      expect(await problemOf({ query, since: { column: "seen" } })).toMatchObject([
        "source.wrong-query",
        `crm-sync.yaml:7:5 (${at}.since.column)`,
        expect.stringContaining("gives no column seen"),
      ]);
      expect(await problemOf({ query: "select id, id from customer" })).toMatchObject([
        "source.wrong-query",
        expect.any(String),
        expect.stringMatching(/two columns id|Duplicate column name 'id'|columns? id/iu),
      ]);
    });

    it("gives batches of the size that is asked for, and reads on after a reading was given up", async () => {
      const database = await newDatabase();
      await filled(database, 3_000);
      const source = sourceOf(database, { customers: { query, key: "id" } });
      const reading = source.read("customers", { batchSize: 100 });
      const first = await reading.next();
      expect(first.value).toHaveLength(100);
      await reading.return({ complete: false, full: true, rows: 0 });
      await source.endReading();
      const { batches, raws } = await readAll(source, "customers", { batchSize: 700 });
      expect([batches, raws.length]).toEqual([[700, 700, 700, 700, 200], 3_000]);
    });

    it("keeps no connection of a reading that was left in its middle, of a look at it, and of one that failed", async () => {
      const database = await newDatabase();
      await filled(database, 3_000);
      const streams = {
        customers: { query, key: "id" },
        orders: { query: "select id, nothing as customer from customer", key: "id" },
      };
      const source = sourceOf(database, streams);
      const reading = source.read("customers", { batchSize: 100 });
      await reading.next();
      expect(await database.connections()).toBe(1);
      await reading.return({ complete: false, full: true, rows: 0 });
      await source.endReading();
      await expect.poll(() => database.connections()).toBe(0);
      expect((await readAll(source, "orders")).outcome.complete).toBe(false);
      await source.endReading();
      expect(await source.check()).toBeDefined();
      await expect.poll(() => database.connections()).toBe(0);
    });

    it("stops when the reading is aborted", async () => {
      const database = await newDatabase();
      await filled(database, 2_000);
      const stop = new AbortController();
      const source = sourceOf(database, { customers: { query, key: "id" } });
      const reading = source.read("customers", { signal: stop.signal, batchSize: 100 });
      await reading.next();
      stop.abort(new Error("SIGTERM"));
      await expect(reading.next()).rejects.toThrow("SIGTERM");
    });
  });
}

const unknownColumn = {
  id: "id",
  name: "mail",
  customerType: { value: "company" },
  branchCode: { value: "B" },
  branchName: { value: "B" },
};
