import { first, lookup, map, when } from "./operators/choices.ts";
import { date } from "./operators/date.ts";
import { money } from "./operators/money.ts";
import type { Operator } from "./operators/operator.ts";
import { concat, lower, split, template, text, trim, upper } from "./operators/texts.ts";
import { boolean, list, number, path, value } from "./operators/values.ts";

/** All kinds of expressions, by the key that names them. */
export const operators: Readonly<Record<string, Operator>> = {
  value,
  path,
  template,
  first,
  concat,
  lookup,
  map,
  upper,
  lower,
  trim,
  text,
  number,
  boolean,
  split,
  list,
  when,
  date,
  money,
};
