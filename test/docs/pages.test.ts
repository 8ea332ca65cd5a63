import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { pages } from "../../scripts/docs/pages.ts";
import { settingsOf } from "../../scripts/docs/settings.ts";
import { table } from "../../scripts/docs/markdown.ts";
import { configSchema } from "../../src/config/config.ts";
import { jsonSchemaOf } from "../../src/config/schema.ts";
import { assumptions } from "../../src/contract/assumptions.ts";

const folder = join(import.meta.dirname, "../../docs");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

it.each(Object.entries(pages))(
  "docs/%s is what the program says (`npm run docs` writes it)",
  { tags: "long" },
  (name, make) => {
    expect(read(name) === make(), `docs/${name} is out of date: run \`npm run docs\` and commit it`).toBe(true);
  },
);

it("the page of the assumptions has every row of the contract's reading notes", { tags: "long" }, () => {
  const rows = [...read("reference/assumptions.md").matchAll(/^\| (A\d+) \| (assumption|choice) \|/gmu)].map(
    ([, id]) => id,
  );
  expect(rows).toEqual(assumptions.map(({ id }) => id));
  expect(rows).toHaveLength(43);
  const settings = assumptions.flatMap(({ decidedBy }) =>
    typeof decidedBy === "object" && "setting" in decidedBy ? [...decidedBy.setting.matchAll(/\w+(?:\.\w+)+/gu)] : [],
  );
  const keys = new Set(settingsOf(jsonSchemaOf(configSchema)).map(({ key }) => key));
  expect(settings.map(([key]) => key).filter((key) => !keys.has(key))).toEqual([]);
});

it("no table row has a cell too many", () => {
  for (const name of Object.keys(pages).filter((one) => one.endsWith(".md"))) {
    const text = read(name);
    const blocks = text.split("\n\n").filter((block) => block.startsWith("| "));
    for (const block of blocks) {
      const widths = block
        .trimEnd()
        .split("\n")
        .map((line) => line.replaceAll("\\|", "").split("|").length);
      expect(new Set(widths).size, block.slice(0, 200)).toBe(1);
    }
  }
  expect(table(["a"], [["x | y\nz"]])).toBe("| a |\n| --- |\n| x \\| y z |");
});
