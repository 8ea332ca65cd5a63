import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { fileNameOf } from "../../../src/report/statement/writer.ts";
import { filesOf, hostileTexts, textOf } from "./sample.ts";

type Cells = Record<string, string>;

function parsed(text: string): Cells[] {
  return parse(text, { columns: true, record_delimiter: "\r\n", relax_column_count: false });
}

describe("a statement as CSV", async () => {
  const files = await filesOf("csv");
  const orders = parsed(textOf(files, ""));

  it("is a file for each part, those without rows too, and one that describes them", () => {
    expect([...files.keys()]).toEqual(["", "refunds", "lines"]);
    expect(textOf(files, "refunds")).toBe("currency,amount,nodes\r\n");
    expect(textOf(files, "lines")).toBe(
      "order,currency,price,amount\r\n10248,EUR,0.10,0.20\r\n10248,EUR,0.10,0.10\r\n10250,JPY,3,9\r\n",
    );
  });

  it("holds typed values as RFC 4180 has them: data only, every line ended by CR LF, quoted where need be", () => {
    const text = textOf(files, "");
    const lines = text.split("\r\n");
    expect(lines[0]).toBe("order,verdict,products,note,seats,trial,ordered_on,placed_at,currency,amount");
    expect(lines[1]).toBe(
      '10248,matched,"Atlas; Mercury\\u003b pro",,5,false,2026-10-01,2026-10-01T00:00:00+02:00,EUR,5.94',
    );
    expect(lines[2]).toBe("10249,different,,,7,true,2026-10-31,2026-10-25T02:30:00.250+01:00,EUR,999.99");
    expect(lines[3]).toBe("10250,matched,,,-2,,,,JPY,120000");
    expect(lines[4]).toBe("10251,matched,,,1,,,,KWD,1.005");
    expect(lines[5]).toBe("10252,missing,,,,,,,EUR,-0.01");
    expect(lines[6]).toBe("10253,missing,,,,,,,,");
    expect(text).toContain(`," spaces at both ends ",`);
    expect(text).toContain(`,"a,b;c""d'e|f",`);
    expect(lines).toHaveLength(6 + hostileTexts.length + 2);
    expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  });

  it("shows hostile texts as texts: no formula, nothing that acts unseen", () => {
    const hostile = orders.filter(({ verdict }) => verdict === "hostile");
    const notes = hostile.map(({ note }) => note ?? "");
    expect(notes).toHaveLength(hostileTexts.length);
    // Each stands in a cell of its own, and first in a list.
    for (const note of [...notes, ...hostile.map(({ products }) => products ?? "")]) {
      expect(note).not.toMatch(/^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/);
      // oxlint-disable-next-line no-control-regex
      expect(note).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\uffff]/);
      expect(note.isWellFormed()).toBe(true);
    }
    expect(notes.slice(0, 12)).toEqual([
      "'=1+1",
      `'=HYPERLINK("https://x.example","click")`,
      "'+41 44",
      "'-2+3",
      "'@SUM(A1)",
      "'\\t=1+1",
      "'\\r\\n=1+1",
      "'\uff1d1+1",
      "'\uff20x",
      "nul\\u0000 bell\\u0007 escape\\u001b[31m delete\\u007f next\\u0085",
      "left\\u202eright\\u202c \\u2066isolate\\u2069 mark\\u200f\\u200e\\u061c",
      "lone \\ud800 half, not a character \\uffff, line\\u2028separator, \\ufeffmark",
    ]);
    expect(notes.slice(-4)).toEqual(["Größe 漢字 𝔘 🧾", "true", "00123", "1e5"]);
  });

  it("has the same bytes when it is made again", async () => {
    expect(await filesOf("csv")).toEqual(files);
  });
});

describe("the names of files", () => {
  it.each([
    ["out/orders.csv", "", "out/orders.csv"],
    ["out/orders.csv", "lines", "out/orders.lines.csv"],
    ["out.d/orders", "lines", "out.d/orders.lines"],
    ["a\\b.c\\orders", "lines", "a\\b.c\\orders.lines"],
    [".csv", "lines", ".csv.lines"],
  ])("of %s and %j are %s", (path, file, name) => {
    expect(fileNameOf(path, file)).toBe(name);
  });
});
