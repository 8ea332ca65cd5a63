import type { RecordKey, Stream } from "../../crm/model.ts";
import { notOfCustomers, oneByOne, compareBytes, isSameKey, type ChangeContext } from "./state-part.ts";
import type { Json } from "../../base/canonical-json.ts";
import {
  theCrm,
  outlivesAsset,
  requestKindOf,
  withAnswer,
  type CrmWish,
  type ManualRequest,
  type NewRequest,
  type RequestAnswer,
} from "./requests.ts";
import { formatKey } from "../../crm/keys.ts";

/** A person made the record's change on the platform. `unseen`: the parts that no reading could confirm. */
export interface DoneByHand {
  type: "done-by-hand";
  stream: Stream;
  key: RecordKey;
  bodyHash: string;
  by: string;
  reason: string;
  unseen: readonly string[];
}

/** Types whose assets the platform has shown. For other types an unseen order proves nothing (A43). */
export interface LicenceTypesShown {
  type: "licence-types-shown";
  types: readonly string[];
}

export interface ShownThing {
  kind: string;
  subject: string;
  body: Json;
}

/** For display. `observed-all`: all of these kinds, the last of each subject counts. `observation-ended`: not shown. */
export type ObservationChange =
  | { type: "observed"; customer: RecordKey; kind: string; subject: string; body: Json }
  | { type: "observed-all"; customer: RecordKey; kinds: readonly string[]; shown: readonly ShownThing[] }
  | { type: "observation-ended"; customer: RecordKey; kind: string; subject: string }
  | { type: "observation-failed"; customer: RecordKey };

export interface KnownRequests {
  requests: ManualRequest[];
  /** The CRM's last request for each thing, even if a person withdrew or changed it. */
  crmAsked: CrmWish[];
}

export type RequestChange =
  | { type: "request-made"; customer: RecordKey; request: NewRequest }
  | ({ type: "request-answered" } & RequestAnswer)
  | { type: "request-withdrawn"; customer: RecordKey; of: ManualRequest["of"]; about: string };

export function withoutGone(asked: readonly ManualRequest[], numbers: readonly string[]): ManualRequest[] {
  return asked.filter((request) => !numbers.includes(request.about) || outlivesAsset(request));
}

/** Marks requests about removed assets. They do not count for new assets with the same numbers. */
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

function made(
  before: readonly ManualRequest[],
  { customer, request }: Extract<RequestChange, { type: "request-made" }>,
  { customer: ours, at: askedAt }: ChangeContext,
): ManualRequest[] {
  const others = before.filter((other) => !isAbout(other, request));
  if (!isSameKey(customer, ours)) return others;
  return [...others, { askedAt, ...request, answer: null, operationId: null }].toSorted(byName);
}

/** A CRM request replaces the CRM's previous request for the same thing. */
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

function answered(request: ManualRequest, change: Extract<RequestChange, { type: "request-answered" }>): ManualRequest {
  return isAbout(request, change) && request.wanted === change.wanted ? withAnswer(request, change) : request;
}

export interface SecretsWiped {
  type: "secrets-wiped";
  ref: string;
  version: number;
}

export const everyVersion = Number.MAX_SAFE_INTEGER;

export function passwordsWiped(order: RecordKey): SecretsWiped {
  return { type: "secrets-wiped", ref: `orders/${formatKey(order)}`, version: everyVersion };
}

/** Could not be read when the ledger was new. It may have an order that has moved in the CRM since. */
export interface CustomerUnread {
  type: "customer-unread";
  customer: RecordKey;
  why: string;
  ofAllOrders: boolean;
}

export interface CustomerRead {
  type: "customer-read";
  customer: RecordKey;
}

export type UnreadCustomerChange = CustomerUnread | CustomerRead;

export const stateParts = {
  "request-made": requests,
  "request-answered": requests,
  "request-withdrawn": requests,
  "done-by-hand": notOfCustomers,
  "licence-types-shown": notOfCustomers,
  observed: notOfCustomers,
  "observed-all": notOfCustomers,
  "observation-ended": notOfCustomers,
  "observation-failed": notOfCustomers,
  "secrets-wiped": notOfCustomers,
  "customer-unread": notOfCustomers,
  "customer-read": notOfCustomers,
};
