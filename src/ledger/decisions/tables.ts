import type { HoldScope } from "../../engine/model/taking.ts";
import type { PolicyName } from "../../engine/model/policy.ts";
import type { OperationName } from "../../engine/model/resource.ts";
import { table } from "../database/statements.ts";
import type { HoldState, questionStateOf } from "./hold-life.ts";

/** What a person is asked of one customer, for one reason. */
export interface QuestionTable {
  /** They were asked in this order. */
  number: number;
  id: string;
  scope: HoldScope;
  policy: PolicyName | null;
  /** So many operations under the policy must have been approved until it asks no more. */
  to_earn: number | null;
  customer_namespace: string;
  customer_id: string;
  state: ReturnType<typeof questionStateOf>;
  created_at: string;
  decided_at: string | null;
  reason: string | null;
  decided_by: string | null;
  /** It is about what takes a run back: `apply` with the file of the undo carries that out, and no run. */
  of_undo: number;
}

/** One operation that waits for a person, as it was shown. */
interface HoldTable {
  id: number;
  question_id: string;
  /** The operation as it stands in the journal now. */
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
  /** The records that it is about, each with a mark of its version, as JSON. */
  records: string;
  /** What it removes, as JSON: see `Removes`. */
  removes: string;
  state: HoldState;
  asked_at: string;
  ended_at: string | null;
  ended_why: string | null;
}

/** What a person decided of a hold. */
interface DecisionTable {
  id: number;
  at: string;
  by: string;
  /** How it is known who that is, as JSON: see `Identity`. */
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
