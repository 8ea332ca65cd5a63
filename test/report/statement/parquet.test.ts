import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { tableFromIPC } from "apache-arrow";
import type { Table } from "apache-arrow";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { initSync, readParquet } from "parquet-wasm/esm";
import { beforeAll, describe, expect, it } from "vitest";
import type { PartRow } from "../../../src/report/statement/shape.ts";
import { filesOf, hostileTexts } from "./sample.ts";

beforeAll(() => {
  const wasm = createRequire(import.meta.url).resolve("parquet-wasm/esm/parquet_wasm_bg.wasm");
  initSync({ module: readFileSync(wasm) });
});

function arrayBuffer(bytes: Buffer | undefined): ArrayBuffer {
  if (bytes === undefined) throw new Error("there is no such file");
  return new Uint8Array(bytes).buffer;
}

/** The file as Rust's reader of Parquet gives it. */
function arrowTable(bytes: Buffer | undefined): Table {
  return tableFromIPC(readParquet(new Uint8Array(arrayBuffer(bytes))).intoIPCStream());
}

describe("a statement as Parquet", async () => {
  const files = await filesOf("parquet");

  it("is a file for each part, those without rows too", async () => {
    expect([...files.keys()]).toEqual(["", "refunds", "lines"]);
    expect(arrowTable(files.get("refunds")).numRows).toBe(0);
    expect(arrowTable(files.get("refunds")).schema.fields.map(({ name }) => name)).toEqual([
      "currency",
      "amount",
      "nodes",
    ]);
    expect(await parquetReadObjects({ file: arrayBuffer(files.get("refunds")) })).toEqual([]);
  });

  it("has typed columns that one reader gives as they are", () => {
    const table = arrowTable(files.get(""));
    expect(table.schema.fields.map(({ name, type, nullable }) => `${name} ${type} ${nullable}`)).toEqual([
      "order Utf8 false",
      "verdict Utf8 false",
      "products List<Utf8> true",
      "note Utf8 true",
      "seats Int64 true",
      "trial Bool true",
      "ordered_on Date32<DAY> true",
      "placed_at Timestamp<MILLISECOND, UTC> true",
      "currency Utf8 true",
      "amount Decimal[18e+4] true",
    ]);
    expect(table.numRows).toBe(6 + hostileTexts.length);
    const column = (name: string): unknown[] => [...(table.getChild(name) ?? [])];
    expect(column("seats").slice(0, 3)).toEqual([5n, 7n, -2n]);
    expect(column("amount").slice(0, 5).map(String)).toEqual(["59400", "9999900", "1200000000", "10050", "-100"]);
    expect(column("note").slice(-4)).toEqual(hostileTexts.slice(-4));
  });

  it("has the values of the statement, as another reader gives them", async () => {
    const rows = await parquetReadObjects({ file: arrayBuffer(files.get("")) });
    expect(rows[0]).toEqual({
      order: "10248",
      verdict: "matched",
      products: ["Atlas", "Mercury; pro"],
      note: null,
      seats: 5n,
      trial: false,
      ordered_on: new Date("2026-10-01T00:00:00.000Z"),
      placed_at: new Date("2026-09-30T22:00:00.000Z"),
      currency: "EUR",
      amount: 5.94,
    });
    expect(rows[1]).toMatchObject({ products: [], placed_at: new Date("2026-10-25T01:30:00.250Z"), amount: 999.99 });
    expect(rows[5]).toMatchObject({ amount: null, currency: null });
    expect(rows[5]?.["products"] ?? null).toBeNull();
    const notes = rows.slice(6).map((row) => String(row["note"]));
    expect(notes[9]).toBe("nul\\u0000 bell\\u0007 escape\\u001b[31m delete\\u007f next\\u0085");
    expect(notes.every((note) => note.isWellFormed() && !/[\p{Cc}\p{Cf}]/u.test(note))).toBe(true);
  });

  it("says what it was made from and what it adds up to", () => {
    const { key_value_metadata: found = [], created_by: maker } = parquetMetadata(arrayBuffer(files.get("")));
    const facts = new Map(found.map(({ key, value }) => [key, value]));
    expect(maker).toBe("crm-sync version 0.1.0");
    expect(facts.get("crm-sync.zone")).toBe("Europe/Berlin");
    expect(facts.get("crm-sync.audit_root")).toBe("b".repeat(64));
    expect(JSON.parse(facts.get("crm-sync.totals") ?? "")).toMatchObject({
      rows: 6 + hostileTexts.length,
      columns: { seats: 33, amount: { EUR: "1005.92", JPY: "120022", KWD: "1.005" } },
    });
  });

  it("holds rows in groups of bounded size, whatever their number", { tags: "long" }, async () => {
    const rows = Array.from({ length: 12_501 }, (_, index): PartRow => {
      return { part: "lines", row: { order: `${index}`, currency: index % 2 === 0 ? "EUR" : "JPY", amount: index } };
    });
    const bytes = (await filesOf("parquet", { rows })).get("lines");
    const groups = parquetMetadata(arrayBuffer(bytes)).row_groups.map(({ num_rows: count }) => count);
    expect(groups).toEqual([5000n, 5000n, 2501n]);
    const table = arrowTable(bytes);
    const orders = [...(table.getChild("order") ?? [])];
    expect(orders).toEqual(rows.map(({ row }) => row["order"]));
    const amounts = [...(table.getChild("amount") ?? [])].map(String);
    expect(amounts.slice(-2)).toEqual(["124990000", "1250000"]);
  });

  it("refuses an amount that its columns cannot hold", async () => {
    const row = { order: "1", verdict: "matched", currency: "JPY", amount: 10 ** 14 };
    await expect(filesOf("parquet", { rows: [{ part: "orders", row }] })).rejects.toMatchObject({
      code: "statement.amount-too-large",
    });
    await expect(
      filesOf("parquet", { rows: [{ part: "orders", row: { ...row, currency: "EUR" } }] }),
    ).resolves.toBeDefined();
  });

  it("has the same bytes when it is made again", async () => {
    expect(await filesOf("parquet")).toEqual(files);
  });
});
