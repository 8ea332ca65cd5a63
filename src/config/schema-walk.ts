import type { z } from "zod";
import type { Json } from "../base/canonical-json.ts";
import { isMap, valueAt } from "./layer.ts";
import type { Path } from "./layer.ts";

export type JsonSchema = z.core.JSONSchema.JSONSchema;
type Node = JsonSchema | boolean | undefined;

/** The schema itself or its alternatives, with references followed. */
export function alternatives(schema: Node, root: JsonSchema): JsonSchema[] {
  return collect(schema, root, new Set());
}

function collect(schema: Node, root: JsonSchema, seen: Set<JsonSchema>): JsonSchema[] {
  if (schema === undefined || typeof schema === "boolean" || seen.has(schema)) return [];
  seen.add(schema);
  const target = schema.$ref === undefined ? undefined : referenced(schema.$ref, root);
  if (target !== undefined) return collect(target, root, seen);
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return inner.length === 0 ? [schema] : inner.flatMap((one) => collect(one, root, seen));
}

function referenced(reference: string, root: JsonSchema): Node {
  if (reference === "#") return root;
  const name = /^#\/\$defs\/(.+)$/.exec(reference)?.[1];
  return name === undefined ? undefined : root.$defs?.[name];
}

/**
 * Every schema that may stand at a path; where `value` is given, without the shapes of another `kind` than the one
 * written there.
 */
export function schemasAt(root: JsonSchema, path: Path, value?: Json): JsonSchema[] {
  let current = ofKind(alternatives(root, root), value);
  path.forEach((step, index) => {
    const inner = current.flatMap((schema) => alternatives(childOf(schema, step), root));
    current = ofKind(inner, valueAt(value, path.slice(0, index + 1)));
  });
  return current;
}

function ofKind(schemas: JsonSchema[], value: Json | undefined): JsonSchema[] {
  const kind = isMap(value) ? value["kind"] : undefined;
  if (kind === undefined) return schemas;
  const fitting = schemas.filter((schema) => {
    const wanted = schema.properties?.["kind"];
    return typeof wanted !== "object" || wanted.const === undefined || wanted.const === kind;
  });
  return fitting.length > 0 ? fitting : schemas;
}

function childOf(schema: JsonSchema, step: string | number): Node {
  if (typeof step === "number") {
    const items = schema.items;
    return Array.isArray(items) ? items[step] : items;
  }
  const properties = schema.properties;
  if (properties !== undefined && Object.hasOwn(properties, step)) return properties[step];
  return schema.additionalProperties;
}

/** The keys that a map at this path may have. */
export function keysAt(root: JsonSchema, path: Path, value?: Json): string[] {
  const keys = schemasAt(root, path, value).flatMap((schema) => Object.keys(schema.properties ?? {}));
  return [...new Set(keys)].sort();
}

/** Whether text may stand at this path as it is. */
export function acceptsText(root: JsonSchema, path: Path, text: string): boolean {
  return schemasAt(root, path).some((schema) => {
    if (schema.const !== undefined) return schema.const === text;
    if (schema.enum !== undefined) return schema.enum.includes(text);
    return schema.type === "string" || schema.type === undefined;
  });
}
