import { destructionOf } from "../apply/customer-planning.ts";
import type { Operation } from "../operation/operation.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import { advance } from "./attempt-state.ts";
import type { AttemptState } from "./attempt-state.ts";
import type { CarryOut } from "./carry-out.ts";
import type { CustomerAttempt, CustomerAttemptResult } from "./customer-attempt.ts";

/** How far the attempt is then, and what the limits have to judge before it goes on. */
interface Judged {
  state: AttemptState;
  toJudge?: Extract<CustomerAttemptResult, { kind: "destructive" }>;
}

/** The limits were judged for this customer in this run: its operations stand in the ledger as planned. */
export function isJudged({ released, hold }: CustomerAttempt): boolean {
  return released !== undefined || hold !== undefined;
}

/** Whether a plan takes anything away. */
export function takesAway(plan: CustomerPlan): boolean {
  return plan.operations.some((operation) => operation.takesAway > 0);
}

/** Whether what a plan takes away has been released, is held or was approved; if not, it stands in the journal. */
export async function judge(
  { deps, attempt, knows }: Omit<CarryOut, "observed">,
  state: AttemptState,
  plan: CustomerPlan,
): Promise<Judged> {
  const { count, setHash } = destructionOf(plan.operations);
  const { runId, released, hold: heldBy } = attempt;
  if (count === 0 || heldBy !== undefined || isReleased(plan.operations, released)) return { state };
  const { delivered, usedHold, announced } = state;
  if (delivered.size > 0 && usedHold !== undefined && isKnown(plan.operations, announced)) return { state };
  await knows.settled();
  const hold = await deps.ledger.approvals.of(knows.customer);
  if (hold?.state === "approved" && hold.setHash === setHash)
    return { state: advance(state, { type: "hold-used", hold: hold.id }) };
  if (!isJudged(attempt)) {
    const operations = plan.operations.filter((operation) => !announced.has(operation.hash));
    await deps.ledger.journal.plan({ runId, state: "planned", operations });
    for (const operation of operations) deps.tally.planned(operation);
  }
  return { state, toJudge: { kind: "destructive", count, setHash, revokes: revokeHashes(plan.operations) } };
}

/** What a run may carry out once the limits released a customer's revokes. */
function revokeHashes(operations: readonly Operation[]): ReadonlySet<string> {
  return new Set(operations.filter((operation) => operation.takesAway > 0).map((operation) => operation.hash));
}

/** A part of what was released needs no new judgement; anything else does. */
function isReleased(operations: readonly Operation[], released: ReadonlySet<string> | undefined): boolean {
  return released !== undefined && operations.every(({ takesAway, hash }) => takesAway === 0 || released.has(hash));
}

/** After a part of an approved set was carried out, what is left of it needs no new judgement; anything else does. */
function isKnown(operations: readonly Operation[], announced: AttemptState["announced"]): boolean {
  return operations.every(({ takesAway, hash }) => takesAway === 0 || announced.has(hash));
}
