import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { textOf } from "./coerce.ts";
import { compileCondition, wordsOf } from "./condition.ts";
import { mistake, refuse } from "./context.ts";
import type { Evaluate, KeyPath, MappingContext, ExpressionCompiler } from "./context.ts";
import { clockChangePolicies, compileDate } from "./date.ts";
import { compileAmount } from "./money.ts";

/** One kind of expression: `{upper: …}`. `options` are the keys that may stand beside its name. */
export interface Operator {
  options: readonly string[];
  compile(operand: Json, spec: JsonObject, at: KeyPath, compiler: ExpressionCompiler): Evaluate;
}

const isText = (value: Json | undefined): value is string => typeof value === "string";
const beside = (at: KeyPath, key: string): KeyPath => [...at.slice(0, -1), key];

/** An operator on the text that another expression finds. */
function onText(change: (text: string) => string): Operator {
  return {
    options: [],
    compile(operand, _spec, at, compiler) {
      const inner = compiler.expression(operand, at);
      return (scope) => {
        const text = asText(inner(scope), compiler.context);
        if (text === undefined) return undefined;
        const changed = change(text);
        return changed === "" ? undefined : changed;
      };
    },
  };
}

function asText(value: Json | undefined, context: MappingContext): string | undefined {
  return value === undefined ? undefined : textOf(value, context);
}

/** Expressions in a list: `[a, {value: "b"}]`. */
function each(operand: Json, at: KeyPath, compiler: ExpressionCompiler): Evaluate[] {
  if (!Array.isArray(operand) || operand.length === 0) {
    mistake(compiler.context, at, "expected a list of expressions");
    return [];
  }
  return operand.map((spec, index) => compiler.expression(spec, [...at, index]));
}

/** Text found beside an operator, a default where there is none. */
function option(spec: JsonObject, key: string, at: KeyPath, context: MappingContext): string | undefined {
  const value = spec[key];
  if (value === undefined || typeof value === "string") return value;
  mistake(context, beside(at, key), `found ${JSON.stringify(value)}; expected text`);
  return undefined;
}

const value: Operator = { options: [], compile: (operand) => () => operand };

const path: Operator = {
  options: [],
  compile(operand, _spec, at, compiler) {
    if (!isText(operand)) return mistake(compiler.context, at, "expected a path as text");
    return compiler.expression(operand, at);
  },
};

const template: Operator = {
  options: [],
  compile(operand, _spec, at, compiler) {
    if (!isText(operand)) return mistake(compiler.context, at, 'expected text such as "A-{orderID}"');
    const parts: (string | Evaluate)[] = [];
    for (const match of operand.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[^{}]+|[{}]/g)) {
      const [piece, name] = match;
      if (name !== undefined) parts.push(compiler.expression(name, at));
      else if (piece === "{" || piece === "}") {
        return mistake(
          compiler.context,
          at,
          `found a single ${piece} in the template; expected {path}, or ${piece}${piece} for the character`,
        );
      } else parts.push(piece === "{{" ? "{" : piece === "}}" ? "}" : piece);
    }
    return (scope) => {
      let text = "";
      for (const part of parts) {
        const found = typeof part === "string" ? part : asText(part(scope), compiler.context);
        if (found === undefined) return undefined;
        text += found;
      }
      return text;
    };
  },
};

const first: Operator = {
  options: [],
  compile(operand, _spec, at, compiler) {
    const choices = each(operand, at, compiler);
    return (scope) => {
      for (const choice of choices) {
        const found = choice(scope);
        if (found !== undefined || compiler.context.fault !== undefined) return found;
      }
      return undefined;
    };
  },
};

const concat: Operator = {
  options: ["separator"],
  compile(operand, spec, at, compiler) {
    const parts = each(operand, at, compiler);
    const separator = option(spec, "separator", at, compiler.context) ?? "";
    return (scope) => {
      const texts: string[] = [];
      for (const part of parts) {
        const text = asText(part(scope), compiler.context);
        if (text !== undefined) texts.push(text);
      }
      return texts.length === 0 ? undefined : texts.join(separator);
    };
  },
};

const lookup: Operator = {
  options: [],
  compile(operand, _spec, at, compiler) {
    const { context } = compiler;
    if (!isJsonObject(operand)) {
      return mistake(context, at, "expected {table: …, key: …}");
    }
    for (const key of Object.keys(operand)) {
      if (!["table", "key", "default"].includes(key))
        mistake(context, [...at, key], "unknown; expected table, key, default");
    }
    const name = operand["table"];
    const table = isText(name) ? context.tables.get(name) : undefined;
    if (table === undefined) {
      const known = [...context.tables.keys()].join(", ") || "none is declared";
      return mistake(
        context,
        [...at, "table"],
        `no such table: ${JSON.stringify(name) ?? "missing"}; known tables: ${known}`,
      );
    }
    const key = compiler.expression(operand["key"], [...at, "key"]);
    const expected = `a key of the table ${isText(name) ? name : ""}`;
    const fallback = operand["default"];
    return (scope) => {
      const found = key(scope);
      const text = asText(found, context);
      if (text === undefined) return undefined;
      const result = table.get(text) ?? fallback;
      return result === undefined ? refuse(context, "not-in-table", found, expected) : result;
    };
  },
};

const map: Operator = {
  options: ["values"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at);
    const { values, default: fallback } = spec;
    if (!isJsonObject(values)) {
      return mistake(context, beside(at, "values"), "expected an object: found text → value");
    }
    const table = new Map(Object.entries(values));
    const expected = `one of ${[...table.keys()].join(", ")}`;
    return (scope) => {
      const found = inner(scope);
      const text = asText(found, context);
      if (text === undefined) return undefined;
      return table.get(text) ?? fallback ?? refuse(context, "unknown-word", found, expected);
    };
  },
};

const number: Operator = {
  options: ["decimalMark"],
  compile(operand, spec, at, compiler) {
    const inner = compiler.expression(operand, at);
    const mark = option(spec, "decimalMark", at, compiler.context) ?? ".";
    return (scope) => {
      const found = inner(scope);
      if (found === undefined || typeof found === "number") return found;
      const text = isText(found) ? found.trim().replace(mark, ".") : "";
      const exact = /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN;
      return Number.isFinite(exact) ? exact : refuse(compiler.context, "not-a-number", found, "a number");
    };
  },
};

const boolean: Operator = {
  options: ["true", "false"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at);
    const yes = spec["true"] === undefined ? new Set(["true"]) : wordsOf(spec["true"], beside(at, "true"), context);
    const no = spec["false"] === undefined ? new Set(["false"]) : wordsOf(spec["false"], beside(at, "false"), context);
    const expected = `${[...yes].join(" or ")} for true, ${[...no].join(" or ")} for false`;
    return (scope) => {
      const found = inner(scope);
      if (found === undefined) return undefined;
      const text = typeof found === "object" ? "" : String(found);
      if (yes.has(text)) return true;
      if (no.has(text)) return false;
      return refuse(context, "not-a-boolean", found, expected);
    };
  },
};

const split: Operator = {
  options: ["separator"],
  compile(operand, spec, at, compiler) {
    const inner = compiler.expression(operand, at);
    const separator = option(spec, "separator", at, compiler.context) ?? ",";
    return (scope) => {
      const text = asText(inner(scope), compiler.context);
      if (text === undefined) return undefined;
      const pieces = text.split(separator, 50_001).map((piece) => piece.trim());
      if (pieces.length > 50_000) return refuse(compiler.context, "too-many", text, "at most 50000 pieces");
      return pieces.filter((piece) => piece !== "" && !compiler.context.nullTexts.has(piece));
    };
  },
};

const list: Operator = {
  options: [],
  compile(operand, _spec, at, compiler) {
    const parts = each(operand, at, compiler);
    return (scope) => {
      const found: Json[] = [];
      for (const part of parts) {
        const element = part(scope);
        if (element !== undefined) found.push(element);
      }
      return found;
    };
  },
};

const when: Operator = {
  options: ["then", "else"],
  compile(operand, spec, at, compiler) {
    const holds = compileCondition(operand, at, compiler);
    const { then: yes, else: no } = spec;
    const onTrue = compiler.expression(yes, beside(at, "then"));
    const onFalse = no === undefined ? () => undefined : compiler.expression(no, beside(at, "else"));
    return (scope) => (holds(scope) ? onTrue(scope) : onFalse(scope));
  },
};

const date: Operator = {
  options: ["format", "zone", "clockChange"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at);
    const clockChange = option(spec, "clockChange", at, context) ?? "reject";
    const policy = clockChangePolicies.find((known) => known === clockChange);
    if (policy === undefined) {
      return mistake(
        context,
        beside(at, "clockChange"),
        `found ${clockChange}; expected ${clockChangePolicies.join(", ")}`,
      );
    }
    const declared = {
      format: option(spec, "format", at, context) ?? "iso",
      zone: option(spec, "zone", at, context),
      clockChange: policy,
    };
    const reader = compileDate(declared, context);
    if (!reader.ok) return mistake(context, at.slice(0, -1), reader.error);
    const read = reader.value;
    return (scope) => {
      const found = inner(scope);
      return found === undefined ? undefined : read(found);
    };
  },
};

const money: Operator = {
  options: ["currency", "decimals", "decimalMark", "groupMark"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at);
    const { decimals = 2, currency } = spec;
    if (typeof decimals !== "number" || !Number.isInteger(decimals) || decimals < 0 || decimals > 6) {
      return mistake(
        context,
        beside(at, "decimals"),
        `found ${JSON.stringify(decimals)}; expected a whole number from 0 to 6`,
      );
    }
    const constant = isText(currency) && /^[A-Z]{3}$/.test(currency) ? currency : undefined;
    if (constant === undefined && (currency === undefined || isText(currency))) {
      return mistake(
        context,
        beside(at, "currency"),
        "expected a currency such as EUR, or an expression such as {path: currency}",
      );
    }
    const currencyOf: Evaluate =
      constant === undefined ? compiler.expression(currency, beside(at, "currency")) : () => constant;
    const amount = compileAmount(
      {
        decimals,
        decimalMark: option(spec, "decimalMark", at, context) ?? ".",
        groupMark: option(spec, "groupMark", at, context),
      },
      context,
    );
    return (scope) => {
      const found = inner(scope);
      if (found === undefined) return undefined;
      const unit = currencyOf(scope);
      if (!isText(unit) || !/^[A-Z]{3}$/.test(unit))
        return refuse(context, "not-a-currency", unit, "three capital letters");
      const result = amount(found, unit);
      return result === undefined ? undefined : { ...result };
    };
  },
};

/** All kinds of expressions, by the key that names them. */
export const operators: Readonly<Record<string, Operator>> = {
  value,
  path,
  template,
  first,
  concat,
  lookup,
  map,
  upper: onText((text) => text.toUpperCase()),
  lower: onText((text) => text.toLowerCase()),
  trim: onText((text) => text.trim()),
  text: onText((text) => text),
  number,
  boolean,
  split,
  list,
  when,
  date,
  money,
};
