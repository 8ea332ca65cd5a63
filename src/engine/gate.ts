import type { Holdable } from "./plan/limits.ts";
import type { StandingHold } from "../ledger/decisions/hold-rows.ts";
import { holdablesOf, type Decided } from "./plan/gated.ts";
import { decidedIn } from "./planning.ts";
import { removesNoMore } from "./model/operation.ts";
import type { CustomerPlan } from "./plan/plan.ts";
import type { CustomerAttempt, CustomerAttemptResult } from "./attempt.ts";
import type { CarryOut } from "./carry-out.ts";

interface AtTheGate {
  decided: Decided<StandingHold>;
  toJudge?: Extract<CustomerAttemptResult, { kind: "to-judge" }>;
}

export function isOfUndo({ expected }: Pick<CustomerAttempt, "expected">): boolean {
  return expected?.undo !== undefined;
}

/** A removal of more than was judged is new, for example if somebody did not get the replacement seat. */
function isReleased(released: Holdable | undefined, { removes }: Holdable): boolean {
  return released !== undefined && removesNoMore(removes, released.removes);
}

export const nothingToJudge: AtTheGate = {
  decided: { asked: new Map(), approved: new Map(), rejected: new Map(), outdated: new Map() },
};

export function mayBeHeld({ deps, knows: { held } }: CarryOut, { operations }: CustomerPlan): boolean {
  return held.asked === true || holdablesOf(deps.policies, held, operations, []).length > 0;
}

/** The run judges new operations that may be held. An operation that changed since a person saw it is new. */
export async function gate({ deps, attempt, knows, progress }: CarryOut, plan: CustomerPlan): Promise<AtTheGate> {
  const ofUndo = isOfUndo(attempt);
  const { holdables, decided } = await decidedIn(deps, knows, plan, ofUndo);
  const { asked, approved, outdated } = decided;
  const isNew = (holdable: Holdable): boolean =>
    !isReleased(attempt.released?.get(holdable.hash), holdable) &&
    !asked.has(holdable.hash) &&
    !approved.has(holdable.hash);
  const open = holdables.filter(isNew).map((holdable) => ({ ...holdable, askedBefore: outdated.get(holdable.hash) }));
  if (open.length === 0) return { decided };
  // A changed operation is stored anew: a person may still have the old id.
  const planned = plan.operations.filter(
    ({ hash }) => outdated.has(hash) || (!progress.announced.has(hash) && !progress.stored.has(hash)),
  );
  // No run plans an undo by itself. The plan id keeps the undo when the next run plans.
  const planId = ofUndo ? (attempt.expected?.plan ?? null) : null;
  const holds = new Map([...asked, ...approved]);
  await knows.settled();
  await deps.ledger.journal.plan({ runId: attempt.runId, planId, operations: planned, holds });
  for (const operation of planned) deps.tally.planned(operation);
  return { decided, toJudge: { kind: "to-judge", holdables: open, ofUndo } };
}
