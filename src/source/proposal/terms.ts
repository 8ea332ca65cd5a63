import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { ColumnFacts } from "./columns.ts";
import { dateForm } from "./dates.ts";
import { columnsNamed } from "./find.ts";
import { instanceNames } from "./names.ts";

/** How long what is sold may be used: fields of a product, and what is guessed of each. */
interface ProposedTerm {
  fields: JsonObject;
  doubts: { field: string; text: string }[];
}

/** A product without a term, which never ends. */
export const noTerm = { timeUnit: { value: "NONE" }, timeUnitQuantity: { value: 0 }, term: { value: "0-0-0" } };

/** Columns whose numbers count the years or the months of a term. */
const lengths = [
  {
    names: /^(?:years|termyears|terminyears|yearsofterm|jahre|laufzeitjahre)$/u,
    unit: "YEAR",
    before: "",
    after: "-0-0",
  },
  {
    names: /^(?:months|termmonths|terminmonths|monthsofterm|durationmonths|monate|laufzeitmonate)$/u,
    unit: "MONTH",
    before: "0-",
    after: "-0",
  },
];

const neverEnds = "these licences would never end";
const byHand = "a term of a year is timeUnit YEAR, timeUnitQuantity 1, term 1-0-0, with limitStart and limitEnd";

/** The term that the columns of a line say, or those of its order, which are one level up. */
export function proposeTerm(within: readonly ColumnFacts[], above: readonly ColumnFacts[], zone: string): ProposedTerm {
  const columns = [
    ...within,
    ...above.filter(({ path }) => !path.startsWith("[")).map((column) => ({ ...column, path: `^.${column.path}` })),
  ];
  const named = columnsNamed(instanceNames, columns);
  const doubts: ProposedTerm["doubts"] = [];
  const [unit, quantity, stated] = ["timeUnit", "timeUnitQuantity", "term"].map((part) => named.get(part)?.path);
  const isStated = unit !== undefined && quantity !== undefined && stated !== undefined;
  const counted = isStated ? undefined : countedTerm(columns);
  const fields: JsonObject = isStated
    ? { timeUnit: unit, timeUnitQuantity: quantity, term: stated }
    : { ...(counted?.fields ?? noTerm) };
  const start = named.get("limitStart");
  const end = named.get("limitEnd");
  if (counted !== undefined) {
    const isOpen = start === undefined && end === undefined;
    const open = isOpen ? "; no column says when it begins, so limitStart and limitEnd stay empty" : "";
    doubts.push({ field: "timeUnit", text: `${counted.path} is the length of the term${open}` });
  }
  const from = start === undefined ? undefined : { date: start.path, ...optionsOf(start, zone) };
  if (from !== undefined) fields["limitStart"] = from;
  if (end !== undefined) {
    const isDay = !hasTime(end);
    const until: Json = { date: end.path, ...optionsOf(end, zone) };
    fields["limitEnd"] = isDay ? { endOfDay: until, zone } : until;
    const text = isDay
      ? `${end.path} counts as the last day of the licence; if it is the first day without it, leave endOfDay out`
      : `the licence ends at the time in ${end.path}`;
    doubts.push({ field: "limitEnd", text });
  } else if (from !== undefined && counted !== undefined) {
    fields["limitEnd"] = { plusTerm: from, term: counted.fields["term"] ?? null, zone };
  } else if (!isStated && counted === undefined) doubts.push({ field: "timeUnit", text: neverEndsText(columns) });
  return { fields, doubts };
}

function optionsOf({ examples }: ColumnFacts, zone: string): JsonObject {
  return dateForm(examples, zone)?.options ?? { zone };
}

function hasTime({ examples }: ColumnFacts): boolean {
  return examples.some((text) => /\d:\d\d|^1\d{9}(?:\d{3})?$/u.test(text));
}

/** The term that a column counts in each row; undefined where none does. */
function countedTerm(columns: readonly ColumnFacts[]): { fields: JsonObject; path: string } | undefined {
  for (const { names, unit, before, after } of lengths) {
    const column = columns.find(({ plain, isOfList, isFilled, examples }) => {
      const isWhole = examples.length > 0 && examples.every((text) => /^[1-9]\d{0,3}$/u.test(text));
      return names.test(plain) && !isOfList && isFilled && isWhole;
    });
    if (column === undefined) continue;
    const term = { template: `${before}{${column.path}}${after}` };
    return { fields: { timeUnit: { value: unit }, timeUnitQuantity: column.path, term }, path: column.path };
  }
  return undefined;
}

const perhapsTerm = /year|month|term|duration|laufzeit|jahr|monat|expir|renew/u;

function neverEndsText(columns: readonly ColumnFacts[]): string {
  const paths = columns.filter(({ plain }) => perhapsTerm.test(plain)).map(({ path }) => path);
  const perhaps = paths.length === 0 ? "" : `; perhaps ${paths.join(", ")} says the term`;
  return `${neverEnds}${perhaps}; ${byHand}`;
}
