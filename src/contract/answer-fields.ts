import { z } from "zod";

/**
 * An identifier of the services. Some endpoints send it as text, others as a number (M1, M5, M7): here it is always
 * text.
 */
export const identifierSchema = z.unknown().transform((value, context) => textOf(value) ?? isNone(value, context));

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

function isNone(input: unknown, context: z.core.$RefinementCtx): never {
  context.addIssue({ code: "invalid_type", expected: "string", input });
  return z.NEVER;
}

/** Longest id of the services that is believed; what they give has 19 digits. */
const longestId = 128;
const unfitInId = /[\p{C}\p{Z}/\\?#%]|\.\.|^\.$/u;

/**
 * What is wrong with an id of the services, without quoting it; undefined where it can stand in a path, a table and a
 * message.
 */
export function idFault(id: string): string | undefined {
  if (id === "") return "the id is empty";
  if (id.length > longestId) return `the id is longer than ${longestId} characters`;
  return unfitInId.test(id) ? "the id holds a blank, a control character or a character of a path" : undefined;
}

/**
 * An id that crm-sync keeps and sends back (E1, E2, E3, E5, E8, M1, M5, M6, M8): believed only where `idFault` finds
 * nothing.
 */
export const idSchema = z.unknown().transform((value, context) => {
  const id = textOf(value);
  if (id === undefined) return isNone(value, context);
  const fault = idFault(id);
  if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
  return id;
});

/** A nullable id; a missing one is null, an empty one is a fault. */
export const nullableIdSchema = idSchema.nullish().transform((id) => id ?? null);

/** Who or what something belongs to; null, absent and empty all mean nobody. */
export const holderIdSchema = identifierSchema
  .nullish()
  .transform((id) => (id === undefined || id === "" ? null : id))
  .superRefine((id, context) => {
    const fault = id === null ? undefined : idFault(id);
    if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
  });

/** A nullable identifier that is only shown or compared; a missing one is null. */
export const nullableIdentifierSchema = identifierSchema.nullish().transform((value) => value ?? null);

/** A nullable text; a missing one is null. */
export const nullableTextSchema = z
  .string()
  .nullish()
  .transform((value) => value ?? null);

/**
 * A Long, Date or Integer time as it stands on the wire. Its unit is not part of the contract (A20): `decodeTime` reads
 * it with the configured codec.
 */
export const wireTimeSchema = z.union([z.number(), z.string()]);
export type WireTime = z.infer<typeof wireTimeSchema>;

/** A nullable time on the wire; a missing one is null. */
export const nullableWireTimeSchema = wireTimeSchema.nullish().transform((value) => value ?? null);

/** An integer that a service may write as a number or, beyond 2^53, as we keep it: text. */
export const wireIntegerSchema = z.union([z.int(), z.string().regex(/^-?\d+$/)]);

/** The answer of an operation that returns no data (E4) or `data: null` (M2, M3, M4, M9, M10). */
export const noDataSchema = z.null();
