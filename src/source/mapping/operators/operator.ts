import type { Json, JsonObject } from "../../../base/canonical-json.ts";
import { mistake, numeric, ofInstant, ofList, plain, textual } from "../context.ts";
import type { CompiledElements, Evaluate, ExpressionCompiler, KeyPath, Kinds, MappingContext } from "../context.ts";

/**
 * What may be written in one place of a mapping, as far as that can be told without a record: the schema for editors is
 * made of it. `object` has keys of its own; `entries` has keys that somebody chooses.
 */
export type Written =
  | { form: "constant" | "path" | "condition" | "number" | "boolean" | "words" }
  | { form: "expression"; takes: Kinds; isObject?: boolean }
  | { form: "text"; least?: number; most?: number; pattern?: string }
  | { form: "whole"; least: number; most?: number }
  | { form: "choice"; words: readonly string[] }
  | { form: "list"; of: Written; least: number; most?: number }
  | { form: "entries"; of: Written; least: number; most?: number }
  | { form: "either"; of: readonly Written[] }
  | { form: "object"; keys: Readonly<Record<string, Written>>; required: readonly string[] };

/** What may be written of an operator. */
export interface WrittenOperator {
  /** At its name. */
  operand: Written;
  /** Beside it, by key. */
  options?: Readonly<Record<string, Written>>;
  required?: readonly string[];
}

export const constant: Written = { form: "constant" };
export const aPath: Written = { form: "path" };
export const aCondition: Written = { form: "condition" };
export const someText: Written = { form: "text" };
export const words: Written = { form: "words" };
const expressionOf = (takes: Kinds): Written => ({ form: "expression", takes });
/** An expression where a text would be a constant: `{path: …}` and no bare path. */
export const objectExpressionOf = (takes: Kinds): Written => ({ form: "expression", takes, isObject: true });
export const anyExpression = expressionOf(undefined);
export const textExpression = expressionOf(textual);
export const numberExpression = expressionOf(numeric);
export const plainExpression = expressionOf(plain);
export const instantExpression = expressionOf(ofInstant);
export const listExpression = expressionOf(ofList);
export const numberOrExpression: Written = { form: "either", of: [{ form: "number" }, numberExpression] };
export const oneOfWords = (all: readonly string[]): Written => ({ form: "choice", words: all });
export const listOf = (of: Written, least = 1, most?: number): Written => ({
  form: "list",
  of,
  least,
  ...(most === undefined ? {} : { most }),
});
export const wholeNumber = (least: number, most?: number): Written => ({
  form: "whole",
  least,
  ...(most === undefined ? {} : { most }),
});

/** An expression on a raw record, with what it gives or the code of its refusal. Neither: it gives nothing. */
export interface ExpressionExample {
  expression: Json;
  record: JsonObject;
  gives?: Json;
  refused?: string;
}

/** What the reference says of an operator; the test of the reference runs the examples. */
export interface OperatorReference {
  /** How it is written, as YAML. */
  form: string;
  does: string;
  takes: string;
  gives: string;
  /** The keys that may stand beside its name, each with its meaning. `default` may always stand there. */
  options: Readonly<Record<string, string>>;
  /** Why a record is refused: code → meaning. */
  refuses: Readonly<Record<string, string>>;
  examples: readonly ExpressionExample[];
}

/** One kind of expression: `{upper: …}`. */
export interface Operator {
  reference: OperatorReference;
  written: WrittenOperator;
  /** What kinds of values it can give; some operators give what an expression in them gives. */
  gives: Kinds | ((spec: JsonObject, kindsOf: (spec: Json | undefined) => Kinds) => Kinds);
  compile(operand: Json, spec: JsonObject, at: KeyPath, compiler: ExpressionCompiler): Evaluate;
  /** Of an operator that gives elements of a list as they are: that list, so that paths can go on into them. */
  elements?: (
    operand: Json,
    spec: JsonObject,
    at: KeyPath,
    compiler: ExpressionCompiler,
    goesThrough: boolean,
  ) => CompiledElements;
}

export const isText = (value: Json | undefined): value is string => typeof value === "string";
export const beside = (at: KeyPath, key: string): KeyPath => [...at.slice(0, -1), key];

/** Expressions in a list: `[a, {value: "b"}]`. */
export function each(operand: Json, at: KeyPath, compiler: ExpressionCompiler, takes?: Kinds): Evaluate[] {
  if (!Array.isArray(operand) || operand.length === 0) {
    mistake(compiler.context, at, "expected a list of expressions");
    return [];
  }
  return operand.map((spec, index) => compiler.expression(spec, [...at, index], takes));
}

/** One of several words found beside an operator; `fallback` where there is none. */
export function wordOption<Word extends string>(
  spec: JsonObject,
  key: string,
  at: KeyPath,
  context: MappingContext,
  words: readonly Word[],
  fallback: Word | undefined,
): Word | undefined {
  const value = spec[key];
  const found = value === undefined ? fallback : words.find((word) => word === value);
  if (found === undefined) {
    const what = value === undefined ? "missing" : `found ${JSON.stringify(value)}`;
    mistake(context, beside(at, key), `${what}; expected ${words.join(", ")}`);
  }
  return found;
}

/** Text found beside an operator, undefined where there is none. */
export function option(spec: JsonObject, key: string, at: KeyPath, context: MappingContext): string | undefined {
  const value = spec[key];
  if (value === undefined || typeof value === "string") return value;
  mistake(context, beside(at, key), `found ${JSON.stringify(value)}; expected text`);
  return undefined;
}

/** What any operator that wants text refuses. */
export const textRefusals = {
  "wrong-type": "the value is neither text nor a number",
  "broken-text": "the text has an invalid character: NUL, or one half of a Unicode surrogate pair",
} as const;
