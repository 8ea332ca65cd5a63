// oxlint-disable unicorn/no-thenable -- `then` is a key of the mapping
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { exampleTables } from "../../scripts/docs/mapping-page.ts";
import { inPlace, sectionsOf } from "../../scripts/docs/settings.ts";
import { isJsonObject, type JsonObject } from "../../src/base/canonical-json.ts";
import { configSchema } from "../../src/config/config.ts";
import { presetNames } from "../../src/setup/init-from.ts";
import { jsonSchemaOf } from "../../src/config/schema.ts";
import { streams } from "../../src/crm/model.ts";
import { compositionReference, conditionReference } from "../../src/source/mapping/condition.ts";
import { operators } from "../../src/source/mapping/operators.ts";
import { parsePath, pathExamples, pathPattern } from "../../src/source/mapping/path.ts";
import { recordExamples } from "../../scripts/docs/record-examples.ts";
import { filledPreset } from "../config/presets/filled.ts";
import { refusedInside, refusedMappings, takenMappings } from "./written-mappings.ts";

const project = join(import.meta.dirname, "../..");
const schema: unknown = JSON.parse(readFileSync(join(project, "config/schema.json"), "utf8"));
const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  validateFormats: false,
});
ajv.addSchema(isJsonObject(schema) ? schema : {}, "config");
const ofConfig = ajv.compile({ $ref: "config#" });
const ofSources = ajv.compile({ $ref: "config#/properties/sources" });
const says = (validate: typeof ofConfig, value: unknown): string[] =>
  validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

const tables = {
  regions: { inline: { DE: "EMEA", US: "AMER" } },
  packs: { inline: { "CAD-10": { product: "CAD", seats: "10" } } },
};
const sourceOf = (stream: string, settings: JsonObject): JsonObject => ({
  crm: { kind: "file", tables, streams: { [stream]: { files: "rows.csv", ...settings } } },
});
const { mapping: customer } = recordExamples.customers;
const staff: JsonObject = { ...recordExamples.staff.mapping };

/** What the program and the schema say of the settings of a stream. */
function verdicts(stream: string, settings: JsonObject): { program: boolean; editor: boolean } {
  const sources = sourceOf(stream, settings);
  return { program: configSchema.shape.sources.safeParse(sources).success, editor: ofSources(sources) };
}
const both = (verdict: boolean) => ({ program: verdict, editor: verdict });

describe("the schema for editors", () => {
  it("takes the examples of every operator, of paths and of conditions, as the program does", () => {
    const expressions = Object.values(operators).flatMap(({ reference }) => reference.examples);
    for (const { expression } of [...expressions, ...pathExamples]) {
      // In `collect` an expression may give anything.
      const remark = { concat: { collect: "rows", give: expression } };
      expect(verdicts("staff", { mapping: { ...staff, remark } }), JSON.stringify(expression)).toEqual(both(true));
    }
    const conditions = [...conditionReference, ...compositionReference].flatMap(({ examples }) => examples);
    for (const { condition } of conditions)
      expect(verdicts("customers", { skip: condition, mapping: customer }), JSON.stringify(condition)).toEqual(
        both(true),
      );
    expect([...exampleTables.keys()]).toEqual(Object.keys(tables));
  });

  it.each(streams)("takes the whole mapping of %s that the reference shows", (stream) => {
    expect(verdicts(stream, { mapping: recordExamples[stream].mapping })).toEqual(both(true));
  });

  it("takes every example of the configuration's reference, and the files in config", { tags: "long" }, () => {
    for (const section of sectionsOf(jsonSchemaOf(configSchema)))
      for (const example of section.place === "" ? [] : section.examples)
        expect(says(ofConfig, inPlace(section, example, true)), JSON.stringify(example)).toEqual([]);
    const file = (name: string): unknown => parse(readFileSync(join(project, "config", name), "utf8"));
    const northwind = file("northwind.yaml");
    expect(says(ofSources, isJsonObject(northwind) ? northwind["sources"] : undefined)).toEqual([]);
  });

  it.each(presetNames())("takes the preset %s", (name) => {
    expect(says(ofSources, { crm: filledPreset(name) })).toEqual([]);
  });

  it.each(takenMappings)("takes $what, as the program does", ({ stream, settings }) => {
    expect(says(ofSources, sourceOf(stream, settings))).toEqual([]);
    expect(verdicts(stream, settings)).toEqual(both(true));
  });

  it.each(refusedMappings)("refuses $what, as the program does", ({ stream, settings }) => {
    expect(verdicts(stream, settings)).toEqual(both(false));
  });

  it.each(refusedInside)("leaves $what to the program", ({ stream, settings }) => {
    expect(verdicts(stream, settings)).toEqual({ program: false, editor: true });
  });

  it("knows a path from what is none, as the program does", () => {
    const pieces = ["a", "b c", "^", ".", "[", "]", "0", '"', "\\", '["x.y"]', "[0]", "\n"];
    const pattern = new RegExp(pathPattern, "u");
    const wrong: string[] = [];
    const visit = (text: string, left: number): void => {
      if (parsePath(text).ok !== pattern.test(text)) wrong.push(text);
      if (left > 0) for (const piece of pieces) visit(text + piece, left - 1);
    };
    visit("", 4);
    expect(wrong).toEqual([]);
  });

  it("says of each target field what it is for", () => {
    const { $defs } = isJsonObject(schema) ? schema : {};
    const undescribed = Object.entries(isJsonObject($defs) ? $defs : {}).flatMap(([name, one]) => {
      const properties = isJsonObject(one) && /^(?:mapping|orders|staff)-/u.test(name) ? one["properties"] : undefined;
      return isJsonObject(properties)
        ? Object.entries(properties).flatMap(([key, field]) =>
            isJsonObject(field) && typeof field["description"] === "string" && field["description"] !== ""
              ? []
              : [`${name}.${key}`],
          )
        : [];
    });
    expect(undescribed).toEqual([]);
  });
});
