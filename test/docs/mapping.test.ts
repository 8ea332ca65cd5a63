// oxlint-disable unicorn/no-thenable -- `then` is a key of the mapping
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exampleTables, mappingPage } from "../../scripts/docs/mapping-page.ts";
import { fieldsOf } from "../../scripts/docs/target-fields.ts";
import type { Json, JsonObject } from "../../src/base/canonical-json.ts";
import { recordSchemas, streams } from "../../src/crm/model.ts";
import { compileStream } from "../../src/source/mapping/compile.ts";
import { compositionReference, conditionReference } from "../../src/source/mapping/condition.ts";
import type { MappingContext } from "../../src/source/mapping/context.ts";
import { createExpressionCompiler } from "../../src/source/mapping/expression.ts";
import { operators } from "../../src/source/mapping/operators.ts";
import { pathExamples } from "../../src/source/mapping/path.ts";
import { recordExamples } from "../../scripts/docs/record-examples.ts";

const emptyContext = (): MappingContext => ({
  nullTexts: new Set(),
  tables: exampleTables,
  mistakes: [],
  reads: [],
  fields: [],
  fault: undefined,
  leavesOutFaults: false,
  secrets: new Set(),
  localIn: undefined,
  visited: 0,
  zones: new Map(),
});

function evaluated(expression: Json, record: JsonObject): { gives?: Json; refused?: string } {
  const context = emptyContext();
  const compiler = createExpressionCompiler(context, { steps: [], parent: undefined });
  const gives = compiler.expression(expression, [])({ item: record, parent: undefined });
  expect(context.mistakes).toEqual([]);
  if (context.fault !== undefined) return { refused: context.fault.code };
  return gives === undefined ? {} : { gives };
}

const outcome = ({ gives, refused }: { gives?: Json; refused?: string }) => ({
  ...(gives === undefined ? {} : { gives }),
  ...(refused === undefined ? {} : { refused }),
});

describe("the reference of the mapping", () => {
  it.each(Object.entries(operators))("shows what %s does", (name, { reference }) => {
    expect(reference.examples.length).toBeGreaterThan(0);
    expect(reference.form).toMatch(new RegExp(`^\\{${name}: `, "u"));
    for (const example of reference.examples)
      expect(evaluated(example.expression, example.record), JSON.stringify(example)).toEqual(outcome(example));
    const shown = reference.examples.flatMap(({ refused }) => refused ?? []);
    expect(shown.filter((code) => reference.refuses?.[code] === undefined)).toEqual([]);
    const written = JSON.stringify(reference.examples.map(({ expression }) => expression));
    expect(Object.keys(reference.options ?? {}).filter((key) => !written.includes(`"${key}":`))).toEqual([]);
  });

  it("has no option that is called like an operator", () => {
    const options = Object.values(operators).flatMap(({ reference }) => Object.keys(reference.options ?? {}));
    expect(options.filter((name) => Object.hasOwn(operators, name))).toEqual([]);
  });

  it("shows what paths and conditions do", () => {
    for (const example of pathExamples)
      expect(evaluated(example.expression, example.record), example.means).toEqual(outcome(example));
    const conditions = [...conditionReference, ...compositionReference];
    for (const { condition, record, holds, refused } of conditions.flatMap(({ examples }) => examples)) {
      const when = { when: condition, then: { value: true }, else: { value: false } };
      const expected = refused === undefined ? { gives: holds } : { refused };
      expect(evaluated(when, record), JSON.stringify(condition)).toEqual(expected);
    }
  });

  it.each(streams)("shows a whole mapping of %s", (stream) => {
    const { mapping, record, gives } = recordExamples[stream];
    const mapped = compileStream(stream, mapping, { tables: exampleTables }).map(record);
    const zones = stream === "orders" ? { zones: { placedAt: "Europe/Berlin" } } : {};
    expect(mapped).toEqual({ ok: true, value: { stream, record: gives, ...zones } });
  });

  it("describes every target field and names every code of a refusal", () => {
    const fields = streams.flatMap((stream) => fieldsOf(recordSchemas[stream]));
    expect(fields.filter(({ description }) => !/^[A-Z].*\.$/u.test(description))).toEqual([]);
    const page = mappingPage();
    const room = join(import.meta.dirname, "../../src/source/mapping");
    const texts = readdirSync(room, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(room, name), "utf8"));
    const codes = texts.flatMap((text) =>
      [...text.matchAll(/refuse\(\s*[\w.]+,\s*"([a-z-]+)"/gu)].map(([, code]) => code),
    );
    expect(codes.length).toBeGreaterThan(20);
    expect([...new Set(codes)].filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
  });
});
