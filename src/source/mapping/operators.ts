import { add, multiply, round } from "./operators/arithmetic.ts";
import { first, map, when } from "./operators/choices.ts";
import { endOfDay, plusTerm } from "./operators/date-ends.ts";
import { date } from "./operators/date.ts";
import { digits, hash, login, phone } from "./operators/identifiers.ts";
import { collect, count, firstWhere, flatten, join, sum } from "./operators/lists.ts";
import { lookup } from "./operators/lookup.ts";
import { money } from "./operators/money.ts";
import type { Operator } from "./operators/operator.ts";
import { distinct, filter } from "./operators/selections.ts";
import { extract, pad, replace } from "./operators/parts-of-texts.ts";
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
  replace,
  extract,
  pad,
  digits,
  phone,
  login,
  hash,
  text,
  number,
  add,
  multiply,
  round,
  boolean,
  split,
  list,
  filter,
  firstWhere,
  distinct,
  collect,
  flatten,
  count,
  sum,
  join,
  when,
  date,
  plusTerm,
  endOfDay,
  money,
};
