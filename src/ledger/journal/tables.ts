import type { Stream } from "../../crm/model.ts";
import type { WritingEndpoint } from "../../contract/endpoints.ts";
import type { Stage, OperationName } from "../../engine/model/resource.ts";
import { table } from "../database/statements.ts";

export const operationStates = [
  "planned",
  "sending",
  "unknown",
  "parked",
  "held",
  "done",
  "rejected",
  "dropped",
] as const;
export type OperationState = (typeof operationStates)[number];

export interface OperationTable {
  id: string;
  run_id: string | null;
  plan_id: string | null;
  customer_namespace: string;
  customer_id: string;
  kind: OperationName;
  endpoint: WritingEndpoint;
  stage: Stage;
  subject: string;
  hash: string;
  state: OperationState;
  target: string;
  payload: string;
  wire_hash: string | null;
  context: string;
  reason: string;
  before: string;
  after: string;
  takes_away: number;
  question_id: string | null;
  position: number;
  created_at: string;
  updated_at: string;
  settle_after: string | null;
  verdict: string | null;
  evidence: string | null;
  outcome_code: string | null;
  outcome_message: string | null;
  answer_ref: string | null;
  records: string;
  /** A number that no other operation may claim. */
  claim: string | null;
  /** The removed units of the business, as JSON. */
  weight: string | null;
  approved: number;
}

export interface AttemptTable {
  operation_id: string;
  number: number;
  nonce: string;
  wire_hash: string;
  started_at: string;
  holder: string | null;
  accepted_until: string | null;
  finished_at: string | null;
  outcome: string | null;
  http_status: number | null;
  code: string | null;
  detail: string | null;
}

/** A stored time that was in the future when read, because the clock was set back. Epoch milliseconds. */
export interface ClockNoteTable {
  subject: string;
  future: number;
  met_at: number;
}

export interface OperationRecordTable {
  stream: Stream;
  namespace: string;
  record_id: string;
  operation_id: string;
}

export interface RejectionTable {
  stream: Stream;
  namespace: string;
  record_id: string;
  kind: OperationName;
  hash: string;
  customer_namespace: string;
  customer_id: string;
  version: number;
  settings: string;
  operation_id: string;
  code: string;
  reason: string;
  at: string;
  asked: number;
  shared: number;
  tries: number;
}

export interface AppliedPlanTable {
  plan: string;
  hash: string;
  run_id: string;
  at: string;
}

interface OperationStoodTable extends Pick<
  OperationTable,
  "state" | "run_id" | "settle_after" | "verdict" | "evidence" | "outcome_code" | "outcome_message" | "answer_ref"
> {
  operation_id: string;
  from_at: string;
  to_at: string;
}

interface RejectionStoodTable {
  operation_id: string;
  stream: Stream;
  namespace: string;
  record_id: string;
  kind: OperationName;
  hash: string;
  version: number;
  from_at: string;
  to_at: string | null;
}

export const journalTables = {
  operation: table<OperationTable>(),
  operation_stood: table<OperationStoodTable>(),
  operation_record: table<OperationRecordTable>(),
  attempt: table<AttemptTable>(),
  rejection: table<RejectionTable>(),
  rejection_stood: table<RejectionStoodTable>(),
  clock_note: table<ClockNoteTable>(),
  applied_plan: table<AppliedPlanTable>(),
};
