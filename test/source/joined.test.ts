import { describe, expect, it } from "vitest";
import type { ReadOptions } from "../../src/source/reader.ts";
import { directoryWith, openSource, readAll, type WholeReading } from "./support.ts";

const mapping = {
  id: "id",
  customerId: "customer",
  instances: [{ kind: "asset", one: { id: "id", licenseType: { value: "softkey" } } }],
};

function readOrders(files: Record<string, string>, distrust?: ReadOptions["distrust"]): Promise<WholeReading> {
  const details = { lines: { files: "lines.csv", key: "order" }, notes: { files: "notes.ndjson", key: "order.id" } };
  const settings = { kind: "file", streams: { orders: { files: "orders.csv", key: "id", details, mapping } } };
  return readAll(openSource(settings, directoryWith(files)), "orders", distrust === undefined ? {} : { distrust });
}

const whole = {
  "orders.csv": "id,customer\n2,B\n1,A\n3,C\n",
  "lines.csv": "order,n\n1,x\n2,y\n1,z\n",
  "notes.ndjson": '{"order":{"id":2},"text":"note"}\n',
};

describe("header and detail files", () => {
  it("are joined by key, in the order of the headers and of the lines", async () => {
    const { raws, bads, outcome } = await readOrders(whole);
    expect(raws).toEqual([
      {
        place: "orders.csv:2",
        key: "2",
        value: { id: "2", customer: "B", lines: [{ order: "2", n: "y" }], notes: [{ order: { id: 2 }, text: "note" }] },
      },
      {
        place: "orders.csv:3",
        key: "1",
        value: {
          id: "1",
          customer: "A",
          lines: [
            { order: "1", n: "x" },
            { order: "1", n: "z" },
          ],
          notes: [],
        },
      },
      { place: "orders.csv:4", key: "3", value: { id: "3", customer: "C", lines: [], notes: [] } },
    ]);
    expect(bads).toEqual([]);
    expect(outcome).toEqual({ complete: true, full: true, rows: 3, details: { "#headers": 3, lines: 3, notes: 1 } });
  });

  it("name a detail without a header, a row without a key, and every place of a key that stands twice", async () => {
    const { raws, bads, outcome } = await readOrders({
      ...whole,
      "orders.csv": "id,customer\n2,B\n1,A\n2,C\n,D\n",
      "lines.csv": "order,n\n1,x\n9,y\n2,z\n",
    });
    expect(raws.map(({ key }) => key)).toEqual(["1"]);
    expect(bads.map(({ place, key, code, message }) => [place, key, code, message])).toEqual([
      ["orders.csv:5", undefined, "no-key", "the row has no usable key in id"],
      ["orders.csv:2", "2", "duplicate-key", "the key 2 also occurs in orders.csv:4"],
      ["orders.csv:4", "2", "duplicate-key", "the key 2 also occurs in orders.csv:2"],
      ["lines.csv:3", "9", "orphan-detail", "no header row has the key 9 of this row of lines"],
    ]);
    expect(outcome).toEqual({ complete: true, full: true, rows: 5, details: { "#headers": 4, lines: 3, notes: 1 } });
  });

  it("give no record where so few detail rows are not believed", async () => {
    const asked: unknown[] = [];
    const { raws, outcome } = await readOrders(whole, (details) => {
      asked.push(details);
      return "too few lines";
    });
    expect(asked).toEqual([{ "#headers": 3, lines: 3, notes: 1 }]);
    expect(raws).toEqual([]);
    expect(outcome).toMatchObject({ complete: true, rows: 0, shrunk: "too few lines" });
  });

  it.each([
    ["missing", { "orders.csv": whole["orders.csv"], "notes.ndjson": "" }],
    ["cut off", { ...whole, "notes.ndjson": '{"order":{"id":2}}\n{"order":{"id"' }],
  ])(
    "give no record at all when one of them is %s, because fewer lines would look like a change",
    async (_name, files) => {
      const { raws, outcome } = await readOrders(files);
      expect(raws).toEqual([]);
      expect(outcome.complete).toBe(false);
    },
  );

  it("refuse a header row that has a field of the name of its details", async () => {
    const { bads } = await readOrders({ ...whole, "orders.csv": "id,customer,lines\n2,B,x\n" });
    expect(bads).toMatchObject([
      { code: "orphan-detail" },
      { code: "orphan-detail" },
      { place: "orders.csv:2", code: "name-taken" },
    ]);
  });

  it("stay in order over many pages of the staging area", async () => {
    const count = 3_000;
    const numbers = Array.from({ length: count }, (_, index) => (index * 7_919) % count);
    const { raws, bads } = await readOrders({
      "orders.csv": `id,customer\n${numbers.map((number) => `${number},A`).join("\n")}\n`,
      "lines.csv": `order,n\n${numbers
        .toReversed()
        .map((number) => `${number},x\n${number + count},orphan`)
        .join("\n")}\n`,
      "notes.ndjson": "",
    });
    expect(raws.map(({ key }) => Number(key))).toEqual(numbers);
    expect(raws.every(({ value }) => Array.isArray(value["lines"]) && value["lines"].length === 1)).toBe(true);
    expect(bads).toHaveLength(count);
  });
});

it("a header row without a detail row that each needs is named, and the others are read", async () => {
  const details = { lines: { files: "lines.csv", key: "order", required: true } };
  const settings = { kind: "file", streams: { orders: { files: "orders.csv", key: "id", details, mapping } } };
  const { raws, bads, outcome } = await readAll(openSource(settings, directoryWith(whole)), "orders");
  expect(raws.map(({ key }) => key)).toEqual(["2", "1"]);
  expect(bads).toEqual([
    {
      place: "orders.csv:4",
      key: "3",
      code: "no-details",
      message: "the header row has no row of lines, but it needs at least one",
    },
  ]);
  expect(outcome).toMatchObject({ complete: true, rows: 3 });
});
