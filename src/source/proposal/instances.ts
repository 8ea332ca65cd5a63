import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { licenseTypeMeanings } from "../../contract/vocabulary.ts";
import type { ColumnFacts } from "./columns.ts";
import { dateForm } from "./dates.ts";
import type { Doubt } from "./doubt.ts";
import { columnsByField, columnsNamed } from "./find.ts";
import { instanceNames, lineKinds } from "./names.ts";
import { nameInList } from "./products.ts";
import type { ProductList } from "./products.ts";
import { noTerm, proposeTerm } from "./terms.ts";
import { toChoose } from "./to-choose.ts";

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
    gmsPid: { text: product ?? code },
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
