import type { Json } from "../../../base/canonical-json.ts";
import { compileCondition } from "../condition.ts";
import { refuse } from "../context.ts";
import { beside, type Operator } from "./operator.ts";

const tooMany = { "too-many": "the lists of a record are gone through for more than 2,000,000 elements" };
const mostElements = 100_000;
const elementPaths = "Its paths start at the element, as inside `each`.";

export const collect: Operator = {
  reference: {
    form: "{collect: LIST, give: EXPRESSION}",
    does: "What an expression gives for each element, and of a list that it gives, the elements; what gives nothing is left out.",
    options: { give: `The expression. ${elementPaths} Required.` },
    refuses: tooMany,
    examples: [
      {
        expression: { collect: "lines", give: { upper: "sku" } },
        record: { lines: [{ sku: "cad" }, { sku: "" }] },
        gives: ["CAD"],
      },
      {
        expression: { collect: "orders", give: "lines" },
        record: { orders: [{ lines: [1, 2] }, { lines: [3] }, {}] },
        gives: [1, 2, 3],
      },
    ],
  },
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const list = compiler.elements(operand, at, true);
    const give = list.inside.expression(spec["give"], beside(at, "give"));
    return (scope) => {
      const found = list.read(scope);
      if (found === undefined) return undefined;
      const collected: Json[] = [];
      for (const item of found) {
        const value = give({ item, parent: scope });
        if (context.fault !== undefined) return undefined;
        const given = value === undefined ? [] : Array.isArray(value) ? value : [value];
        if (collected.length + given.length > mostElements)
          return refuse(context, "too-many", collected, `lists of at most ${mostElements} elements in all`);
        for (const one of given) collected.push(one);
      }
      return collected;
    };
  },
};

export const firstWhere: Operator = {
  reference: {
    form: "{firstWhere: LIST, where: CONDITION, give: EXPRESSION}",
    does: "The first element of a list for which a condition holds, or what an expression gives for it.",
    options: {
      where: `The condition. ${elementPaths} Required.`,
      give: `The value to take from that element. ${elementPaths} The element itself by default.`,
    },
    refuses: tooMany,
    examples: [
      {
        expression: { firstWhere: "contacts", where: { path: "role", equals: "admin" }, give: "mail" },
        record: {
          contacts: [
            { role: "sales", mail: "bob@example.com" },
            { role: "admin", mail: "ann@example.com" },
          ],
        },
        gives: "ann@example.com",
      },
      {
        expression: { firstWhere: "contacts", where: { path: "role", equals: "admin" }, give: "mail" },
        record: { contacts: [] },
      },
    ],
  },
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const list = compiler.elements(operand, at, spec["give"] !== undefined);
    const holds = compileCondition(spec["where"], beside(at, "where"), list.inside);
    const give = spec["give"] === undefined ? undefined : list.inside.expression(spec["give"], beside(at, "give"));
    return (scope) => {
      for (const item of list.read(scope) ?? []) {
        const element = { item, parent: scope };
        const isIt = holds(element);
        if (context.fault !== undefined) return undefined;
        if (isIt) return give === undefined ? item : give(element);
      }
      return undefined;
    };
  },
};

export const count: Operator = {
  reference: {
    form: "{count: LIST}",
    does: "How many elements a list has. No list gives nothing.",
    refuses: tooMany,
    examples: [
      {
        expression: { count: { filter: "lines", where: { path: "seats", above: 0 } } },
        record: { lines: [{ seats: 1 }, { seats: 0 }] },
        gives: 1,
      },
      { expression: { count: "lines", default: 0 }, record: {}, gives: 0 },
    ],
  },
  compile(operand, _spec, at, compiler) {
    const list = compiler.elements(operand, at, true);
    return (scope) => list.read(scope)?.length;
  },
};

const elementsWhere: NonNullable<Operator["elements"]> = (operand, spec, at, compiler, goesThrough) => {
  const list = compiler.elements(operand, at, goesThrough);
  const holds = compileCondition(spec["where"], beside(at, "where"), list.inside);
  return {
    inside: list.inside,
    read: (scope) => {
      const found = list.read(scope)?.filter((item) => holds({ item, parent: scope }));
      return compiler.context.fault === undefined ? found : undefined;
    },
  };
};

export const filter: Operator = {
  reference: {
    form: "{filter: LIST, where: CONDITION}",
    does: "The elements of a list for which a condition holds.",
    options: { where: `The condition. ${elementPaths} Required.` },
    refuses: tooMany,
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
  elements: elementsWhere,
  compile(operand, spec, at, compiler) {
    const { read } = elementsWhere(operand, spec, at, compiler, false);
    return (scope) => {
      const found = read(scope);
      return found === undefined ? undefined : [...found];
    };
  },
};
