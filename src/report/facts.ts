import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";

/**
 * Rows of the ledger as reports and people get them. Instants are ISO text in UTC; no private value stands in any of
 * them.
 */

/** The newest entry of the audit log, and the size and root of the Merkle tree that ends with it. */
export interface TreeHeadFacts {
  sequence: number;
  hash: string;
  size: number;
  root: string;
}

/** The same with when that entry was written, and the name of the ledger; null in one that never got one. */
export interface AuditHeadFacts extends TreeHeadFacts {
  at: string;
  ledger: string | null;
}

/** A place outside the database, the head it has, and since when and why it gets no newer one. */
export interface HeadPlaceFacts {
  place: string;
  sequence: number | null;
  keptAt: string | null;
  problem: string | null;
  failingSince: string | null;
}

/** A channel for alerts, or a dead man's switch, as it did last. */
export interface DeliveryFacts {
  kind: "channel" | "switch";
  name: string;
  /** When it did last what it is for. */
  doneAt: string | null;
  /** Why it does not; null where it does. */
  problem: string | null;
  failingSince: string | null;
}

/** One entry of the audit chain. `body` holds ids and commitments. */
export interface AuditFacts {
  sequence: number;
  at: string;
  kind: string;
  subject: string;
  body: JsonObject;
  hash: string;
}

/** One record in quarantine. Its raw form is not part of it; `rawRef` names it. */
export interface QuarantineFacts {
  id: string;
  source: string;
  stream: Stream;
  key: RecordKey | null;
  customer: RecordKey | null;
  place: string;
  field: string;
  code: string;
  message: string;
  expected: string | null;
  firstSeen: string;
  lastSeen: string;
  state: "open" | "retry" | "resolved";
  resolvedAt: string | null;
  resolution: string | null;
  rawRef: string;
}

/**
 * One attempt to send an operation. `outcome` is null while the call is in progress, or where the program ended during
 * it.
 */
export interface AttemptFacts {
  number: number;
  nonce: string;
  startedAt: string;
  finishedAt: string | null;
  outcome: string | null;
  httpStatus: number | null;
  code: string | null;
  detail: string | null;
}

/** What one reading of the platform showed about an operation. */
export interface EvidenceFacts {
  at: string;
  seen: boolean;
  detail: Json;
}

/**
 * An operation of the journal with its attempts. Target and payload stand in the unbound form: references and markers,
 * no values.
 */
export interface OperationFacts {
  id: string;
  kind: string;
  endpoint: string;
  stage: string;
  customer: RecordKey;
  subject: string;
  state: "planned" | "sending" | "unknown" | "parked" | "held" | "done" | "rejected" | "dropped";
  runId: string | null;
  planId: string | null;
  questionId: string | null;
  reason: string;
  target: JsonObject;
  payload: JsonObject;
  /** What the operation has to remember so that its outcome can be found out: ids and commitments. */
  context: JsonObject;
  /** What a person has to look for on the platform, where, and whom to ask; null where nothing can be found out. */
  lookFor: { what: string; where: string; whom: string } | null;
  /** How an unknown outcome ends by itself. */
  whenUnknown: "read" | "send-again" | "lost" | "ask";
  before: Json;
  after: Json;
  takesAway: number;
  hash: string;
  wireHash: string | null;
  createdAt: string;
  updatedAt: string;
  settleAfter: string | null;
  verdict: string | null;
  evidence: EvidenceFacts[];
  outcomeCode: string | null;
  outcomeMessage: string | null;
  /** Whether the service's answer is kept (redacted), because its outcome has to be looked into. */
  answerKept: boolean;
  records: { stream: Stream; key: RecordKey }[];
  attempts: AttemptFacts[];
}

/** How much of a kind of thing was taken away without a person's approval, and how much of it may be. */
export interface TakenFacts {
  /** In the plural: seats, products. */
  thing: string;
  within: "day" | "week";
  count: number;
  allowed: number;
}

export interface HoldFacts {
  id: string;
  scope: "enterprise" | "run" | "day" | "week" | "policy" | "operation" | "flips" | "rebuilt";
  customer: RecordKey;
  /** So many operations it is about; once it is over, was about. */
  count: number;
  /** The first of them, with why each is planned. */
  first: { operation: string; reason: string }[];
  state: "open" | "approved" | "rejected" | "used" | "moot";
  explanation: string;
  createdAt: string;
  decidedAt: string | null;
  reason: string | null;
  decidedBy: string | null;
  operations: number;
  /** What it holds takes a run back: `apply` with the file of that undo carries it out, and no other run. */
  ofUndo: boolean;
}

export interface RunFacts {
  id: string;
  job: string;
  kind: string;
  trigger: string;
  scope: string | null;
  startedAt: string;
  finishedAt: string | null;
  state: "running" | "done" | "stopped" | "failed" | "interrupted";
  exitCode: number | null;
  balance: Json;
  summary: Json;
  header: JsonObject;
}

/** One reading of one stream of a source. */
export interface ReadFacts {
  number: number;
  runId: string | null;
  source: string;
  stream: Stream;
  startedAt: string;
  finishedAt: string | null;
  complete: boolean;
  whole: boolean;
  rows: number;
  bad: number;
  cursor: string | null;
  problem: string | null;
  /** It was complete and not believed, because it lost too much. */
  doubted: boolean;
  /** What it said about what is gone: `judged`, or why not; null where it was not complete and whole. */
  absence: string | null;
  /** The read that it went on with, where that was cut. */
  continues: number | null;
}

/** A read that was cut, as far as it came: the next run goes on with it. */
export interface CutReadFacts {
  source: string;
  stream: Stream;
  rows: number;
  beganAt: string;
  reachedAt: string;
}

/** So many operations of a kind that a run planned and did not attempt for the same reason. */
export interface NotAttempted {
  kind: string;
  why: string;
  count: number;
}

/** A run with what it read and how its operations and records ended. */
export interface RunStory {
  run: RunFacts;
  reads: ReadFacts[];
  operations: { kind: string; state: string; count: number }[];
  records: { stream: Stream; outcome: string; count: number }[];
}
