import { describe, expect, it } from "vitest";
import { startService } from "./http-service.ts";
import { openSource, readAll, type WholeReading } from "./support.ts";

const mapping = {
  id: "id",
  customerId: "customer",
  instances: [{ kind: "asset", one: { id: "id", licenseType: { value: "softkey" } } }],
};

type Row = Record<string, number | string>;

const cad: Row = { line: 1, order: 1, product: "CAD", seats: 10 };
const sim: Row = { line: 2, order: 1, product: "SIM", seats: 1 };
const doc: Row = { line: 3, order: 1, product: "DOC", seats: 1 };
const more: Row = { line: 4, order: 1, product: "CAD", seats: 20 };
const without = ({ line: _line, ...row }: Row): Row => row;
const alike = without(cad);

/** A service of two orders, whose lines are `before` until their first page was read, and then `after`. */
async function readLines(lines: readonly [Row[], Row[]], stream: object): Promise<WholeReading> {
  let pages = 0;
  const { origin } = await startService(({ path, query }) => {
    if (path === "/orders") return { body: [{ id: 1, customer: "A" }] };
    pages += 1;
    const page = Number(query["page"]);
    return { body: lines[pages > 1 ? 1 : 0].slice((page - 1) * 2, page * 2) };
  });
  const source = { kind: "http", baseUrl: origin, retries: 0, streams: { orders: { mapping, key: "id", ...stream } } };
  return await readAll(openSource(source, "."), "orders");
}

const paging = { kind: "page", size: 2 };
const joined = (rowKey: object): object => ({
  url: "orders",
  details: { lines: { url: "lines", key: "order", paging, ...rowKey } },
});
const grouped = { url: "lines", key: "line", group: { by: "order", into: "lines", fields: { id: "order" } }, paging };

const cases: Record<string, [Row[], Row[]]> = {
  "is replaced by another one": [
    [cad, sim, doc],
    [sim, doc, more],
  ],
  "is changed": [
    [cad, sim, doc],
    [{ ...cad, seats: 20 }, sim, doc],
  ],
  "comes before the others": [
    [cad, sim, doc],
    [more, cad, sim, doc],
  ],
};
const all = (rows: readonly Row[]): string[] => rows.map((row) => JSON.stringify(row)).sort();
const linesOf = ({ raws }: WholeReading): string[] => {
  const [first] = raws;
  const found = first?.value["lines"];
  return Array.isArray(found) ? found.map((row) => JSON.stringify(row)).sort() : [];
};

describe("rows that are parts of records, where one moves while they are read by the page", () => {
  it.each(Object.entries(cases))("are those of one moment where a row %s", async (_how, [before, after]) => {
    for (const stream of [joined({ rowKey: "line" }), grouped]) {
      const reading = await readLines([before, after], stream);
      expect(reading.outcome.complete).toBe(true);
      // A row that is known again by its key may stand as it was in either way through the list.
      expect([all(before), all(after)]).toContainEqual(linesOf(reading));
    }
    const reading = await readLines([before.map(without), after.map(without)], joined({}));
    expect([reading.outcome.complete, linesOf(reading)]).toEqual([true, all(after.map(without))]);
  });

  it("lose none of two that are alike", async () => {
    const rows: [Row[], Row[]] = [
      [without(doc), alike, alike, without(sim)],
      [alike, alike, without(sim)],
    ];
    const reading = await readLines(rows, joined({}));
    expect([reading.outcome.complete, linesOf(reading)]).toEqual([true, all(rows[1])]);
  });
});
