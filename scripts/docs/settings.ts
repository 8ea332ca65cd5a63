import { z } from "zod";
import { type Json, type JsonObject, isJsonObject } from "../../src/base/canonical-json.ts";
import { alternatives, type JsonSchema } from "../../src/config/schema.ts";

/** One key of the configuration. */
export interface SettingRow {
  /** Dotted; `*` stands for a name one gives, `[]` for an entry of a list, `<kind>` for one of several shapes. */
  key: string;
  /** With its bounds and allowed values. */
  type: string;
  /** As JSON; undefined where there is none. */
  default: string | undefined;
  required: boolean;
  description: string | undefined;
  /** The place where its keys are described, where it is a map; undefined for a value without keys of its own. */
  keysAt: KeysAt | undefined;
  example: Json | undefined;
}

/** One map of the configuration: its keys, and examples that have every key without keys of its own. */
export interface Section {
  /** As in `SettingRow.key`; empty for the top level. */
  place: string;
  description: string | undefined;
  rows: SettingRow[];
  examples: JsonObject[];
  /** The way from the top: the key of each step, and the map in which it stands, where that has keys of its own. */
  chain: readonly Step[];
}

interface Step {
  key: string;
  within: Section | undefined;
}

/** Names for what a person names. */
const exampleNames: Readonly<Record<string, string>> = {
  sources: "erp",
  jobs: "night",
  userTokens: "4711",
  details: "lines",
  tables: "regions",
};

/** Every key that may be written, in the order of the schema, those of a map that stands in several places too. */
export function settingsOf(root: JsonSchema): SettingRow[] {
  return sectionsOf(root, true).flatMap(({ rows }) => rows);
}

/** Every map of the configuration in the order of the schema; one that stands in several places is described once. */
export function sectionsOf(root: JsonSchema, everywhere = false): Section[] {
  const sections: Section[] = [];
  const described: Described[] = [];
  /** The place of each shape of several, by the shape. */
  const shapes = new Map<string, string>();
  /** Describes the maps in a schema, unless that is done elsewhere; undefined where there are none. */
  const visit = (
    schema: JsonSchema,
    place: string,
    chain: readonly Step[],
    open: readonly JsonSchema[],
  ): KeysAt | undefined => {
    const same = everywhere ? undefined : described.map((one) => sameKeys(one, schema, root)).find(Boolean);
    if (same !== undefined) return same;
    const before = sections.length;
    const members = alternatives(schema, root).filter((one) => !open.includes(one));
    let entries: KeysAt | undefined;
    const also: string[] = [];
    for (const one of members) {
      const inside = [...open, one];
      const label = members.length > 1 && place !== "" ? `<${labelOf(one)}>` : "";
      const known = everywhere || label === "" || one.properties === undefined ? undefined : shapes.get(shapeOf(one));
      if (known !== undefined) {
        also.push(known);
        continue;
      }
      if (label !== "") shapes.set(shapeOf(one), `${place}${label}`);
      if (one.properties !== undefined)
        describeMap(one, schema.description ?? one.description, `${place}${label}`, chain, inside);
      const last = place.split(".").at(-1) ?? "";
      const step = { key: exampleNames[last] ?? "name", within: undefined };
      if (typeof one.additionalProperties === "object")
        entries = visit(one.additionalProperties, `${place}.*`, [...chain, step], inside);
      if (typeof one.items === "object" && !Array.isArray(one.items))
        entries = visit(one.items, `${place}[]`, [...chain, { key: "[]", within: undefined }], inside);
    }
    if (entries !== undefined) return { ...entries, ofEntries: true };
    if (sections.length === before)
      return also.length === 0 ? undefined : { place: "", without: [], ofEntries: false, also };
    if (also.length === 0) described.push({ schema, place });
    return { place, without: [], ofEntries: false, also };
  };
  const describeMap = (
    one: JsonSchema,
    description: string | undefined,
    place: string,
    chain: readonly Step[],
    open: readonly JsonSchema[],
  ): void => {
    const section: Section = { place, description, rows: [], examples: [], chain };
    sections.push(section);
    const own: JsonObject = {};
    for (const [key, child] of Object.entries(one.properties ?? {})) {
      if (typeof child === "boolean") continue;
      const required = one.required?.includes(key) === true;
      const row = rowOf(place === "" ? key : `${place}.${key}`, child, required, root);
      section.rows.push(row);
      row.keysAt = visit(child, row.key, [...chain, { key, within: section }], open);
      if (row.keysAt === undefined || row.required || alternatives(child, root).some(isScalar))
        own[key] = row.example ?? {};
    }
    const given = one.examples?.map(json).filter((example) => isJsonObject(example));
    section.examples = given ?? [own];
  };
  visit(root, "", [], []);
  return sections;
}

interface Described {
  schema: JsonSchema;
  place: string;
}

/**
 * Where the keys of a map are described: at `place`, without some. `ofEntries`: of the maps that are its entries.
 * `also`: where those of its shapes are that stand in several places; `place` is empty if all of them do.
 */
export interface KeysAt {
  place: string;
  without: string[];
  ofEntries: boolean;
  also: string[];
}

/** The example in its place from the top, alone or together with the examples of the maps around it. */
export function inPlace(section: Section, example: JsonObject, complete: boolean): JsonObject {
  let value: Json = example;
  for (const { key, within } of section.chain.toReversed()) {
    if (key === "[]") value = [value];
    else value = { ...(complete ? within?.examples[0] : {}), [key]: value };
  }
  return isJsonObject(value) ? value : {};
}

/** The place where the keys of a map are described already, maybe with more of them. */
function sameKeys(described: Described, schema: JsonSchema, root: JsonSchema): KeysAt | undefined {
  const here = alternatives(schema, root);
  const there = alternatives(described.schema, root);
  const [one] = here;
  const [other] = there;
  if (here.length !== there.length || one === undefined || other === undefined) return undefined;
  if (here.length > 1) {
    if (here.every((each, index) => shapeOf(each) === shapeOf(there[index] ?? false)))
      return { place: described.place, without: [], ofEntries: false, also: [] };
    return undefined;
  }
  const [mine, theirs] = [one.properties, other.properties];
  if (mine === undefined || theirs === undefined) return undefined;
  const bare = !JSON.stringify(mine).includes('"default"');
  const fits = Object.entries(mine).every(([key, child]) => {
    const its = theirs[key];
    return its !== undefined && shapeOf(child, bare) === shapeOf(its, bare);
  });
  const without = Object.keys(theirs).filter((key) => mine[key] === undefined);
  return fits && without.length <= 2 ? { place: described.place, without, ofEntries: false, also: [] } : undefined;
}

/** A schema as text, without defaults where they do not count. */
function shapeOf(schema: JsonSchema | boolean, withoutDefaults = false): string {
  const unused = new Set(withoutDefaults ? ["default", "required", "examples"] : ["examples"]);
  return JSON.stringify(schema, (key, value: unknown) => (unused.has(key) ? undefined : value));
}

function labelOf(schema: JsonSchema): string {
  const kind = schema.properties?.["kind"];
  if (typeof kind === "object" && typeof kind.const === "string") return kind.const;
  return schema.required?.[0] ?? Object.keys(schema.properties ?? {})[0] ?? "";
}

function rowOf(key: string, schema: JsonSchema, required: boolean, root: JsonSchema): SettingRow {
  return {
    key,
    type: typeOf(schema, root),
    default: schema.default === undefined ? undefined : JSON.stringify(schema.default),
    required,
    description: schema.description,
    keysAt: undefined,
    example: exampleOf(schema, root),
  };
}

function isScalar(schema: JsonSchema): boolean {
  return schema.type !== "object" && schema.type !== "array";
}

const json = (value: unknown): Json => z.json().parse(value);

/** An example of the schema: the one that is written there, its default, or one put together of what it requires. */
function exampleOf(schema: JsonSchema, root: JsonSchema): Json | undefined {
  const members = alternatives(schema, root);
  const [given] = [schema, ...members].flatMap((one) => one.examples ?? []);
  if (given !== undefined) return json(given);
  if (isTelling(schema.default)) return json(schema.default);
  for (const one of members) {
    if (one.const !== undefined) return one.const;
    const [, second] = one.enum ?? [];
    if (second !== undefined) return second;
    if (one.type === "boolean") return true;
    if (one.properties !== undefined) return requiredOf(one, root);
    if (one.type === "array" && typeof one.items === "object" && !Array.isArray(one.items)) {
      const element = exampleOf(one.items, root);
      if (element !== undefined) return [element];
    }
  }
  return undefined;
}

function requiredOf(schema: JsonSchema, root: JsonSchema): JsonObject {
  const value: JsonObject = {};
  for (const key of schema.required ?? []) {
    const child = schema.properties?.[key];
    if (typeof child === "object") value[key] = exampleOf(child, root) ?? {};
  }
  return value;
}

function isTelling(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  return typeof value !== "object" || (Array.isArray(value) && value.length > 0);
}

function typeOf(schema: JsonSchema, root: JsonSchema): string {
  if (schema.$ref !== undefined) return "any";
  const names = alternatives(schema, root).map((one) => {
    if (one.const !== undefined) return `\`${String(one.const)}\``;
    if (one.enum !== undefined) return one.enum.map((value) => `\`${String(value)}\``).join(", ");
    switch (one.type) {
      case "string":
        return textOf(one);
      case "integer":
        return `whole number${range(one)}`;
      case "number":
        return `number${range(one)}`;
      case "boolean":
        return "`true`, `false`";
      case "array": {
        const items = typeof one.items === "object" && !Array.isArray(one.items) ? typeOf(one.items, root) : "";
        return items === "" || items.startsWith("map") ? "list" : `list of: ${items}`;
      }
      case "object":
        return "map";
      default:
        return one.type ?? "any";
    }
  });
  return [...new Set(names)].join("; or ");
}

const isBound = (bound: unknown): bound is number =>
  typeof bound === "number" && Math.abs(bound) < Number.MAX_SAFE_INTEGER;

function range(schema: JsonSchema): string {
  const { minimum, maximum, exclusiveMinimum } = schema;
  const least = isBound(minimum) ? `${minimum}` : isBound(exclusiveMinimum) ? `more than ${exclusiveMinimum}` : "";
  if (isBound(maximum)) return least === "" ? `, at most ${maximum}` : `, ${least} to ${maximum}`;
  return least === "" ? "" : `, ${isBound(minimum) ? "at least " : ""}${least}`;
}

/** What texts of a pattern are, by how the pattern begins. */
const wordsOf: Readonly<Record<string, string>> = {
  "^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+|command:": "a reference: `env:NAME`, `file:/path`, `command:PROGRAM`",
  "^(env:": "a reference: `env:NAME`, `file:/path`",
  "^(env|file):": "a reference: `env:NAME`, `file:/path`",
  "^[A-Za-z_][A-Za-z0-9_]*$": "the name of a variable",
  "^\\d{1,6}(?:ms|s|m|h|d)$": "a length of time such as `90m`, `24h`, `2d`",
  "^(?:(?:\\d\\d[2468][048]": "a date such as `2026-10-31`",
  "^(?:[A-Za-z0-9_'+\\-]+\\.)*": "an e-mail address",
};

function textOf(schema: JsonSchema): string {
  const { format, pattern, minLength, maxLength } = schema;
  if (format === "uri") return "text, an address";
  if (pattern !== undefined)
    return Object.entries(wordsOf).find(([start]) => pattern.startsWith(start))?.[1] ?? `text, as \`${pattern}\``;
  return isBound(maxLength) ? `text, ${minLength ?? 0} to ${maxLength} characters` : "text";
}
