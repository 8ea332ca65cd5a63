import type { Json } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { formatKey } from "../crm/keys.ts";
import { handedIn } from "../engine/model/registry.ts";
import { also } from "./text.ts";
import type { AuditFacts, HoldFacts, OperationFacts, QuarantineFacts, ReadFacts } from "./facts.ts";

export const mostObservations = 200;

export const mostFound = 10;

export function isBeginning({ by }: { by: string }): boolean {
  return by.startsWith("beginning");
}

export interface RecordFacts {
  stream: Stream;
  key: RecordKey;
  customer: RecordKey;
  source: string;
  state: "current" | "quarantined" | "absent";
  version: number;
  firstSeen: string;
  changedAt: string;
  /** Consecutive complete reads without this record. */
  missed: number;
  pending: boolean;
  deferred: { code: string; reason: string; since: string } | null;
  changedRun: string | null;
  outcome: { run: string; decision: string } | null;
}

/** A private value is never shown. `mark` changes with the value; `erased`: the value was erased. */
export type FieldFacts =
  | { name: string; value: string | number | boolean | null }
  | { name: string; private: true; mark: string; erased?: true };

export interface VersionFacts {
  version: number;
  from: string;
  to: string | null;
  source: string;
  place: string;
  fields: FieldFacts[];
  changed: string[];
}

interface LinkFacts {
  enterpriseGlobalId: string;
  channelCode: string;
  channelCustomerId: string;
  origin: "created" | "bound" | "adopted";
  from: string;
  to: string | null;
}

export interface PlacedFacts {
  channelOrderId: string;
  origin: "placed" | "adopted";
  version: number;
  from: string;
  to: string | null;
  operationId: string | null;
  licenceOrders: { sequence: number; licenseType: string; licenseOrderId: string; platformCustomerId: string }[];
  customer: RecordKey;
  /** Existing products of the order, at any customer. A product counts once for each asset number. */
  products: number;
  /** Customers that the order left in the CRM. `endedAt`: since when nothing of the order exists there. */
  movedFrom: { customer: RecordKey; since: string; endedAt: string | null }[];
  steps: StepFacts[];
}

interface StepFacts {
  at: string;
  customer: RecordKey;
  kind: "bought" | "removed" | "priced";
  channelOrderId: string | null;
  operationId: string | null;
  origin: "sent" | "by-hand" | "found" | "rebuilt";
  /** Such as `P9 (asset number 8000000002)`: products, packages, or assets that were removed completely. */
  things: string[];
}

interface NumberFacts {
  number: string;
  instanceId: string;
  slot: number;
  origin: "pool" | "crm";
  fixedAt: string;
  endedAt: string | null;
  customer: RecordKey | null;
}

interface StaffLinkFacts {
  memberGlobalId: string;
  enterpriseGlobalId: string;
  origin: "created" | "adopted";
  from: string;
  to: string | null;
}

export interface RequestFacts {
  of: string;
  about: string;
  wanted: string;
  text: string;
  /** The person whose password it is, or who borrows. */
  staff: RecordKey | null;
  by: string;
  reason: string;
  askedAt: string;
  answer: Json;
  answeredAt: string | null;
  operationId: string | null;
}

/** One of several enterprises that E3 showed for a customer's number. A person chooses. */
export interface CandidateFacts {
  enterprise: string;
  customers: { customerId: string; isDefault: boolean }[];
  channelCustomerId: string;
  seenAt: string;
}

/** A change that a person made on the platform for the present form of the record. `unseen`: fields not read back. */
export interface ByHandFacts {
  at: string;
  by: string;
  reason: string;
  unseen: string[];
}

export interface ObservationFacts {
  kind: string;
  subject: string;
  from: string;
  to: string | null;
  seenAt: string;
  body: Json;
}

export interface ExplainFacts {
  stream: Stream;
  key: RecordKey;
  record: RecordFacts | null;
  /** Newest first, at most 20. */
  versions: VersionFacts[];
  read: ReadFacts | null;
  quarantine: QuarantineFacts[];
  customer: {
    key: RecordKey;
    record: RecordFacts | null;
    quarantined: number;
    /** Null if no read had a bad row, or a usable row came later. */
    ownQuarantine: QuarantineFacts | null;
    /** Operations with an open outcome. crm-sync sends nothing else for the customer until they are settled. */
    openOperations: OperationFacts[];
    holds: HoldFacts[];
  } | null;
  links: LinkFacts[];
  platformCustomers: { customerId: string; isDefault: boolean; channelCode: string; seenAt: string }[];
  acknowledged: { from: string; to: string | null; fields: string[] }[];
  placed: PlacedFacts[];
  numbers: NumberFacts[];
  staffLinks: StaffLinkFacts[];
  /**
   * Assets that the CRM gives the person: a number, or an instance with its fixed numbers. `isEnded`: all numbers were
   * removed. Empty if the person is deleted in the CRM.
   */
  claims: { claim: string; numbers: string[]; isEnded: boolean }[];
  requests: RequestFacts[];
  byHand: ByHandFacts | null;
  candidates: CandidateFacts[];
  /** What readings found to differ from what was sent: of this record, or all of a customer. */
  differences: { level: string; subject: string; detail: string; since: string }[];
  observations: ObservationFacts[];
  observationRead: { seenAt: string; complete: boolean } | null;
  operations: { total: number; newest: OperationFacts[] };
  audit: { total: number; newest: AuditFacts[] };
  dependents: { stream: Stream; state: string; code: string | null; count: number }[];
  /** Orders and staff of a customer that wait, at most 20. */
  waiting: RecordFacts[];
  /** Rows of a customer in quarantine, also records that were never usable; at most 20. */
  unusable: QuarantineFacts[];
  /** Records that the person may have meant: the same id elsewhere, or an order with this channel number. */
  similar: { stream: Stream; key: RecordKey }[];
  /** Records that `skip` left out of the last read, by source. Nothing says which records these are. */
  leftOut: { source: string; count: number }[];
}

export function claimedNumbers({ numbers, isEnded }: ExplainFacts["claims"][number]): string {
  if (numbers.length === 0) return isEnded ? "its number was removed" : "no number yet";
  return numbers.join(", ");
}

/** Since when nothing exists of a placed order. */
export function goneSince({ products, steps }: Pick<PlacedFacts, "products" | "steps">): string | undefined {
  return products === 0 ? steps.findLast(({ kind }) => kind === "removed")?.at : undefined;
}

export function boughtAgain(
  { from, steps }: Pick<PlacedFacts, "from" | "steps">,
  numbers: ExplainFacts["numbers"],
): StepFacts | undefined {
  const standing = numbers.filter(({ endedAt }) => endedAt === null);
  if (standing.length === 0 || standing.some(({ fixedAt }) => fixedAt <= from)) return undefined;
  return steps.find(({ kind, at }) => kind === "bought" && standing.some(({ fixedAt }) => fixedAt <= at));
}

/** When crm-sync last changed something in this history; empty if never. */
export function changedLastAt(facts: ExplainFacts): string {
  const { operations } = facts;
  const times = [
    ...operations.newest.flatMap(({ state, attempts, updatedAt }) =>
      state === "done" ? [attempts.at(-1)?.startedAt ?? updatedAt] : [],
    ),
    ...resourceEvents(facts).flatMap(({ at, operationId }) => (operationId === null ? [] : [at])),
  ];
  return times.reduce((last, at) => (at > last ? at : last), "");
}

/** Whether something of an order exists for a customer that it left. The order may have come back. */
export function leftThere(
  { customer, products, steps }: PlacedFacts,
  { customer: earlier, endedAt }: PlacedFacts["movedFrom"][number],
): { what: string; since?: string | undefined } {
  if (endedAt === null) return { what: "something of it may exist there" };
  if (products === 0 || formatKey(customer) !== formatKey(earlier))
    return { what: "nothing of it exists there", since: endedAt };
  const back = steps.findLast(
    ({ kind, at, ...step }) => kind === "bought" && at >= endedAt && formatKey(step.customer) === formatKey(earlier),
  );
  return { what: "it was bought there again", since: back?.at };
}

const mostThings = 10;

/** One event of a placed order: `bought as 1-1: P9 (asset number 8000000002)`. */
export function stepText({ kind, origin, channelOrderId, things }: Omit<StepFacts, "at" | "customer">): string {
  const what = { bought: "bought", removed: "removed", priced: "amounts changed" }[kind];
  const how = { sent: "", "by-hand": ", by hand", found: ", as the platform shows", rebuilt: ", as found" }[origin];
  const more = things.length > mostThings ? ` and ${things.length - mostThings} more` : "";
  return `${what}${also(" as ", channelOrderId)}: ${things.slice(0, mostThings).join(", ")}${more}${how}`;
}

export function isTold(facts: ExplainFacts): boolean {
  return (
    facts.record !== null || facts.quarantine.length > 0 || facts.dependents.length > 0 || facts.unusable.length > 0
  );
}

/** A beginning or end of a resource. `operationId`: our operation that caused it; null if none did. */
export interface ResourceEvent {
  at: string;
  operationId: string | null;
  text: string;
}

export function resourceEvents(facts: ExplainFacts): ResourceEvent[] {
  return handedIn().resources.flatMap(({ explain }) => explain?.events(facts) ?? []);
}
