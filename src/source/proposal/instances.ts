import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { licenseTypeMeanings } from "../../contract/vocabulary.ts";
import { parsePath } from "../mapping/path.ts";
import { valuesAt } from "../mapping/ways.ts";
import { toChoose } from "../problems.ts";
import { columnsByField, columnsNamed, dateForm, withinFirst } from "./columns.ts";
import type { ColumnFacts, Doubt } from "./columns.ts";
import { instanceNames, lineKinds } from "./names.ts";

/** Detail rows of orders: the name under which the mapping sees them, and their columns. */
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

/** A product without a term, which never ends. */
const noTerm = { timeUnit: { value: "NONE" }, timeUnitQuantity: { value: 0 }, term: { value: "0-0-0" } };

/** What a product needs and a list may not say. */
const constants = {
  type: { value: "tool" },
  ...noTerm,
  nodes: { value: 1 },
};

/** What is known of orders: their own columns, their lines, and the names of products. */
interface OrderLists {
  own: readonly ColumnFacts[];
  lines: ProposedLines | undefined;
  products: ProductList | undefined;
  zone: string;
}

/** The id of the asset of an order, whose own id is at a path. */
export function assetOf(order: string): JsonObject {
  return { template: `A-{${order}}` };
}

/** What an order brings, as its own columns or its lines say it. `order` is the path of its id. */
export function proposeInstances(order: string, { own, lines, products, zone }: OrderLists): ProposedInstances {
  const kinds = lines === undefined ? undefined : kindsOf(lines.columns);
  return lines !== undefined && kinds !== undefined
    ? tree(lines, kinds, zone)
    : assetOfOrder(order, { own, lines, products, zone });
}

/** One asset for each order, and a product for each of its lines; without lines, one product for each order. */
function assetOfOrder(order: string, { own, lines, products, zone }: OrderLists): ProposedInstances {
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
  const product = productOf(within, parts);
  const code = lines === undefined ? order : (line ?? product ?? toChoose);
  const up = lines === undefined ? "" : "^.";
  const term = proposeTerm(within, lines === undefined ? [] : own, zone);
  const type = parts.get("type")?.path;
  const name = parts.get("name")?.path ?? nameInList(product, within, products);
  const appKey = parts.get("appKey")?.path;
  const fields: JsonObject = {
    id: { template: lines === undefined ? `P-{${order}}` : `{^.${order}}-{${code}}` },
    parentId: assetOf(`${up}${order}`),
    name: name ?? product ?? code,
    gmsPid: product ?? code,
    ...(appKey === undefined ? {} : { appKey }),
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

/** The column that names a product. */
function productOf(columns: readonly ColumnFacts[], parts: ReadonlyMap<string, ColumnFacts>): string | undefined {
  return parts.get("gmsPid")?.path ?? columnsByField("lines", columns).get("product")?.column.path;
}

function licenceDoubt(at: Doubt["at"]): Doubt {
  const choices = Object.entries(licenseTypeMeanings).map(([type, meaning]) => `${type.padEnd(28)}${meaning}`);
  return { at, text: "what is sold; choose one of these types", notes: choices };
}

interface TypedLines {
  /** The column that says what a line is. */
  path: string;
  /** Its words by kind. */
  words: ReadonlyMap<keyof typeof lineKinds, string>;
}

/** The column that says what each line is, where lines are the parts of a tree; undefined where they are products. */
function kindsOf(columns: readonly ColumnFacts[]): TypedLines | undefined {
  const parts = columnsNamed(instanceNames, columns);
  const kind = parts.get("kind");
  if (kind === undefined || !parts.has("id") || !parts.has("parentId")) return undefined;
  const words = new Map<keyof typeof lineKinds, string>();
  for (const word of kind.examples)
    for (const [name, pattern] of typedEntries(lineKinds)) if (pattern.test(word)) words.set(name, word);
  return words.has("asset") && words.has("product") ? { path: kind.path, words } : undefined;
}

function typedEntries<Key extends string, Value>(record: Readonly<Record<Key, Value>>): [Key, Value][] {
  const keys = new Set<string>(Object.keys(record));
  const isKey = (key: string): key is Key => keys.has(key);
  return Object.keys(record).flatMap((key): [Key, Value][] => (isKey(key) ? [[key, record[key]]] : []));
}

/** The fields of each kind of line, in the order of the file. */
const fieldsOfKind: Readonly<Record<keyof typeof lineKinds, readonly string[]>> = {
  asset: ["id", "licenseType", "quantity", "assetNumbers", "limitStart", "limitEnd", "borrowedUsbKey"],
  package: ["id", "parentId", "number", "parentNumber", "name", "term"],
  product: [
    "id",
    "parentId",
    "name",
    "gmsPid",
    "appKey",
    "type",
    "nodes",
    "limitStart",
    "limitEnd",
    "timeUnit",
    "timeUnitQuantity",
    "term",
    "usage",
  ],
  feature: ["parentId", "code", "name", "value", "valueType"],
  extension: ["parentId", "code", "value"],
};

/** Each line says what it is and what it belongs to. */
function tree(lines: ProposedLines, { path, words }: TypedLines, zone: string): ProposedInstances {
  const parts = columnsNamed(instanceNames, lines.columns);
  const doubts: Doubt[] = [{ at: [], text: `${path} says what a line is: ${[...words.values()].join(", ")}` }];
  const kinds = typedEntries(fieldsOfKind).filter(([kind]) => words.has(kind));
  const expression = kinds.map(([kind, names], index): JsonObject => {
    const fields: JsonObject = {};
    const at = (name: string): Doubt["at"] => [index, "fields", name];
    for (const name of names) {
      const column = parts.get(name);
      if (column !== undefined) fields[name] = partOf(name, column, zone);
      else if (name === "licenseType") {
        fields[name] = { value: "cloud_account" };
        doubts.push(licenceDoubt(at(name)));
      } else if (kind === "product" && name === "type") {
        fields[name] = constants.type;
        doubts.push({ at: at(name), text: productTypeDoubt });
      } else if (kind === "product" && isConstant(name)) fields[name] = constants[name];
      else if (kind === "feature" && name === "valueType") fields[name] = { value: "text" };
    }
    return { kind, each: lines.name, when: { path, equals: words.get(kind) ?? kind }, fields };
  });
  return { expression, doubts };
}

function isConstant(name: string): name is keyof typeof constants {
  return Object.hasOwn(constants, name);
}

function partOf(name: string, { path, examples }: ColumnFacts, zone: string): Json {
  if (name === "assetNumbers") return { split: path, separator: ";", default: [] };
  if (name === "borrowedUsbKey") return { boolean: path, true: ["yes", "true", "1"], false: ["no", "false", "0"] };
  if (name !== "limitStart" && name !== "limitEnd") return path;
  return { date: path, ...(dateForm(examples, zone)?.options ?? { zone }) };
}

/** A list that gives the name of each product by its code, read as a look-up table. */
export interface ProductList {
  /** Which columns of the list a table reads. */
  table: { key: string; value: string };
  codes: ReadonlySet<string>;
}

/** The name of that table. */
export const productTable = "products";

const codes = { code: ["code", "number", "no", "nr", "id", "key"] };

/** What a list of rows that belong to no order says of products; undefined if it names none. */
export function productListOf(columns: readonly ColumnFacts[], rows: readonly JsonObject[]): ProductList | undefined {
  const found = columnsByField("lines", columns);
  if (found.has("order")) return undefined;
  const name = columnsNamed(instanceNames, columns).get("name");
  const key = [found.get("product")?.column, columnsNamed(codes, columns).get("code")].find(
    (column) => column?.isUnique === true && column.isFilled && column.path !== name?.path,
  );
  if (name === undefined || key === undefined) return undefined;
  const parsed = parsePath(key.path);
  const known = parsed.ok ? rows.flatMap((row) => valuesAt(row, parsed.value.steps)).map(String) : [];
  return { table: { key: key.path, value: name.path }, codes: new Set(known) };
}

/** How the name of a product is looked up by the column of its code; undefined if the list does not have these codes. */
function nameInList(
  path: string | undefined,
  columns: readonly ColumnFacts[],
  list: ProductList | undefined,
): JsonObject | undefined {
  const column = columns.find((item) => item.path === path);
  if (path === undefined || list === undefined || column === undefined) return undefined;
  if (!column.examples.every((code) => list.codes.has(code))) return undefined;
  return { lookup: { table: productTable, key: path } };
}

/** How rows of seats become a record for each person: settings of the stream, and its columns as mappings see them. */
interface GroupedSeats {
  group: JsonObject;
  columns: ColumnFacts[];
}

/** The name under which a mapping sees the rows of a person. */
export const seatRows = "seats";

/**
 * A list of staff in which people have several rows, one for each of their seats, read as one record for each of them;
 * undefined where each has one row.
 */
export function groupedSeats(columns: readonly ColumnFacts[], rows: readonly JsonObject[]): GroupedSeats | undefined {
  const found = columnsByField("staff", columns);
  const id = found.get("id")?.column;
  if (id === undefined || id.isUnique || !id.isFilled) return undefined;
  const agreed = new Map<string, string>();
  for (const [field, { column }] of found) {
    if (column.path === id.path || field === "order" || !allAgree(rows, id.path, column.path)) continue;
    agreed.set(column.path, field);
  }
  const fields = Object.fromEntries([...agreed].map(([path, field]) => [field, path]));
  return {
    group: { by: id.path, into: seatRows, ...(agreed.size === 0 ? {} : { fields }) },
    columns: columns.map((column) => {
      const path = column.path === id.path ? "key" : agreed.get(column.path);
      return { ...column, path: path ?? withinFirst(seatRows, column.path), isUnique: path === "key" };
    }),
  };
}

/** Whether all rows of one key have the same at a path. */
function allAgree(rows: readonly JsonObject[], by: string, path: string): boolean {
  const known = new Map<string, string>();
  return rows.every((row) => {
    const key = textAt(row, by);
    const text = textAt(row, path);
    const before = known.get(key) ?? text;
    known.set(key, before);
    return before === text;
  });
}

function textAt(row: JsonObject, path: string): string {
  const parsed = parsePath(path);
  return parsed.ok ? JSON.stringify(valuesAt(row, parsed.value.steps)) : "";
}

/** How long what is sold may be used: fields of a product, and what is guessed of each. */
interface ProposedTerm {
  fields: JsonObject;
  doubts: { field: string; text: string }[];
}

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
