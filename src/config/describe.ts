import { alternatives } from "./schema-walk.ts";
import type { JsonSchema } from "./schema-walk.ts";

/** One key of the configuration, for the documentation. */
export interface SettingRow {
  /** Dotted; `*` stands for a name one gives, `[]` for an entry of a list, `<kind>` for one of several shapes. */
  key: string;
  type: string;
  /** As JSON; undefined where there is none. */
  default: string | undefined;
  required: boolean;
  description: string | undefined;
}

const deepest = 12;

/** Every key that may be written, in the order of the schema. Keys of a recursive shape are listed once. */
export function describeSettings(root: JsonSchema): SettingRow[] {
  const rows: SettingRow[] = [];
  const seen = new Set<string>();
  const visit = (schema: JsonSchema, prefix: string, open: readonly JsonSchema[]): void => {
    if (open.length > deepest) return;
    for (const one of alternatives(schema, root)) {
      if (open.includes(one)) continue;
      const inside = [...open, one];
      const label = kindOf(one);
      const at = label === undefined || prefix === "" ? prefix : `${prefix}<${label}>`;
      for (const [key, child] of Object.entries(one.properties ?? {})) {
        if (typeof child === "boolean") continue;
        const path = at === "" ? key : `${at}.${key}`;
        if (!seen.has(path)) {
          seen.add(path);
          rows.push({
            key: path,
            type: typeOf(child, root),
            default: child.default === undefined ? undefined : JSON.stringify(child.default),
            required: one.required?.includes(key) === true,
            description: child.description,
          });
        }
        visit(child, path, inside);
      }
      if (typeof one.additionalProperties === "object") visit(one.additionalProperties, `${at}.*`, inside);
      if (typeof one.items === "object" && !Array.isArray(one.items)) visit(one.items, `${at}[]`, inside);
    }
  };
  visit(root, "", []);
  return rows;
}

function kindOf(schema: JsonSchema): string | undefined {
  const kind = schema.properties?.["kind"];
  return typeof kind === "object" && typeof kind.const === "string" ? kind.const : undefined;
}

function typeOf(schema: JsonSchema, root: JsonSchema): string {
  const names = alternatives(schema, root).map((one) => {
    if (one.const !== undefined) return JSON.stringify(one.const);
    if (one.enum !== undefined) return one.enum.map((value) => JSON.stringify(value)).join(" | ");
    switch (one.type) {
      case "string":
        return "text";
      case "integer":
        return "whole number";
      case "array":
        return "list";
      case "object":
        return "map";
      default:
        return one.type ?? "any";
    }
  });
  return [...new Set(names)].join(" | ");
}
