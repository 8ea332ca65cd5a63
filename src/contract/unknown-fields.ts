import { z } from "zod";

/**
 * The paths of fields that data holds and a schema does not know, such as `members[].level`, each once. They are kept
 * in the data; this is for reporting them (A38). Only the first elements of a list are looked at.
 */
export function unknownFields(schema: z.core.$ZodType, data: unknown, sample = 5): string[] {
  const found = new Set<string>();
  visit(schema, data, "", 0, sample, found);
  return [...found];
}

function visit(
  schema: z.core.$ZodType,
  data: unknown,
  path: string,
  depth: number,
  sample: number,
  found: Set<string>,
): void {
  if (depth > 20 || data === null || typeof data !== "object") return;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray && Array.isArray(data)) {
    for (const element of data.slice(0, sample)) visit(inner.element, element, `${path}[]`, depth + 1, sample, found);
    return;
  }
  if (!(inner instanceof z.ZodObject) || Array.isArray(data)) return;
  const shape: Readonly<Record<string, z.core.$ZodType>> = inner.shape;
  for (const [key, value] of Object.entries(data)) {
    const name = /^[A-Za-z_][\w-]{0,60}$/.test(key) ? key : "(odd name)";
    const place = path === "" ? name : `${path}.${name}`;
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (field === undefined) found.add(place);
    else visit(field, value, place, depth + 1, sample, found);
  }
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodLazy) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodPipe) return unwrap(schema.in instanceof z.ZodCustom ? schema.out : schema.in);
  return schema;
}
