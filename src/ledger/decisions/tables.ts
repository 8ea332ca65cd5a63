import type { HoldScope } from "../../engine/model/operation.ts";
import type { PolicyName } from "../../engine/model/policy-settings.ts";
import type { OperationName } from "../../engine/model/resource.ts";
import { table } from "../database/statements.ts";
import type { HoldState, questionStateOf } from "./hold-life.ts";

export interface QuestionTable {
  number: number;
  id: string;
  scope: HoldScope;
  policy: PolicyName | null;
  /** The policy stops asking after this many approvals. */
  to_earn: number | null;
  customer_namespace: string;
  customer_id: string;
  state: ReturnType<typeof questionStateOf>;
  created_at: string;
  decided_at: string | null;
  reason: string | null;
  decided_by: string | null;
  /** A question about an undo: only `apply` with the undo file carries it out, never a run. */
  of_undo: number;
}

interface HoldTable {
  id: number;
  question_id: string;
  /** The current operation: a new plan moves the hold. */
  operation_id: string;
  customer_namespace: string;
  customer_id: string;
  of_undo: number;
  kind: OperationName;
  hash: string;
  subject: string;
  policy: PolicyName | null;
  scope: HoldScope;
  reason: string;
  /** JSON; each record has a mark of the shown version. */
  records: string;
  removes: string;
  state: HoldState;
  asked_at: string;
  ended_at: string | null;
  ended_why: string | null;
}

interface DecisionTable {
  id: number;
  at: string;
  by: string;
  who: string;
  verdict: "approve" | "reject" | "withdraw";
  hold_id: number;
  policy: PolicyName | null;
  customer_namespace: string;
  customer_id: string;
  reason: string;
}

export const decisionTables = {
  question: table<QuestionTable>(),
  hold: table<HoldTable>(),
  decision: table<DecisionTable>(),
};
