import { z } from "zod";

/** An identifier of the services. Some operations send it as text, others as a number (M1, M5, M7): here it is always text. */
export const identifierSchema = z.union([z.string(), z.int().transform(String)]);

/** A nullable identifier; a missing one is null. */
export const nullableIdentifierSchema = identifierSchema.nullish().transform((value) => value ?? null);

/** A nullable text; a missing one is null. */
export const nullableTextSchema = z
  .string()
  .nullish()
  .transform((value) => value ?? null);

/**
 * A Long, Date or Integer time as it stands on the wire. Its unit is not part of the contract (A20): `decodeTime` reads it with the
 * configured codec.
 */
export const wireTimeSchema = z.union([z.number(), z.string()]);
export type WireTime = z.infer<typeof wireTimeSchema>;

/** A nullable time on the wire; a missing one is null. */
export const nullableWireTimeSchema = wireTimeSchema.nullish().transform((value) => value ?? null);

/** An integer that a service may write as a number or, beyond 2^53, as we keep it: text. */
export const wireIntegerSchema = z.union([z.int(), z.string().regex(/^-?\d+$/)]);

/** The answer of an operation that returns no data (E4) or `data: null` (M2, M3, M4, M9, M10). */
export const noDataSchema = z.null();
