import { table } from "../database/table.ts";

/** A contradicted assumption; the contradiction stands until a person accepts it. */
export interface AssumptionMetTable {
  row: string;
  count: number;
  first_at: string;
  last_at: string;
  /** What was seen last: JSON with the parts that it is about. */
  evidence: string;
  operation_id: string | null;
  accepted_at: string | null;
  by: string | null;
  reason: string | null;
}

export const assumptionTables = { assumption_met: table<AssumptionMetTable>() };
