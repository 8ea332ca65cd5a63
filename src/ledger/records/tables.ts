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
  /** How often in a row it came back to one of the forms before its last one, of which `previous_hash` has a few. */
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
  /** JSON: the zones of its local dates, by field; null if it has none. */
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
  /** JSON: rows of each set of files that are joined, by its name. */
  details: string | null;
  /** The read was complete and not believed, because it lost too much. */
  doubted: number;
  /** What it said about what is gone: `judged`, or why not. */
  absence: string | null;
  /** Fingerprints of the settings it was made with; null if nothing may be concluded from them. */
  question: string | null;
  mapping: string | null;
  /** The read that it went on with, where that was cut. */
  continues: number | null;
  /** JSON: what the first rows of a whole, complete read looked like. */
  shape: string | null;
}

/** How far a read has come that is not at its end. */
export interface ReadCheckpointTable {
  source: string;
  stream: Stream;
  question: string;
  /** Text of the reader's own. */
  position: string;
  /** The number of its first part. */
  first_read: number;
  /** Rows that were read until there, and how many of them were bad. */
  rows: number;
  bad: number;
  /** Records that it skipped and that may be any. */
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
  /** The record that it looks like, which is not missing meanwhile. */
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
  /** 1: it came of a stored form that was mapped anew, and of no reading. */
  of_stored_form: number;
  state: "open" | "retry" | "resolved";
  resolved_at: string | null;
  resolution: string | null;
}

/** How a record stood from one moment to another. */
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

/** What was said of a bad row from one moment to another. */
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

/** How many records of a stream are in a state. */
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
