import type { HoldScope } from "../../operation/hold-scope.ts";
import type { OperationKind } from "../../operation/registry.ts";
import { table } from "../database/table.ts";

export interface HoldTable {
  id: string;
  scope: HoldScope;
  customer_namespace: string;
  customer_id: string;
  count: number;
  allowed: number;
  total: number;
  set_hash: string;
  state: "open" | "approved" | "rejected" | "used" | "lapsed";
  explanation: string;
  created_at: string;
  decided_at: string | null;
  reason: string | null;
  decided_by: string | null;
  /** It holds what takes a run back: `apply` with the file of the undo carries that out, and no run. */
  of_undo: number;
}

/** An operation that a hold holds back, and why. */
export interface HoldOperationTable {
  hold_id: string;
  hash: string;
  kind: OperationKind;
  scope: HoldScope;
  reason: string;
  /** Since when it is not meant any more, or is carried out: neither the hold nor a person's word counts from then. */
  ended_at: string | null;
  /** The records that it is about, as JSON. */
  records: string;
}

/** An operation that a person approved, alone or in a set; one that is approved twice counts once. */
interface ApprovedOperationTable {
  kind: OperationKind;
  hash: string;
  hold_id: string;
  at: string;
  by: string;
  /** When it was carried out, or was not meant any more: one that comes up again is asked for again. */
  used_at: string | null;
}

export const approvalTables = {
  hold: table<HoldTable>(),
  hold_operation: table<HoldOperationTable>(),
  approved_operation: table<ApprovedOperationTable>(),
};
