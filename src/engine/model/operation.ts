import { hashOf } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import { typeOf } from "./registry.ts";
import type { OperationName, OperationShapes } from "./resource.ts";
import { noWeight } from "./taking.ts";
import type { Change, Draft, Stage } from "./shape.ts";
import { stages } from "./shape.ts";

/** One planned change, of any type or of the types K. */
export type Operation<K extends OperationName = OperationName> = { [P in K]: Change<P, OperationShapes[P]> }[K];

/** The output of a planning rule: an operation without the members that its type supplies. */
export type DraftOperation<K extends OperationName = OperationName> = {
  [P in K]: { kind: P } & Draft<OperationShapes[P]>;
}[K];

/** The operations of the first stage that has any. */
export function firstStage(operations: readonly Operation[]): Operation[] {
  const first = stages.find((stage) => operations.some((operation) => operation.stage === stage));
  return operations.filter((operation) => operation.stage === first);
}

/** The order of a plan: by stage, then subject. */
export function compareOperations(left: Operation, right: Operation): number {
  const byStage = stages.indexOf(left.stage) - stages.indexOf(right.stage);
  if (byStage !== 0) return byStage;
  return left.subject < right.subject ? -1 : left.subject > right.subject ? 1 : 0;
}

/** Identifies an operation, also in a saved plan: a hash of the change and its subject. */
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

/**
 * Adds endpoint, stage and hash to an operation. The hash covers the change and its subject, not the words of the
 * reason.
 */
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
