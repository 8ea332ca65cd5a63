import type { z } from "zod";
import type { JsonObject } from "../base/canonical-json.ts";
import type { RecordKey } from "../crm/model.ts";

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

/** Everything that the program knows about one kind of request. */
export interface RequestKind<S extends RequestShapes> {
  /** Of what one is, in a word. */
  readonly noun: string;
  /** They check what is stored and change nothing. */
  readonly schemas: {
    readonly wanted: z.ZodType<S["wanted"], S["wanted"]>;
    readonly details: z.ZodType<S["details"], S["details"]>;
    readonly answer: z.ZodType<S["answer"], S["answer"]>;
  };
  /** The command that asks for it; with `--withdraw` it takes that back. */
  readonly commands: { readonly [Wanted in S["wanted"]]: string };
  /** It is of one asset, by its number. */
  readonly isOfAsset: boolean;
  /** The subject of the operations that carry it out: at most one of them is open at a time. */
  readonly subject: (customer: RecordKey, about: string) => string;
  readonly verdict: (answer: S["answer"]) => Verdict;
  /** How it stands, after its name: "is not locked: status 3, ..." */
  readonly stands: (request: Pick<Requested<string, S>, "wanted" | "details" | "answer">) => string;
}
