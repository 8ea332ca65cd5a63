import { hashOf } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Operation } from "./operation.ts";
import { typeOf } from "./registry.ts";
import type { OperationName, OperationShapes } from "./resource.ts";
import type { Draft, Stage } from "./shape.ts";
import { noWeight } from "./taking.ts";

/** What is done to whom, as a hash: what an operation is known by, in a saved plan too. */
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
 * Fills in endpoint, stage and hash of an operation. The hash covers what is done to whom, not the words of the reason.
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
