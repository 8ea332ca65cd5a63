import type { Json, JsonObject } from "../base/canonical-json.ts";
import { hashOf } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";

/** The stages of one customer, in the order in which they are applied. */
export const stages = ["enterprise", "orders", "staff", "revokes", "grants"] as const;
export type Stage = (typeof stages)[number];

/** The writing operations that a plan can hold, and the pool's own E9. */
export const operationKinds = {
  "create-enterprise": { endpoint: "E2", stage: "enterprise" },
  "bind-enterprise": { endpoint: "E1", stage: "enterprise" },
  "update-enterprise": { endpoint: "E4", stage: "enterprise" },
  "place-order": { endpoint: "E5", stage: "orders" },
  "add-staff": { endpoint: "M1", stage: "staff" },
  "revoke-assets": { endpoint: "M9", stage: "revokes" },
  "grant-assets": { endpoint: "M9", stage: "grants" },
  "take-asset-numbers": { endpoint: "E9", stage: "orders" },
} as const;
export type OperationKind = keyof typeof operationKinds;
export type Endpoint = (typeof operationKinds)[OperationKind]["endpoint"];

/** What a plan cannot know yet. `of` says which one: a licence type, a staff subject, an asset instance. */
export type Reference =
  | { $ref: "enterpriseGlobalId" }
  | { $ref: "customerId"; of: string }
  | { $ref: "assetNumber"; of: string }
  | { $ref: "memberGlobalId"; of: string }
  | { $ref: "licenseOrderId"; of: string };

/** A value that lives in the ledger's private table: which record, which version of it, which field, and the salted commitment to it. */
export interface PrivateMarker {
  $private: string;
  field: string;
  version: number;
  commitment: string;
}

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

/** Fills in endpoint, stage and hash of an operation. The hash covers what is done to whom, not the words of the reason. */
export function operation(
  kind: OperationKind,
  fields: Omit<Operation, "kind" | "endpoint" | "stage" | "hash" | "takesAway"> & { takesAway?: number },
): Operation {
  const { endpoint, stage } = operationKinds[kind];
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

/** The order of a plan: by stage, then subject. */
export function compareOperations(left: Operation, right: Operation): number {
  const byStage = stages.indexOf(left.stage) - stages.indexOf(right.stage);
  if (byStage !== 0) return byStage;
  return left.subject < right.subject ? -1 : left.subject > right.subject ? 1 : 0;
}

export function isReference(value: Json | undefined): value is Reference & JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && typeof value["$ref"] === "string";
}

export function isPrivateMarker(value: Json | undefined): value is PrivateMarker & JsonObject {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    typeof value["$private"] === "string" &&
    typeof value["field"] === "string" &&
    typeof value["version"] === "number" &&
    typeof value["commitment"] === "string"
  );
}

/** Which endpoint makes a reference known, as a plan prints it: "(known after E3)". */
export const knownAfter: Record<Reference["$ref"], string> = {
  enterpriseGlobalId: "E2",
  customerId: "E3",
  assetNumber: "E9",
  memberGlobalId: "M1",
  licenseOrderId: "E5",
};

/** The key under which a private value is looked up in a loaded set. */
export function markerKey(marker: Pick<PrivateMarker, "$private" | "field" | "version">): string {
  return `${marker.$private}@${marker.version}#${marker.field}`;
}
