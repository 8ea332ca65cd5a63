import type { Stream } from "../../crm/model.ts";
import type { RecordState } from "../../engine/model/desired.ts";
import { table } from "../database/statements.ts";

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
  /** Only valid while `missed` is above 0. */
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
  /** How often in a row the record returned to an earlier form. `previous_hash` has a few of those. */
  flips: number;
  previous_hash: string | null;
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
  date_zones: string | null;
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
  details: string | null;
  /** The read was complete but lost too much, so it was not believed. */
  doubted: number;
  /** `judged`, or why missing records did not count. */
  absence: string | null;
  /** Fingerprints of its settings. Null if nothing may be concluded from them. */
  question: string | null;
  mapping: string | null;
  continues: number | null;
  shape: string | null;
}

export interface ReadCheckpointTable {
  source: string;
  stream: Stream;
  question: string;
  position: string;
  first_read: number;
  rows: number;
  bad: number;
  nameless: number;
  began_at: string;
  reached_at: string;
}

interface ReadCheckpointSeenTable {
  source: string;
  stream: Stream;
  part: number;
  hashes: Buffer;
  skipped: number;
}

export interface QuarantineTable {
  id: string;
  source: string;
  stream: Stream;
  namespace: string | null;
  record_id: string | null;
  customer_namespace: string | null;
  customer_id: string | null;
  twin_namespace: string | null;
  twin_id: string | null;
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
  /** 1: from a stored form that was mapped again, not from a read. */
  of_stored_form: number;
  state: "open" | "retry" | "resolved";
  resolved_at: string | null;
  resolution: string | null;
}

interface RecordStoodTable {
  stream: Stream;
  namespace: string;
  id: string;
  from_at: string;
  to_at: string | null;
  state: RecordState;
  deferred_code: string | null;
  deferred_reason: string | null;
  deferred_since: string | null;
}

interface QuarantineStoodTable {
  id: string;
  from_at: string;
  to_at: string | null;
  place: string;
  field: string;
  code: string;
  message: string;
  expected: string | null;
  customer_namespace: string | null;
  customer_id: string | null;
  state: QuarantineTable["state"];
}

export interface SourceStreamTable {
  source: string;
  stream: Stream;
  job: string | null;
}

export interface RecordTallyTable {
  stream: Stream;
  state: RecordState;
  count: number;
  pending: number;
}

export const recordTables = {
  record: table<RecordTable>(),
  record_version: table<RecordVersionTable>(),
  source_read: table<SourceReadTable>(),
  source_stream: table<SourceStreamTable>(),
  read_checkpoint: table<ReadCheckpointTable>(),
  read_checkpoint_seen: table<ReadCheckpointSeenTable>(),
  quarantine: table<QuarantineTable>(),
  record_tally: table<RecordTallyTable>(),
  record_stood: table<RecordStoodTable>(),
  quarantine_stood: table<QuarantineStoodTable>(),
};
