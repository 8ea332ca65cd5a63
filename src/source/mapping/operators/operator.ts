import type { Json, JsonObject } from "../../../base/canonical-json.ts";
import {
  mistake,
  type CompiledElements,
  type Evaluate,
  type ExpressionCompiler,
  type KeyPath,
  type MappingContext,
} from "../context.ts";

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
  /** The keys that may stand beside its name, each with its meaning. `default` may always stand there. */
  options?: Readonly<Record<string, string>>;
  /** Why a record is refused: code → meaning. */
  refuses?: Readonly<Record<string, string>>;
  examples: readonly ExpressionExample[];
}

/** One kind of expression: `{upper: …}`. */
export interface Operator {
  reference: OperatorReference;
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
export function each(operand: Json, at: KeyPath, compiler: ExpressionCompiler): Evaluate[] {
  if (!Array.isArray(operand) || operand.length === 0) {
    mistake(compiler.context, at, "expected a list of expressions");
    return [];
  }
  return operand.map((spec, index) => compiler.expression(spec, [...at, index]));
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
