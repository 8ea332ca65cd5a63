import type { z } from "zod";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { WritingEndpoint } from "../../contract/endpoints.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { PolicyName } from "./policy.ts";
import type { Weight } from "./operation.ts";

/** In order. Removals come after people got their new assets. */
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

/** The operation waits without this other operation of the same plan. Either may come first. */
export type Need = {
  stage: Stage;
  subject: string;
};

export interface Shapes {
  target: JsonObject;
  payload: JsonObject;
  before: Json;
  after: Json;
  context: JsonObject;
}

/** The schemas check stored values and change nothing. */
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

/** References and private values are not bound yet. */
export interface Draft<S extends Shapes> {
  customer: RecordKey;
  /** `order:crm/10248`. A customer has at most one open intent per subject. */
  subject: string;
  /** The records that it serves. The balance needs them. */
  records: RecordReference[];
  target: S["target"];
  payload: S["payload"];
  reason: string;
  before: S["before"];
  after: S["after"];
  /** If not the first stage of its kind: another one that the kind allows. */
  stage?: Stage;
  policy?: PolicyName | undefined;
  /** Its removals, in units that people know. Not part of its hash. */
  weight?: Weight;
  /** If one of these is held, rejected, waiting or not planned, this operation waits too. */
  needs?: Need[];
}

export interface Change<Name extends string, S extends Shapes> extends Draft<S> {
  kind: Name;
  endpoint: WritingEndpoint;
  stage: Stage;
  policy: PolicyName | undefined;
  weight: Weight;
  needs: Need[];
  takesAway: number;
  hash: string;
}

export function fits<Value>(schema: z.ZodType<Value, Value>, value: unknown): value is Value {
  return schema.safeParse(value).success;
}
