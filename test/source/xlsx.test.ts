import { writeXlsx } from "hucre/xlsx";
import { describe, expect, it } from "vitest";
import { workbook, workbookParts, zip } from "../support/xlsx.ts";
import { customersFile, directoryWith, openSource, readAll, type WholeReading } from "./support.ts";

/** Reads the customers of a workbook with these stream settings. */
function read(bytes: Buffer, settings: Record<string, unknown> = {}): Promise<WholeReading> {
  const source = openSource(customersFile({ files: "c.xlsx", ...settings }), directoryWith({ "c.xlsx": bytes }));
  return readAll(source, "customers");
}

const values = ({ raws }: WholeReading): unknown[] => raws.map(({ value }) => value);
const header = ["id", "name"];

/** What a cell gives; a fault instead of it where the row cannot be used. */
async function shown(cell: string, options: Parameters<typeof workbook>[1] = {}): Promise<unknown> {
  const { raws, bads } = await read(
    workbook(
      {
        Sheet1: [
          [...header, "x"],
          ["1", "a", cell],
        ],
      },
      options,
    ),
  );
  return raws[0]?.value["x"] ?? bads[0]?.message;
}

const styled = (value: string): string => `<c s="1"><v>${value}</v></c>`;

/** The bytes of an archive whose list of files has another checksum for the sheet. */
function otherChecksum(archive: Buffer): Buffer {
  const bytes = Buffer.from(archive);
  const sheet = bytes.lastIndexOf("xl/worksheets/sheet1.xml");
  const entry = bytes.lastIndexOf(Buffer.from("PK\x01\x02"), sheet);
  bytes.writeUInt32LE((bytes.readUInt32LE(entry + 16) + 1) >>> 0, entry + 16);
  return bytes;
}

describe("a workbook", () => {
  it("is read into objects of texts with sheet and row", async () => {
    const reading = await read(
      workbook({ Kunden: [header, ["1", " Meyer & Söhne <x> "], ["", ""], ["2"], ["003", "_x0041_\n"]] }),
      { key: "id" },
    );
    expect(reading.raws).toEqual([
      { place: "c.xlsx[Kunden]:2", key: "1", value: { id: "1", name: " Meyer & Söhne <x> " } },
      { place: "c.xlsx[Kunden]:4", key: "2", value: { id: "2", name: "" } },
      { place: "c.xlsx[Kunden]:5", key: "003", value: { id: "003", name: "A\n" } },
    ]);
    expect(reading.outcome).toEqual({ complete: true, full: true, rows: 3 });
  });

  it.each([
    ["a number", "<c><v>12.5</v></c>", "12.5"],
    ["more digits than a number of the program has", "<c><v>12345678901234567890</v></c>", "12345678901234567890"],
    ["noise of binary numbers", "<c><v>0.30000000000000004</v></c>", "0.3"],
    ["a percent", "<c><v>7.0000000000000007E-2</v></c>", "0.07"],
    ["an exponent", "<c><v>-1.5E+3</v></c>", "-1500"],
    ["a small one", "<c><v>1.5E-7</v></c>", "0.00000015"],
    ["zero", "<c><v>0</v></c>", "0"],
    ["a truth", '<c t="b"><v>1</v></c>', "TRUE"],
    ["the text of a formula", '<c t="str"><f>A1</f><v>00123</v></c>', "00123"],
    ["the number of a formula", "<c><f>1+1</f><v>2</v></c>", "2"],
    ["a text in its cell", '<c t="inlineStr"><is><r><t>Ab</t></r><r><t>c</t></r><rPh><t>no</t></rPh></is></c>', "Abc"],
    ["an error", '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>', "the cell C2 holds the error of a formula"],
    ["a formula without result", "<c><f>A1</f></c>", expect.stringContaining("C2 holds a formula without its result")],
    ["a text that is not there", '<c t="s"><v>99</v></c>', expect.stringContaining("C2 names a text")],
  ])("gives %s", async (_what, cell, expected) => {
    expect(await shown(cell)).toEqual(expected);
  });

  it.each([
    ["yyyy\\-mm\\-dd", "46082", "2026-03-01"],
    ["[$-407]d. mmmm yyyy;@", "46082.75", "2026-03-01"],
    ["dd/mm/yy h:mm", "46082.75", "2026-03-01T18:00:00"],
    ["m/d/yy h:mm AM/PM", "46082.999999", "2026-03-02T00:00:00"],
    ["hh:mm:ss", "0.5", "12:00:00"],
    ["[h]:mm", "1.5", "1.5"],
    ["d.m.yyyy", "59", "1900-02-28"],
    ["d.m.yyyy", "61", "1900-03-01"],
    ["d.m.yyyy", "60", "the cell C2 holds a number that is no date"],
    ["d.m.yyyy", "9999999", "the cell C2 holds a number that is no date"],
    ["00000", "1234", "01234"],
    ["0", "1234", "1234"],
    ['0.00 "Days"', "3.5", "3.5"],
    ["0.00E+00", "1500", "1500"],
    ["[Red]#,##0 \\d", "1500", "1500"],
    ["0%", "0.15", "0.15"],
  ])("shows a number of the format %s", async (format, number, expected) => {
    expect(await shown(styled(number), { formats: [format] })).toBe(expected);
  });

  it("counts days from 1904 on where it says so", async () => {
    expect(await shown(styled("44620"), { formats: ["yyyy-mm-dd"], is1904: true })).toBe("2026-03-01");
  });

  it("written by another program is read alike", async () => {
    const rows = [
      ["id", "name", "on", "zip"],
      ["1", "Öl AG", new Date(Date.UTC(2026, 2, 1)), "00123"],
    ];
    const bytes = Buffer.from(await writeXlsx({ sheets: [{ name: "S", rows }] }));
    expect(values(await read(bytes))).toEqual([
      { id: "1", name: "Öl AG", on: expect.stringMatching(/^2026-03-01/u), zip: "00123" },
    ]);
  });

  it("with several sheets is read as the settings say it; hidden ones do not count", async () => {
    const bytes = workbook({ A: [header, ["1", "a"]], B: [["Title"], header, ["2", "b"]] });
    const { outcome } = await read(bytes);
    expect([outcome.complete, outcome.problem?.message]).toEqual([
      false,
      'The workbook c.xlsx has 2 sheets: "A", "B".',
    ]);
    expect(values(await read(bytes, { xlsx: { sheet: "B", skipRows: 1 } }))).toEqual([{ id: "2", name: "b" }]);
    const missing = await read(bytes, { xlsx: { sheet: "C" } });
    expect(missing.outcome.problem?.message).toContain('no sheet "C"; it has "A", "B"');
    const hidden = workbook({ A: [header, ["1", "a"]], B: [header] }, { states: { B: "hidden" } });
    expect(values(await read(hidden))).toEqual([{ id: "1", name: "a" }]);
  });

  it("has bad rows, and is not read without a column that the mapping reads", async () => {
    const bytes = workbook({
      S: [
        [...header, "", "x"],
        ["1", "a", "b", "", "beyond"],
        ["2", "b"],
      ],
    });
    const { bads, raws } = await read(bytes);
    expect(bads).toMatchObject([{ place: "c.xlsx[S]:2", code: "column-count" }]);
    expect(raws.map(({ value }) => value)).toEqual([{ id: "2", name: "b", "(column C)": "", x: "" }]);
    const lacking = await read(
      workbook({
        S: [
          ["id", "title"],
          ["1", "a"],
        ],
      }),
    );
    expect(lacking.outcome.problem?.message).toContain('no column "name"');
    expect(lacking.outcome.problem?.cure).toContain("xlsx.optionalColumns");
    const empty = await read(workbook({ S: [] }));
    expect(empty.outcome.problem?.message).toContain("has no header row");
  });

  const parts = workbookParts({ S: [header, ["1", "a"], ["2", "b"]] });
  const sheet = parts["xl/worksheets/sheet1.xml"] ?? "";
  const whole = zip(parts);
  const endless = Array.from({ length: 3_000_000 }, (_, index) => index).join("");
  const large = `<c t="str"><v>${endless.slice(0, 2_000_000)}</v></c>`;
  const entities = '<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]><worksheet>&b;</worksheet>';
  it.each([
    ["that was cut", whole.subarray(0, whole.length - 200)],
    ["that is none", Buffer.from("id,name\n1,a\n")],
    ["with a password", Buffer.from("d0cf11e0a1b11ae1", "hex")],
    ["whose sheet was cut", zip({ ...parts, "xl/worksheets/sheet1.xml": sheet.slice(0, -40) })],
    ["with another size inside than it says", zip(parts, { "xl/worksheets/sheet1.xml": 10 })],
    ["with entities", zip({ ...parts, "xl/worksheets/sheet1.xml": entities })],
    [
      "with a tag that is longer than any real one",
      zip({ ...parts, "xl/worksheets/sheet1.xml": sheet.replace("<sheetData>", `<x a="${endless}"/><sheetData>`) }),
    ],
    ["with rows in another order", zip({ ...parts, "xl/worksheets/sheet1.xml": sheet.replace('r="3"', 'r="2"') })],
    [
      "with a cell beyond the last column",
      zip({ ...parts, "xl/worksheets/sheet1.xml": sheet.replace("<c ", '<c r="XFE1" ') }),
    ],
    [
      "with a row that is larger than the limit",
      zip({
        ...parts,
        "xl/worksheets/sheet1.xml": sheet.replace("</row></sheetData>", `${large.repeat(9)}</row></sheetData>`),
      }),
    ],
    ["with another checksum than it says", otherChecksum(whole)],
    ["without its sheet", zip({ ...parts, "xl/_rels/workbook.xml.rels": "<Relationships/>" })],
    ["with a damaged sheet", Buffer.from(whole.toString("latin1").replace(/(sheet1\.xml)./u, "$1\0"), "latin1")],
    ["far larger inside than outside", zip({ ...parts, "xl/media/x": Buffer.alloc(20_000_000) })],
  ])("%s is not read, and the message names the file", async (_what, bytes) => {
    const { outcome } = await read(bytes);
    expect(outcome.complete).toBe(false);
    expect(outcome.problem?.message).toContain("c.xlsx");
  });

  it("in another form of spreadsheet is told what to save it as", async () => {
    const source = openSource(customersFile({ files: "c.xls" }), directoryWith({ "c.xls": "x" }));
    const { outcome } = await readAll(source, "customers");
    expect(outcome.problem?.cure).toBe("Save it as .xlsx or .csv.");
  });
});
