import type { RecordKey } from "../../crm/model.ts";
import { theCrm } from "../request.ts";
import { outlivesAsset, requestKindOf, withAnswer } from "../requests.ts";
import type { CrmWish, ManualRequest, NewRequest, RequestAnswer } from "../requests.ts";
import { oneByOne } from "./part.ts";
import type { ChangeContext } from "./part.ts";
import { compareBytes } from "./row-order.ts";
import { isSameKey } from "./same-key.ts";

export interface KnownRequests {
  /** What people asked for, by kind and by what it is of, until they take it back or it ends with its asset. */
  requests: ManualRequest[];
  /** What the CRM asked for last of each thing, also where it was taken back or somebody asked otherwise since. */
  crmAsked: CrmWish[];
}

export type RequestChange =
  | { type: "request-made"; customer: RecordKey; request: NewRequest }
  | ({ type: "request-answered" } & RequestAnswer)
  | { type: "request-withdrawn"; customer: RecordKey; of: ManualRequest["of"]; about: string };

/** What was done or refused of assets that are gone is asked for no more. */
export function withoutGone(asked: readonly ManualRequest[], numbers: readonly string[]): ManualRequest[] {
  return asked.filter((request) => !numbers.includes(request.about) || outlivesAsset(request));
}

/** What the CRM asked for of assets that are gone says nothing of what is bought under their numbers. */
export function goneWishes(asked: readonly CrmWish[], numbers: readonly string[]): CrmWish[] {
  return asked.map((wish) =>
    requestKindOf(wish).isOfAsset && numbers.includes(wish.about) ? { ...wish, gone: true } : wish,
  );
}

const requests = oneByOne<KnownRequests, RequestChange>((known, change, context) => {
  if (change.type === "request-made") {
    const crmAsked = isSameKey(change.customer, context.customer) ? heard(known.crmAsked, change) : known.crmAsked;
    return { ...known, requests: made(known.requests, change, context), crmAsked };
  }
  if (change.type === "request-answered")
    return { ...known, requests: known.requests.map((request) => answered(request, change)) };
  if (!isSameKey(change.customer, context.customer)) return known;
  return { ...known, requests: known.requests.filter((request) => !isAbout(request, change)) };
});

export const requestsParts = { "request-made": requests, "request-answered": requests, "request-withdrawn": requests };

function made(
  before: readonly ManualRequest[],
  { customer, request }: Extract<RequestChange, { type: "request-made" }>,
  { customer: ours, at: askedAt }: ChangeContext,
): ManualRequest[] {
  const others = before.filter((other) => !isAbout(other, request));
  if (!isSameKey(customer, ours)) return others;
  return [...others, { askedAt, ...request, answer: null, operationId: null }].toSorted(byName);
}

/** A wish of the CRM takes the place of its last one for the same. */
function heard(before: readonly CrmWish[], { request }: Extract<RequestChange, { type: "request-made" }>): CrmWish[] {
  if (request.by !== theCrm) return [...before];
  const { askedAt: _at, ...wish } = request;
  return [...before.filter((other) => !isAbout(other, request)), wish].toSorted(byName);
}

function byName(one: Pick<ManualRequest, "of" | "about">, other: Pick<ManualRequest, "of" | "about">): number {
  return compareBytes(one.of, other.of) || compareBytes(one.about, other.about);
}

function isAbout(one: Pick<ManualRequest, "of" | "about">, other: Pick<ManualRequest, "of" | "about">): boolean {
  return one.of === other.of && one.about === other.about;
}

/** An answer to what was asked for before says nothing of what is asked for now. */
function answered(request: ManualRequest, change: Extract<RequestChange, { type: "request-answered" }>): ManualRequest {
  return isAbout(request, change) && request.wanted === change.wanted ? withAnswer(request, change) : request;
}
