import { add, multiply, round } from "./operators/arithmetic.ts";
import { first, lookup, map, when } from "./operators/choices.ts";
import { date, endOfDay, plusTerm } from "./operators/dates.ts";
import { collect, count, distinct, filter, firstWhere, flatten, join, sum } from "./operators/lists.ts";
import type { Operator } from "./operators/operator.ts";
import { extract, pad, replace } from "./operators/parts-of-texts.ts";
import { concat, digits, hash, login, lower, phone, split, template, text, trim, upper } from "./operators/texts.ts";
import { boolean, list, money, number, path, value } from "./operators/values.ts";

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
