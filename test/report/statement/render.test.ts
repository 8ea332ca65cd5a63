import { describe, expect, it } from "vitest";
import { decimalText, minorDigits } from "../../../src/crm/currency.ts";
import { Problem } from "../../../src/base/errors.ts";
import { localTime } from "../../../src/report/statement/cells.ts";
import { requireStatementFormat } from "../../../src/report/statement/render.ts";
import type { PartRow, Row } from "../../../src/report/statement/shape.ts";
import { filesOf, sampleRows } from "./sample.ts";

async function refusal(rows: PartRow[]): Promise<unknown> {
  return filesOf("json", { rows }).then(
    () => undefined,
    (problem: unknown) => problem,
  );
}

const order = (row: Row): PartRow => ({ part: "orders", row: { order: "1", verdict: "matched", ...row } });

describe("the rows of a statement", () => {
  it.each<[string, Row, string]>([
    ["an amount without a currency", { amount: 5 }, "no currency"],
    ["an amount with a currency that is none", { amount: 5, currency: "euro" }, "no currency"],
    ["an amount that is no whole number", { amount: 0.5, currency: "EUR" }, "has no money in amount"],
    ["a number that cannot be held", { seats: Number.NaN }, "has no integer in seats"],
    ["a text where a date belongs", { ordered_on: "1.10.2026" }, "has no date in ordered_on"],
    ["a day that there is not", { ordered_on: "2026-13-01" }, "has no date in ordered_on"],
    ["an instant without its zone", { placed_at: "2026-10-01T00:00:00" }, "has no instant in placed_at"],
    ["a column that there is not", { name: "x" }, "is no column of this part"],
  ])("are refused with %s", async (_what, row, message) => {
    const problem = await refusal([order({}), order(row)]);
    expect(problem).toBeInstanceOf(Problem);
    expect(problem).toMatchObject({ code: "statement.row", message: expect.stringContaining(message) });
    expect(problem).toMatchObject({ message: expect.stringContaining("row 2 of the part orders") });
  });

  it("are refused where their part is past, or none of the statement's", async () => {
    expect(await refusal(sampleRows.toReversed())).toMatchObject({ code: "statement.part" });
    expect(await refusal([{ part: "other", row: {} }])).toMatchObject({ code: "statement.part" });
  });

  it("are added up exactly, also beyond what a number holds", async () => {
    const most = Number.MAX_SAFE_INTEGER;
    const rows = [
      order({ amount: most, currency: "EUR", seats: -most }),
      order({ amount: 1, currency: "JPY" }),
      order({ amount: most - 1, currency: "EUR", seats: -2 }),
    ];
    const files = await filesOf("json", { rows });
    const text = [...files.values()].map((bytes) => new TextDecoder().decode(bytes)).join("");
    expect(text).toContain('"amount":{"EUR":"180143985094819.81","JPY":"1"}');
    expect(text).toContain('"seats":"-9007199254740993"');
    // One comes back to what a number holds.
    const back = await filesOf("json", { rows: [...rows, order({ seats: 3 })] });
    expect(new TextDecoder().decode([...back.values()][0])).toContain(
      '"totals":{"columns":{"amount":{"EUR":"180143985094819.81","JPY":"1"},"seats":-9007199254740990}',
    );
  });

  it("hold whole numbers of any size", async () => {
    const row = order({ amount: 2n ** 70n, currency: "EUR", seats: 2n ** 60n });
    for (const format of ["csv", "json", "html"] as const) {
      const files = await filesOf(format, { rows: [row] });
      expect(files.size, format).toBeGreaterThan(0);
      const text = new TextDecoder().decode([...files.values()][0]).replaceAll(/[\u00a0\u202f,]/gu, "");
      expect(text, format).toContain("11805916207174113034.24");
      expect(text, format).toContain("1152921504606846976");
    }
  });

  it("are pulled one after the other, and their source is closed when nobody reads on", async () => {
    let closed = false;
    let pulled = 0;
    async function* source(): AsyncGenerator<PartRow> {
      try {
        for (;;) {
          pulled += 1;
          yield order({ amount: pulled === 5000 ? 0.5 : 1, currency: "EUR" });
        }
      } finally {
        closed = true;
      }
    }
    await expect(filesOf("csv", { rows: source() })).rejects.toThrow("row 5000");
    expect({ closed, pulled }).toEqual({ closed: true, pulled: 5000 });
  });

  it("are written in a format that there is", () => {
    expect(requireStatementFormat("csv")).toBe("csv");
    expect(() => requireStatementFormat("doc")).toThrow('there is no format "doc"');
  });
});

describe("amounts", () => {
  it.each([
    [594, "EUR", "5.94"],
    [-5, "EUR", "-0.05"],
    [0, "EUR", "0.00"],
    [-0, "JPY", "0"],
    [500, "JPY", "500"],
    [1005, "KWD", "1.005"],
    [12_345, "CLF", "1.2345"],
    [Number.MAX_SAFE_INTEGER, "USD", "90071992547409.91"],
    // Shops leave their minor unit away; books do not.
    [12_345, "IDR", "123.45"],
    [12_345, "HUF", "123.45"],
    [12_345, "IQD", "12.345"],
  ])("%d minor units of %s are %s", (minor, currency, text) => {
    expect(decimalText(minor, currency)).toBe(text);
  });

  it("have the digits of ISO 4217", () => {
    expect(["EUR", "UGX", "TND", "UYW", "QQQ"].map(minorDigits)).toEqual([2, 0, 3, 4, 2]);
  });
});

describe("the time of a zone", () => {
  it.each([
    ["Europe/Berlin", "2026-10-25T00:59:59.000Z", "2026-10-25T02:59:59+02:00"],
    ["Europe/Berlin", "2026-10-25T01:00:00.000Z", "2026-10-25T02:00:00+01:00"],
    ["Asia/Kathmandu", "2026-09-30T18:20:00.001Z", "2026-10-01T00:05:00.001+05:45"],
    ["America/St_Johns", "2026-10-01T00:00:00.000Z", "2026-09-30T21:30:00-02:30"],
    ["Australia/Lord_Howe", "2026-10-03T15:30:00.000Z", "2026-10-04T02:30:00+11:00"],
    ["UTC", "2026-10-01T00:00:00.000Z", "2026-10-01T00:00:00+00:00"],
  ])("in %s shows %s as %s", (zone, instant, text) => {
    expect(localTime(zone).text(instant)).toBe(text);
    expect(localTime(zone).shown(instant)).toBe(text.slice(0, -6).replace("T", " "));
  });
});
