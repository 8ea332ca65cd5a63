import { canonicalJson } from "../../../base/canonical-json.ts";
import { compileCondition } from "../condition.ts";
import { plain } from "../kinds.ts";
import { elementPaths, onElements } from "./elements.ts";
import { asText, beside, textRefusals } from "./operator.ts";
import { aCondition, listExpression, plainExpression } from "../written.ts";

export const filter = onElements(
  {
    form: "{filter: LIST, where: CONDITION}",
    does: "The elements of a list for which a condition holds.",
    options: { where: `The condition. ${elementPaths} Required.` },
    examples: [
      {
        expression: { filter: "lines", where: { path: "type", equals: "licence" } },
        record: {
          lines: [
            { id: 1, type: "licence" },
            { id: 2, type: "service" },
          ],
        },
        gives: [{ id: 1, type: "licence" }],
      },
      {
        expression: { filter: "tags", where: { path: ".", matches: "^cad" } },
        record: { tags: ["cad", "crm", null] },
        gives: ["cad"],
      },
    ],
  },
  { operand: listExpression, options: { where: aCondition }, required: ["where"] },
  ({ inside }, spec, at) => {
    const holds = compileCondition(spec["where"], beside(at, "where"), inside);
    return (elements, scope) => elements.filter((item) => holds({ item, parent: scope }));
  },
);

export const distinct = onElements(
  {
    form: "{distinct: LIST, by: EXPRESSION}",
    does: "A list without repetitions: of elements that are the same, the first. One without a value stays.",
    options: { by: `What tells elements apart, compared as text. ${elementPaths} The whole element by default.` },
    refuses: textRefusals,
    examples: [
      { expression: { distinct: "tags" }, record: { tags: ["a", "b", "a"] }, gives: ["a", "b"] },
      {
        expression: { distinct: "lines", by: "sku" },
        record: {
          lines: [
            { sku: 1, seats: 5 },
            { sku: "1", seats: 7 },
          ],
        },
        gives: [{ sku: 1, seats: 5 }],
      },
    ],
  },
  { operand: listExpression, options: { by: plainExpression } },
  ({ inside }, spec, at, { context }) => {
    const by = spec["by"] === undefined ? undefined : inside.expression(spec["by"], beside(at, "by"), plain);
    return (elements, scope) => {
      const seen = new Set<string>();
      return elements.filter((item) => {
        if (context.fault !== undefined) return false;
        const value = by === undefined ? item : by({ item, parent: scope });
        if (value === undefined) return true;
        const key =
          by === undefined ? canonicalJson(value) : typeof value === "boolean" ? String(value) : asText(value, context);
        if (key === undefined || seen.has(key)) return false;
        seen.add(key);
        return true;
      });
    };
  },
  (spec) => spec["by"] === undefined,
);
