import { canonicalJson } from "../../../base/canonical-json.ts";
import type { Json } from "../../../base/canonical-json.ts";
import { compileCondition } from "../condition.ts";
import { instantOf } from "../date.ts";
import { compare, decimalOf } from "../decimal.ts";
import type { Decimal } from "../decimal.ts";
import { numeric, ofInstant, plain, textual } from "../kinds.ts";
import { eachOf, elementPaths, onElements } from "./elements.ts";
import { asText, beside, textRefusals, wordOption } from "./operator.ts";
import { aCondition, anyExpression, listExpression, oneOfWords, plainExpression } from "../written.ts";

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

const sortings = ["text", "number", "instant"] as const;
const orders = ["ascending", "descending"] as const;

export const sort = onElements(
  {
    form: "{sort: LIST, by: EXPRESSION, as: KIND, order: ORDER}",
    does: "A list in another order. Elements that are the same stay as they stood; those without a value come last.",
    options: {
      by: `What decides. ${elementPaths} The element itself by default.`,
      as: "How it is compared: as `text` (by default), `number` or `instant`.",
      order: "`ascending` (by default) or `descending`.",
    },
    refuses: {
      ...textRefusals,
      "not-a-number": "something is no number, with `as: number`",
      "not-exact": "a number beyond 40 digits",
      "not-an-instant": "something is no instant, with `as: instant`",
    },
    examples: [
      {
        expression: { sort: "lines", by: "seats", as: "number", order: "descending" },
        record: { lines: [{ seats: "9" }, { seats: 10 }, {}] },
        gives: [{ seats: 10 }, { seats: "9" }, {}],
      },
      { expression: { sort: "tags" }, record: { tags: ["b", "a"] }, gives: ["a", "b"] },
    ],
  },
  {
    operand: listExpression,
    options: { by: anyExpression, as: oneOfWords(sortings), order: oneOfWords(orders) },
  },
  ({ inside }, spec, at, { context }) => {
    const as = wordOption(spec, "as", at, context, sortings, "text") ?? "text";
    const order = wordOption(spec, "order", at, context, orders, "ascending");
    const kinds = { text: textual, number: numeric, instant: ofInstant }[as];
    const by = inside.expression(spec["by"] ?? ".", beside(at, "by"), kinds);
    const sign = order === "descending" ? -1 : 1;
    const keyOf = (value: Json): string | Decimal | undefined => {
      if (as === "number") return decimalOf(value, context);
      return as === "text" ? asText(value, context) : instantOf(value, context);
    };
    return (elements, scope) => {
      const values = eachOf(elements, scope, by, () => context.fault !== undefined);
      const keyed = elements.map((element, index) => {
        const value = values[index];
        return { element, key: value === undefined || context.fault !== undefined ? undefined : keyOf(value) };
      });
      if (context.fault !== undefined) return undefined;
      return keyed
        .toSorted((one, other) => {
          if (one.key === undefined || other.key === undefined)
            return Number(one.key === undefined) - Number(other.key === undefined);
          return sign * compareKeys(one.key, other.key);
        })
        .map(({ element }) => element);
    };
  },
  (spec) => spec["by"] === undefined,
);

function compareKeys(one: string | Decimal, other: string | Decimal): number {
  if (typeof one !== "string" && typeof other !== "string") return compare(one, other);
  return one < other ? -1 : one > other ? 1 : 0;
}

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
