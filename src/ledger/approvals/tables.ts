import { table } from "../database/table.ts";

export interface HoldTable {
  id: string;
  scope: "enterprise" | "run";
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
}

export const approvalTables = {
  hold: table<HoldTable>(),
};
