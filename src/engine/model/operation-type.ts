import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { AssumptionId } from "../../contract/assumptions.ts";
import type { EndpointId, WritingEndpoint } from "../../contract/endpoints.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { WriteCall, WriteOutcome } from "../../platform/call.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Snapshot, SnapshotList } from "../../platform/snapshot.ts";
import type { PlannedAsset, PrivateMarker } from "./references.ts";
import type { AssumptionMet, Resting } from "./assumptions-met.ts";
import type { Called, OperationLine } from "./operation-line.ts";
import type { PolicyName } from "./policy.ts";
import type { RequestOf } from "./requests.ts";
import type { Change, Draft, RecordReference, Schemas, Shapes, Stage } from "./shape.ts";
import type { PayloadFacts } from "../customer.ts";
import type { Known, StateChange } from "./state.ts";
import type { TakenThing } from "./taking.ts";

/** The part of a journal entry that an operation type needs to settle an unknown outcome. */
export interface JournalEntry<S extends Shapes> {
  id: string;
  operation: Change<string, S>;
  context: S["context"];
}

/** The facts that follow from a proven operation. Its own answer and a later reading prove the same. */
export interface Effect {
  changes: StateChange[];
  audit: JsonObject;
  met?: readonly AssumptionMet[];
  /** The same, if an earlier call of this operation had an unknown outcome. */
  metIfRepeated?: readonly AssumptionMet[];
}

/** Staff that an M1 did not add although it added others, each with the service's message (60027). */
export interface RefusedPerson {
  key: RecordKey;
  message: string;
}

/** `doubt`: the answer proves nothing, so a reading decides. `contradiction`: it is impossible, so a person decides. */
export type Concluded =
  | (Effect & { refused: RefusedPerson[] })
  | { doubt: string; met?: readonly AssumptionMet[] }
  | { contradiction: string; met?: readonly AssumptionMet[] };

/** The doubt of an asynchronous call: the service accepted it and does it later. */
export const takenLater = { doubt: "it was taken asynchronously, and the platform has to show it yet (A15)" };

export interface Prepared<S extends Shapes> {
  context: S["context"];
  send(
    platform: Platform,
    call: WriteCall,
  ): Promise<{ outcome: WriteOutcome<unknown>; conclude: (id: string) => Concluded }>;
}

export interface NotSendable {
  code: string;
  reason: string;
}

export interface Bound<S extends Shapes> {
  operation: Change<string, S>;
  wire: JsonObject;
  target: JsonObject;
  facts: PayloadFacts;
  settings: AssumptionSettings;
  /** Members that M5 showed before this operation (M1 only). */
  shownBefore: readonly { globalId: string }[];
  sealed: readonly { ref: string; version: number }[];
  known(): Known;
}

/** The findings of one reading of the platform about an operation whose outcome is unknown. */
export type Evidence =
  /** It was applied; `effect` follows from it. */
  | { kind: "confirmed"; effect: Effect; detail: JsonObject }
  /** The platform does not show it, which alone proves nothing. `partEffect`: the part that the platform does show. */
  | { kind: "not-found"; detail: JsonObject; partEffect?: Effect | undefined }
  /**
   * Only a person can decide, for example if an order is shown in part. `effect` follows if it was applied.
   * If `says` is set, the answer is not credible, and shows nothing about the operation.
   */
  | {
      kind: "ambiguous";
      reason: string;
      detail: JsonObject;
      effect?: Effect | undefined;
      /** Rows of A1–A43 that it contradicts if it stays ambiguous for the settle time. */
      met?: readonly AssumptionMet[];
      says?: "nothing" | undefined;
    };

/** Facts from the ledger in addition to the journal entry. */
export interface SettleFacts {
  settings: AssumptionSettings;
  ordersUnseen: "ask" | "resend";
  known(): Known;
  privateValue(marker: PrivateMarker): Json | undefined;
  /** E3 has shown an enterprise that an E2 with these templates created (A8). */
  correlationConfirmed(correlation: string): Promise<boolean>;
  /** The platform is known to show assets of this licence type (A43). */
  isShown(licenseType: string): Promise<boolean>;
  orderNow(
    order: RecordKey,
  ): Promise<
    | { state: "current" | "quarantined" | "absent"; cancelled: boolean; bodyHash: string; customer: RecordKey }
    | undefined
  >;
}

export interface RefusalFacts extends Pick<SettleFacts, "isShown"> {
  channelOrderId: string | undefined;
  placedNumbers(): Iterable<string>;
}

/** What happens to an operation that enough readings over its settle time did not find. */
export type WhenNotFound =
  | { kind: "drop" }
  | { kind: "park"; reason: string }
  | { kind: "send-again"; why: string }
  | { kind: "unreadable"; reason: string };

/** The result of a person's decision that it was applied, or why that decision is impossible. */
export type CountedAsApplied = { effect: Effect; summary: string } | { code: string; why: string; cure: string };

/** A number that an operation claims exclusively. Another operation may already have it. */
export type Uniqueness =
  | { what: "order"; number: string; order: RecordKey }
  | { what: "enterprise"; number: string; customer: RecordKey };

/** The placed order that an operation amends, in its state at planning. That state must not have changed. */
export interface Amends {
  order: RecordKey;
  lastStep: number;
  /** Hash of the last form that the order agreed with; null: the form that it was placed with. */
  agreed: string | null;
}

/** Tells a person how to find out whether a call was carried out. It has ids and numbers, and no private values. */
export interface LookFor {
  what: string;
  where: string;
  whom: string;
}

/** An operation of one type; before its intent it has no context. */
export type Looked<S extends Shapes> = Pick<Draft<S>, "target" | "payload" | "records"> & {
  context: S["context"] | undefined;
};

/** How an operation is undone. */
export type Undone =
  /** Another call of ours restores everything. */
  | { how: "exact"; by: EndpointId }
  /** Another call of ours restores most of it. */
  | { how: "approximate"; by: EndpointId; difference: string }
  /** No call undoes it. */
  | { how: "impossible"; why: string };

export interface Lost {
  verdict: string;
  audit: { kind: string; body: JsonObject };
  message: string;
}

export type OnUnknown<S extends Shapes> =
  | {
      /** It reads the platform until the change is shown, or has not been shown for the settle time. */
      by: "observe";
      observe: (entry: JournalEntry<S>, snapshot: Snapshot, facts: SettleFacts) => Promise<Evidence>;
      /** What happens if the change was not shown in time. Default: it counts as not applied and is planned again. */
      notShown?: (entry: JournalEntry<S>, facts: SettleFacts) => Promise<WhenNotFound>;
      /** The service accepts the call now and carries it out later (A15). */
      async?: (operation: Draft<S>) => boolean;
      /** The call must not be sent twice. After three sends without a known outcome a person decides. */
      nonRepeatable?: true;
    }
  | {
      /** It sends the call again. The call sets a state, so sending it twice has the same effect. */
      by: "resend";
      /** A success is odd if its data is about something else. After this many odd answers a person decides. */
      maxOddAnswers?: number;
      observe?: (entry: JournalEntry<S>, snapshot: Snapshot, facts: SettleFacts) => Promise<Evidence>;
    }
  | {
      /** It cannot be settled: the result was lost with the answer, and the loss is recorded. */
      by: "lost";
      record: (payload: S["payload"]) => Lost;
    }
  | {
      /** It asks a person at once: no reading shows the change, and the call is non-repeatable. */
      by: "ask";
    };

/** The result of a person's decision on an unknown outcome: `settle --applied` or `settle --not-applied`. */
export interface Decide<S extends Shapes> {
  applied: (entry: JournalEntry<S>, seen: Exclude<Evidence, { kind: "confirmed" }>) => CountedAsApplied;
  /** If set: while a part is shown, nobody can settle it as not applied. The text says what to do instead. */
  partCure?: string;
  notApplied?: (entry: JournalEntry<S>) => readonly StateChange[];
}

export interface Capabilities<S extends Shapes> {
  /** The policy that applies; `alone`: a person approves every operation. */
  governed?: { policy: PolicyName; alone?: true };
  removes?: { thing: TakenThing; count: (operation: Draft<S>) => number };
  /** It claims a number that no other operation may have. */
  claims?: { what: Uniqueness["what"]; of: (operation: Draft<S>) => Uniqueness | undefined };
  /** It is sent only if its order has not changed since planning. */
  expects?: (operation: Draft<S>) => Amends | undefined;
  /** Its parts, if the service accepts or rejects each part separately. */
  items?: (operation: Draft<S>) => { record: RecordReference; part: Json }[];
  /** Assets that it buys. The engine fixes their numbers before it binds the payload. */
  numbers?: (operation: Draft<S>) => PlannedAsset[];
  /** People for whom the engine generates a password: the first of an account, or a new one. */
  credentials?: {
    accounts?: (operation: Draft<S>) => RecordReference[];
    passwords?: (operation: Draft<S>) => RecordKey[];
  };
  /** Requests that it carries out. It is not sent if nobody wants them any more. */
  answers?: (operation: Draft<S>) => { of: RequestOf; about: string; askedAt: string }[];
  /** Asset numbers that get a holder, and asset numbers that lose theirs. The engine orders operations by them. */
  holders?: { grants?: (operation: Draft<S>) => string[]; frees?: (operation: Draft<S>) => string[] };
  /** Assumptions (A1–A43) that it depends on, and what its outcomes show about them. */
  assumes?: {
    always?: readonly AssumptionId[];
    by?: (operation: Draft<S>) => readonly Resting[];
    oddData?: (data: Json) => AssumptionMet[];
    /** What that shows about an assumption: the change was not shown within the settle time. */
    notShown?: (facts: { code: string | null; inPart: boolean }) => AssumptionMet[];
  };
  /** A rejected call may have done something anyway (A16): describes the shown effects. */
  afterRefusal?: (entry: JournalEntry<S>, snapshot: Snapshot, facts: RefusalFacts) => Promise<string | undefined>;
  /** How it is displayed: one line of a plan, the lines of its payload, and a number in reports. */
  prints?: {
    line?: (operation: Change<string, S>, called: Called) => Promise<OperationLine>;
    payload?: (operation: Draft<S>) => string[];
    count?: (payload: S["payload"]) => number | undefined;
  };
}

export interface OperationType<S extends Shapes> {
  readonly endpoint: WritingEndpoint;
  /** When it is sent among a customer's operations. A draft may name another stage than the first. */
  readonly stages: readonly [Stage, ...Stage[]];
  readonly schemas: Schemas<S>;
  readonly invalidates: readonly SnapshotList[];
  /** Checks the bound payload against the contract. Returns the call, and the changes after its success. */
  readonly prepare: (bound: Bound<S>) => Prepared<S> | NotSendable;
  readonly onUnknown: OnUnknown<S>;
  readonly decide: Decide<S>;
  readonly reversal: Undone;
  readonly whereToLook: (looked: Looked<S>) => LookFor | undefined;
  readonly can: Capabilities<S>;
}

/** Nothing is sent if the payload does not fit the contract. */
export function notSendable(issues: readonly { path: readonly PropertyKey[]; message: string }[]): NotSendable {
  const [first] = issues;
  const place =
    first === undefined || first.path.length === 0 ? "" : ` in the field ${first.path.map(String).join(".")}`;
  return {
    code: "payload.not-sendable",
    reason: `the payload does not fit the contract${place}: ${first?.message ?? "unknown"}`,
  };
}
