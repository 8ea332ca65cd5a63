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

/** What holds for every operation of a kind. */
export interface KindFacts {
  readonly endpoint: WritingEndpoint;
  /** Where it stands in a plan; the first is the usual one. */
  readonly stages: readonly [Stage, ...Stage[]];
  /** What `takesAway` counts; undefined where it takes nothing away. */
  readonly takes: TakenThing | undefined;
  /** What rules an operation of it that names no policy itself; undefined where nothing does. */
  readonly policy: PolicyName | undefined;
  /** A person has to approve each very operation of it, whatever the policies and the limits say. */
  readonly approvedAlone: boolean;
  /** Assumptions that it rests on: where one was contradicted, none of it is sent. */
  readonly restsOn: readonly AssumptionId[];
  /**
   * What finds out about an unknown outcome: a reading; nothing, since the call sets a state and the same value is sent
   * again; nothing at all, since what it brought is lost with its answer; or a person, who is asked at once, since
   * nothing reads it and it must not be done twice.
   */
  readonly whenUnknown: "read" | "send-again" | "lost" | "ask";
  /** It is done for a customer; the pool's are done for nobody. */
  readonly isOfCustomer: boolean;
  /** It must not be done twice: sent three times at most without a known outcome, then a person decides. */
  readonly isSentSparingly: boolean;
  /**
   * After so many successes whose data does not say what became of it a person decides; until then what sets a state is
   * sent again with the same value.
   */
  readonly mostOddAnswers: number;
  /**
   * A call that was refused may have done something all the same: nothing of it is sent again before the platform was
   * read (A16).
   */
  readonly mayHoldAfterRefusal: boolean;
  /**
   * What a person has to do first where something of it is shown that cannot be called not applied; undefined where it
   * can.
   */
  readonly cureOfPart: string | undefined;
  /** What `uniqueness` is about, for the query that looks for another operation of it. */
  readonly claims: Uniqueness["what"] | undefined;
  /** Of what was read of the enterprise before, what an operation of it makes old. */
  readonly outdates: readonly SnapshotList[];
  readonly undone: Undone;
  /** Settings that stand in its payload: where one changes, it is another operation, and no other is tried anew. */
  readonly settingsInPayload: readonly (keyof AssumptionSettings)[];
}

/** Everything that the program knows about one kind of operation. */
export interface Kind<S extends Shapes> extends KindFacts {
  readonly schemas: Schemas<S>;
  /** Checks a bound payload against the contract and makes its call, its context, and what its success means. */
  readonly prepare: (bound: Bound<S>) => Prepared<S> | NotSendable;
  /** Reads what proves an operation. Rejects where the platform gave nothing: a failed reading never finds nothing. */
  readonly read: (entry: JournalEntry<S>, snapshot: Snapshot, facts: SettleFacts) => Promise<Evidence>;
  readonly notFound: (entry: JournalEntry<S>, facts: SettleFacts) => Promise<WhenNotFound>;
  readonly countAsApplied: (
    entry: JournalEntry<S>,
    evidence: Exclude<Evidence, { kind: "confirmed" }>,
  ) => CountedAsApplied;
  /**
   * What the platform shows of a call that was refused, in words; undefined where it shows nothing. Rejects where it
   * could not be read. Asked only of kinds that may hold after a refusal.
   */
  readonly shownAfterRefusal: (
    entry: JournalEntry<S>,
    snapshot: Snapshot,
    facts: RefusalFacts,
  ) => Promise<string | undefined>;
  /** What is recorded where what it brought is lost with its answer. */
  readonly lost: (payload: S["payload"]) => Lost;
  readonly uniqueness: (operation: Draft<S>) => Uniqueness | undefined;
  /**
   * The order that it amends: it gets a channel order number of its own before its intent (A16), and the intent is
   * refused where something happened to the order since it was planned.
   */
  readonly amends: (operation: Draft<S>) => Amends | undefined;
  /** What people asked for, and when, that it carries out: it is not sent for what nobody asks for so any more. */
  readonly requests: (operation: Draft<S>) => { of: RequestOf; about: string; askedAt: string }[];
  /**
   * For each record the part of the payload that is refused or goes through by itself; undefined where it is all of one
   * piece.
   */
  readonly parts: (operation: Draft<S>) => { record: RecordReference; part: Json }[] | undefined;
  /** Rows of A1–A43 that this very operation rests on, beside those of its kind. */
  readonly rests: (operation: Draft<S>) => readonly Resting[];
  /** What a success shows whose data does not fit the contract. */
  readonly metByOddData: (data: Json) => AssumptionMet[];
  /** Assets that need a number each before the payload can be bound. */
  readonly assets: (operation: Draft<S>) => PlannedAsset[];
  /** Members of staff for whom a first password is made. */
  readonly newAccounts: (operation: Draft<S>) => RecordReference[];
  /** Members of staff for whom a password is made that this one operation alone sets. */
  readonly newPasswords: (operation: Draft<S>) => RecordKey[];
  /**
   * What it shows of the rows of A1–A43 that enough readings over the settle time did not show it. `code`: what the
   * service answered last, if anything; `inPart`: they showed some of it.
   */
  readonly metUnshown: (facts: { code: string | null; inPart: boolean }) => AssumptionMet[];
  /** What changes besides where a person said that it was not applied. */
  readonly whenNotApplied: (entry: JournalEntry<S>) => StateChange[];
  /** Asset numbers that somebody is to get: they wait where the revoke that frees one of them is held. */
  readonly granted: (operation: Draft<S>) => string[];
  /** Asset numbers that nobody holds any more afterwards. */
  readonly freed: (operation: Draft<S>) => string[];
  /** How many live things of `takes` it takes away. */
  readonly takesAway: (operation: Draft<S>) => number;
  /** Its fields as a plan prints them for people. */
  readonly planLines: (operation: Draft<S>) => string[];
  /** Its success says only that it was taken: the platform carries it out later, and a reading shows that (A15). */
  readonly isAsynchronous: (operation: Draft<S>) => boolean;
  /** What it does in one line of a plan; left out: operation-line.ts says it. */
  readonly line?: ((operation: Change<string, S>, called: Called) => Promise<OperationLine>) | undefined;
  /** The number that a report of exceptions gives beside it. */
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
  isOfCustomer: true,
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
  settingsInPayload: [],
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
