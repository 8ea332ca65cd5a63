import { describe, expect, it } from "vitest";
import { sourceSettingsSchema } from "../../../src/source/source-settings.ts";
import { statementFault, withoutSemicolon } from "../../../src/source/sql/statement.ts";
import { customerMapping } from "../support.ts";

const mapping = customerMapping;

function mistakes(
  settings: Record<string, unknown>,
  stream: Record<string, unknown> = { query: "select 1 as id" },
): string[] {
  const connection = { kind: "postgres", host: "db.example.com", database: "erp", user: "reader" };
  const whole = { kind: "sql", connection, ...settings, streams: { customers: { mapping, ...stream } } };
  const parsed = sourceSettingsSchema.safeParse(whole);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

describe("the settings of a sql source", () => {
  it("want TLS to another machine, unless somebody says otherwise twice", () => {
    const connection = { kind: "postgres", host: "db.example.com", database: "erp", user: "reader" };
    expect(mistakes({ connection })).toEqual([]);
    expect(mistakes({ connection: { ...connection, tls: "off" } })).toEqual([
      expect.stringContaining("connection.tls: must be verify"),
    ]);
    expect(mistakes({ connection: { ...connection, tls: "off", allowPlain: true } })).toEqual([]);
    expect(mistakes({ connection: { ...connection, tls: "off", host: "127.0.0.1" } })).toEqual([]);
  });

  it("name the databases that are known, of another one", () => {
    const connection = { kind: "mysql", host: "db.example.com", database: "erp", user: "reader" };
    expect(mistakes({ connection })).toEqual([expect.stringMatching(/^connection\.kind: .*postgres.*sqlite/u)]);
  });

  it("want one query, a key where there are details, and no column inside another", () => {
    expect(mistakes({}, {})).toEqual([expect.stringContaining("streams.customers.query: ")]);
    const details = { lines: { query: "select 1 as id", key: "id" } };
    expect(mistakes({}, { query: "select 1 as id", details })).toEqual([
      expect.stringContaining("streams.customers.key: missing"),
    ]);
    expect(mistakes({}, { query: "select 1 as id", key: "a.b" })).toEqual([
      expect.stringContaining("streams.customers.key: is no column"),
    ]);
  });

  it("refuse a query that writes, at its key and with its line", () => {
    expect(mistakes({}, { query: "-- clean up\ndelete from customer" })).toEqual([
      "streams.customers.query: line 2 begins with delete; expected a query that only reads: select … or with …",
    ]);
  });
});

describe("a query", () => {
  it.each([
    "select 1",
    "(select 1) union (select 2)",
    "with a as (select 1) select * from a",
    "select 'delete from x; drop' as text, \"update\" from t -- ; insert\n;",
    "select replace(name, 'a', 'b'), insert_date, t.into from t",
    "select $body$ ; delete $body$ as text",
    "/* update; /* */ select 1",
    "values (1), (2)",
  ])("that only reads is taken: %s", (text) => {
    expect(statementFault(text, "postgres")).toBeUndefined();
  });

  it.each([
    ["", "is empty"],
    ["-- nothing\n;", "is empty"],
    ["update t set a = 1", "begins with update"],
    ["call refresh()", "begins with call"],
    ["select 1; select 2", "several statements"],
    ["select * from t for update", "keeps rows from others"],
  ])("that does more is refused: %s", (text, why) => {
    expect(statementFault(text, "postgres")?.message).toContain(why);
  });

  it.each([
    ["postgres", String.raw`select '\'; delete from t; --'`, "several statements"],
    ["postgres", String.raw`select "\"; delete from t; --"`, "several statements"],
    ["postgres", "select a$$; delete from t; select b$$ from t", "several statements"],
    ["postgres", "select * from t where id = $1", "has a placeholder"],
    ["sqlite", String.raw`select '\'; delete from t; --'`, "several statements"],
    ["sqlite", "select 1) q union all select * from (select 2", "has a bracket"],
    ["sqlite", "select (1", "has a bracket"],
  ] as const)("hides nothing from %s: %s", (dialect, text, why) => {
    expect(statementFault(text, dialect)?.message).toContain(why);
  });

  it("is looked at as its database reads it", () => {
    const backslash = String.raw`select replace(name, '\', '/') from t where name <> ';' and name <> '('`;
    expect(statementFault(backslash, "postgres")).toBeUndefined();
    expect(statementFault(backslash, "sqlite")).toBeUndefined();
    expect(statementFault(String.raw`select e'it\'s; delete' from t`, "postgres")).toBeUndefined();
    expect(statementFault("select [a;'b] from t", "sqlite")).toBeUndefined();
    expect(statementFault("select data #> '{a,b}' from t", "postgres")).toBeUndefined();
  });

  it.each(["postgres", "sqlite"] as const)("may hold long texts, blanks and comments in %s", (dialect) => {
    const begun = performance.now();
    for (const inside of [`'${"a".repeat(300_000)}'`, " ".repeat(300_000), `/*${"a".repeat(300_000)}*/`]) {
      const query = `select ${inside} 1 from t`;
      expect(statementFault(query, dialect)).toBeUndefined();
      expect(withoutSemicolon(`${query};`, dialect)).toBe(`${query} `);
    }
    statementFault(`select ${"/* ".repeat(100_000)}`, dialect);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  it("loses the semicolon behind it, and no line", () => {
    expect(withoutSemicolon("select ';'\nfrom t ;\n-- end;\n", "postgres")).toBe("select ';'\nfrom t  \n-- end;\n");
  });
});
