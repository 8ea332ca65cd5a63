import type { HoldTable } from "./approvals/tables.ts";
import type { AuditTable } from "./audit/tables.ts";
import type {
  OperationTable,
  OperationRecordTable,
  AttemptTable,
  RejectionTable,
  ClockNoteTable,
} from "./journal/tables.ts";
import type { PrivateValueTable } from "./private/tables.ts";
import type {
  RecordTable,
  RecordVersionTable,
  SourceReadTable,
  SourceStreamTable,
  QuarantineTable,
  RecordTallyTable,
} from "./records/tables.ts";
import type { RunTable } from "./runs/tables.ts";
import type { LastFireTimeTable, FiredTimeTable, AlertTable, OpenCircuitTable } from "./schedule/tables.ts";
import type {
  LinkTable,
  PlatformCustomerTable,
  AcknowledgedTable,
  PlacedOrderTable,
  LicenceOrderTable,
  AssetNumberTable,
  StaffLinkTable,
  AssignmentTable,
  ProtectedMemberTable,
  EnterpriseCodeTable,
  LockWishTable,
  ObservationTable,
  ObservationReadTable,
  ConfirmedCorrelationTable,
  ShownLicenceTypeTable,
} from "./state/tables.ts";

/** The tables of the ledger as they are read: instants are ISO text in UTC, flags are 0 or 1, bodies are JSON text. */
export interface LedgerTables {
  meta: { key: string; value: string };
  private_value: PrivateValueTable;
  record: RecordTable;
  record_version: RecordVersionTable;
  source_read: SourceReadTable;
  source_stream: SourceStreamTable;
  quarantine: QuarantineTable;
  record_tally: RecordTallyTable;
  link: LinkTable;
  platform_customer: PlatformCustomerTable;
  acknowledged: AcknowledgedTable;
  placed_order: PlacedOrderTable;
  licence_order: LicenceOrderTable;
  asset_number: AssetNumberTable;
  staff_link: StaffLinkTable;
  assignment: AssignmentTable;
  protected_member: ProtectedMemberTable;
  enterprise_code: EnterpriseCodeTable;
  lock_wish: LockWishTable;
  observation: ObservationTable;
  observation_read: ObservationReadTable;
  confirmed_correlation: ConfirmedCorrelationTable;
  shown_licence_type: ShownLicenceTypeTable;
  operation: OperationTable;
  operation_record: OperationRecordTable;
  attempt: AttemptTable;
  rejection: RejectionTable;
  clock_note: ClockNoteTable;
  hold: HoldTable;
  run: RunTable;
  last_fire_time: LastFireTimeTable;
  fired_time: FiredTimeTable;
  alert: AlertTable;
  open_circuit: OpenCircuitTable;
  audit: AuditTable;
  /** Live rows of a table by its name: see the migration that made it. */
  tally: { name: string; count: number };
}

const tables: Record<keyof LedgerTables, true> = {
  meta: true,
  private_value: true,
  record: true,
  record_version: true,
  source_read: true,
  source_stream: true,
  quarantine: true,
  record_tally: true,
  link: true,
  platform_customer: true,
  acknowledged: true,
  placed_order: true,
  licence_order: true,
  asset_number: true,
  staff_link: true,
  assignment: true,
  protected_member: true,
  enterprise_code: true,
  lock_wish: true,
  observation: true,
  observation_read: true,
  confirmed_correlation: true,
  shown_licence_type: true,
  operation: true,
  operation_record: true,
  attempt: true,
  rejection: true,
  clock_note: true,
  hold: true,
  run: true,
  last_fire_time: true,
  fired_time: true,
  alert: true,
  open_circuit: true,
  audit: true,
  tally: true,
};

/** Names every table: where one is missing, or its name was damaged, it cannot be prepared. It is never run. */
export const everyTable = Object.keys(tables)
  .map((name) => `select 1 from ${name}`)
  .join(" union all ");

/** Columns of a row of a table, as a statement reads them. */
export type Row<Table extends keyof LedgerTables, Column extends keyof LedgerTables[Table]> = Pick<
  LedgerTables[Table],
  Column
>;

/** The same where the statement leaves out rows in which one of them is null. */
export type FullRow<Table extends keyof LedgerTables, Column extends keyof LedgerTables[Table]> = {
  [Name in Column]: NonNullable<LedgerTables[Table][Name]>;
};
