import type { Json, JsonObject } from "../../../base/canonical-json.ts";
import {
  mistake,
  type CompiledElements,
  type Evaluate,
  type ExpressionCompiler,
  type KeyPath,
  type MappingContext,
} from "../context.ts";

/** `gives`: the value; `refused`: the code. Without both, the expression has no value. */
export interface ExpressionExample {
  expression: Json;
  record: JsonObject;
  gives?: Json;
  refused?: string;
}

export interface OperatorReference {
  form: string;
  does: string;
  /** Keys beside the operator, with their meaning. `default` is always allowed. */
  options?: Readonly<Record<string, string>>;
  refuses?: Readonly<Record<string, string>>;
  examples: readonly ExpressionExample[];
}

export interface Operator {
  reference: OperatorReference;
  compile(operand: Json, spec: JsonObject, at: KeyPath, compiler: ExpressionCompiler): Evaluate;
  /** For operators that return list elements unchanged: that list, so that paths can continue into the elements. */
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

export function each(operand: Json, at: KeyPath, compiler: ExpressionCompiler): Evaluate[] {
  if (!Array.isArray(operand) || operand.length === 0) {
    mistake(compiler.context, at, "expected a list of expressions");
    return [];
  }
  return operand.map((spec, index) => compiler.expression(spec, [...at, index]));
}

export function option(spec: JsonObject, key: string, at: KeyPath, context: MappingContext): string | undefined {
  const value = spec[key];
  if (value === undefined || typeof value === "string") return value;
  mistake(context, beside(at, key), `found ${JSON.stringify(value)}; expected text`);
  return undefined;
}

export const textRefusals = {
  "wrong-type": "the value is neither text nor a number",
  "broken-text": "the text has an invalid character: NUL, or one half of a Unicode surrogate pair",
} as const;
