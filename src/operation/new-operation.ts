import { hashOf } from "../base/canonical-json.ts";
import type { Operation } from "./operation.ts";
import { kindOf } from "./registry.ts";
import type { OperationKind, ShapeMap } from "./registry.ts";
import type { Meant } from "./shape.ts";

/**
 * Fills in endpoint, stage and hash of an operation. The hash covers what is done to whom, not the words of the reason.
 */
export function operation<K extends OperationKind>(kind: K, fields: Meant<ShapeMap[K]>): Operation<K> {
  const { endpoint, stage, takesAway } = kindOf({ kind });
  const hash = hashOf({
    kind,
    customer: [fields.customer.namespace, fields.customer.id],
    subject: fields.subject,
    target: fields.target,
    payload: fields.payload,
    before: fields.before,
  });
  return { takesAway: takesAway(fields), ...fields, kind, endpoint, stage, hash };
}
