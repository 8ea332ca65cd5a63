import type { Json, JsonObject } from "../../../base/canonical-json.ts";
import { textOf } from "../coerce.ts";
import { mistake } from "../context.ts";
import type { CompiledElements, Evaluate, ExpressionCompiler, KeyPath, MappingContext } from "../context.ts";
import type { ExpressionExample } from "../example.ts";
import { textual } from "../kinds.ts";
import type { Kinds } from "../kinds.ts";
import type { WrittenOperator } from "../written.ts";

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

export function asText(value: Json | undefined, context: MappingContext): string | undefined {
  return value === undefined ? undefined : textOf(value, context);
}

/** The expression of an operator that wants text. */
export function ofText(operand: Json | undefined, at: KeyPath, compiler: ExpressionCompiler): Evaluate {
  return compiler.expression(operand, at, textual);
}

/** Expressions in a list: `[a, {value: "b"}]`. */
export function each(operand: Json, at: KeyPath, compiler: ExpressionCompiler, takes?: Kinds): Evaluate[] {
  if (!Array.isArray(operand) || operand.length === 0) {
    mistake(compiler.context, at, "expected a list of expressions");
    return [];
  }
  return operand.map((spec, index) => compiler.expression(spec, [...at, index], takes));
}

/** A whole number found beside an operator, undefined where there is none. */
export function wholeOption(
  spec: JsonObject,
  key: string,
  at: KeyPath,
  context: MappingContext,
  bounds: { least: number; most: number },
): number | undefined {
  const value = spec[key];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= bounds.least && value <= bounds.most)
    return value;
  const expected = `a whole number from ${bounds.least} to ${bounds.most}`;
  mistake(context, beside(at, key), `found ${JSON.stringify(value)}; expected ${expected}`);
  return undefined;
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
