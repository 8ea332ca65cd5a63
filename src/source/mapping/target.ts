import { z } from "zod";
import { recordSchemas, type Stream } from "../../crm/model.ts";

export type Target =
  | { kind: "text" }
  | { kind: "word"; words: readonly string[] }
  | { kind: "integer" }
  | { kind: "boolean" }
  | { kind: "instant" }
  | { kind: "money" }
  | { kind: "texts" }
  | { kind: "object"; object: ObjectTarget }
  | { kind: "list"; variants: readonly ObjectTarget[] };

export interface FieldTarget {
  target: Target;
  required: boolean;
}

export interface ObjectTarget {
  kind: string | undefined;
  fields: ReadonlyMap<string, FieldTarget>;
}

/** The target fields of a stream. Derived from the schema of the canonical model, so that the two cannot differ. */
export function targetOf(stream: Stream): ObjectTarget {
  return objectTargetOf(recordSchemas[stream]);
}

function objectTargetOf(schema: z.ZodObject): ObjectTarget {
  const fields = new Map<string, FieldTarget>();
  let kind: string | undefined;
  const members: Record<string, z.core.$ZodType> = schema.shape;
  for (const [name, member] of Object.entries(members)) {
    const { inner, required } = unwrap(member);
    if (inner instanceof z.ZodLiteral) kind = String(inner.value);
    else fields.set(name, { target: fieldTargetOf(inner), required });
  }
  return { kind, fields };
}

function unwrap(schema: z.core.$ZodType): { inner: z.core.$ZodType; required: boolean } {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return { inner: unwrap(schema.unwrap()).inner, required: false };
  }
  return { inner: schema, required: true };
}

function fieldTargetOf(schema: z.core.$ZodType): Target {
  if (schema instanceof z.ZodISODateTime) return { kind: "instant" };
  if (schema instanceof z.ZodString) return { kind: "text" };
  if (schema instanceof z.ZodEnum) return { kind: "word", words: schema.options.map(String) };
  if (schema instanceof z.ZodNumber) return { kind: "integer" };
  if (schema instanceof z.ZodBoolean) return { kind: "boolean" };
  if (schema instanceof z.ZodObject && "currency" in schema.shape && "minor" in schema.shape) return { kind: "money" };
  if (schema instanceof z.ZodObject) return { kind: "object", object: objectTargetOf(schema) };
  if (schema instanceof z.ZodArray) {
    const element: z.core.$ZodType = schema.element;
    if (element instanceof z.ZodString) return { kind: "texts" };
    const options = element instanceof z.ZodUnion ? element.options : [element];
    const variants = options.filter((option) => option instanceof z.ZodObject).map((option) => objectTargetOf(option));
    if (variants.length === options.length) return { kind: "list", variants };
  }
  throw new TypeError(`the canonical model has a field type that a mapping cannot fill: ${schema._zod.def.type}`);
}
