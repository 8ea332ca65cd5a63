import { handedIn } from "./registry.ts";
import type { ChangeShapes, RecordReference } from "./resource.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { PlatformCustomer } from "../../platform/snapshot.ts";
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

export interface Known extends KnownRequests {}

type OwnChange =
  | LicenceTypesShown
  | RequestChange
  | ObservationChange
  | DoneByHand
  | SecretsWiped
  | UnreadCustomerChange;
type OwnChanges = { [Change in OwnChange as Change["type"]]: Change };

declare module "./resource.ts" {
  interface ChangeShapes extends OwnChanges {}
}

/** Applied in the transaction of the outcome or reading that it follows from. */
export type StateChange = ChangeShapes[keyof ChangeShapes];

export const nothingRecorded: KnownRequests = { requests: [], crmAsked: [] };

/** Gives the same result as loading from the ledger after the change. */
export function applyChange(known: Known, change: StateChange, context: ChangeContext): Known {
  return advanced(known, change.type, [change], context);
}

function advanced<Type extends keyof ChangeShapes>(
  known: Known,
  type: Type,
  changes: readonly ChangeShapes[Type][],
  context: ChangeContext,
): Known {
  return handedIn().changes[type].apply(known, changes, context);
}

export function applyChanges(known: Known, changes: readonly StateChange[], context: ChangeContext): Known {
  const apart = new Map<object, { type: StateChange["type"]; changes: StateChange[] }>();
  let after = known;
  for (const change of changes) {
    const part = handedIn().changes[change.type];
    if (!part.isApart) after = applyChange(after, change, context);
    else {
      const own = apart.get(part) ?? { type: change.type, changes: [] };
      own.changes.push(change);
      apart.set(part, own);
    }
  }
  for (const { type, changes: own } of apart.values()) after = advanced(after, type, own, context);
  return after;
}

export interface EnterpriseFacts {
  platformCustomers: PlatformCustomer[];
  enterpriseCode: string | undefined;
  protectedMembers: readonly string[];
}

export interface LinkedEnterprise {
  link: { enterpriseGlobalId: string } | undefined;
}

export interface ChangeContext {
  customer: RecordKey;
  at: string;
  enterprise?: EnterpriseFacts | undefined;
}

export interface StatePart<Part, Change> {
  /** No other change reads or writes this state, so its changes can be collected and applied together. */
  isApart: boolean;
  /** No payload depends on this state, and it may be long. It is applied only when the whole state is needed. */
  isForLater?: true;
  /** Whether only the ledger knows the result. `bodyHashes`: the current CRM form of each order. */
  isReadAnew?: (change: Change, bodyHashes: ReadonlyMap<string, string>) => boolean;
  apply: <Whole extends Part>(known: Whole, changes: readonly Change[], context: ChangeContext) => Whole;
}

export function oneByOne<Part, Change>(
  one: <Whole extends Part>(known: Whole, change: Change, context: ChangeContext) => Whole,
): StatePart<Part, Change> {
  return {
    isApart: false,
    apply: (known, changes, context) => changes.reduce((before, change) => one(before, change, context), known),
  };
}

export function together<Part, Change>(apply: StatePart<Part, Change>["apply"]): StatePart<Part, Change> {
  return { isApart: true, apply };
}

export const notOfCustomers: StatePart<object, unknown> = oneByOne((known) => known);

/** The order of rows in the ledger. A fingerprint depends on it. */
export function compareBytes(one: string, other: string): number {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = utf8Rank(one.charCodeAt(at)) - utf8Rank(other.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** UTF-8 sorts the characters that UTF-16 writes as surrogates after all others. */
function utf8Rank(unit: number): number {
  return unit >= 0xd8_00 && unit <= 0xdf_ff ? unit + 0x1_00_00 : unit;
}

export function inKeyOrder<Item extends { key: RecordKey }>(all: ReadonlyMap<string, Item>): Map<string, Item> {
  return new Map([...all].toSorted(([, one], [, other]) => byKey(one.key, other.key)));
}

function byKey(one: RecordKey, other: RecordKey): number {
  return compareBytes(one.namespace, other.namespace) || compareBytes(one.id, other.id);
}

export function isSameKey(one: RecordKey, other: RecordKey): boolean {
  return one.namespace === other.namespace && one.id === other.id;
}

export function isSameRecord(one: RecordReference, other: RecordReference): boolean {
  return one.stream === other.stream && isSameKey(one, other);
}

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
