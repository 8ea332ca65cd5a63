import type { z } from "zod";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { WritingEndpoint } from "../../contract/endpoints.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { PolicyName } from "./policy.ts";
import type { Weight } from "./taking.ts";

/**
 * The stages of one customer, in the order in which they are applied: what orders no longer have is deleted after
 * people were given what they are to have.
 */
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

/** An operation of the same plan that another one is not carried out without, in whichever order they stand. */
export type Need = {
  stage: Stage;
  subject: string;
};

/** What differs from kind to kind in an operation, and what it has to remember. Each kind's file says how. */
export interface Shapes {
  /** Values of the path or of the search: enterpriseGlobalId or memberGlobalId, unbound. */
  target: JsonObject;
  payload: JsonObject;
  before: Json;
  after: Json;
  /** What has to be remembered so that its outcome can be found out later: ids and commitments only. */
  context: JsonObject;
}

/** The schemas of these in the form in which the journal keeps them. They check and change nothing. */
export interface Schemas<S extends Shapes> {
  readonly target: z.ZodType<S["target"], S["target"]>;
  readonly payload: z.ZodType<S["payload"], S["payload"]>;
  readonly before: z.ZodType<S["before"], S["before"]>;
  readonly after: z.ZodType<S["after"], S["after"]>;
  readonly context: z.ZodType<S["context"], S["context"]>;
}

/** The shapes that schemas describe. */
export type ShapesOf<T extends { readonly [Column in keyof Shapes]: z.ZodType }> = {
  [Column in keyof Shapes]: z.infer<T[Column]>;
};

/** What a planning rule says of a change. References and private values are not bound yet. */
export interface Draft<S extends Shapes> {
  customer: RecordKey;
  /** `order:crm/10248`: at most one open intent per customer and subject. */
  subject: string;
  /** The records this operation serves, so that operations and records tie up in the balance. */
  records: RecordReference[];
  target: S["target"];
  payload: S["payload"];
  reason: string;
  before: S["before"];
  after: S["after"];
  /** Where it is not the first stage of its kind: one of the others that the kind may stand in. */
  stage?: Stage;
  /** Where it is not the policy of its kind that rules it. */
  policy?: PolicyName | undefined;
  /** What it takes away, in units that people know; no part of its hash. */
  weight?: Weight;
  /** Where one of these is held, refused or put off, or is not planned at all, this waits with it. */
  needs?: Need[];
}

/** One change we mean to make; `hash` covers its unbound form. */
export interface Change<Name extends string, S extends Shapes> extends Draft<S> {
  kind: Name;
  endpoint: WritingEndpoint;
  stage: Stage;
  /** What rules it; undefined where nothing does, and where it comes from the journal. */
  policy: PolicyName | undefined;
  weight: Weight;
  needs: Need[];
  /** How many live things this operation takes away; 0 for all others. */
  takesAway: number;
  hash: string;
}

/** Whether a stored value has the form that a schema describes. It stays as it was stored, to the last byte. */
export function fits<Value>(schema: z.ZodType<Value, Value>, value: unknown): value is Value {
  return schema.safeParse(value).success;
}
