import type { z } from "zod";
import type { JsonObject, Json } from "../../base/canonical-json.ts";
import { handedIn } from "./registry.ts";
import { type RequestType, type RequestTypes, fits } from "./resource.ts";
import type { RecordKey } from "../../crm/model.ts";

/** Who asked, if no person did. No person can have this name. */
export const theCrm = "the CRM";

export interface RequestShapes {
  /** The wanted state, in one word. An answer to another word does not count. */
  wanted: string;
  details: JsonObject;
  answer: JsonObject;
}

export type RequestShapesOf<T extends { readonly [Column in keyof RequestShapes]: z.ZodType }> = {
  [Column in keyof RequestShapes]: z.infer<T[Column]>;
};

export interface Requested<Of extends string, S extends RequestShapes> {
  of: Of;
  about: string;
  wanted: S["wanted"];
  details: S["details"];
  by: string;
  reason: string;
  askedAt: string;
  answer: S["answer"] | null;
  operationId: string | null;
}

/** `failed`: the next run tries again. `refused`: a person must ask for something else. */
export type Verdict = "done" | "failed" | "refused";

export type RequestOf = keyof RequestTypes;

type Asked<Of extends RequestOf> = { [P in Of]: Requested<P, RequestTypes[P]> }[Of];

export type ManualRequest = Asked<RequestOf>;
export type RequestIn<Of extends RequestOf> = Extract<ManualRequest, { of: Of }>;

export type Wish = {
  [Of in RequestOf]: Omit<Requested<Of, RequestTypes[Of]>, "askedAt" | "answer" | "operationId">;
}[RequestOf];

/** `gone`: the asset was deleted since. */
export type CrmWish = Wish & { gone?: true };

/** `askedAt`: since when the CRM wants it, if not since now. */
export type NewRequest = Wish & { askedAt?: string };

export type RequestName = {
  [Of in RequestOf]: Pick<Requested<Of, RequestTypes[Of]>, "of" | "about" | "wanted">;
}[RequestOf];

export type RequestAnswer = {
  [Of in RequestOf]: Pick<Requested<Of, RequestTypes[Of]>, "of" | "about" | "wanted"> & {
    answer: RequestTypes[Of]["answer"];
    operationId: string;
  };
}[RequestOf];

export function requestKindOf<Of extends RequestOf>({ of }: { of: Of }): RequestType<Of> {
  return handedIn().requests[of];
}

export function isRequestOf(name: string): name is RequestOf {
  return Object.hasOwn(handedIn().requests, name);
}

export function requestsOf(): RequestOf[] {
  return Object.keys(handedIn().requests).filter(isRequestOf);
}

export function only<Of extends RequestOf>(requests: readonly ManualRequest[], of: Of): RequestIn<Of>[] {
  return requests.filter((request): request is RequestIn<Of> => request.of === of);
}

export function standing({ of, answer }: Pick<ManualRequest, "of" | "answer">): "open" | "done" | "failed" | "refused" {
  return answer === null ? "open" : requestKindOf({ of }).verdict(answer);
}

export function isOfCrm({ by }: Pick<ManualRequest, "by">): boolean {
  return by === theCrm;
}

export function isDue(request: Pick<ManualRequest, "of" | "answer">): boolean {
  const stands = standing(request);
  return stands === "open" || stands === "failed";
}

/** Whether it survives the removal of its asset. An asset may return under the number that the CRM gave it. */
export function outlivesAsset(request: Pick<ManualRequest, "of" | "answer">): boolean {
  return !requestKindOf(request).isOfAsset || isDue(request);
}

export function subjectOf(customer: RecordKey, { of, about }: Pick<ManualRequest, "of" | "about">): string {
  return requestKindOf({ of }).subject(customer, about);
}

export function nameOf({ of, about }: Pick<ManualRequest, "of" | "about">): string {
  return `${requestKindOf({ of }).noun} ${about}`;
}

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

/** An answer that does not fit the schema leaves the request unchanged. */
export function withAnswer(
  request: ManualRequest,
  { answer, operationId }: Pick<RequestAnswer, "answer" | "operationId">,
): ManualRequest {
  const { of, wanted, details } = request;
  const read = readRequest(of, { ...request, operationId }, { wanted, details, answer });
  return "misfit" in read ? request : read.request;
}
