import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasMariadb, startMariadb, type MariadbServer } from "../../support/mariadb.ts";
import { readAll } from "../support.ts";
import { sourceOf, type TestDatabase } from "./database.ts";
import { everyDialect } from "./every-dialect.ts";

if (!hasMariadb)
  describe("MariaDB", () => {
    it("is not installed here (mariadbd), so that sources in it are NOT TRIED", () => expect(hasMariadb).toBe(false));
  });
else
  describe("MariaDB, where it is installed:", () => {
    tried();
  });

function tried(): void {
  let server: MariadbServer;
  beforeAll(async () => {
    server = await startMariadb();
  });
  afterAll(() => server.stop());

  async function newDatabase(): Promise<TestDatabase> {
    const database = await server.newDatabase();
    return {
      kind: "mysql",
      connection: { kind: "mysql", host: server.socket, database, user: server.user, tls: "off" },
      secret: "",
      types: { big: "bigint", moment: "timestamp", local: "datetime(3)", json: "json", double: "double" },
      run: async (...statements) => void (await server.run(database, ...statements)),
      connections: async () => {
        const list = await server.run(
          undefined,
          `select id from information_schema.processlist where db = '${database}'`,
        );
        return Array.isArray(list) ? list.length : Number.NaN;
      },
    };
  }

  everyDialect("MariaDB", newDatabase);

  it("gives what is larger than a number can hold, and dates that there are not, as they stand", async () => {
    const database = await newDatabase();
    await database.run(
      "set sql_mode = ''",
      "create table thing (id bigint unsigned primary key, amount decimal(65,30), due date, at_time timestamp(6) null)",
      "insert into thing values (18446744073709551615, 12345678901234567890123456789012345.12345678901234567890123456789, " +
        "'0000-00-00', '2026-11-20 08:00:00.123456')",
    );
    const source = sourceOf(database, { customers: { query: "select * from thing", key: "id" } });
    expect((await readAll(source, "customers")).raws.map(({ value }) => value)).toEqual([
      {
        id: "18446744073709551615",
        amount: "12345678901234567890123456789012345.123456789012345678901234567890",
        due: "0000-00-00",
        at_time: "2026-11-20T08:00:00.123456Z",
      },
    ]);
  });

  it("names who is not let in, what may not be read, what writes and what takes too long, without its rows", async () => {
    const database = await newDatabase();
    await database.run(
      "create table customer (id integer primary key, name varchar(40))",
      "insert into customer values (1, 'Zqcanary Person')",
    );
    let message = "";
    const problemOf = async (
      query: string,
      connection: Record<string, unknown> = {},
      more: Record<string, unknown> = {},
      stream: Record<string, unknown> = {},
    ): Promise<string | undefined> => {
      const given = { ...database, connection: { ...database.connection, ...connection } };
      const source = sourceOf(given, { customers: { query, key: "id", ...stream } }, more);
      const { outcome } = await readAll(source, "customers");
      expect(outcome.complete).toBe(false);
      expect(JSON.stringify(outcome.problem)).not.toContain("Zqcanary");
      message = outcome.problem?.message ?? "";
      return outcome.problem?.code;
    };
    expect(await problemOf("select 1 as id", { user: "nobody" })).toBe("source.wrong-password");
    expect(await problemOf("select 1 as id", { host: "/nowhere/socket" })).toBe("source.down");
    expect(await problemOf("select id, sleep(5) as s from customer", {}, { statementTimeout: "200ms" })).toBe(
      "source.timed-out",
    );
    expect(await problemOf("select id,\n  name,\nfrom customer")).toBe("source.wrong-query");
    expect(message).toMatch(/line 3 of the query, is refused by the database \(1064\): .* near 'from customer'\.$/u);
    const since = { since: { column: "name" } };
    expect(await problemOf("select id, name from customer", {}, {}, since)).toBe("source.wrong-query");
    expect(message).toContain("names, as varchar; expected a time");
    await database.run(
      "create function bump() returns int modifies sql data begin update customer set id = 2; return 1; end",
    );
    expect(await problemOf("select id, bump() as b from customer")).toBe("source.wrong-query");
  });
}
