import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { AssumptionId } from "../../contract/assumptions/row.ts";
import type { EndpointId, WritingEndpoint } from "../../contract/endpoints.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { WriteCall, WriteOutcome } from "../../platform/call.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Snapshot, SnapshotList } from "../../platform/snapshot.ts";
import type { PlannedAsset } from "./asset-numbers.ts";
import type { AssumptionMet, Resting } from "./assumptions-met.ts";
import type { Called, OperationLine } from "./operation-line.ts";
import type { PolicyName } from "./policy.ts";
import type { PrivateMarker } from "./references.ts";
import type { RequestOf } from "./requests.ts";
import type { Change, Draft, RecordReference, Schemas, Shapes, Stage } from "./shape.ts";
import type { PayloadFacts } from "../customer.ts";
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

/** The doubt of an asynchronous call: it was answered as taken, and is done later. */
export const takenLater = { doubt: "it was taken asynchronously, and the platform has to show it yet (A15)" };

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
  known(): Known;
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
  known(): Known;
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
  placedNumbers(): Iterable<string>;
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

/** What an operation comes to whose outcome is lost for good. */
export interface Lost {
  verdict: string;
  audit: { kind: string; body: JsonObject };
  /** For the log. */
  message: string;
}

/** How the engine finds out what became of a call whose outcome is unknown. */
export type OnUnknown<S extends Shapes> =
  | {
      /** By reading the platform until it shows the change, or has not shown it for the settle time. */
      by: "observe";
      observe: (entry: JournalEntry<S>, snapshot: Snapshot, facts: SettleFacts) => Promise<Evidence>;
      /** What is done if it was not shown in that time. Left out: it counts as not applied and is planned again. */
      notShown?: (entry: JournalEntry<S>, facts: SettleFacts) => Promise<WhenNotFound>;
      /** The service takes it now and carries it out later (A15). */
      async?: (operation: Draft<S>) => boolean;
      /** The call must not be sent twice: after three sends without a known outcome a person decides. */
      nonRepeatable?: true;
    }
  | {
      /** By sending it again: it sets a state, so that twice is the same as once. */
      by: "resend";
      /** A success whose data is about something else is odd. After so many of them a person decides. */
      maxOddAnswers?: number;
      observe?: (entry: JournalEntry<S>, snapshot: Snapshot, facts: SettleFacts) => Promise<Evidence>;
    }
  | {
      /** Not at all: what it brought is lost with its answer, and that is recorded. */
      by: "lost";
      record: (payload: S["payload"]) => Lost;
    }
  | {
      /** By asking a person at once: nothing reads it, and it is non-repeatable. */
      by: "ask";
    };

/** What a person's decision on an unknown outcome comes to: `settle --applied` and `settle --not-applied`. */
export interface Decide<S extends Shapes> {
  applied: (entry: JournalEntry<S>, seen: Exclude<Evidence, { kind: "confirmed" }>) => CountedAsApplied;
  /** Set: while a part of it is shown, nobody can settle it as not applied, and this is what to do instead. */
  partCure?: string;
  notApplied?: (entry: JournalEntry<S>) => readonly StateChange[];
}

/** What only some operation types need. The engine asks for each where it needs it. */
export interface Capabilities<S extends Shapes> {
  /** The policy that rules it; `alone`: a person approves each single one. */
  governed?: { policy: PolicyName; alone?: true };
  /** It removes something that limits count. */
  removes?: { thing: TakenThing; count: (operation: Draft<S>) => number };
  /** It claims a number that no other operation may have. */
  claims?: { what: Uniqueness["what"]; of: (operation: Draft<S>) => Uniqueness | undefined };
  /** It is sent only while nothing happened to its order since it was planned. */
  expects?: (operation: Draft<S>) => Amends | undefined;
  /** Its parts that the service takes or rejects one by one. */
  items?: (operation: Draft<S>) => { record: RecordReference; part: Json }[];
  /** Assets that it buys: the engine fixes their numbers before it binds the payload. */
  numbers?: (operation: Draft<S>) => PlannedAsset[];
  /** People for whom the engine makes a password: the first of an account, or a new one. */
  credentials?: {
    accounts?: (operation: Draft<S>) => RecordReference[];
    passwords?: (operation: Draft<S>) => RecordKey[];
  };
  /** Requests that it carries out: it is not sent for what nobody asks for any more. */
  answers?: (operation: Draft<S>) => { of: RequestOf; about: string; askedAt: string }[];
  /** Asset numbers that get a holder, and asset numbers that lose theirs. The engine orders operations by these. */
  holders?: { grants?: (operation: Draft<S>) => string[]; frees?: (operation: Draft<S>) => string[] };
  /** Assumptions (A1–A43) that it depends on, and what its outcomes say of them. */
  assumes?: {
    always?: readonly AssumptionId[];
    by?: (operation: Draft<S>) => readonly Resting[];
    oddData?: (data: Json) => AssumptionMet[];
    /** What it says of an assumption that the change was not shown in the settle time. */
    notShown?: (facts: { code: string | null; inPart: boolean }) => AssumptionMet[];
  };
  /** A rejected call may have done something all the same (A16): what the platform shows of it, in words. */
  afterRefusal?: (entry: JournalEntry<S>, snapshot: Snapshot, facts: RefusalFacts) => Promise<string | undefined>;
  /** How people see it: one line of a plan, the lines of its payload, and a number in reports. */
  prints?: {
    line?: (operation: Change<string, S>, called: Called) => Promise<OperationLine>;
    payload?: (operation: Draft<S>) => string[];
    count?: (payload: S["payload"]) => number | undefined;
  };
}

/** One operation type. */
export interface OperationType<S extends Shapes> {
  readonly endpoint: WritingEndpoint;
  /** When it is sent among the operations of a customer. Of several, a draft names one; else the first counts. */
  readonly stages: readonly [Stage, ...Stage[]];
  readonly schemas: Schemas<S>;
  /** Readings of the enterprise that are old after it. */
  readonly invalidates: readonly SnapshotList[];
  /** Checks the bound payload by the contract, and gives the call and what its success changes. */
  readonly prepare: (bound: Bound<S>) => Prepared<S> | NotSendable;
  readonly onUnknown: OnUnknown<S>;
  readonly decide: Decide<S>;
  /** How it can be taken back: by which endpoint, or why by none. */
  readonly reversal: Undone;
  /** Where a person can see whether it was carried out. */
  readonly whereToLook: (looked: Looked<S>) => LookFor | undefined;
  readonly can: Capabilities<S>;
}

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
