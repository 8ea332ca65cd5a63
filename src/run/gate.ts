import type { StandingHold } from "../ledger/decisions/hold-rows.ts";
import { decidedOn } from "../engine/plan/decided.ts";
import type { Decided } from "../engine/plan/decided.ts";
import { removesNoMore } from "../engine/taking.ts";
import { Gated } from "../engine/plan/gated.ts";
import type { Taking } from "../engine/plan/limits.ts";
import type { CustomerPlan } from "../engine/plan/plan.ts";
import type { AttemptState } from "./attempt-state.ts";
import type { CarryOut } from "./carry-out.ts";
import type { CustomerAttempt, CustomerAttemptResult } from "./customer-attempt.ts";

/** What people decided on the operations of a plan, and what has to be judged before the attempt goes on. */
interface AtTheGate {
  decided: Decided<StandingHold>;
  toJudge?: Extract<CustomerAttemptResult, { kind: "destructive" }>;
}

const nothing: AtTheGate = {
  decided: { asked: new Map(), approved: new Map(), rejected: new Map(), outdated: new Map() },
};

/** Whether the attempt takes a run back. */
export function isOfUndo({ expected }: Pick<CustomerAttempt, "expected">): boolean {
  return expected?.undo !== undefined;
}

/** What removes more than it was judged for, as when somebody did not get the seat that was to take its place, is new. */
function isReleased(released: Taking | undefined, { removes }: Taking): boolean {
  return released !== undefined && removesNoMore(removes, released.removes);
}

/**
 * What of a plan a person is asked about or approved, and what is new and may be held: that stands in the journal as
 * planned then, to be judged over the sum of the run. So is what a person was shown otherwise than it is planned now.
 */
export async function gate(
  { deps, attempt, knows }: Omit<CarryOut, "observed" | "approved">,
  { announced, plannedIds }: AttemptState,
  { operations, customer }: CustomerPlan,
): Promise<AtTheGate> {
  const gated = new Gated(deps.policies, knows.held ?? (await knows.loaded()));
  const takings = gated.takings(operations);
  if (takings.length === 0) return nothing;
  await knows.settled();
  const ofUndo = isOfUndo(attempt);
  const { decisions, journal } = deps.ledger;
  const decided = decidedOn(await decisions.standing({ customer, ofUndo }), takings);
  const { asked, approved, outdated } = decided;
  const isNew = (taking: Taking): boolean =>
    !isReleased(attempt.released?.get(taking.hash), taking) && !asked.has(taking.hash) && !approved.has(taking.hash);
  const open = takings.filter(isNew).map((taking) => ({ ...taking, askedBefore: outdated.get(taking.hash) }));
  if (open.length === 0) return { decided };
  // What was shown otherwise is another operation for a person, who may have its id from then.
  const planned = operations.filter(
    ({ hash }) => outdated.has(hash) || (!announced.has(hash) && !plannedIds.has(hash)),
  );
  // What a run does not plan by itself is not given up because the next run plans something else.
  const planId = ofUndo ? (attempt.expected?.plan ?? null) : null;
  const holds = new Map([...asked, ...approved]);
  await journal.plan({ runId: attempt.runId, planId, operations: planned, holds });
  for (const operation of planned) deps.tally.planned(operation);
  return { decided, toJudge: { kind: "destructive", takings: open, ofUndo } };
}
