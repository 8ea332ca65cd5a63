import type { Json } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { formatKey } from "../crm/keys.ts";
import { handedIn } from "../engine/model/registry.ts";
import { also } from "./text.ts";
import type { AuditFacts, HoldFacts, OperationFacts, QuarantineFacts, ReadFacts } from "./facts.ts";

/** So many observations are told of at most, and so many assignments that ended. */
export const mostObservations = 200;

/** So many records are named at most that a text may mean. */
export const mostFound = 10;

/** Whether a text by which a record was found was only the beginning of its name or login. */
export function isBeginning({ by }: { by: string }): boolean {
  return by.startsWith("beginning");
}

/** A canonical record as the ledger holds it now. */
export interface RecordFacts {
  stream: Stream;
  key: RecordKey;
  customer: RecordKey;
  source: string;
  state: "current" | "quarantined" | "absent";
  version: number;
  firstSeen: string;
  changedAt: string;
  /** Complete reads in a row that lacked it. */
  missed: number;
  /** Set while it waits to be planned. */
  pending: boolean;
  deferred: { code: string; reason: string; since: string } | null;
  /** The run that last changed it, and the run that last decided on it with its decision. */
  changedRun: string | null;
  outcome: { run: string; decision: string } | null;
}

/**
 * One field of a version; a private one is named and never shown: `mark` tells whether it changed, `erased` that its
 * value is held no more.
 */
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
  /** Names of the fields that differ from the version before; empty for the first. */
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
  /** For whom it stands. */
  customer: RecordKey;
  /** Products that stand of it, wherever, each once for every number of its asset. */
  products: number;
  /** Customers that it moved away from in the CRM; `endedAt`: since when nothing of it stands there. */
  movedFrom: { customer: RecordKey; since: string; endedAt: string | null }[];
  /** What happened to it since, oldest first. */
  steps: StepFacts[];
}

interface StepFacts {
  at: string;
  /** For whom it was. */
  customer: RecordKey;
  kind: "bought" | "removed" | "priced";
  /** Of what was bought. */
  channelOrderId: string | null;
  operationId: string | null;
  origin: "sent" | "by-hand" | "found" | "rebuilt";
  /** What it was about, such as `P9 (asset number 8000000002)`: products, packages, or assets that went whole. */
  things: string[];
}

interface NumberFacts {
  number: string;
  instanceId: string;
  slot: number;
  origin: "pool" | "crm";
  fixedAt: string;
  /** When its asset was deleted. */
  endedAt: string | null;
  /** Whose it is, whoever the CRM says that the order belongs to now; null in an early ledger. */
  customer: RecordKey | null;
}

interface StaffLinkFacts {
  memberGlobalId: string;
  enterpriseGlobalId: string;
  origin: "created" | "adopted";
  from: string;
  to: string | null;
}

/** What a person asked for of a thing of a customer, and what the service answered last. */
export interface RequestFacts {
  of: string;
  about: string;
  wanted: string;
  /** Its name and how it stands, in words. */
  text: string;
  /** Of whom it is, where it is of a person: whose password, or who borrows. */
  staff: RecordKey | null;
  by: string;
  reason: string;
  askedAt: string;
  answer: Json;
  answeredAt: string | null;
  operationId: string | null;
}

/** An enterprise of which E3 showed more than one under a customer's number: a person chooses. */
export interface CandidateFacts {
  enterprise: string;
  customers: { customerId: string; isDefault: boolean }[];
  channelCustomerId: string;
  seenAt: string;
}

/** What a person did on the platform for the form that the record has now. `unseen` could not be read back. */
export interface ByHandFacts {
  at: string;
  by: string;
  reason: string;
  unseen: string[];
}

/** What the platform showed: `to` is set where it no longer does. */
export interface ObservationFacts {
  kind: string;
  subject: string;
  from: string;
  to: string | null;
  seenAt: string;
  body: Json;
}

/** The whole story of one record, from the CRM to the platform. */
export interface ExplainFacts {
  stream: Stream;
  key: RecordKey;
  record: RecordFacts | null;
  /** Newest first, at most 20. */
  versions: VersionFacts[];
  /** The newest reading of its source and stream. */
  read: ReadFacts | null;
  quarantine: QuarantineFacts[];
  customer: {
    key: RecordKey;
    record: RecordFacts | null;
    /** Rows in quarantine that belong to the customer. */
    quarantined: number;
    /** The customer's own row in quarantine; null where no reading held one, or a usable one came. */
    ownQuarantine: QuarantineFacts | null;
    /** Operations whose outcome is open: nothing else is sent for the customer before. */
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
   * What the CRM gives the person: a number, or an asset instance with the numbers that are fixed to it. `isEnded`: it had
   * numbers, and all of them were removed. Nothing for a person who is gone from the CRM.
   */
  claims: { claim: string; numbers: string[]; isEnded: boolean }[];
  /** For a customer: what people asked for by hand. */
  requests: RequestFacts[];
  byHand: ByHandFacts | null;
  /** For a customer without an enterprise: those that it may be. */
  candidates: CandidateFacts[];
  observations: ObservationFacts[];
  observationRead: { seenAt: string; complete: boolean } | null;
  operations: { total: number; newest: OperationFacts[] };
  audit: { total: number; newest: AuditFacts[] };
  /** For a customer: how its orders and staff stand. */
  dependents: { stream: Stream; state: string; code: string | null; count: number }[];
  /** For a customer: its orders and staff that wait, at most 20. */
  waiting: RecordFacts[];
  /**
   * For a customer: what of it cannot be used and waits in quarantine, also records that were never usable; at most 20.
   */
  unusable: QuarantineFacts[];
  /** Records that may have been meant: the same id elsewhere, or an order with this channel number. */
  similar: { stream: Stream; key: RecordKey }[];
  /**
   * How many records the last reading left out by the `skip` of its stream, for each source that the record may be of:
   * which they are is not kept.
   */
  leftOut: { source: string; count: number }[];
}

/** The numbers of what a person should hold, or why there is none. */
export function claimedNumbers({ numbers, isEnded }: ExplainFacts["claims"][number]): string {
  if (numbers.length === 0) return isEnded ? "its number was removed" : "no number yet";
  return numbers.join(", ");
}

/** Since when nothing stands any more of an order that was placed. */
export function goneSince({ products, steps }: Pick<PlacedFacts, "products" | "steps">): string | undefined {
  return products === 0 ? steps.findLast(({ kind }) => kind === "removed")?.at : undefined;
}

/** The purchase with which an order began to stand again, after everything of it had been removed. */
export function boughtAgain(
  { from, steps }: Pick<PlacedFacts, "from" | "steps">,
  numbers: ExplainFacts["numbers"],
): StepFacts | undefined {
  const standing = numbers.filter(({ endedAt }) => endedAt === null);
  if (standing.length === 0 || standing.some(({ fixedAt }) => fixedAt <= from)) return undefined;
  return steps.find(({ kind, at }) => kind === "bought" && standing.some(({ fixedAt }) => fixedAt <= at));
}

/** When crm-sync last changed something on the platform that the story tells of; empty where it never did. */
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

/** What exists of an order for a customer that it moved away from: it may have come back since. */
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

/** What happened to a placed order since: `bought as 1-1: P9 (asset number 8000000002)`. */
export function stepText({ kind, origin, channelOrderId, things }: Omit<StepFacts, "at" | "customer">): string {
  const what = { bought: "bought", removed: "removed", priced: "amounts changed" }[kind];
  const how = { sent: "", "by-hand": ", by hand", found: ", as the platform shows", rebuilt: ", as found" }[origin];
  const more = things.length > mostThings ? ` and ${things.length - mostThings} more` : "";
  return `${what}${also(" as ", channelOrderId)}: ${things.slice(0, mostThings).join(", ")}${more}${how}`;
}

/** Whether there is anything to tell: the record itself, or what names it. */
export function isTold(facts: ExplainFacts): boolean {
  return (
    facts.record !== null || facts.quarantine.length > 0 || facts.dependents.length > 0 || facts.unusable.length > 0
  );
}

/** What began and what ended of its resources, and by which operation of ours; null: by none. */
export interface ResourceEvent {
  at: string;
  operationId: string | null;
  text: string;
}

export function resourceEvents(facts: ExplainFacts): ResourceEvent[] {
  return handedIn().resources.flatMap(({ explain }) => explain?.events(facts) ?? []);
}
