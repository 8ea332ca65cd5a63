import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";

/** Facts of the ledger for reports and pages. Instants are ISO texts in UTC; no private value is included. */

export interface TreeHeadFacts {
  sequence: number;
  hash: string;
  size: number;
  root: string;
}

/** `at`: time of that entry; `ledger`: name of the ledger, null if it never got one. */
export interface AuditHeadFacts extends TreeHeadFacts {
  at: string;
  ledger: string | null;
}

/** `problem`, `failingSince`: why and since when the place gets no newer head. */
export interface HeadPlaceFacts {
  place: string;
  sequence: number | null;
  keptAt: string | null;
  problem: string | null;
  failingSince: string | null;
}

export interface DeliveryFacts {
  kind: "channel" | "switch";
  name: string;
  doneAt: string | null;
  problem: string | null;
  failingSince: string | null;
}

/** `body` contains ids and commitments. */
export interface AuditFacts {
  sequence: number;
  at: string;
  kind: string;
  subject: string;
  body: JsonObject;
  hash: string;
}

/** `rawRef` names the raw form, which is not included. */
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

/** `outcome` is null while the call is in progress, or if the program ended during it. */
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

export interface EvidenceFacts {
  at: string;
  seen: boolean;
  detail: Json;
}

/** `target` and `payload` are unbound: references and markers, no values. */
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
  /** Ids and commitments that are needed to settle the operation. */
  context: JsonObject;
  /** For a person: the thing to look for, the place, and whom to ask; null if nothing can be found out. */
  lookFor: { what: string; where: string; whom: string } | null;
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
  /** The redacted answer of the service is kept, because somebody must examine the outcome. */
  answerKept: boolean;
  records: { stream: Stream; key: RecordKey }[];
  attempts: AttemptFacts[];
}

/** Removals of a kind without approval, and how many are allowed. */
export interface TakenFacts {
  thing: string;
  within: "day" | "week";
  count: number;
  allowed: number;
}

export interface HoldFacts {
  id: string;
  scope: "enterprise" | "run" | "day" | "week" | "policy" | "operation" | "flips" | "rebuilt";
  customer: RecordKey;
  /** The number of operations; of a past hold, the former number. */
  count: number;
  first: { operation: string; reason: string }[];
  state: "open" | "approved" | "rejected" | "used" | "moot";
  explanation: string;
  createdAt: string;
  decidedAt: string | null;
  reason: string | null;
  decidedBy: string | null;
  operations: number;
  /** The hold is on an undo. Only `apply` with the file of that undo carries it out. */
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
  /** Complete but not believed, because too many records were missing. */
  doubted: boolean;
  /** `judged`, or why missing records do not count; null unless complete and full. */
  absence: string | null;
  continues: number | null;
}

/** An interrupted read, which the next run continues. */
export interface CutReadFacts {
  source: string;
  stream: Stream;
  rows: number;
  beganAt: string;
  reachedAt: string;
}

export interface NotAttempted {
  kind: string;
  why: string;
  count: number;
}

export interface RunStory {
  run: RunFacts;
  reads: ReadFacts[];
  operations: { kind: string; state: string; count: number }[];
  records: { stream: Stream; outcome: string; count: number }[];
}
