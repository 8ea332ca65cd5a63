import type { z } from "zod";
import type { JsonObject } from "../base/canonical-json.ts";

/** Who asked where nobody did by hand; no person can be called so. */
export const theCrm = "the CRM";

/** What differs from one kind of request to another. Each kind's file says how. */
export interface RequestShapes {
  /** What is asked for, in a word: an answer to another word says nothing of it. */
  wanted: string;
  /** What else has to be kept to carry it out: ids and facts, nothing private. */
  details: JsonObject;
  answer: JsonObject;
}

/** The shapes that schemas describe. */
export type RequestShapesOf<T extends { readonly [Column in keyof RequestShapes]: z.ZodType }> = {
  [Column in keyof RequestShapes]: z.infer<T[Column]>;
};

/** What a person asked for of one thing of a customer, and what the service answered last. */
export interface Requested<Of extends string, S extends RequestShapes> {
  of: Of;
  /** The number or the key of what it is of. At most one request of a kind stands for it. */
  about: string;
  wanted: S["wanted"];
  details: S["details"];
  by: string;
  reason: string;
  askedAt: string;
  answer: S["answer"] | null;
  operationId: string | null;
}

/** What an answer comes to: it is as asked; the next run tries again; or a person has to ask for something else. */
export type Verdict = "done" | "failed" | "refused";
