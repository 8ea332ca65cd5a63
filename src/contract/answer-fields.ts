import { z } from "zod";
import { unchanged } from "./fits.ts";

export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return unchanged(
    schema.nullish().transform((value) => value ?? null),
    schema.nullable(),
  );
}

export function or<Schema extends z.ZodType>(schema: Schema, instead: () => z.output<Schema>) {
  return unchanged(
    schema.nullish().transform((value) => value ?? instead()),
    schema,
  );
}

/** Some endpoints send an identifier as text, others as a number (M1, M5, M7). Here it is always text. */
export const identifierSchema = unchanged(
  z.unknown().transform((value, context) => textOf(value) ?? isNone(value, context)),
  z.string(),
);

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

function isNone(input: unknown, context: z.core.$RefinementCtx): never {
  context.addIssue({ code: "invalid_type", expected: "string", input });
  return z.NEVER;
}

/** The longest accepted id. Real ones have 19 digits. */
const longestId = 128;
const unfitInId = /[\p{C}\p{Z}/\\?#%]|\.\.|^\.$/u;

/** Why an id is unsafe in a path, a table or a message, without quoting it. */
function idFault(id: string): string | undefined {
  if (id === "") return "the id is empty";
  if (id.length > longestId) return `the id is longer than ${longestId} characters`;
  return unfitInId.test(id) ? "the id holds a blank, a control character or a character of a path" : undefined;
}

/** An id that crm-sync keeps and sends back (E1, E2, E3, E5, E8, M1, M5, M6, M8). */
export const idSchema = unchanged(
  z.unknown().transform((value, context) => {
    const id = textOf(value);
    if (id === undefined) return isNone(value, context);
    const fault = idFault(id);
    if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
    return id;
  }),
  isId,
);

function isId(value: unknown): boolean {
  return typeof value === "string" && idFault(value) === undefined;
}

export const nullableIdSchema = orNull(idSchema);

/** Null, missing and empty all mean nobody. */
export const holderIdSchema = unchanged(
  identifierSchema
    .nullish()
    .transform((id) => (id === undefined || id === "" ? null : id))
    .superRefine((id, context) => {
      const fault = id === null ? undefined : idFault(id);
      if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
    }),
  idSchema.nullable(),
);

export const nullableIdentifierSchema = orNull(identifierSchema);

export const nullableTextSchema = orNull(z.string());

/** A Long, Date or Integer as sent, in the configured unit (A20). `decodeTime` reads it. */
export const wireTimeSchema = z.union([z.number(), z.string()]);
export type WireTime = z.infer<typeof wireTimeSchema>;

export const nullableWireTimeSchema = orNull(wireTimeSchema);

export const wireIntegerSchema = z.union([z.int(), z.string().regex(/^-?\d+$/)]);

/** The data of E4 (none) and of M2, M3, M4, M9, M10 (`null`). */
export const noDataSchema = z.null();

/** Fields that a schema does not know, such as `members[].level` (A38). Checks only the first elements of lists. */
export function unknownFields(schema: z.core.$ZodType, data: unknown, sample = 5): string[] {
  const found = new Set<string>();
  const visit = (of: z.core.$ZodType, value: unknown, path: string, depth: number): void => {
    if (depth > 20 || value === null || typeof value !== "object") return;
    const inner = unwrap(of);
    if (inner instanceof z.ZodArray && Array.isArray(value)) {
      for (const element of value.slice(0, sample)) visit(inner.element, element, `${path}[]`, depth + 1);
      return;
    }
    if (!(inner instanceof z.ZodObject) || Array.isArray(value)) return;
    const shape: Readonly<Record<string, z.core.$ZodType>> = inner.shape;
    for (const [key, member] of Object.entries(value)) {
      const name = /^[A-Za-z_][\w-]{0,60}$/.test(key) ? key : "(odd name)";
      const place = path === "" ? name : `${path}.${name}`;
      const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
      if (field === undefined) found.add(place);
      else visit(field, member, place, depth + 1);
    }
  };
  visit(schema, data, "", 0);
  return [...found];
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodLazy) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodPipe) return unwrap(schema.in instanceof z.ZodCustom ? schema.out : schema.in);
  return schema;
}
