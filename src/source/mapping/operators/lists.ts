import type { Json } from "../../../base/canonical-json.ts";
import { textOf } from "../coerce.ts";
import { compileCondition } from "../condition.ts";
import { refuse } from "../context.ts";
import type { Evaluate } from "../context.ts";
import type { Scope } from "../path.ts";
import { aCondition, anyExpression, beside, listExpression, option, someText, textRefusals } from "./operator.ts";
import type { Operator } from "./operator.ts";

const takesList = "a list; one object or value counts as a list of one, and elements that mean nothing are left out";
const tooMany = { "too-many": "the lists of a record are gone through for more than 2,000,000 elements" };
const elementPaths = "Its paths start at the element, as inside `each`.";

/** The value of an expression for each element. Stops at the first fault. */
function eachOf(elements: readonly Json[], scope: Scope, value: Evaluate, fault: () => boolean): (Json | undefined)[] {
  const values: (Json | undefined)[] = [];
  for (const item of elements) {
    values.push(value({ item, parent: scope }));
    if (fault()) return values;
  }
  return values;
}

/** Elements that lists put together may have. */
const mostElements = 100_000;

export const flatten: Operator = {
  reference: {
    form: "{flatten: LIST}",
    does: "The elements of the lists in a list, one after the other; an element that is no list stays.",
    takes: takesList,
    gives: "a list",
    options: {},
    refuses: { "too-many": "the lists have more than 100,000 elements in all" },
    examples: [
      {
        expression: { flatten: { collect: "orders", give: "lines" } },
        record: { orders: [{ lines: [1, 2] }, { lines: [3] }, {}] },
        gives: [1, 2, 3],
      },
    ],
  },
  written: { operand: listExpression },
  gives: ["list"],
  compile(operand, _spec, at, compiler) {
    const { context } = compiler;
    const list = compiler.elements(operand, at, false);
    return (scope) => {
      const found = list.read(scope);
      if (found === undefined) return undefined;
      let count = 0;
      for (const element of found) count += Array.isArray(element) ? element.length : 1;
      if (count > mostElements)
        return refuse(context, "too-many", [...found], `lists of at most ${mostElements} elements in all`);
      return found.flat();
    };
  },
};

export const collect: Operator = {
  reference: {
    form: "{collect: LIST, give: EXPRESSION}",
    does: "What an expression gives for each element; what gives nothing is left out.",
    takes: takesList,
    gives: "a list",
    options: { give: `The expression. ${elementPaths} Required.` },
    refuses: tooMany,
    examples: [
      {
        expression: { collect: "lines", give: { upper: "sku" } },
        record: { lines: [{ sku: "cad" }, { sku: "" }] },
        gives: ["CAD"],
      },
    ],
  },
  written: { operand: listExpression, options: { give: anyExpression }, required: ["give"] },
  gives: ["list"],
  compile(operand, spec, at, compiler) {
    const list = compiler.elements(operand, at, true);
    const give = list.inside.expression(spec["give"], beside(at, "give"));
    return (scope) => {
      const found = list.read(scope);
      if (found === undefined) return undefined;
      const values = eachOf(found, scope, give, () => compiler.context.fault !== undefined);
      return values.filter((value) => value !== undefined);
    };
  },
};

export const firstWhere: Operator = {
  reference: {
    form: "{firstWhere: LIST, where: CONDITION, give: EXPRESSION}",
    does: "The first element of a list for which a condition holds, or what an expression gives for it.",
    takes: takesList,
    gives: "the element, or the value of the expression",
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
  written: {
    operand: listExpression,
    options: { where: aCondition, give: anyExpression },
    required: ["where"],
  },
  gives: ({ give }, kindsOf) => (give === undefined ? undefined : kindsOf(give)),
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
    takes: takesList,
    gives: "a number",
    options: {},
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
  written: { operand: listExpression },
  gives: ["number"],
  compile(operand, _spec, at, compiler) {
    const list = compiler.elements(operand, at, true);
    return (scope) => list.read(scope)?.length;
  },
};

export const join: Operator = {
  reference: {
    form: "{join: LIST, separator: TEXT}",
    does: "The texts of a list as one text. Gives nothing where none is there.",
    takes: `${takesList}. Its elements: text, or numbers`,
    gives: "text",
    options: { separator: "The separator; a comma and a blank by default." },
    refuses: { ...tooMany, ...textRefusals, "too-long": "the text is longer than 1,000,000 characters" },
    examples: [
      { expression: { join: "tags", separator: " " }, record: { tags: ["a", 1, null] }, gives: "a 1" },
      {
        expression: { join: { collect: "lines", give: "sku" } },
        record: { lines: [{ sku: "x" }, { sku: "y" }] },
        gives: "x, y",
      },
    ],
  },
  written: { operand: listExpression, options: { separator: someText } },
  gives: ["text"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const list = compiler.elements(operand, at, false);
    const separator = option(spec, "separator", at, context) ?? ", ";
    return (scope) => {
      const texts: string[] = [];
      let length = 0;
      for (const element of list.read(scope) ?? []) {
        const text = textOf(element, context);
        if (text === undefined) return undefined;
        texts.push(text);
        length += text.length + separator.length;
        if (length > 1_000_000) return refuse(context, "too-long", text, "a text of at most 1000000 characters");
      }
      return texts.length === 0 ? undefined : texts.join(separator);
    };
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
    takes: takesList,
    gives: "a list",
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
  written: { operand: listExpression, options: { where: aCondition }, required: ["where"] },
  gives: ["list"],
  elements: elementsWhere,
  compile(operand, spec, at, compiler) {
    const { read } = elementsWhere(operand, spec, at, compiler, false);
    return (scope) => {
      const found = read(scope);
      return found === undefined ? undefined : [...found];
    };
  },
};
