import { hashOf } from "../base/canonical-json.ts";
import type { Operation } from "./operation.ts";
import { kinds } from "./registry.ts";
import type { OperationKind } from "./registry.ts";

/**
 * Fills in endpoint, stage and hash of an operation. The hash covers what is done to whom, not the words of the reason.
 */
export function operation(
  kind: OperationKind,
  fields: Omit<Operation, "kind" | "endpoint" | "stage" | "hash" | "takesAway"> & { takesAway?: number },
): Operation {
  const { endpoint, stage } = kinds[kind];
  const hash = hashOf({
    kind,
    customer: [fields.customer.namespace, fields.customer.id],
    subject: fields.subject,
    target: fields.target,
    payload: fields.payload,
    before: fields.before,
  });
  return { takesAway: 0, ...fields, kind, endpoint, stage, hash };
}
