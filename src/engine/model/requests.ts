import type { z } from "zod";
import type { JsonObject, Json } from "../../base/canonical-json.ts";
import { handedIn } from "./registry.ts";
import type { RequestType, RequestTypes } from "./resource.ts";
import type { RecordKey } from "../../crm/model.ts";
import { fits } from "./shape.ts";

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

export type RequestOf = keyof RequestTypes;

type Asked<Of extends RequestOf> = { [P in Of]: Requested<P, RequestTypes[P]> }[Of];

/** What a person asked for, of any kind. */
export type ManualRequest = Asked<RequestOf>;
/** The same of one kind. */
export type RequestIn<Of extends RequestOf> = Extract<ManualRequest, { of: Of }>;

/** What is asked for, whenever that was. */
export type Wish = {
  [Of in RequestOf]: Omit<Requested<Of, RequestTypes[Of]>, "askedAt" | "answer" | "operationId">;
}[RequestOf];

/** What the CRM asked for last; `gone` where the asset that it is of was deleted since. */
export type CrmWish = Wish & { gone?: true };

/** A request when it is made; `askedAt` where that is not now: since when the CRM says so. */
export type NewRequest = Wish & { askedAt?: string };

/** Which request is meant. */
export type RequestName = {
  [Of in RequestOf]: Pick<Requested<Of, RequestTypes[Of]>, "of" | "about" | "wanted">;
}[RequestOf];

/** What a service answered to a request. */
export type RequestAnswer = {
  [Of in RequestOf]: Pick<Requested<Of, RequestTypes[Of]>, "of" | "about" | "wanted"> & {
    answer: RequestTypes[Of]["answer"];
    operationId: string;
  };
}[RequestOf];

/** All about a type of request. */
export function requestKindOf<Of extends RequestOf>({ of }: { of: Of }): RequestType<Of> {
  return handedIn().requests[of];
}

export function isRequestOf(name: string): name is RequestOf {
  return Object.hasOwn(handedIn().requests, name);
}

export function requestsOf(): RequestOf[] {
  return Object.keys(handedIn().requests).filter(isRequestOf);
}

/** The requests of one kind. */
export function only<Of extends RequestOf>(requests: readonly ManualRequest[], of: Of): RequestIn<Of>[] {
  return requests.filter((request): request is RequestIn<Of> => request.of === of);
}

/** How it stands: not answered yet (`open`), or as its answer says. */
export function standing({ of, answer }: Pick<ManualRequest, "of" | "answer">): "open" | "done" | "failed" | "refused" {
  return answer === null ? "open" : requestKindOf({ of }).verdict(answer);
}

/** Whether nobody asked for it by hand. */
export function isOfCrm({ by }: Pick<ManualRequest, "by">): boolean {
  return by === theCrm;
}

/** Whether it is still to be sent: it was not answered, or it failed and is tried again. */
export function isDue(request: Pick<ManualRequest, "of" | "answer">): boolean {
  const stands = standing(request);
  return stands === "open" || stands === "failed";
}

/**
 * Whether it is still asked for once the asset that it is of is gone. An asset whose number the CRM gave can come back
 * under it: then what is still to be sent is sent. What was done or refused says nothing of what is bought anew.
 */
export function outlivesAsset(request: Pick<ManualRequest, "of" | "answer">): boolean {
  return !requestKindOf(request).isOfAsset || isDue(request);
}

/** The subject of the operations that carry a request out. */
export function subjectOf(customer: RecordKey, { of, about }: Pick<ManualRequest, "of" | "about">): string {
  return requestKindOf({ of }).subject(customer, about);
}

/** What it is of, and how it stands: "lock 8000000001 is locked: ...". */
export function nameOf({ of, about }: Pick<ManualRequest, "of" | "about">): string {
  return `${requestKindOf({ of }).noun} ${about}`;
}

/**
 * A request from what was stored of it: checked by the schemas of its kind and not changed. Names the column that does
 * not fit them.
 */
export function readRequest<Of extends RequestOf>(
  of: Of,
  common: Pick<ManualRequest, "about" | "by" | "reason" | "askedAt" | "operationId">,
  { wanted, details, answer }: Readonly<Record<"wanted" | "details" | "answer", Json>>,
): { request: Asked<Of> } | { misfit: "wanted" | "details" | "answer" } {
  const { schemas } = requestKindOf({ of });
  if (!fits(schemas.wanted, wanted)) return { misfit: "wanted" };
  if (!fits(schemas.details, details)) return { misfit: "details" };
  if (answer !== null && !fits(schemas.answer, answer)) return { misfit: "answer" };
  return { request: { of, ...common, wanted, details, answer } };
}

/** A request with an answer to it. What does not have the form of an answer to this kind is none. */
export function withAnswer(
  request: ManualRequest,
  { answer, operationId }: Pick<RequestAnswer, "answer" | "operationId">,
): ManualRequest {
  const { of, wanted, details } = request;
  const read = readRequest(of, { ...request, operationId }, { wanted, details, answer });
  return "misfit" in read ? request : read.request;
}
