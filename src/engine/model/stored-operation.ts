import type { Json } from "../../base/canonical-json.ts";
import { isJsonObject } from "../../base/canonical-json.ts";
import type { JournalEntry, LookFor } from "./operation-type.ts";
import type { Operation } from "./operation.ts";
import { typeOf } from "./registry.ts";
import type { OperationName, OperationShapes } from "./resource.ts";
import { fits } from "./shape.ts";
import type { Change, RecordReference, Shapes } from "./shape.ts";

/** An operation in the journal; it has a context once its intent is recorded. */
export type Stored<K extends OperationName = OperationName> = {
  [P in K]: { operation: Operation<P>; context: OperationShapes[P]["context"] | undefined };
}[K];

/** An operation with its context, for its type. */
export type Entry = JournalEntry<OperationShapes[OperationName]>;

type Columns = Readonly<Record<keyof Shapes, Json>>;

/**
 * Reads a stored operation. The schemas of its type check it and change nothing. On failure, names the column that does
 * not fit.
 */
export function readOperation<K extends OperationName>(
  kind: K,
  common: Omit<Change<string, Shapes>, keyof Shapes | "kind">,
  columns: Columns,
): { stored: Stored<K> } | { misfit: keyof Shapes } {
  const { schemas } = typeOf({ kind });
  const { target, payload, before, after, context } = columns;
  if (!fits(schemas.target, target)) return { misfit: "target" };
  if (!fits(schemas.payload, payload)) return { misfit: "payload" };
  if (!fits(schemas.before, before)) return { misfit: "before" };
  if (!fits(schemas.after, after)) return { misfit: "after" };
  const operation = { ...common, kind, target, payload, before, after };
  if (isNone(context)) return { stored: { operation, context: undefined } };
  if (!fits(schemas.context, context)) return { misfit: "context" };
  return { stored: { operation, context } };
}

interface Kept {
  target: Json;
  payload: Json;
  context: Json;
  records: RecordReference[];
}

/** An operation has no context before its intent is recorded. */
function isNone(context: Json): boolean {
  return isJsonObject(context) && Object.keys(context).length === 0;
}

/** Tells a person how to find out whether an operation was carried out; undefined if the operation is unreadable. */
export function lookForStored(kind: OperationName, { target, payload, context, records }: Kept): LookFor | undefined {
  const { schemas, whereToLook } = typeOf({ kind });
  if (!fits(schemas.target, target) || !fits(schemas.payload, payload)) return undefined;
  return whereToLook({ target, payload, records, context: fits(schemas.context, context) ? context : undefined });
}

/** The number that a report shows for an operation, by its type. */
export function countedStored(kind: OperationName, payload: Json): number | undefined {
  const { schemas, can } = typeOf({ kind });
  return fits(schemas.payload, payload) ? can.prints?.count?.(payload) : undefined;
}
