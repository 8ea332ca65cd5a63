import { describe, expect, it } from "vitest";
import { sourceSettingsSchema } from "../../../src/source/source-settings.ts";
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
});
