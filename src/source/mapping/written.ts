import { numeric, ofInstant, ofList, plain, textual } from "./kinds.ts";
import type { Kinds } from "./kinds.ts";

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
  /** Exactly one of these keys stands beside it. */
  oneOf?: readonly string[];
}

export const constant: Written = { form: "constant" };
export const aPath: Written = { form: "path" };
export const aCondition: Written = { form: "condition" };
export const someText: Written = { form: "text" };
export const words: Written = { form: "words" };
export const expressionOf = (takes: Kinds): Written => ({ form: "expression", takes });
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
