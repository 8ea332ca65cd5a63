import { describe, expect, it } from "vitest";
import { z } from "zod";
import { statementJsonSchema } from "../../../scripts/docs/statement-schema.ts";
import { filesOf, hostileTexts, sampleHeader, sampleShape, textOf } from "./sample.ts";

/** What there is of the schema, as zod understands it. */
function validator(): z.ZodType {
  return z.fromJSONSchema(JSON.parse(JSON.stringify(statementJsonSchema(sampleShape))));
}

describe("a statement as JSON", async () => {
  const text = textOf(await filesOf("json"), "");
  const statement = JSON.parse(text);

  it("is one document with one row a line", () => {
    expect(Object.keys(statement)).toEqual(["header", "parts"]);
    expect(Object.keys(statement.parts)).toEqual(["orders", "refunds", "lines"]);
    const rows = text.split("\n").filter((line) => line.startsWith('{"amount"'));
    expect(rows).toHaveLength(6 + hostileTexts.length + 3);
    expect(statement.parts.refunds).toMatchObject({ rows: [], totals: { rows: 0, columns: { amount: {}, nodes: 0 } } });
    expect(statement.header).toMatchObject({ statement: "sample", version: 3, auditHead: sampleHeader.auditHead });
  });

  it("holds money as decimal texts, instants in the zone of the statement, and what is empty as null", () => {
    expect(statement.parts.orders.rows[0]).toEqual({
      order: "10248",
      verdict: "matched",
      products: ["Atlas", "Mercury; pro"],
      note: null,
      seats: 5,
      trial: false,
      ordered_on: "2026-10-01",
      placed_at: "2026-10-01T00:00:00+02:00",
      currency: "EUR",
      amount: "5.94",
    });
    expect(statement.parts.orders.totals).toMatchObject({
      columns: { seats: 33, amount: { EUR: "1005.92", JPY: "120022", KWD: "1.005" } },
      groups: [{ value: "different" }, { value: "hostile" }, { value: "matched" }, { value: "missing" }],
    });
  });

  it("keeps texts exactly and shows none of them where it would act", () => {
    const notes = statement.parts.orders.rows.slice(6).map(({ note }: { note: string }) => note);
    expect(notes).toEqual(hostileTexts);
    expect(text.replaceAll("\n", "")).not.toMatch(
      // oxlint-disable-next-line no-control-regex
      /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/,
    );
    expect(text.isWellFormed()).toBe(true);
  });

  it("is valid by the published schema of its kind", () => {
    expect(validator().safeParse(statement).error).toBeUndefined();
  });

  it.each([
    [
      "a total that is no decimal",
      (broken: typeof statement) => (broken.parts.orders.totals.columns.amount.EUR = "1,5"),
    ],
    ["an amount that is a number", (broken: typeof statement) => (broken.parts.lines.rows[0].price = 10)],
    ["a column that is not in it", (broken: typeof statement) => (broken.parts.lines.rows[0].more = "x")],
    ["a part that is missing", (broken: typeof statement) => delete broken.parts.refunds],
    ["another version", (broken: typeof statement) => (broken.header.version = 4)],
  ])("is not valid by it with %s", (_what, breakIt) => {
    const broken = structuredClone(statement);
    breakIt(broken);
    expect(validator().safeParse(broken).success).toBe(false);
  });

  it.each([
    ["has more digits than a number holds", 2n ** 53n, "9007199254740992"],
    ["has as many as one holds", 2n ** 53n - 1n, 9_007_199_254_740_991],
    ["is below what a number holds", -(2n ** 53n), "-9007199254740992"],
    ["is few, however it is held", 5n, 5],
    ["is very many", 10n ** 30n, `1${"0".repeat(30)}`],
  ])("is valid by it, in a row and in its totals, where a whole number %s", async (_what, seats, written) => {
    const rows = [{ part: "orders", row: { order: "1", verdict: "matched", seats } }];
    const made = JSON.parse(textOf(await filesOf("json", { rows }), ""));
    expect(made.parts.orders.rows[0].seats).toBe(written);
    expect(made.parts.orders.totals.columns.seats).toBe(written);
    expect(made.parts.orders.totals.groups[0].columns.seats).toBe(written);
    expect(validator().safeParse(made).error).toBeUndefined();
  });

  it.each([5.5, "5", "", "9007199254740992.0", "09007199254740992", "1e20", 9_007_199_254_740_992, -1e16])(
    "is not valid by it with %j as a whole number, in a row or in its totals",
    (wrong) => {
      const [inRow, inTotals, inGroup] = [
        structuredClone(statement),
        structuredClone(statement),
        structuredClone(statement),
      ];
      inRow.parts.orders.rows[0].seats = wrong;
      inTotals.parts.orders.totals.columns.seats = wrong;
      inGroup.parts.orders.totals.groups[0].columns.seats = wrong;
      for (const broken of [inRow, inTotals, inGroup]) expect(validator().safeParse(broken).success).toBe(false);
    },
  );

  it("has the same bytes when it is made again", async () => {
    expect(textOf(await filesOf("json"), "")).toBe(text);
  });
});
