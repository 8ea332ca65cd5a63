import type { Stream } from "../crm/model.ts";
import type { Link, PlacedOrder, StaffLink } from "../operation/state.ts";
import type { RecordState } from "../operation/desired.ts";
import type { Endpoint, Stage } from "../operation/shape.ts";
import type { OperationKind } from "../operation/registry.ts";
import type { OperationState } from "./journal/journal-tables.ts";
import type { HoldRow } from "./approvals/holds.ts";

/** The tables of the ledger as they are read: instants are ISO text in UTC, flags are 0 or 1, bodies are JSON text. */
export interface LedgerTables {
  meta: { key: string; value: string };
  private_value: PrivateValueTable;
  record: RecordTable;
  record_version: RecordVersionTable;
  source_read: SourceReadTable;
  source_stream: { source: string; stream: Stream; job: string | null };
  quarantine: QuarantineTable;
  link: LinkTable;
  platform_customer: PlatformCustomerTable;
  acknowledged: AcknowledgedTable;
  placed_order: PlacedOrderTable;
  licence_order: LicenceOrderTable;
  asset_number: AssetNumberTable;
  staff_link: StaffLinkTable;
  assignment: AssignmentTable;
  observation: ObservationTable;
  observation_read: ObservationReadTable;
  operation: OperationTable;
  operation_record: { stream: Stream; namespace: string; record_id: string; operation_id: string };
  attempt: AttemptTable;
  hold: HoldTable;
  run: RunTable;
  last_fire_time: LastFireTimeTable;
  fired_time: FiredTimeTable;
  alert: AlertTable;
  open_circuit: OpenCircuitTable;
  confirmed_correlation: { correlation: string; confirmed_at: string };
  shown_licence_type: ShownLicenceTypeTable;
  clock_note: ClockNoteTable;
  audit: AuditTable;
  /** Live rows of a table by its name: see the migration that made it. */
  tally: { name: string; count: number };
  record_tally: { stream: Stream; state: RecordTable["state"]; count: number; pending: number };
}

/**
 * Values that no other table may hold in clear, raw records and kept answers. Read here by explicit request of a person
 * only.
 */
export interface PrivateValueTable {
  ref: string;
  version: number;
  salt: string | null;
  body: string | null;
  sealed: string | null;
  created_at: string;
  wiped_at: string | null;
}

export interface RecordTable {
  stream: Stream;
  namespace: string;
  id: string;
  source: string;
  raw_hash: string;
  body_hash: string;
  version: number;
  customer_namespace: string;
  customer_id: string;
  state: RecordState;
  last_read: number;
  missed: number;
  /** When it was first missing from a whole read of a run; counts only while `missed` is not 0. */
  missed_since: string | null;
  pending: number;
  deferred_code: string | null;
  deferred_reason: string | null;
  deferred_since: string | null;
  changed_run: string | null;
  outcome_run: string | null;
  outcome: string | null;
  first_seen: string;
  changed_at: string;
}

export interface RecordVersionTable {
  stream: Stream;
  namespace: string;
  id: string;
  version: number;
  from_at: string;
  to_at: string | null;
  source: string;
  place: string;
  body: string;
}

export interface SourceReadTable {
  number: number;
  run_id: string | null;
  source: string;
  stream: Stream;
  started_at: string;
  finished_at: string | null;
  complete: number;
  whole: number;
  rows: number;
  bad: number;
  cursor: string | null;
  problem: string | null;
  /** JSON: rows of each set of files that are joined, by its name. */
  details: string | null;
  /** The read was complete and not believed, because it lost too much. */
  shrunk: number;
  /** What it said about what is gone: `judged`, or why not. */
  absence: string | null;
}

export interface QuarantineTable {
  id: string;
  source: string;
  stream: Stream;
  namespace: string | null;
  record_id: string | null;
  customer_namespace: string | null;
  customer_id: string | null;
  place: string;
  field: string;
  code: string;
  message: string;
  expected: string | null;
  raw_ref: string;
  raw_hash: string;
  first_seen: string;
  last_seen: string;
  last_read: number;
  state: "open" | "retry" | "resolved";
  resolved_at: string | null;
  resolution: string | null;
}

export interface LinkTable {
  namespace: string;
  customer_id: string;
  from_at: string;
  to_at: string | null;
  enterprise_global_id: string;
  channel_code: string;
  channel_customer_id: string;
  origin: Link["origin"];
  examined: number;
}

export interface PlatformCustomerTable {
  enterprise_global_id: string;
  customer_id: string;
  is_default: number;
  channel_code: string;
  channel_customer_id: string;
  seen_at: string;
}

export interface AcknowledgedTable {
  namespace: string;
  customer_id: string;
  from_at: string;
  to_at: string | null;
  fields: string;
}

export interface PlacedOrderTable {
  namespace: string;
  order_id: string;
  from_at: string;
  to_at: string | null;
  customer_namespace: string;
  customer_id: string;
  channel_order_id: string;
  body_hash: string;
  version: number;
  operation_id: string | null;
  origin: PlacedOrder["origin"];
}

export interface LicenceOrderTable {
  namespace: string;
  order_id: string;
  sequence: number;
  license_type: string;
  platform_customer_id: string;
  license_order_id: string;
  at: string;
}

export interface AssetNumberTable {
  number: string;
  origin: "pool" | "crm";
  operation_id: string | null;
  taken_at: string;
  fixed_at: string | null;
  wire_number: string | null;
  namespace: string | null;
  order_id: string | null;
  instance_id: string | null;
  unit: number | null;
}

export interface StaffLinkTable {
  namespace: string;
  staff_id: string;
  from_at: string;
  to_at: string | null;
  customer_namespace: string;
  customer_id: string;
  enterprise_global_id: string;
  member_global_id: string;
  origin: StaffLink["origin"];
  profile: string;
}

export interface AssignmentTable {
  asset_number: string;
  from_at: string;
  to_at: string | null;
  namespace: string;
  staff_id: string;
  customer_namespace: string;
  customer_id: string;
  member_global_id: string;
  origin: "granted" | "adopted";
  operation_id: string | null;
  ended_by: string | null;
}

export interface ObservationTable {
  customer_namespace: string;
  customer_id: string;
  kind: string;
  subject: string;
  from_at: string;
  to_at: string | null;
  seen_at: string;
  body: string;
  body_hash: string;
}

export interface ObservationReadTable {
  customer_namespace: string;
  customer_id: string;
  seen_at: string;
  complete: number;
}

export interface OperationTable {
  id: string;
  run_id: string | null;
  plan_id: string | null;
  customer_namespace: string;
  customer_id: string;
  kind: OperationKind;
  endpoint: Endpoint;
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
  hold_id: string | null;
  position: number;
  created_at: string;
  updated_at: string;
  settle_after: string | null;
  verdict: string | null;
  evidence: string | null;
  outcome_code: string | null;
  outcome_message: string | null;
  answer_ref: string | null;
}

export interface AttemptTable {
  operation_id: string;
  number: number;
  nonce: string;
  wire_hash: string;
  started_at: string;
  finished_at: string | null;
  outcome: string | null;
  http_status: number | null;
  code: string | null;
  detail: string | null;
}

export interface HoldTable {
  id: string;
  scope: HoldRow["scope"];
  customer_namespace: string;
  customer_id: string;
  count: number;
  allowed: number;
  total: number;
  set_hash: string;
  state: HoldRow["state"];
  explanation: string;
  created_at: string;
  decided_at: string | null;
  reason: string | null;
  decided_by: string | null;
}

export type RunState = "running" | "done" | "stopped" | "failed" | "interrupted";

export interface RunTable {
  id: string;
  job: string;
  kind: string;
  trigger: string;
  scope: string | null;
  started_at: string;
  finished_at: string | null;
  state: RunState;
  exit_code: number | null;
  balance: string | null;
  summary: string | null;
  header: string;
}

export interface AuditTable {
  sequence: number;
  format: number;
  at: string;
  kind: string;
  subject: string;
  body: string;
  previous: string;
  hash: string;
}

export interface LastFireTimeTable {
  job: string;
  fire_time: string;
  fired_at: string;
}

export interface FiredTimeTable extends LastFireTimeTable {
  /** When its run came to its end; null while it is on, or where its process died or its run failed. */
  finished_at: string | null;
}

export interface AlertTable {
  key: string;
  since: string;
  body: string;
  sent_at: string | null;
}

export interface OpenCircuitTable {
  service: string;
  since: string;
  reason: string;
  probe_at: string;
}

/** A licence type that the platform ever showed: by an asset (A43), or by a product of a thinned observation. */
export interface ShownLicenceTypeTable {
  license_type: string;
  shown_by: "asset" | "product";
  shown_at: string;
}

/** A time of ours that lay in the future when it was met, because the clock was set back. Epoch milliseconds. */
export interface ClockNoteTable {
  subject: string;
  future: number;
  met_at: number;
}
