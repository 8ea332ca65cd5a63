import Database from "better-sqlite3";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { startService } from "./http-service.ts";
import { directoryWith, openSource, readAll } from "./support.ts";
import type { WholeReading } from "./support.ts";

const mapping = {
  id: "key",
  customerId: "customer",
  userName: "key",
  name: "key",
  assets: [{ each: "seats", fields: { instanceId: { concat: ["order.no", "nr"] } } }],
};
const group = { by: "holder", into: "seats", rows: "seats", record: "order", fields: { customer: "order.customer" } };

interface Seat {
  nr: number;
  holder: string;
}
const seat = (nr: number, holder: string): Seat => ({ nr, holder });
const order = (no: string, ...seats: Seat[]): { no: string; customer: string; seats: Seat[] } => ({
  no,
  customer: "C1",
  seats,
});
const around = (no: string): object => ({ order: { no, customer: "C1" } });
const ndjson = (rows: readonly unknown[]): string => rows.map((one) => `${JSON.stringify(one)}\n`).join("");

function readFile(records: readonly unknown[], stream: object = {}): Promise<WholeReading> {
  const settings = {
    kind: "file",
    streams: { staff: { files: "orders.ndjson", key: "no", group, mapping, ...stream } },
  };
  return readAll(openSource(settings, directoryWith({ "orders.ndjson": ndjson(records) })), "staff");
}

const values = ({ raws }: WholeReading): unknown[] => raws.map(({ value }) => value);
const peopleOfBoth = [
  {
    key: "ann",
    seats: [
      { ...seat(1, "ann"), ...around("A") },
      { ...seat(2, "ann"), ...around("B") },
    ],
    customer: "C1",
  },
  { key: "bea", seats: [{ ...seat(1, "bea"), ...around("B") }], customer: "C1" },
];

describe("rows that stand in a list of a record", () => {
  it("become people, whose seats of several orders stand together, each with its order", async () => {
    const reading = await readFile([order("B", seat(1, "bea"), seat(2, "ann")), order("A", seat(1, "ann"))]);
    expect(reading.bads).toEqual([]);
    expect(values(reading)).toEqual(peopleOfBoth);
    expect(reading.outcome).toMatchObject({ complete: true, full: true, details: { "#rows": 3, "#records": 2 } });
  });

  it("make the same people in another order of records and rows, with a key of the records and without", async () => {
    const records = [order("A", seat(1, "ann")), order("B", seat(2, "ann"), seat(1, "bea"))];
    expect(values(await readFile(records))).toEqual(peopleOfBoth);
    const withoutKey = values(await readFile(records, { key: undefined }));
    expect(withoutKey).toEqual(values(await readFile(records.toReversed(), { key: undefined })));
    expect(withoutKey).toMatchObject([{ key: "ann", seats: [{}, {}] }, { key: "bea" }]);
  });

  it("are none where the record has no list, and one where an object stands alone", async () => {
    const { seats: _seats, ...bare } = order("D");
    const reading = await readFile([
      bare,
      { ...order("E"), seats: null },
      { ...order("F"), seats: [] },
      { ...order("G"), seats: seat(1, "ann") },
    ]);
    expect(reading.bads).toEqual([]);
    expect(values(reading)).toMatchObject([{ key: "ann", seats: [{ nr: 1, order: { no: "G" } }] }]);
    expect(reading.outcome.details).toEqual({ "#rows": 1, "#records": 1 });
  });

  it("name what is no list, no object or has no key, each by its own place and key, and every other row counts", async () => {
    const { no: _no, ...nameless } = order("", seat(1, "ann"));
    const reading = await readFile([
      { ...order("A"), seats: "12" },
      { ...order("B"), seats: [seat(1, "ann"), "ann", seat(3, ""), { ...seat(4, "ann"), order: 7 }] },
      nameless,
      { ...order("C", seat(1, "ann")) },
    ]);
    expect(values(reading)).toMatchObject([{ key: "ann", seats: [{ order: { no: "B" } }, { order: { no: "C" } }] }]);
    expect(reading.bads.map(({ place, key, code }) => [place, key, code])).toEqual([
      ["orders.ndjson:1", "A", "not-a-list"],
      ["orders.ndjson:2#/seats/1", "B#/seats/1", "not-an-object"],
      ["orders.ndjson:2#/seats/2", "B#/seats/2", "no-key"],
      ["orders.ndjson:2#/seats/3", "B#/seats/3", "name-taken"],
      ["orders.ndjson:3", undefined, "no-key"],
    ]);
    expect(reading.outcome).toMatchObject({ complete: true, rows: 6, details: { "#rows": 7, "#records": 1 } });
  });

  it("of a record that stands twice are nobody's, and people without a row of it are read", async () => {
    const reading = await readFile([
      order("A", seat(1, "ann"), seat(2, "ann"), seat(3, "bea")),
      order("B", seat(1, "cem"), seat(2, "cem")),
      order("A", seat(1, "dan")),
      order("C", seat(1, "bea"), seat(2, "eve")),
    ]);
    expect(reading.raws.map(({ key }) => key)).toEqual(["cem", "eve"]);
    expect(reading.bads.map(({ place, key, message }) => [place, key, message])).toEqual([
      ["orders.ndjson:1", "A", "the record A also occurs in orders.ndjson:3"],
      ["orders.ndjson:3", "A", "the record A also occurs in orders.ndjson:1"],
    ]);
  });

  it("are refused by name where their record is as deep as records may be, since it stands deeper in a row", async () => {
    const deep = { ...order("A", seat(1, "ann")), note: { a: { b: 1 } } };
    const limits = (maxDepth: number): object => ({ limits: { maxDepth } });
    expect((await readFile([deep], limits(4))).raws).toHaveLength(1);
    const { raws, bads } = await readFile([deep, order("B", seat(1, "bea"))], limits(3));
    expect(raws.map(({ key }) => key)).toEqual(["bea"]);
    expect(bads).toMatchObject([{ key: "A", code: "too-deep", message: /nested deeper than 2/u }]);
  });

  it("come by the thousand of one record, a bounded number held at once, each in its person", async () => {
    const many = [...Array(6_000).keys()].map((nr) => seat(nr, `h${nr % 1_500}`));
    const { raws, bads, batches } = await readFile([order("A", ...many), order("B", seat(1, "h3"))]);
    expect(bads).toEqual([]);
    expect(raws).toHaveLength(1_500);
    const counts = raws.map(({ value }) => (Array.isArray(value["seats"]) ? value["seats"].length : 0));
    expect(new Set(counts)).toEqual(new Set([4, 5]));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(6_001);
    expect(Math.max(...batches)).toBeLessThanOrEqual(500);
  });

  it("come from the pages of an HTTP service, each with its place, whole or not at all", async () => {
    let fails = false;
    const pages = [
      [{ head: { no: "B" }, data: { seats: [seat(1, "bea"), seat(2, "")] } }],
      [{ head: { no: "A" }, data: { seats: [seat(1, "ann"), seat(2, "bea")] } }],
      [],
    ];
    const service = await startService(({ query }) => {
      const page = Number(query["page"] ?? 1);
      return fails && page === 2 ? { status: 400 } : { body: pages[page - 1] };
    });
    const nested = { by: "holder", into: "seats", rows: "data.seats", fields: { order: "record.head" } };
    const stream = { url: service.origin, key: "head.no", group: nested, paging: { kind: "page" } };
    const mapped = { id: "key", customerId: "order.no", userName: "key", name: "key" };
    const source = openSource({ kind: "http", streams: { staff: { ...stream, mapping: mapped } } }, ".");
    const { raws, bads } = await readAll(source, "staff");
    expect(raws.map(({ value }) => value)).toMatchObject([
      { key: "ann", seats: [{ nr: 1, record: { head: { no: "A" }, data: {} } }] },
    ]);
    expect(bads.map(({ code, key, place }) => [code, key, place.slice(service.origin.length)])).toEqual([
      ["no-key", "B#/data/seats/1", "/#page=1/0/data/seats/1"],
      ["differing-rows", "bea", expect.stringMatching(/seats/u)],
    ]);
    fails = true;
    expect((await readAll(source, "staff")).raws).toEqual([]);
  });

  it("come from a column of JSON of a query, and from details of CSV files with the columns that are read", async () => {
    const directory = directoryWith({
      "orders.csv": "no,customer\nA,C1\nB,C1\n",
      "seats.csv": "order,nr,holder\nB,1,bea\nA,1,ann\nB,2,ann\n",
      "other.csv": "order,nr\nB,1\n",
    });
    const database = new Database(join(directory, "erp.db"));
    database.exec("create table orders (no text primary key, customer text, seats json)");
    const insert = database.prepare("insert into orders values (?, ?, ?)");
    for (const { no, customer, seats } of [order("A", seat(1, "ann")), order("B", seat(2, "ann"), seat(1, "bea"))])
      insert.run(no, customer, JSON.stringify(seats));
    database.close();
    const sql = (grouping: object, query = "select no, customer, seats from orders"): Promise<WholeReading> => {
      const streams = { staff: { query, key: "no", group: grouping, mapping } };
      return readAll(
        openSource({ kind: "sql", connection: { kind: "sqlite", file: "erp.db" }, streams }, directory),
        "staff",
      );
    };
    expect(values(await sql(group))).toEqual(peopleOfBoth);
    const { outcome } = await sql({ ...group, rows: "seat", fields: { customer: "order.customr" } });
    expect(outcome.problem?.message).toContain("gives no column seat,");
    expect((await sql({ ...group, fields: { customer: "order.customr" } })).outcome.problem?.message).toContain(
      "gives no column customr,",
    );

    const csv = (seats: string): Promise<WholeReading> => {
      const details = { seats: { files: seats, key: "order" } };
      const renamed = { ...group, record: "head", fields: { customer: "head.customer" } };
      const spec = { ...mapping, assets: [{ each: "seats", fields: { instanceId: "nr" } }] };
      const streams = { staff: { files: "orders.csv", key: "no", details, group: renamed, mapping: spec } };
      return readAll(openSource({ kind: "file", streams }, directory), "staff");
    };
    expect(values(await csv("seats.csv"))).toMatchObject([
      { key: "ann", customer: "C1", seats: [{ head: { no: "A" } }, { head: { no: "B" } }] },
      { key: "bea" },
    ]);
    expect((await csv("other.csv")).outcome.problem?.message).toMatch(/holder/u);
  });
});

it("grouping by rows of a list takes names alone for it, and a name for the record only with it", () => {
  const issues = (grouping: object): string[] => {
    const bare = { id: "key", customerId: "key", userName: "key", name: "key" };
    const group = { by: "holder", into: "seats", ...grouping };
    const streams = { staff: { files: "a.ndjson", group, mapping: bare } };
    return (sourceSettingsSchema.safeParse({ kind: "file", streams }).error?.issues ?? []).map(({ path, message }) =>
      [path.slice(3).join("."), message].join(": "),
    );
  };
  expect(issues({ rows: "data.seats", record: "order" })).toEqual([]);
  for (const rows of [".", "^.seats", "lines[0].seats"])
    expect(issues({ rows })).toEqual([
      "rows: expected the names of members alone, from the record on, such as seats or data.seats",
    ]);
  expect(issues({ record: "order" })).toEqual(["record: has no meaning without rows"]);
});
