import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { AssumptionId } from "../../contract/assumptions.ts";
import type { EndpointId, WritingEndpoint } from "../../contract/endpoints.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { WriteCall } from "../../platform/services.ts";
import type { WriteOutcome } from "../../http/call.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Snapshot, SnapshotList } from "../../platform/snapshot.ts";
import type { PlannedAsset, PrivateMarker } from "./references.ts";
import type { AssumptionMet, Resting } from "./assumptions-met.ts";
import type { Called, OperationLine } from "./operation-line.ts";
import type { PolicyName } from "./policy-settings.ts";
import type { RequestOf } from "./requests.ts";
import type { Change, Draft, RecordReference, Schemas, Shapes, Stage } from "./resource.ts";
import type { PayloadFacts } from "../customer.ts";
import type { Known, StateChange } from "./state.ts";
import type { RemovedThing } from "./operation.ts";

export interface JournalEntry<S extends Shapes> {
  id: string;
  operation: Change<string, S>;
  context: S["context"];
}

export interface Effect {
  changes: StateChange[];
  audit: JsonObject;
  met?: readonly AssumptionMet[];
  metIfRepeated?: readonly AssumptionMet[];
}

/** A person whom an M1 did not add although it added others, with the service's message (60027). */
export interface RefusedPerson {
  key: RecordKey;
  message: string;
}

/** `doubt`: it proves nothing, a reading decides. `contradiction`: it is impossible, a person decides. */
export type Concluded =
  | (Effect & { refused: RefusedPerson[] })
  | { doubt: string; met?: readonly AssumptionMet[] }
  | { contradiction: string; met?: readonly AssumptionMet[] };

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
  shownBefore: readonly { globalId: string }[];
  sealed: readonly { ref: string; version: number }[];
  known(): Known;
}

export type Evidence =
  | { kind: "confirmed"; effect: Effect; detail: JsonObject }
  /** The platform does not show the change. That alone proves nothing. `partEffect`: what follows from a shown part. */
  | { kind: "not-found"; detail: JsonObject; partEffect?: Effect | undefined }
  | {
      kind: "ambiguous";
      reason: string;
      detail: JsonObject;
      effect?: Effect | undefined;
      /** Contradicted rows of A1–A43, if it stays ambiguous for the settle time. */
      met?: readonly AssumptionMet[];
      says?: "nothing" | undefined;
    };

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

/** What happens if enough readings within the settle time do not find the operation. */
export type WhenNotFound =
  | { kind: "drop" }
  | { kind: "park"; reason: string }
  | { kind: "send-again"; why: string }
  | { kind: "unreadable"; reason: string };

export type CountedAsApplied = { effect: Effect; summary: string } | { code: string; why: string; cure: string };

export type Uniqueness =
  | { what: "order"; number: string; order: RecordKey }
  | { what: "enterprise"; number: string; customer: RecordKey };

/** The placed order that an operation amends. It must still be in this state when the operation is sent. */
export interface Amends {
  order: RecordKey;
  lastStep: number;
  /** Hash of the last form that the order agreed with. Null: the form that it was placed with. */
  agreed: string | null;
}

export interface LookFor {
  what: string;
  where: string;
  whom: string;
}

export type Looked<S extends Shapes> = Pick<Draft<S>, "target" | "payload" | "records"> & {
  context: S["context"] | undefined;
};

export type Undone =
  | { how: "exact"; by: EndpointId }
  | { how: "approximate"; by: EndpointId; difference: string }
  | { how: "impossible"; why: string };

export interface Lost {
  verdict: string;
  audit: { kind: string; body: JsonObject };
  message: string;
}

export type OnUnknown<S extends Shapes> =
  | {
      by: "observe";
      observe: (entry: JournalEntry<S>, snapshot: Snapshot, facts: SettleFacts) => Promise<Evidence>;
      /** By default the change counts as not applied, and is planned again. */
      notShown?: (entry: JournalEntry<S>, facts: SettleFacts) => Promise<WhenNotFound>;
      async?: (operation: Draft<S>) => boolean;
      /** Must not be sent twice. After three sends without a known outcome a person decides. */
      nonRepeatable?: true;
    }
  | {
      by: "resend";
      /** A success with data about something else is odd. After this many a person decides. */
      maxOddAnswers?: number;
      observe?: (entry: JournalEntry<S>, snapshot: Snapshot, facts: SettleFacts) => Promise<Evidence>;
    }
  | {
      /** It cannot be settled: the result was lost with the answer. */
      by: "lost";
      record: (payload: S["payload"]) => Lost;
    }
  | {
      /** Ask a person at once: the call is non-repeatable and no reading shows the change. */
      by: "ask";
    };

export interface Decide<S extends Shapes> {
  applied: (entry: JournalEntry<S>, seen: Exclude<Evidence, { kind: "confirmed" }>) => CountedAsApplied;
  /** If set: not settled as not applied while a part is shown. The text says what to do instead. */
  partCure?: string;
  /** If set: no run sends it again. The changes end what asked for it. */
  notApplied?: (entry: JournalEntry<S>) => readonly StateChange[];
}

export interface Capabilities<S extends Shapes> {
  governed?: { policy: PolicyName; alone?: true };
  removes?: { thing: RemovedThing; count: (operation: Draft<S>) => number };
  claims?: { what: Uniqueness["what"]; of: (operation: Draft<S>) => Uniqueness | undefined };
  expects?: (operation: Draft<S>) => Amends | undefined;
  /** Its parts, if the service accepts or rejects each part separately. */
  items?: (operation: Draft<S>) => { record: RecordReference; part: Json }[];
  numbers?: (operation: Draft<S>) => PlannedAsset[];
  credentials?: {
    accounts?: (operation: Draft<S>) => RecordReference[];
    passwords?: (operation: Draft<S>) => RecordKey[];
  };
  answers?: (operation: Draft<S>) => { of: RequestOf; about: string; askedAt: string }[];
  holders?: { grants?: (operation: Draft<S>) => string[]; frees?: (operation: Draft<S>) => string[] };
  assumes?: {
    always?: readonly AssumptionId[];
    by?: (operation: Draft<S>) => readonly Resting[];
    oddData?: (data: Json) => AssumptionMet[];
    /** The evidence about an assumption if the settle time ended without the change. */
    notShown?: (facts: { code: string | null; inPart: boolean }) => AssumptionMet[];
  };
  /**
   * A rejected call may have had effects (A16). What the platform shows of them: an effect that it proves, or words for a
   * person.
   */
  afterRefusal?: (
    entry: JournalEntry<S>,
    snapshot: Snapshot,
    facts: RefusalFacts,
  ) => Promise<Effect | string | undefined>;
  prints?: {
    line?: (operation: Change<string, S>, called: Called) => Promise<OperationLine>;
    payload?: (operation: Draft<S>) => string[];
    count?: (payload: S["payload"]) => number | undefined;
  };
}

export interface OperationType<S extends Shapes> {
  readonly endpoint: WritingEndpoint;
  readonly stages: readonly [Stage, ...Stage[]];
  readonly schemas: Schemas<S>;
  readonly invalidates: readonly SnapshotList[];
  readonly prepare: (bound: Bound<S>) => Prepared<S> | NotSendable;
  readonly onUnknown: OnUnknown<S>;
  readonly decide: Decide<S>;
  readonly reversal: Undone;
  readonly whereToLook: (looked: Looked<S>) => LookFor | undefined;
  readonly can: Capabilities<S>;
}

export function notSendable(issues: readonly { path: readonly PropertyKey[]; message: string }[]): NotSendable {
  const [first] = issues;
  const place =
    first === undefined || first.path.length === 0 ? "" : ` in the field ${first.path.map(String).join(".")}`;
  return {
    code: "payload.not-sendable",
    reason: `the payload does not fit the contract${place}: ${first?.message ?? "unknown"}`,
  };
}
