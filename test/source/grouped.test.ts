import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReadOptions } from "../../src/source/reader.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { startService } from "./http-service.ts";
import { directoryWith, openSource, readAll, type WholeReading } from "./support.ts";

const mapping = {
  id: "key",
  customerId: "customer",
  userName: "key",
  name: "key",
  assets: [{ each: "seats", fields: { instanceId: "licence.id" } }],
};
const group = { by: "holder", into: "seats", fields: { customer: "customer" } };

interface Row {
  id: number;
  holder: string;
  customer: string;
  licence: { id: string };
}
const row = (id: number, holder: string, customer = "C1"): Row => ({ id, holder, customer, licence: { id: `A${id}` } });
const ndjson = (rows: readonly unknown[]): string => rows.map((one) => `${JSON.stringify(one)}\n`).join("");

function readFile(
  rows: readonly unknown[] | string,
  stream: object = {},
  options: ReadOptions = {},
): Promise<WholeReading> {
  const files = { "seats.ndjson": typeof rows === "string" ? rows : ndjson(rows) };
  const settings = {
    kind: "file",
    streams: { staff: { files: "seats.ndjson", key: "id", group, mapping, ...stream } },
  };
  return readAll(openSource(settings, directoryWith(files)), "staff", options);
}

describe("rows that are grouped", () => {
  it("become a record for each key, with what they agree on beside their list", async () => {
    const { raws, bads, outcome } = await readFile([row(3, "bea"), row(1, "ann"), row(2, "bea"), row(4, "ann")]);
    expect(bads).toEqual([]);
    expect(raws.map(({ key, value }) => [key, value])).toEqual([
      ["ann", { key: "ann", seats: [row(1, "ann"), row(4, "ann")], customer: "C1" }],
      ["bea", { key: "bea", seats: [row(2, "bea"), row(3, "bea")], customer: "C1" }],
    ]);
    expect(outcome).toEqual({ complete: true, full: true, rows: 2, details: { "#rows": 4, "#records": 2 } });
  });

  it("make the same records in whatever order they come, with a key of their own and without", async () => {
    const rows = [...Array(12).keys()].map((id) => row(id, `holder-${id % 3}`));
    const expected = { keyed: await readFile(rows), plain: await readFile(rows, { key: undefined }) };
    const values = (reading: WholeReading): unknown => reading.raws.map(({ value }) => value);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(rows, { minLength: rows.length }), async (shuffled) => {
        expect(values(await readFile(shuffled))).toEqual(values(expected.keyed));
        expect(values(await readFile(shuffled, { key: undefined }))).toEqual(values(expected.plain));
      }),
      { numRuns: 20 },
    );
  });

  it("name a row without a key, a row that stands twice and rows that disagree, and every other record is read", async () => {
    const { raws, bads, outcome } = await readFile([
      row(1, "ann"),
      row(2, ""),
      row(3, "bea"),
      row(3, "cem"),
      row(4, "dan", "C1"),
      row(5, "dan", "C2"),
      { holder: "eve", customer: "C1" },
      row(6, "eve"),
    ]);
    expect(raws.map(({ key }) => key)).toEqual(["ann", "eve"]);
    expect(bads.map(({ place, key, code, message }) => [place, key, code, message])).toEqual([
      ["seats.ndjson:2", "2", "no-key", "the row has no usable key in holder"],
      ["seats.ndjson:7", undefined, "no-key", "the row has no usable key in id"],
      ["seats.ndjson:3", "3", "duplicate-row", "the row 3 also occurs in seats.ndjson:4"],
      ["seats.ndjson:4", "3", "duplicate-row", "the row 3 also occurs in seats.ndjson:3"],
      [
        "seats.ndjson:5",
        "dan",
        "differing-rows",
        "the rows of this key must agree in customer, but this row and seats.ndjson:6 differ",
      ],
    ]);
    expect(outcome).toMatchObject({ complete: true, rows: 7, details: { "#rows": 8, "#records": 5 } });
  });

  it("are all counted where they are alike, since without a key nobody can tell that one stands twice", async () => {
    const { raws } = await readFile([row(1, "ann"), row(1, "ann")], { key: undefined });
    expect(raws.map(({ value }) => value["seats"])).toEqual([[row(1, "ann"), row(1, "ann")]]);
  });

  it("make no record at all of a reading that was cut, or that lost so many that it is not believed", async () => {
    const cut = await readFile(`${ndjson([row(1, "ann"), row(2, "ann")])}{"id":3,"hol`);
    expect([cut.raws, cut.outcome.complete]).toEqual([[], false]);
    const asked: unknown[] = [];
    const distrust = (details: unknown): string => {
      asked.push(details);
      return "too few";
    };
    const shrunk = await readFile([row(1, "ann"), row(2, "ann")], {}, { distrust });
    expect([shrunk.raws, shrunk.outcome.shrunk, asked]).toEqual([[], "too few", [{ "#rows": 2, "#records": 1 }]]);
  });

  it("make no record of a key with more of them than a record may hold", async () => {
    const rows = [...Array(30).keys()].map((id) => row(id, id < 20 ? "nobody" : "ann"));
    const { raws, bads } = await readFile(rows, { limits: { maxMembers: 15 } });
    expect(raws.map(({ key }) => key)).toEqual(["ann"]);
    expect(bads).toMatchObject([{ key: "nobody", code: "too-wide", message: /20 rows have this key; at most 15/u }]);
  });

  it("come over many pages of the staging area, each in its record", async () => {
    const rows = [...Array(5_000).keys()].map((id) => row(id, `h${(id * 7) % 1_250}`));
    const { raws, batches } = await readFile(rows);
    expect(raws).toHaveLength(1_250);
    expect(raws.every(({ value }) => Array.isArray(value["seats"]) && value["seats"].length === 4)).toBe(true);
    expect(Math.max(...batches)).toBeLessThanOrEqual(500);
  });

  it("are read from CSV with the columns that the mapping reads in them, and joined with details before", async () => {
    const settings = (licences: string): unknown => ({
      kind: "file",
      streams: {
        staff: {
          files: "orders.csv",
          key: "no",
          details: { licences: { files: licences, key: "order" } },
          group: { by: "holder", into: "orders", fields: { customer: "customer" } },
          mapping: {
            ...mapping,
            assets: [{ one: { instanceId: "orders[0].licences[0].id" } }],
          },
        },
      },
    });
    const files = {
      "orders.csv": "no,holder,customer\n1,ann,C1\n2,bea,C1\n3,ann,C1\n",
      "licences.csv": "order,id\n3,X\n1,Y\n1,Z\n",
      "other.csv": "order,name\n3,X\n",
      "broken.csv": "order,id\n3,X",
    };
    const read = (licences: string): Promise<WholeReading> =>
      readAll(openSource(settings(licences), directoryWith(files)), "staff");
    const { raws, outcome } = await read("licences.csv");
    expect(raws.map(({ value }) => value)).toMatchObject([
      {
        key: "ann",
        orders: [
          { no: "1", licences: [{ id: "Y" }, { id: "Z" }] },
          { no: "3", licences: [{ id: "X" }] },
        ],
      },
      { key: "bea", orders: [{ no: "2", licences: [] }] },
    ]);
    expect(outcome.details).toEqual({ "#headers": 3, licences: 3, "#rows": 3, "#records": 2 });
    expect((await read("broken.csv")).raws).toEqual([]);
    expect((await read("other.csv")).outcome.problem?.message).toMatch(/lacks.*id|no column.*id/u);
  });

  it("come from an HTTP service as from a file, whole or not at all", async () => {
    let fails = false;
    const service = await startService(({ query }) => {
      const page = Number(query["page"] ?? 1);
      if (fails && page === 2) return { status: 400 };
      return { body: [[row(2, "ann"), row(3, "bea")], [row(1, "ann")], []][page - 1] };
    });
    const stream = { url: service.origin, key: "id", group, paging: { kind: "page" }, mapping };
    const source = openSource({ kind: "http", streams: { staff: stream } }, ".");
    expect((await readAll(source, "staff")).raws.map(({ value }) => value)).toMatchObject([
      { key: "ann", seats: [{ id: 1 }, { id: 2 }] },
      { key: "bea", seats: [{ id: 3 }] },
    ]);
    fails = true;
    expect((await readAll(source, "staff")).raws).toEqual([]);
  });
});

it("grouping refuses names that are taken, and to group only what changed", () => {
  const bare = { id: "key", customerId: "key", userName: "key", name: "key" };
  const issues = (stream: object): string[] => {
    const staff = { url: "https://crm.example.com", mapping: bare, ...stream };
    const settings = { kind: "http", streams: { staff } };
    return (sourceSettingsSchema.safeParse(settings).error?.issues ?? []).map(({ path, message }) =>
      [path.slice(3).join("."), message].join(": "),
    );
  };
  expect(issues({ group: { by: "id", into: "key" } })).toEqual([
    "into: the name key is taken: by the key, or by the list of rows",
  ]);
  expect(issues({ group: { by: "id", into: "rows", fields: { rows: "a" } } })).toEqual([
    "fields.rows: the name rows is taken: by the key, or by the list of rows",
  ]);
  expect(issues({ group: { by: "id", into: "rows" }, since: { parameter: "since" } })).toEqual([
    ": cannot be used with group: the changed rows are only a part of a record",
  ]);
});

it("grouping refuses to take a secret out of its rows, which would keep it: it is read in them", () => {
  const issues = (spec: object): string[] => {
    const fields = { customer: "customer", word: "password" };
    const streams = { staff: { files: "seats.csv", group: { ...group, fields }, mapping: { ...mapping, ...spec } } };
    return (sourceSettingsSchema.safeParse({ kind: "file", streams }).error?.issues ?? []).map(({ path, message }) =>
      [path.join("."), message].join(": "),
    );
  };
  expect(issues({})).toEqual([]);
  expect(issues({ password: "seats[0].password" })).toEqual([]);
  expect(issues({ password: "word" })).toEqual([
    "streams.staff.group.fields.word: is read as a secret, and would stay in the rows that it is taken from; read the " +
      "secret from the rows",
  ]);
});
