import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { AssumptionId } from "../contract/assumptions/row.ts";
import type { EndpointId, WritingEndpoint } from "../contract/endpoints.ts";
import type { RecordKey } from "../crm/model.ts";
import type { WriteCall, WriteOutcome } from "../platform/call.ts";
import type { Platform } from "../platform/platform.ts";
import type { Snapshot, SnapshotList } from "../platform/snapshot.ts";
import type { PlannedAsset } from "./asset-numbers.ts";
import type { AssumptionMet, Resting } from "./assumptions-met.ts";
import type { Called, OperationLine } from "./operation-line.ts";
import { fieldLines } from "./plan-lines.ts";
import type { PolicyName } from "./policy.ts";
import type { PrivateMarker } from "./references.ts";
import type { RequestOf } from "./requests.ts";
import type { Change, Draft, RecordReference, Schemas, Shapes, Stage } from "./shape.ts";
import type { PayloadFacts } from "./payload-facts.ts";
import type { Known, StateChange } from "./state.ts";
import type { TakenThing } from "./taking.ts";

/** An operation as the journal holds it, as far as its own kind needs it to find out what became of it. */
export interface JournalEntry<S extends Shapes> {
  id: string;
  operation: Change<string, S>;
  context: S["context"];
}

/** What is known once an operation is proven: the same, whether its own answer or a later reading proves it. */
export interface Effect {
  changes: StateChange[];
  audit: JsonObject;
  /** What it shows of the rows of A1–A43. */
  met?: readonly AssumptionMet[];
  /** The same where the call had been sent before with an unknown outcome. */
  metIfRepeated?: readonly AssumptionMet[];
}

/** Members of staff whom an M1 that went through for others did not add, each with the service's words (60027). */
export interface RefusedPerson {
  key: RecordKey;
  message: string;
}

/** `doubt`: it says nothing, so a reading decides. `contradiction`: it says what cannot be, so a person does. */
export type Concluded =
  | (Effect & { refused: RefusedPerson[] })
  | { doubt: string; met?: readonly AssumptionMet[] }
  | { contradiction: string; met?: readonly AssumptionMet[] };

/** A bound operation, ready to be sent. */
export interface Prepared<S extends Shapes> {
  context: S["context"];
  send(
    platform: Platform,
    call: WriteCall,
  ): Promise<{ outcome: WriteOutcome<unknown>; conclude: (id: string) => Concluded }>;
}

/** Why an operation cannot be sent as it is. */
export interface NotSendable {
  code: string;
  reason: string;
}

/** A bound payload and everything that its kind needs to make a call of it. */
export interface Bound<S extends Shapes> {
  operation: Change<string, S>;
  wire: JsonObject;
  target: JsonObject;
  facts: PayloadFacts;
  settings: AssumptionSettings;
  /** Members that M5 showed before (M1 only). */
  shownBefore: readonly { globalId: string }[];
  /** Passwords that are sealed with its intent. */
  sealed: readonly { ref: string; version: number }[];
  /** What is known of the customer when the answer is there. */
  known(): Promise<Known>;
}

/** What one reading of the platform says about an operation whose outcome is unknown. */
export type Evidence =
  /** It was applied, and this is what is known by it. */
  | { kind: "confirmed"; effect: Effect; detail: JsonObject }
  /** The platform does not show it. That alone proves nothing. `partEffect` is what it does show of it. */
  | { kind: "not-found"; detail: JsonObject; partEffect?: Effect | undefined }
  /**
   * Something only a person can judge, such as an order that is shown in part; `effect` is what it would mean if it was
   * applied. `says: "nothing"` where the answer cannot be believed, so that it shows nothing of the operation either.
   */
  | {
      kind: "ambiguous";
      reason: string;
      detail: JsonObject;
      effect?: Effect | undefined;
      /** What it shows of the rows of A1–A43 where it stays so over the settle time. */
      met?: readonly AssumptionMet[];
      says?: "nothing" | undefined;
    };

/** What the ledger knows beside the journal entry. */
export interface SettleFacts {
  settings: AssumptionSettings;
  ordersUnseen: "ask" | "resend";
  known(): Promise<Known>;
  privateValue(marker: PrivateMarker): Json | undefined;
  /** E3 has shown an enterprise that an E2 with these templates made (A8). */
  correlationConfirmed(correlation: string): Promise<boolean>;
  /** The platform is known to show assets of this licence type (A43). */
  isShown(licenseType: string): Promise<boolean>;
  /** An order as the CRM has it now. */
  orderNow(
    order: RecordKey,
  ): Promise<
    | { state: "current" | "quarantined" | "absent"; cancelled: boolean; bodyHash: string; customer: RecordKey }
    | undefined
  >;
}

/** What is known when a call that was refused is looked for all the same. */
export interface RefusalFacts extends Pick<SettleFacts, "isShown"> {
  /** The number that the order would be sent under now. */
  channelOrderId: string | undefined;
  /** Asset numbers of orders of the customer that are placed. */
  placedNumbers(): Promise<Iterable<string>>;
}

/** What is done with an operation that enough readings over its settle time did not find. */
export type WhenNotFound =
  /** It counts as not applied; the customer is planned anew. */
  | { kind: "drop" }
  | { kind: "park"; reason: string }
  | { kind: "send-again"; why: string }
  | { kind: "unreadable"; reason: string };

/** What a person's word that it was applied comes to, or why it cannot be taken. */
export type CountedAsApplied = { effect: Effect; summary: string } | { code: string; why: string; cure: string };

/** What an operation claims for itself alone: it may be somebody else's already. */
export type Uniqueness =
  | { what: "order"; number: string; order: RecordKey }
  | { what: "enterprise"; number: string; customer: RecordKey };

/** The placed order that an operation amends, and how it stood when that was planned: it has to stand so still. */
export interface Amends {
  order: RecordKey;
  /** Number of the last step of the order. */
  lastStep: number;
  /** Hash of the form that it was in agreement with; null: the one that it was placed with. */
  agreed: string | null;
}

/** What a person needs to find out whether a call was carried out. Ids and numbers only: nothing private of anybody. */
export interface LookFor {
  what: string;
  where: string;
  whom: string;
}

/** An operation of a kind; it has no context before its intent. */
export type Looked<S extends Shapes> = Pick<Draft<S>, "target" | "payload" | "records"> & {
  context: S["context"] | undefined;
};

/** How what an operation did is taken back. */
export type Undone =
  /** By another call of ours everything is as it was before. */
  | { how: "exact"; by: EndpointId }
  /** Another call of ours brings most of it back. */
  | { how: "approximate"; by: EndpointId; difference: string }
  /** No call takes it back. */
  | { how: "impossible"; why: string };

/**
 * The old form of an operation type. The engine uses it until each type is in a resource. `OperationType` of
 * engine/resource.ts explains the members; as-kind.ts shows which old member is which new one.
 */
export interface KindFacts {
  readonly endpoint: WritingEndpoint;
  readonly stages: readonly [Stage, ...Stage[]];
  readonly takes: TakenThing | undefined;
  readonly policy: PolicyName | undefined;
  readonly approvedAlone: boolean;
  readonly restsOn: readonly AssumptionId[];
  readonly whenUnknown: "read" | "send-again" | "lost" | "ask";
  readonly isSentSparingly: boolean;
  readonly mostOddAnswers: number;
  readonly mayHoldAfterRefusal: boolean;
  readonly cureOfPart: string | undefined;
  readonly claims: Uniqueness["what"] | undefined;
  readonly outdates: readonly SnapshotList[];
  readonly undone: Undone;
}

export interface Kind<S extends Shapes> extends KindFacts {
  readonly schemas: Schemas<S>;
  readonly prepare: (bound: Bound<S>) => Prepared<S> | NotSendable;
  /** Rejects if the platform gave nothing: a failed reading never finds nothing. */
  readonly read: (entry: JournalEntry<S>, snapshot: Snapshot, facts: SettleFacts) => Promise<Evidence>;
  readonly notFound: (entry: JournalEntry<S>, facts: SettleFacts) => Promise<WhenNotFound>;
  readonly countAsApplied: (
    entry: JournalEntry<S>,
    evidence: Exclude<Evidence, { kind: "confirmed" }>,
  ) => CountedAsApplied;
  /** Rejects if the platform could not be read. Asked only of types that may hold after a refusal. */
  readonly shownAfterRefusal: (
    entry: JournalEntry<S>,
    snapshot: Snapshot,
    facts: RefusalFacts,
  ) => Promise<string | undefined>;
  readonly lost: (payload: S["payload"]) => Lost;
  readonly uniqueness: (operation: Draft<S>) => Uniqueness | undefined;
  readonly amends: (operation: Draft<S>) => Amends | undefined;
  readonly requests: (operation: Draft<S>) => { of: RequestOf; about: string; askedAt: string }[];
  /** Undefined: it is all of one piece. */
  readonly parts: (operation: Draft<S>) => { record: RecordReference; part: Json }[] | undefined;
  readonly rests: (operation: Draft<S>) => readonly Resting[];
  readonly metByOddData: (data: Json) => AssumptionMet[];
  readonly assets: (operation: Draft<S>) => PlannedAsset[];
  readonly newAccounts: (operation: Draft<S>) => RecordReference[];
  readonly newPasswords: (operation: Draft<S>) => RecordKey[];
  readonly metUnshown: (facts: { code: string | null; inPart: boolean }) => AssumptionMet[];
  readonly whenNotApplied: (entry: JournalEntry<S>) => StateChange[];
  readonly granted: (operation: Draft<S>) => string[];
  readonly freed: (operation: Draft<S>) => string[];
  readonly takesAway: (operation: Draft<S>) => number;
  readonly planLines: (operation: Draft<S>) => string[];
  readonly isAsynchronous: (operation: Draft<S>) => boolean;
  readonly line?: ((operation: Change<string, S>, called: Called) => Promise<OperationLine>) | undefined;
  readonly counted: (payload: S["payload"]) => number | undefined;
  readonly lookFor: (looked: Looked<S>) => LookFor | undefined;
}

/** What an operation comes to whose outcome is lost for good. */
export interface Lost {
  verdict: string;
  audit: { kind: string; body: JsonObject };
  /** For the log. */
  message: string;
}

/** What most kinds have in common. */
export const plainKind = {
  takes: undefined,
  policy: undefined,
  approvedAlone: false,
  restsOn: [],
  rests: () => [],
  metByOddData: () => [],
  metUnshown: () => [],
  whenUnknown: "read",
  isSentSparingly: false,
  mostOddAnswers: Number.POSITIVE_INFINITY,
  mayHoldAfterRefusal: false,
  notFound: () => Promise.resolve({ kind: "drop" }),
  lost: () => ({ verdict: "lost", audit: { kind: "lost", body: {} }, message: "operation lost" }),
  shownAfterRefusal: () => Promise.resolve(undefined),
  claims: undefined,
  uniqueness: () => undefined,
  amends: () => undefined,
  requests: () => [],
  parts: () => undefined,
  assets: () => [],
  newAccounts: () => [],
  newPasswords: () => [],
  whenNotApplied: () => [],
  granted: () => [],
  freed: () => [],
  takesAway: () => 0,
  isAsynchronous: () => false,
  planLines: ({ payload }) => fieldLines(payload),
  counted: () => undefined,
} as const satisfies Partial<Kind<Shapes>>;

/** A call that sets a state which no call reads back: the same value is sent again, and nothing proves it. */
export const readBackByNothing = (): Promise<Evidence> =>
  Promise.resolve({ kind: "not-found", detail: { call: "none: no operation reads it back" } });

/** A payload that does not fit the contract: nothing is sent. */
export function notSendable(issues: readonly { path: readonly PropertyKey[]; message: string }[]): NotSendable {
  const [first] = issues;
  const place =
    first === undefined || first.path.length === 0 ? "" : ` in the field ${first.path.map(String).join(".")}`;
  return {
    code: "payload.not-sendable",
    reason: `the payload does not fit the contract${place}: ${first?.message ?? "unknown"}`,
  };
}
