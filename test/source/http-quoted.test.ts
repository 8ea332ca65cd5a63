import { describe, expect, it } from "vitest";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { startService } from "./http-service.ts";
import type { Service } from "./http-service.ts";
import { customersOver } from "./http-source.ts";
import { customerMapping, readAll } from "./support.ts";
import type { WholeReading } from "./support.ts";

type Quoting = "backslash" | "doubled";

const linesOf = (
  quoted: Quoting,
  put: object = {},
  query: object = { q: "SELECT Of FROM Line WHERE Of IN ({value})" },
) => ({
  url: "query",
  query,
  records: "records",
  key: "Of",
  each: { batch: 2, put: [{ in: "query", parameter: "q", value: "id", quoted, ...put }] },
});

async function asked(ids: readonly string[], quoted: Quoting): Promise<{ reading: WholeReading; service: Service }> {
  const service = await startService(({ path }) =>
    path === "/api/customers"
      ? { body: ids.map((id) => ({ id, name: "N" })) }
      : { body: { records: ids.map((id) => ({ Of: id, n: 1 })).slice(0, 1) } },
  );
  const source = customersOver(service.origin, { key: "id", details: { lines: linesOf(quoted) } });
  return { reading: await readAll(source, "customers"), service };
}

const queries = ({ asked: all }: Service): (string | undefined)[] => all.slice(1).map(({ query }) => query["q"]);

describe("values of several records in a query of the service", () => {
  it("stand in quotes, a batch in one request", async () => {
    const { service } = await asked(["a1", "b2", "c3"], "backslash");
    expect(queries(service)).toEqual([
      "SELECT Of FROM Line WHERE Of IN ('a1','b2')",
      "SELECT Of FROM Line WHERE Of IN ('c3')",
    ]);
  });

  it("cannot end their quotes, however these are written", async () => {
    const evil = ["x') OR (Of != '", "$& $' \\' OR 1=1"];
    const soql = queries((await asked(evil, "backslash")).service)[0] ?? "";
    expect(soql).toBe(String.raw`SELECT Of FROM Line WHERE Of IN ('x\') OR (Of != \'','$& $\' \\\' OR 1=1')`);
    const odata = queries((await asked(["O'Neil", "x' or '1"], "doubled")).service)[0];
    expect(odata).toBe("SELECT Of FROM Line WHERE Of IN ('O''Neil','x'' or ''1')");
  });

  it.each<[string, string, Quoting]>([
    ["a line end", "a\nb", "backslash"],
    ["the place of another value", "a{value}", "backslash"],
    ["a backslash where quotes are doubled", "a\\", "doubled"],
  ])("are not sent with %s: the reading is incomplete", async (_what, id, quoted) => {
    const { reading, service } = await asked([id], quoted);
    expect(reading.outcome).toMatchObject({ complete: false, problem: { code: "source.wrong-shape" } });
    expect(reading.outcome.problem?.message).toMatch(/could end the quotes around it/u);
    expect(queries(service)).toEqual([]);
  });

  it("need a text that has a place for them", () => {
    const issues = (lines: object): string[] => {
      const parsed = sourceSettingsSchema.safeParse({
        kind: "http",
        baseUrl: "https://crm.example/api",
        streams: { customers: { url: "customers", key: "id", mapping: customerMapping, details: { lines } } },
      });
      return (parsed.error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
    };
    const at = "streams.customers.details.lines.each.put.0.quoted";
    expect(issues(linesOf("backslash"))).toEqual([]);
    expect(issues(linesOf("backslash", {}, {}))).toEqual([`${at}: needs a text with {value} as q in the query`]);
    expect(issues({ ...linesOf("backslash", { in: "body" }, {}), method: "POST" })).toEqual([
      `${at}: is for a text in the query or in a header`,
    ]);
  });
});
