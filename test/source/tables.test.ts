import { describe, expect, it } from "vitest";
import { Problem } from "../../src/base/errors.ts";
import type { FileItem, FormatReader } from "../../src/source/reader.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { tableOf } from "../../src/source/table.ts";
import { customerMapping, customersFile, directoryWith, openSource, readAll } from "./support.ts";

const files = {
  "customers.csv": "id,name,country,pack\n1,Ann,DE,CAD-10\n2,Bob,XX,CAD-25\n3,Cid,DE,\n",
  "regions.csv": "country,region,manager\nDE,EMEA,Zoë\nXX,,NULL\n",
};
const packs = {
  inline: { "CAD-10": { product: "CAD", seats: 10 }, "CAD-25": { product: "CAD", seats: 25, trial: true } },
};
const regions = {
  files: "regions.csv",
  key: "country",
  value: "region",
  columns: { manager: "manager" },
  nullTexts: ["NULL"],
};

const source = (tables: unknown, mapping: object): object => ({
  ...Object(customersFile({ files: "customers.csv", mapping: { ...customerMapping, ...mapping } })),
  tables,
});

async function addresses(tables: unknown, address: unknown): Promise<unknown[]> {
  const opened = openSource(source(tables, { address }), directoryWith(files));
  const { map } = await opened.mapping("customers");
  const { raws } = await readAll(opened, "customers");
  return raws.map(({ value }) => {
    const mapped = map(value);
    if (!mapped.ok) return [mapped.error.code];
    return "address" in mapped.value.record ? mapped.value.record.address : undefined;
  });
}

const issues = (tables: unknown, mapping: object = {}): string[] => {
  const parsed = sourceSettingsSchema.safeParse(source(tables, mapping));
  return (parsed.error?.issues ?? []).map((issue) => `${issue.path.join(".")}: ${issue.message}`);
};

describe("a look-up table", () => {
  it("is written in the configuration, with one value a key or with columns", async () => {
    const region = { lookup: { table: "regions", key: "country", default: "elsewhere" } };
    expect(await addresses({ regions: { inline: { DE: "EMEA" } } }, region)).toEqual(["EMEA", "elsewhere", "EMEA"]);
    const seats = { lookup: { table: "packs", key: "pack", column: "seats" } };
    expect(await addresses({ packs }, seats)).toEqual(["10", "25", undefined]);
    const trial = { lookup: { table: "packs", key: "pack", column: "trial" }, default: "no" };
    expect(await addresses({ packs }, trial)).toEqual(["no", "true", "no"]);
  });

  it("means the same by an empty cell, however many columns it has", async () => {
    const only = { files: "regions.csv", key: "country", columns: { manager: "manager" }, nullTexts: ["NULL"] };
    const manager = { lookup: { table: "regions", key: "country", column: "manager", default: "nobody" } };
    const two = { ...only, columns: { ...only.columns, region: "region" } };
    expect(await addresses({ regions: only }, manager)).toEqual(await addresses({ regions: two }, manager));
  });

  it("has columns beside its value where it is read from files", async () => {
    expect(await addresses({ regions }, { lookup: { table: "regions", key: "country" } })).toEqual([
      "EMEA",
      undefined,
      "EMEA",
    ]);
    const manager = { lookup: { table: "regions", key: "country", column: "manager" } };
    expect(await addresses({ regions }, manager)).toEqual(["Zoë", undefined, "Zoë"]);
  });

  it("whose column or form is wrong is refused when it is read, with its key", () => {
    const at = (lookup: object): object => ({ address: { lookup } });
    expect(issues({ packs }, at({ table: "packs", key: "pack" }))).toEqual([
      "streams.customers.mapping.address.lookup.column: found nothing; expected one of the columns product, seats, trial",
    ]);
    expect(issues({ packs }, at({ table: "packs", key: "pack", column: "price" }))[0]).toContain('found "price"');
    expect(
      issues({ regions: { inline: { DE: "EMEA" } } }, at({ table: "regions", key: "country", column: "x" }))[0],
    ).toContain("one value a key and no columns");
    const mixed = { inline: { a: "x", b: { c: "y" } } };
    expect(issues({ mixed })).toEqual([expect.stringContaining("tables.mixed")]);
    for (const wrong of [
      { inline: { a: null } },
      { files: "x.csv", key: "a" },
      { files: "x.csv", key: "a", columns: {} },
    ])
      expect(issues({ wrong })[0]).toContain("tables.wrong");
  });

  it("changes the fingerprint of the mapping when one of its columns or the condition to skip changes", async () => {
    const print = async (settings: unknown): Promise<string> =>
      (await openSource(settings, directoryWith(files)).mapping("customers")).fingerprint;
    const seen = new Set<string>();
    for (const seats of [10, 11]) seen.add(await print(source({ packs: { inline: { a: { seats } } } }, {})));
    for (const skip of [
      { path: "id", equals: 1 },
      { path: "id", equals: 2 },
    ])
      seen.add(await print(customersFile({ files: "customers.csv", skip })));
    seen.add(await print(customersFile({ files: "customers.csv" })));
    expect(seen.size).toBe(5);
  });
});

describe("rows of any kind of source", () => {
  const settings = { key: "k", value: "v", nullTexts: ["-"] };
  async function* rows(batches: FileItem[][], problem?: Problem): FormatReader {
    yield* batches;
    return problem;
  }
  const raw = (place: string, value: Record<string, string>): FileItem => ({ row: { place, value } });

  it("make a table, whole or not at all", async () => {
    const good = [[raw("t:1", { k: "a", v: "1" })], [raw("t:2", { k: "b", v: "-" }), raw("t:3", { k: "a", v: "1" })]];
    expect([...(await tableOf("t", settings, rows(good))).rows]).toEqual([["a", ["1"]]]);
    const { columns, ...plain } = { ...settings, columns: { w: "w" } };
    const both = await tableOf("t", { ...plain, columns }, rows([[raw("t:1", { k: "__proto__", v: "1", w: "2" })]]));
    expect(both).toEqual({ columns: ["", "w"], rows: new Map([["__proto__", ["1", "2"]]]) });

    const bad: FileItem = { bad: { place: "t:9", code: "not-json", message: "not JSON" } };
    for (const [batches, problem] of [
      [[[bad]], undefined],
      [[[raw("t:1", { v: "1" })]], undefined],
      [[[raw("t:1", { k: "a", v: "1" }), raw("t:2", { k: "a", v: "2" })]], undefined],
      [good, new Problem({ code: "source.down", message: "cut off", cure: "wait" })],
    ] satisfies [FileItem[][], Problem | undefined][])
      await expect(tableOf("t", settings, rows(batches, problem))).rejects.toThrow(Problem);
  });
});
