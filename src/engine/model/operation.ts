import { hashOf, isJsonObject, type Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import { typeOf } from "./registry.ts";
import type { OperationName, OperationShapes } from "./resource.ts";
import { noWeight } from "./taking.ts";
import { type Change, type Draft, type Stage, type RecordReference, type Shapes, stages, fits } from "./shape.ts";
import type { JournalEntry, LookFor } from "./operation-type.ts";

export type Operation<K extends OperationName = OperationName> = { [P in K]: Change<P, OperationShapes[P]> }[K];

/** The result of a planning rule. The operation's type supplies the other members. */
export type DraftOperation<K extends OperationName = OperationName> = {
  [P in K]: { kind: P } & Draft<OperationShapes[P]>;
}[K];

export function firstStage(operations: readonly Operation[]): Operation[] {
  const first = stages.find((stage) => operations.some((operation) => operation.stage === stage));
  return operations.filter((operation) => operation.stage === first);
}

export function compareOperations(left: Operation, right: Operation): number {
  const byStage = stages.indexOf(left.stage) - stages.indexOf(right.stage);
  if (byStage !== 0) return byStage;
  return left.subject < right.subject ? -1 : left.subject > right.subject ? 1 : 0;
}

export function operationHash({
  kind,
  customer: { namespace, id },
  subject,
  target,
  payload,
  before,
}: Record<"target" | "payload" | "before", Json> & { kind: string; subject: string; customer: RecordKey }): string {
  return hashOf({ kind, customer: [namespace, id], subject, target, payload, before });
}

/** Adds endpoint, stage and hash. The hash does not cover the words of the reason. */
export function operation<K extends OperationName>(kind: K, fields: Draft<OperationShapes[K]>): Operation<K> {
  const { endpoint, stages, can } = typeOf({ kind });
  const { customer, subject, target, payload, before } = fields;
  const hash = operationHash({ kind, customer, subject, target, payload, before });
  return {
    takesAway: can.removes?.count(fields) ?? 0,
    weight: noWeight,
    needs: [],
    ...fields,
    policy: fields.policy ?? can.governed?.policy,
    kind,
    endpoint,
    stage: stageOf(kind, stages, fields.stage),
    hash,
  };
}

function stageOf(
  kind: OperationName,
  [usual, ...others]: readonly [Stage, ...Stage[]],
  meant: Stage | undefined,
): Stage {
  if (meant === undefined || meant === usual) return usual;
  if (!others.includes(meant)) throw new Error(`${kind} is not in the stage ${meant}`);
  return meant;
}

export type Stored<K extends OperationName = OperationName> = {
  [P in K]: { operation: Operation<P>; context: OperationShapes[P]["context"] | undefined };
}[K];

export type Entry = JournalEntry<OperationShapes[OperationName]>;

type Columns = Readonly<Record<keyof Shapes, Json>>;

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

function isNone(context: Json): boolean {
  return isJsonObject(context) && Object.keys(context).length === 0;
}

/** Tells a person where to check whether it was carried out. Undefined if the stored operation is unreadable. */
export function lookForStored(kind: OperationName, { target, payload, context, records }: Kept): LookFor | undefined {
  const { schemas, whereToLook } = typeOf({ kind });
  if (!fits(schemas.target, target) || !fits(schemas.payload, payload)) return undefined;
  return whereToLook({ target, payload, records, context: fits(schemas.context, context) ? context : undefined });
}

export function countedStored(kind: OperationName, payload: Json): number | undefined {
  const { schemas, can } = typeOf({ kind });
  return fits(schemas.payload, payload) ? can.prints?.count?.(payload) : undefined;
}
