import type { RecordKey, Stream } from "../../crm/model.ts";
import { notOfCustomers, oneByOne, compareBytes, isSameKey } from "./state-part.ts";
import type { Json } from "../../base/canonical-json.ts";
import { theCrm, outlivesAsset, requestKindOf, withAnswer } from "./requests.ts";
import type { CrmWish, ManualRequest, NewRequest, RequestAnswer } from "./requests.ts";
import type { ChangeContext } from "./state-part.ts";
import { formatKey } from "../../crm/keys.ts";

/**
 * A person did on the platform what the CRM says of a record, and it was read back; `unseen` names what of it could not
 * be, and counts by that person's word alone.
 */
export interface DoneByHand {
  type: "done-by-hand";
  stream: Stream;
  key: RecordKey;
  /** Of the form that the person did: a note says nothing of a later one. */
  bodyHash: string;
  by: string;
  reason: string;
  unseen: readonly string[];
}

export const byHandParts = { "done-by-hand": notOfCustomers };

/** Licence types whose assets the platform has shown: of others, not seeing an order says nothing (A43). */
export interface LicenceTypesShown {
  type: "licence-types-shown";
  types: readonly string[];
}

export const licenceTypesParts = { "licence-types-shown": notOfCustomers };

/** One thing that the platform showed. */
export interface ShownThing {
  kind: string;
  subject: string;
  body: Json;
}

/**
 * What the platform showed, for people to read. `observed-all`: everything of these kinds was read, and nothing else of
 * them is shown; where a subject stands twice, the last one counts. `observation-ended`: it is not shown any more.
 * `observation-failed`: that could not be read.
 */
export type ObservationChange =
  | { type: "observed"; customer: RecordKey; kind: string; subject: string; body: Json }
  | { type: "observed-all"; customer: RecordKey; kinds: readonly string[]; shown: readonly ShownThing[] }
  | { type: "observation-ended"; customer: RecordKey; kind: string; subject: string }
  | { type: "observation-failed"; customer: RecordKey };

export const observationsParts = {
  observed: notOfCustomers,
  "observed-all": notOfCustomers,
  "observation-ended": notOfCustomers,
  "observation-failed": notOfCustomers,
};

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

/** What was sealed for a payload is not needed any more. */
export interface SecretsWiped {
  type: "secrets-wiped";
  ref: string;
  version: number;
}

/** Of a secret that is needed in no form any more. */
export const everyVersion = Number.MAX_SAFE_INTEGER;

/** Licence passwords of an order: nothing that is bought needs them any more. */
export function passwordsWiped(order: RecordKey): SecretsWiped {
  return { type: "secrets-wiped", ref: `orders/${formatKey(order)}`, version: everyVersion };
}

export const secretsParts = { "secrets-wiped": notOfCustomers };

/**
 * What could not be looked at when a ledger was new to the platform, so that an order may stand there that belongs to
 * somebody else in the CRM by now: a customer, or (under a key without a namespace) what no customer is known of.
 */
export interface CustomerUnread {
  type: "customer-unread";
  customer: RecordKey;
  why: string;
  /** It counts for every order, and not only for those that the ledger knew by then. */
  ofAllOrders: boolean;
}

/** What a customer has is known now. */
export interface CustomerRead {
  type: "customer-read";
  customer: RecordKey;
}

export type UnreadCustomerChange = CustomerUnread | CustomerRead;

export const unreadCustomersParts = { "customer-unread": notOfCustomers, "customer-read": notOfCustomers };
