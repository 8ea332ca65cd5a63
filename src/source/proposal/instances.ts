import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { licenseTypeMeanings } from "../../contract/vocabulary.ts";
import { toChoose } from "../problems.ts";
import { columnsByField, columnsNamed, dateForm, type ColumnFacts, type Doubt } from "./columns.ts";
import { instanceNames } from "./names.ts";

export interface ProposedLines {
  name: string;
  columns: readonly ColumnFacts[];
}

interface ProposedInstances {
  expression: Json;
  doubts: Doubt[];
}

const productTypeDoubt =
  "a made-up product type: ask the provider of the order service for its words, and list them in assumptions.productTypes (A22)";

/** A product without a term never ends. */
const noTerm = { timeUnit: { value: "NONE" }, timeUnitQuantity: { value: 0 }, term: { value: "0-0-0" } };

const constants = {
  type: { value: "tool" },
  ...noTerm,
  nodes: { value: 1 },
};

interface OrderLists {
  own: readonly ColumnFacts[];
  lines: ProposedLines | undefined;
  zone: string;
}

function assetOf(order: string): JsonObject {
  return { template: `A-{${order}}` };
}

/** One asset per order; one product per line, or per order without lines. `order`: path of the order id. */
export function proposeInstances(order: string, { own, lines, zone }: OrderLists): ProposedInstances {
  const doubts: Doubt[] = [];
  const given = columnsNamed(instanceNames, own).get("licenseType")?.path;
  const asset: JsonObject = {
    kind: "asset",
    one: { id: assetOf(order), licenseType: given ?? { value: "cloud_account" } },
  };
  if (given === undefined) doubts.push(licenceDoubt([0, "one", "licenseType"]));
  const within = lines?.columns ?? own;
  const parts = columnsNamed(instanceNames, within);
  const line = lines === undefined ? undefined : columnsByField("lines", within).get("id")?.column.path;
  const product = parts.get("gmsPid")?.path ?? columnsByField("lines", within).get("product")?.column.path;
  const code = lines === undefined ? order : (line ?? product ?? toChoose);
  const up = lines === undefined ? "" : "^.";
  const term = proposeTerm(within, lines === undefined ? [] : own, zone);
  const type = parts.get("type")?.path;
  const name = parts.get("name")?.path;
  const fields: JsonObject = {
    id: { template: lines === undefined ? `P-{${order}}` : `{^.${order}}-{${code}}` },
    parentId: assetOf(`${up}${order}`),
    name: name ?? product ?? code,
    gmsPid: product ?? code,
    nodes: parts.get("nodes")?.path ?? constants.nodes,
    type: type ?? constants.type,
    ...term.fields,
  };
  const at = lines === undefined ? [1, "one"] : [1, "fields"];
  const doubt = (field: string, text: string): void => {
    doubts.push({ at: [...at, field], text });
  };
  if (lines !== undefined && line === undefined)
    doubt("id", `made of the product, since no column numbers the lines: no order may have one ${code} twice`);
  if (name === undefined) doubt("name", "products have no name here; their code is sent as one");
  if (product === undefined) doubt("gmsPid", `no column names a product: ${code} stands for one`);
  else doubt("gmsPid", `the platform knows a product by ${product}`);
  if (type === undefined) doubt("type", productTypeDoubt);
  for (const { field, text } of term.doubts) doubt(field, text);
  const sold = lines === undefined ? { kind: "product", one: fields } : { kind: "product", each: lines.name, fields };
  return { expression: [asset, sold], doubts };
}

function licenceDoubt(at: Doubt["at"]): Doubt {
  const choices = Object.entries(licenseTypeMeanings).map(([type, meaning]) => `${type.padEnd(28)}${meaning}`);
  return { at, text: "what is sold; choose one of these types", notes: choices };
}

interface ProposedTerm {
  fields: JsonObject;
  doubts: { field: string; text: string }[];
}

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

function proposeTerm(within: readonly ColumnFacts[], above: readonly ColumnFacts[], zone: string): ProposedTerm {
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
    fields["limitEnd"] = isDay ? { plusTerm: until, term: "0-0-1", zone } : until;
    const text = isDay
      ? `${end.path} counts as the last day of the licence; if it is the first day without it, leave plusTerm out`
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

function countedTerm(columns: readonly ColumnFacts[]): { fields: JsonObject; path: string } | undefined {
  for (const { names, unit, before, after } of lengths) {
    const column = columns.find(({ plain, isFilled, examples }) => {
      const isWhole = examples.length > 0 && examples.every((text) => /^[1-9]\d{0,3}$/u.test(text));
      return names.test(plain) && isFilled && isWhole;
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
