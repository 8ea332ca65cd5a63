import { first, lookup, map, when } from "./operators/choices.ts";
import { date, plusTerm } from "./operators/dates.ts";
import { collect, count, filter, firstWhere } from "./operators/lists.ts";
import type { Operator } from "./operators/operator.ts";
import { extract, replace } from "./operators/parts-of-texts.ts";
import { concat, hash, login, lower, phone, split, template, trim, upper } from "./operators/texts.ts";
import { boolean, list, money, multiply, number, path, value } from "./operators/values.ts";

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
  phone,
  login,
  hash,
  number,
  multiply,
  boolean,
  split,
  list,
  filter,
  firstWhere,
  collect,
  count,
  when,
  date,
  plusTerm,
  money,
};
