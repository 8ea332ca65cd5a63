import { expect, it } from "vitest";
import { z } from "zod";
import { openInquiry } from "../../../src/inquiry/inquiry.ts";
import { statements, type Statement } from "../../../src/inquiry/statement/statement.ts";
import { statementJsonSchema } from "../../../scripts/docs/statement-schema.ts";
import { statementKinds } from "../../../src/report/statement/shape.ts";
import { month, threeMonths } from "../../inquiry/statement/statement-world.ts";

const names = Object.keys(statements) as (keyof typeof statements)[];

it(
  "every statement, as JSON, is valid by its published schema, and a cell of another type is not",
  { tags: "long" },
  async () => {
    const { path } = await threeMonths();
    const inquiry = openInquiry(path);
    let rows = 0;
    for (const kind of names) {
      const { shape }: Statement = statements[kind];
      const schema = z.fromJSONSchema(JSON.parse(JSON.stringify(statementJsonSchema(shape))));
      let text = "";
      const request = { period: month("2026-10"), by: "happened", filters: {} } as const;
      for await (const { chunk } of inquiry.statement(kind, request, "json")) text += chunk;
      const made = schema.safeParse(JSON.parse(text));
      expect(made.success, `${kind}: ${made.error?.message ?? ""}`).toBe(true);
      const wrong = text.replace(/"rows":\[\n\{"[a-z_]+":(?:null|"[^"]*"|[^,]+),/u, '"rows":[\n{"no_column":1,');
      rows += Number(wrong !== text);
      if (wrong !== text) expect(schema.safeParse(JSON.parse(wrong)).success, kind).toBe(false);
    }
    inquiry.close();
    expect(rows, "statements of which a row was looked at").toBeGreaterThan(3);
  },
);

it("a job can write every statement", () => {
  expect([...statementKinds].sort()).toEqual(names.toSorted());
});
