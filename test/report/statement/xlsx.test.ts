import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { readXlsx } from "hucre/xlsx";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FileChunk } from "../../../src/report/statement/writer.ts";
import { xlsxWriter } from "../../../src/report/statement/xlsx.ts";
import { unzipped } from "../../support/unzipped.ts";
import { filesOf, hostileTexts, sampleHeader, sampleShape } from "./sample.ts";

const workbookBytes = async (): Promise<Buffer> => (await filesOf("xlsx")).get("") ?? Buffer.alloc(0);

type Line = [part: unknown, group: unknown, of: unknown, currency: unknown, total: unknown];

/** The table of totals: what stands below its heading in the first sheet. */
function totalsIn(rows: readonly unknown[][]): Line[] {
  const heading = rows.findIndex(([first]) => first === "Part");
  return rows.slice(heading + 1).map((row): Line => {
    const [part, group, of, currency, total] = row.map((cell) => (cell === "" ? null : cell));
    return [part ?? null, group ?? null, of ?? null, currency ?? null, Number(total)];
  });
}

const expectedTotals: Line[] = [
  ["Orders", null, "Rows", null, 6 + hostileTexts.length],
  ["Orders", null, "Seats", null, 33],
  ["Orders", null, "Amount", "EUR", 1005.92],
  ["Orders", null, "Amount", "JPY", 120_022],
  ["Orders", null, "Amount", "KWD", 1.005],
  ["Orders", "different", "Rows", null, 1],
  ["Orders", "different", "Seats", null, 7],
  ["Orders", "different", "Amount", "EUR", 999.99],
  ["Orders", "hostile", "Rows", null, hostileTexts.length],
  ["Orders", "hostile", "Seats", null, hostileTexts.length],
  ["Orders", "hostile", "Amount", "JPY", hostileTexts.length],
  ["Orders", "matched", "Rows", null, 3],
  ["Orders", "matched", "Seats", null, 4],
  ["Orders", "matched", "Amount", "EUR", 5.94],
  ["Orders", "matched", "Amount", "JPY", 120_000],
  ["Orders", "matched", "Amount", "KWD", 1.005],
  ["Orders", "missing", "Rows", null, 2],
  ["Orders", "missing", "Seats", null, 0],
  ["Orders", "missing", "Amount", "EUR", -0.01],
  ["Refunds", null, "Rows", null, 0],
  ["Refunds", null, "Nodes", null, 0],
  ["Lines", null, "Rows", null, 3],
  ["Lines", null, "Amount", "EUR", 0.3],
  ["Lines", null, "Amount", "JPY", 9],
];

describe("a statement as XLSX", () => {
  it("is a workbook with a summary, a sheet for each part, and what stands in the columns", async () => {
    const workbook = await readXlsx(await workbookBytes(), { readStyles: true });
    expect(workbook.sheets.map(({ name }) => name)).toEqual(["Totals", "Orders", "Refunds", "Lines", "Columns"]);
    const [summary, orders, refunds] = workbook.sheets;
    expect(summary?.rows[0]?.[0]).toBe("Sample of orders, October 2026");
    expect(summary?.rows).toContainEqual(["From", "2026-10-01T00:00:00+02:00", null, null, null]);
    expect(orders?.freezePane).toMatchObject({ rows: 1 });
    expect(orders?.autoFilter).toMatchObject({ range: `A1:J${7 + hostileTexts.length}` });
    expect(refunds?.rows).toEqual([["Currency", "Amount", "Nodes"]]);
  });

  it("holds typed cells: numbers, dates on the clocks of the zone, amounts with the decimals of their currency", async () => {
    const workbook = await readXlsx(await workbookBytes(), { readStyles: true });
    const orders = workbook.sheets[1];
    expect(orders?.rows[1]).toEqual([
      "10248",
      "matched",
      "Atlas; Mercury\\u003b pro",
      null,
      5,
      false,
      new Date("2026-10-01T00:00:00.000Z"),
      new Date("2026-10-01T00:00:00.000Z"),
      "EUR",
      5.94,
    ]);
    expect(orders?.rows[2]?.[7]).toEqual(new Date("2026-10-25T02:30:00.250Z"));
    const formats = [1, 3, 4].map((row) => orders?.cells?.get(`${row},9`)?.style?.numFmt);
    expect(formats).toEqual(["#,##0.00", "#,##0", "#,##0.000"]);
    // Without its milliseconds the last moment of a month is shown as the first of the next.
    const times = [1, 2].map((row) => orders?.cells?.get(`${row},7`)?.style?.numFmt);
    expect(times).toEqual(["yyyy\\-mm\\-dd\\ hh:mm:ss.000", "yyyy\\-mm\\-dd\\ hh:mm:ss.000"]);
    for (const [index] of hostileTexts.entries()) {
      const cell = orders?.cells?.get(`${7 + index},3`);
      expect(cell, `note ${index}`).toMatchObject({ style: { numFmt: "@" } });
      expect(cell?.formula).toBeUndefined();
      expect(typeof orders?.rows[7 + index]?.[3]).toBe("string");
    }
  });

  it("holds hostile texts as texts in XML that every reader takes", async () => {
    const xml = unzipped(await workbookBytes()).get("xl/worksheets/sheet2.xml") ?? "";
    expect(xml).not.toContain("<f>");
    expect(xml.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Surrogate}\uffff]/u);
    expect(xml).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;");
    expect(xml).toContain("_x005F_x0041_");
    expect(xml).toContain('<t xml:space="preserve"> spaces at both ends </t>');
    expect(xml).toContain('<t xml:space="preserve">=1+1</t>');
  });

  it("cuts a text that is longer than a cell may be, and says so", async () => {
    const row = { order: `${"x".repeat(32_698)}🧾${"y".repeat(100)}`, verdict: "matched" };
    const bytes = (await filesOf("xlsx", { rows: [{ part: "orders", row }] })).get("");
    const workbook = await readXlsx(bytes ?? Buffer.alloc(0));
    const text = String(workbook.sheets[1]?.rows[1]?.[0]);
    expect(text.length).toBeLessThanOrEqual(32_767);
    expect(text.slice(32_698)).toBe("🧾… (100 more characters)");
  });

  it("has the totals of each part, group and currency", async () => {
    const workbook = await readXlsx(await workbookBytes());
    expect(totalsIn(workbook.sheets[0]?.rows ?? [])).toEqual(expectedTotals);
  });

  it("continues in another sheet where a part is longer than a sheet", async () => {
    const writer = xlsxWriter({ shape: sampleShape, header: sampleHeader, name: "a.xlsx" }, 3);
    const [orders, refunds, lines] = sampleShape.parts;
    const rows = Array.from({ length: 5 }, (_, index) => ({ order: `${index}`, verdict: "matched", seats: index }));
    const part = orders;
    if (refunds === undefined || lines === undefined) throw new Error("the sample has three parts");
    const column = part.columns[4];
    if (column === undefined) throw new Error("the sample has seats");
    const totals = { rows: 5, sums: [{ column, currency: null, total: 10 }], groups: [] };
    const chunks: FileChunk[] = [
      ...writer.begin(),
      ...writer.beginPart(part),
      ...writer.rows(part, rows),
      ...writer.endPart(part, totals),
      ...writer.end(new Map([[part.name, totals]])),
    ];
    const workbook = await readXlsx(Buffer.concat(chunks.map(({ chunk }) => Buffer.from(chunk))));
    expect(workbook.sheets.map(({ name, rows: found }) => [name, found.length]).slice(1, -1)).toEqual([
      ["Orders", 3],
      ["Orders (2)", 3],
      ["Orders (3)", 2],
    ]);
  });

  it("dates its files on the first day of a zip's calendar, whatever the day is", async () => {
    const zip = await workbookBytes();
    let at = zip.readUInt32LE(zip.length - 22 + 16);
    const left = zip.readUInt16LE(zip.length - 22 + 10);
    expect(left).toBeGreaterThan(7);
    for (let file = 0; file < left; file += 1) {
      const begin = zip.readUInt32LE(at + 42);
      // Time and day, in the list and before the file itself: 1 January 1980.
      for (const place of [at + 12, begin + 10])
        expect(zip.subarray(place, place + 4).toString("hex")).toBe("00002100");
      at += 46 + zip.readUInt16LE(at + 28);
    }
  });

  it("has the same bytes when it is made again", { tags: "long" }, async () => {
    const bytes = await workbookBytes();
    expect(await workbookBytes()).toEqual(bytes);
    const maker = join(import.meta.dirname, "processes", "make-xlsx.ts");
    expect(execFileSync(process.execPath, [maker], { maxBuffer: 1e8 }).equals(bytes)).toBe(true);
  });
});

function has(program: string): boolean {
  try {
    execFileSync("which", [program], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!has("soffice"))("LibreOffice, where it is installed,", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "workbook-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("shows the same totals and sees hostile texts as texts", async () => {
    writeFileSync(join(folder, "orders.xlsx"), await workbookBytes());
    const profile = `-env:UserInstallation=file://${folder}/profile`;
    const filter = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1";
    execFileSync("soffice", [profile, "--headless", "--convert-to", filter, "--outdir", folder, "orders.xlsx"], {
      cwd: folder,
      stdio: "ignore",
    });
    const sheet = (name: string): string[][] =>
      parse(readFileSync(join(folder, `orders-${name}.csv`), "utf8"), { relax_column_count: true });
    expect(totalsIn(sheet("Totals"))).toEqual(expectedTotals);
    const notes = sheet("Orders")
      .slice(7)
      .map((row) => row[3]);
    expect(notes[0]).toBe("=1+1");
    expect(notes.slice(-4)).toEqual(hostileTexts.slice(-4));
  });
});
