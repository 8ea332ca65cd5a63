import { table } from "../database/table.ts";

/** How often an assumption met reality with one verdict; a contradiction stands until a person accepts it. */
export interface AssumptionMetTable {
  row: string;
  verdict: "confirmed" | "contradicted";
  count: number;
  first_at: string;
  last_at: string;
  /** What was seen last; of a contradiction JSON with the parts that it is about. */
  evidence: string;
  operation_id: string | null;
  accepted_at: string | null;
  by: string | null;
  reason: string | null;
}

export const assumptionTables = { assumption_met: table<AssumptionMetTable>() };
