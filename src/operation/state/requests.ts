import type { RecordKey } from "../../crm/model.ts";
import { withAnswer } from "../requests.ts";
import type { ManualRequest, NewRequest, RequestAnswer } from "../requests.ts";
import { oneByOne } from "./part.ts";
import type { ChangeContext } from "./part.ts";
import { compareBytes } from "./row-order.ts";
import { isSameKey } from "./same-key.ts";

export interface KnownRequests {
  /** What people asked for, by kind and by what it is of, until they take it back. */
  requests: ManualRequest[];
}

export type RequestChange =
  | { type: "request-made"; customer: RecordKey; request: NewRequest }
  | ({ type: "request-answered" } & RequestAnswer)
  | { type: "request-withdrawn"; customer: RecordKey; of: ManualRequest["of"]; about: string };

const requests = oneByOne<KnownRequests, RequestChange>((known, change, context) => {
  if (change.type === "request-made") return { ...known, requests: made(known.requests, change, context) };
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
  return [...others, { ...request, askedAt, answer: null, operationId: null }].toSorted(
    (one, other) => compareBytes(one.of, other.of) || compareBytes(one.about, other.about),
  );
}

function isAbout(one: Pick<ManualRequest, "of" | "about">, other: Pick<ManualRequest, "of" | "about">): boolean {
  return one.of === other.of && one.about === other.about;
}

/** An answer to what was asked for before says nothing of what is asked for now. */
function answered(request: ManualRequest, change: Extract<RequestChange, { type: "request-answered" }>): ManualRequest {
  return isAbout(request, change) && request.wanted === change.wanted ? withAnswer(request, change) : request;
}
