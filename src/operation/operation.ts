import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { OperationKind } from "./registry.ts";

/** The stages of one customer, in the order in which they are applied. */
export const stages = ["enterprise", "orders", "staff", "revokes", "grants"] as const;
export type Stage = (typeof stages)[number];

/** The endpoints that change something and are called today. */
export type Endpoint = "E1" | "E2" | "E4" | "E5" | "E9" | "M1" | "M9";

export interface RecordReference {
  stream: Stream;
  namespace: string;
  id: string;
}

/** One change we mean to make. References and private values are not bound yet; `hash` covers this form. */
export interface Operation {
  kind: OperationKind;
  endpoint: Endpoint;
  stage: Stage;
  customer: RecordKey;
  /** `order:crm/10248`: at most one open intent per customer and subject. */
  subject: string;
  /** The records this operation serves, so that operations and records tie up in the balance. */
  records: RecordReference[];
  /** Values of the path: enterpriseGlobalId or memberGlobalId, unbound. */
  target: JsonObject;
  payload: JsonObject;
  reason: string;
  before: Json;
  after: Json;
  /** How many live things this operation takes away; 0 for all others. */
  takesAway: number;
  hash: string;
}

/** The order of a plan: by stage, then subject. */
export function compareOperations(left: Operation, right: Operation): number {
  const byStage = stages.indexOf(left.stage) - stages.indexOf(right.stage);
  if (byStage !== 0) return byStage;
  return left.subject < right.subject ? -1 : left.subject > right.subject ? 1 : 0;
}
