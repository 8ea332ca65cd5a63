import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Staging } from "../../src/source/reader.ts";
import { createStaging } from "../../src/ledger/records/staging.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { customerMapping, customersFile, directoryWith, openSource } from "./support.ts";

describe("a source", () => {
  const settings = {
    kind: "file",
    namespace: "erp",
    directory: "export",
    tables: { branches: { files: "../branches.csv", key: "code", value: "name", nullTexts: ["-"] } },
    streams: {
      customers: {
        files: "c.csv",
        nullTexts: ["NULL"],
        mapping: { ...customerMapping, branchName: { lookup: { table: "branches", key: "branch" }, default: "none" } },
      },
    },
  };

  it("maps with its namespace, its tables as they are now and the texts that stand for nothing", async () => {
    const directory = directoryWith({ "branches.csv": "code,name\nB,Berlin\nX,-\n" });
    const source = openSource(settings, directory);
    expect(source.streams).toEqual(["customers"]);
    const before = await source.mapping("customers");
    const raw = { id: "1", name: "n", branch: "B" };
    expect(before.map(raw)).toMatchObject({ ok: true, value: { record: { namespace: "erp", branchName: "Berlin" } } });
    expect(before.map({ ...raw, branch: "NULL" })).toMatchObject({
      ok: true,
      value: { record: { branchName: "none" } },
    });
    expect(before.map({ ...raw, branch: "X" })).toMatchObject({
      ok: false,
      error: { field: "branchName", code: "not-in-table" },
    });
    expect((await source.mapping("customers")).fingerprint).toBe(before.fingerprint);
    writeFileSync(join(directory, "branches.csv"), "code,name\nB,Bonn\n");
    const after = await source.mapping("customers");
    expect(after.fingerprint).not.toBe(before.fingerprint);
    expect(after.map(raw)).toMatchObject({ ok: true, value: { record: { branchName: "Bonn" } } });
  });

  it.each([
    ["missing", undefined, "source.missing-file"],
    ["with a key twice", "code,name\nB,Berlin\nB,Bonn\n", "source.wrong-shape"],
    ["with a row that cannot be used", "code,name\nB\n", "source.wrong-shape"],
    ["without a key", "code,name\n,Bonn\n", "source.wrong-shape"],
  ])("does not map with a table that is %s, and says so when it is checked", async (_name, table, code) => {
    const source = openSource(settings, directoryWith(table === undefined ? {} : { "branches.csv": table }));
    await expect(source.mapping("customers")).rejects.toMatchObject({ code, exitCode: 7 });
    expect(await source.check()).toMatchObject({ code });
  });

  it("names every mistake of its mapping with the path in the settings", () => {
    const wrong = {
      ...settings,
      streams: {
        customers: {
          ...settings.streams.customers,
          mapping: { ...customerMapping, nmae: "x", address: { uper: "x" } },
        },
      },
    };
    expect(sourceSettingsSchema.safeParse(wrong).error?.issues.map(({ path }) => path.join("."))).toEqual([
      "streams.customers.mapping.nmae",
      "streams.customers.mapping.address",
    ]);
    const path = { ...settings, streams: { customers: { ...settings.streams.customers, key: "a..b" } } };
    expect(sourceSettingsSchema.safeParse(path).error?.issues[0]?.path).toEqual(["streams", "customers", "key"]);
  });

  it("that can be read has no problem", async () => {
    expect(
      await openSource(customersFile({ files: "c.csv" }), directoryWith({ "c.csv": "id,name\n1,a\n" })).check(),
    ).toBeUndefined();
  });
});

describe("the staging area of the ledger", () => {
  const staging: Staging = createStaging();

  it("keeps parts and areas apart", () => {
    const area = staging.open();
    const other = staging.open();
    area.put("h", [{ key: "1", place: "a", text: "{}" }]);
    other.put("h", [{ key: "2", place: "b", text: "{}" }]);
    area.put("d", [{ key: "2", place: "c", text: "{}" }]);
    expect([...area.joined("h", 10)]).toEqual([[{ header: { key: "1", place: "a", text: "{}" }, details: {} }]]);
    expect([...area.orphans("d", "h")]).toEqual([{ key: "2", place: "c", text: "{}" }]);
    expect([...other.orphans("d", "h")]).toEqual([]);
    area.close();
    other.close();
  });
});
