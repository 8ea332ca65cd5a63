import { describe, expect, it } from "vitest";
import { Problem } from "../../src/base/errors.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import type { Source } from "../../src/source/source.ts";
import { startService } from "./http-service.ts";
import type { Answer, Service } from "./http-service.ts";
import { customersOver, patientClock } from "./http-source.ts";
import { customerMapping, readAll } from "./support.ts";

interface Region {
  country: string;
  region: string | null;
  manager: { name: string };
}

const regions: Region[] = ["DE", "FR", "JP", "US", "XX"].map((country, index) => ({
  country,
  region: country === "XX" ? null : `R${index}`,
  manager: { name: `M${index}` },
}));
const customers = regions.map(({ country }, index) => ({ id: `C${index}`, name: `N${index}`, country }));

const table = {
  url: "regions",
  records: "items",
  total: "total",
  paging: { kind: "page", size: 2 },
  key: "country",
  value: "region",
  columns: { manager: "manager.name" },
};
const mapping = {
  ...customerMapping,
  address: { lookup: { table: "regions", key: "country" } },
  enterpriseName: { lookup: { table: "regions", key: "country", column: "manager" } },
};

/** A service of customers and of regions by the page; `spoilt` answers in place of a page of regions. */
async function companyWith(
  spoilt: (page: number, times: number) => Answer | undefined,
  declared: object = table,
  source: object = {},
): Promise<{ service: Service; source: Source; waits: number[] }> {
  const times = new Map<number, number>();
  const service = await startService(({ path, query }) => {
    if (path === "/api/customers") return { body: customers };
    const page = Number(query["page"] ?? 1);
    times.set(page, (times.get(page) ?? 0) + 1);
    const items = regions.slice((page - 1) * 2, page * 2);
    return spoilt(page, times.get(page) ?? 1) ?? { body: { items, total: regions.length } };
  });
  const clock = patientClock();
  const opened = customersOver(service.origin, { mapping }, { tables: { regions: declared }, ...source }, { clock });
  return { service, source: opened, waits: clock.waits };
}

async function mapped(source: Source): Promise<unknown[]> {
  const { map } = await source.mapping("customers");
  const { raws } = await readAll(source, "customers");
  return raws.map(({ value }) => {
    const found = map(value);
    if (!found.ok) return found.error.code;
    const { record } = found.value;
    return "enterpriseName" in record ? [record.address, record.enterpriseName] : undefined;
  });
}

async function refusal(source: Source): Promise<Problem> {
  const thrown = await source.mapping("customers").then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof Problem)) throw new Error("no problem");
  return thrown;
}

const issues = (tables: object, source: object = {}): string[] => {
  const settings = { kind: "http", baseUrl: "https://crm.example/api", tables, ...source };
  const parsed = sourceSettingsSchema.safeParse({
    ...settings,
    streams: { customers: { url: "customers", mapping: customerMapping } },
  });
  return (parsed.error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
};

describe("a look-up table that is a list of a service", () => {
  it("is read by the page, waits where it is told to and shows who we are", async () => {
    const busy = (page: number, times: number): Answer | undefined =>
      page === 2 && times === 1
        ? { status: 429, headers: { "retry-after": "3" } }
        : page === 3 && times === 1
          ? { status: 500 }
          : undefined;
    const auth = { kind: "apiKey", header: "X-Key", key: "env:KEY" };
    const { service, source, waits } = await companyWith(busy, table, { auth });
    expect(await mapped(source)).toEqual([
      ["R0", "M0"],
      ["R1", "M1"],
      ["R2", "M2"],
      ["R3", "M3"],
      [undefined, "M4"],
    ]);
    expect(waits[0]).toBe(3_000);
    expect(service.asked.every(({ headers }) => headers["x-key"] === "secret of env:KEY")).toBe(true);
    expect(await source.check()).toBeUndefined();
  });

  it.each<[string, (page: number) => Answer | undefined, string, RegExp]>([
    ["a page that fails", (page) => (page === 3 ? { status: 503 } : undefined), "source.down", /503/u],
    [
      "an error inside a 200",
      (page) => (page === 2 ? { body: { error: "locked" } } : undefined),
      "source.error-answer",
      /"locked"/u,
    ],
    ["a page that is cut off", (page) => (page === 3 ? { breakOff: true } : undefined), "source.down", /broke off/u],
    [
      "a total that is not met",
      (page) => (page === 3 ? { body: { items: [], total: 5 } } : undefined),
      "source.count-differs",
      /5 records, but gave 4/u,
    ],
    [
      "a row without its key",
      (page) => (page === 3 ? { body: { items: [{ region: "R" }], total: 5 } } : undefined),
      "source.wrong-shape",
      /a row without country/u,
    ],
    [
      "a list that moved",
      (page) => (page === 3 ? { body: { items: [regions[3]], total: 5 } } : undefined),
      "source.count-differs",
      /changed while it was read/u,
    ],
  ])("is no table with %s: source and table are named, and nothing is mapped", async (_what, spoilt, code, words) => {
    const { source } = await companyWith(spoilt);
    const problem = await refusal(source);
    expect(problem.code).toBe(code);
    expect(problem.message).toMatch(words);
    expect(problem.message).toMatch(/table regions/u);
    expect(problem.exitCode).toBe(7);
    expect((await source.check())?.code).toBe(code);
  });

  it("may be CSV whose columns have to be there, and hold a key twice where another field identifies its rows", async () => {
    const columns = { manager: "lead" };
    const csv = { url: "regions", answer: "csv", key: "country", value: "region", columns, rowKey: "id" };
    const headers = { "content-type": "text/csv" };
    const rows = ["1,DE,R0,M0", "2,DE,R0,M0", "3,FR,R1,M1", "4,JP,R2,M2", "5,US,R3,M3", "6,XX,,M4", ""].join("\n");
    const twice = await companyWith(() => ({ body: `id,country,region,lead\n${rows}`, headers }), csv);
    expect((await mapped(twice.source)).slice(0, 2)).toEqual([
      ["R0", "M0"],
      ["R1", "M1"],
    ]);
    const lacking = await companyWith(() => ({ body: "id,country,lead\n1,DE,M0\n", headers }), csv);
    expect((await refusal(lacking.source)).message).toMatch(/region/u);
  });

  it("changes the fingerprint and the question of the mapping with its rows", async () => {
    let name = "EMEA";
    const opened = await companyWith(() => ({ body: { items: [{ country: "DE", region: name }], total: 1 } }), {
      ...table,
      paging: { kind: "none" },
    });
    const { fingerprint, question } = await opened.source.mapping("customers");
    expect((await opened.source.mapping("customers")).fingerprint).toBe(fingerprint);
    name = "Europe";
    const after = await opened.source.mapping("customers");
    expect([after.fingerprint === fingerprint, after.question === question]).toEqual([false, false]);
  });

  it("is asked for once while the streams of a source are read, and anew for the next reading", async () => {
    const { service, source } = await companyWith(() => undefined, {
      ...table,
      paging: { kind: "page", size: 2, moving: "trust" },
    });
    const asked = (): number => service.asked.filter(({ path }) => path === "/api/regions").length;
    await mapped(source);
    const once = asked();
    await source.mapping("customers");
    expect(asked()).toBe(once);
    await source.endReading();
    await source.mapping("customers");
    await source.mapping("customers");
    expect(asked(), "until a stream is read, it is looked at each time").toBe(3 * once);
  });

  it("is checked as every list is, with the place of a mistake", () => {
    expect(issues({ regions: table })).toEqual([]);
    expect(issues({ regions: { ...table, value: undefined, columns: undefined } })[0]).toContain("tables.regions");
    expect(issues({ regions: { ...table, url: "ftp://x/y" } })).toEqual([
      "tables.regions.url: found ftp://…; expected https://…",
    ]);
    expect(issues({ regions: { ...table, parametersIn: "body" } })[0]).toMatch(/^tables\.regions\.parametersIn: /u);
    const auth = { kind: "bearer", token: "env:T" };
    expect(issues({ regions: { ...table, url: "http://other.example/x" } }, { auth })[0]).toMatch(
      /^tables\.regions\.url: must be https/u,
    );
  });
});
