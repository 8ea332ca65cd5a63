import { describe, expect, it } from "vitest";
import { inPlace, sectionsOf } from "../../scripts/docs/settings.ts";
import { configSchema } from "../../src/config/config.ts";
import { jsonSchemaOf } from "../../src/config/schema.ts";

const sections = sectionsOf(jsonSchemaOf(configSchema));

describe("the reference of the configuration", () => {
  it("describes every key and has an example of it", () => {
    expect(sections.length).toBeGreaterThan(40);
    for (const { place, rows, examples } of sections) {
      if (examples.length === 0) continue;
      const shown = new Set(examples.flatMap((example) => Object.keys(example)));
      for (const row of rows) {
        const key = row.key.slice(place === "" ? 0 : place.length + 1);
        expect(row.description, row.key).toMatch(/^\S.*\S$/u);
        if (row.keysAt === undefined) expect(row.example, row.key).toBeDefined();
        expect(row.keysAt !== undefined || shown.has(key), row.key).toBe(true);
      }
    }
  });

  it.each(sections.filter(({ place, examples }) => place !== "" && examples.length > 0))(
    "has examples of $place that a configuration may hold",
    (section) => {
      for (const example of section.examples) {
        const parsed = configSchema.safeParse(inPlace(section, example, true));
        expect(parsed.success ? [] : parsed.error.issues, JSON.stringify(example)).toEqual([]);
      }
    },
  );

  it("describes a map that stands in several places once", () => {
    const rows = sections.flatMap(({ rows }) => rows);
    const keysAt = (key: string) => rows.find((row) => row.key === key)?.keysAt;
    expect(keysAt("memberCenter")).toEqual({ place: "orderService", without: ["appKey"], ofEntries: false, also: [] });
    expect(keysAt("sources.*<file>.streams.staff")?.place).toBe("sources.*<file>.streams.customers");
  });
});
