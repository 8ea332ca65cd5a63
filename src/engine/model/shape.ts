import type { z } from "zod";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { WritingEndpoint } from "../../contract/endpoints.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { PolicyName } from "./policy.ts";
import type { Weight } from "./taking.ts";

/** The stages of one customer, in order. What orders no longer have is deleted after people got their new assets. */
export const stages = [
  "enterprise",
  "orders",
  "staff",
  "revokes",
  "grants",
  "removals",
  "leavers",
  "requests",
] as const;
export type Stage = (typeof stages)[number];

export interface RecordReference {
  stream: Stream;
  namespace: string;
  id: string;
}

/** The operation is not carried out without this other operation of the same plan, in any order. */
export type Need = {
  stage: Stage;
  subject: string;
};

/** What differs between kinds of operation, and what must be remembered. Each kind's file says how. */
export interface Shapes {
  /** Values of the path or of the search: enterpriseGlobalId or memberGlobalId, unbound. */
  target: JsonObject;
  payload: JsonObject;
  before: Json;
  after: Json;
  /** Facts for settling its outcome later: ids and commitments only. */
  context: JsonObject;
}

/** The schemas of these in the journal's form. They check and change nothing. */
export interface Schemas<S extends Shapes> {
  readonly target: z.ZodType<S["target"], S["target"]>;
  readonly payload: z.ZodType<S["payload"], S["payload"]>;
  readonly before: z.ZodType<S["before"], S["before"]>;
  readonly after: z.ZodType<S["after"], S["after"]>;
  readonly context: z.ZodType<S["context"], S["context"]>;
}

export type ShapesOf<T extends { readonly [Column in keyof Shapes]: z.ZodType }> = {
  [Column in keyof Shapes]: z.infer<T[Column]>;
};

/** A planning rule's change. References and private values are not bound yet. */
export interface Draft<S extends Shapes> {
  customer: RecordKey;
  /** `order:crm/10248`: at most one open intent per customer and subject. */
  subject: string;
  /** The records that this operation serves, so that operations and records agree in the balance. */
  records: RecordReference[];
  target: S["target"];
  payload: S["payload"];
  reason: string;
  before: S["before"];
  after: S["after"];
  /** If it is not the first stage of its kind: another stage that the kind allows. */
  stage?: Stage;
  /** If it is not the policy of its kind. */
  policy?: PolicyName | undefined;
  /** Its removals, in units that people know; not part of its hash. */
  weight?: Weight;
  /** If one of these is held, rejected, waiting or not planned, this operation waits too. */
  needs?: Need[];
}

/** One planned change; `hash` covers its unbound form. */
export interface Change<Name extends string, S extends Shapes> extends Draft<S> {
  kind: Name;
  endpoint: WritingEndpoint;
  stage: Stage;
  /** The policy that applies; undefined: no policy, or the operation comes from the journal. */
  policy: PolicyName | undefined;
  weight: Weight;
  needs: Need[];
  /** How many live things this operation removes; 0 for operations that remove nothing. */
  takesAway: number;
  hash: string;
}

/** Whether a stored value fits a schema. The value is not changed. */
export function fits<Value>(schema: z.ZodType<Value, Value>, value: unknown): value is Value {
  return schema.safeParse(value).success;
}
