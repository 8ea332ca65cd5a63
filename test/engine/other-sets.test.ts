import { describe, expect, it } from "vitest";
import { detailShrinkage } from "../../src/ingest/belief/rows.ts";

const limits = { sourceShrink: 0.2 };
const joined = (records: number): Record<string, number> => ({ "#headers": records, lines: 3 * records });
const grouped = (records: number): Record<string, number> => ({ "#rows": 3 * records, "#records": records });

describe.each([
  ["joined are grouped now", joined, grouped],
  ["grouped are joined now", grouped, joined],
])("rows that were %s", (_how, before, now) => {
  const earlier = { rows: 100, details: JSON.stringify(before(100)), name: "the last complete read" };

  it("are not believed where too many records are gone", () => {
    expect(detailShrinkage(now(79), earlier, limits)[0]?.text).toMatch(
      /lost 21 of 100 records .* since the last complete read/u,
    );
    expect(detailShrinkage(now(0), earlier, limits)[0]?.text).toMatch(/lost 100 of 100 records/u);
  });

  it("are believed where about as many records are there", () => {
    expect(detailShrinkage(now(95), earlier, limits)).toEqual([]);
  });
});
