import type { HoldScope } from "../operation/hold-scope.ts";
import type { Operation } from "../operation/operation.ts";
import { kindOf } from "../operation/registry.ts";
import { isTaking } from "../operation/taking.ts";
import { Gated } from "../plan/gated.ts";
import type { Said } from "../plan/gated.ts";
import { isLimit } from "../plan/limits.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import { advance } from "./attempt-state.ts";
import type { AttemptState } from "./attempt-state.ts";
import type { CarryOut } from "./carry-out.ts";
import type { CustomerAttempt, CustomerAttemptResult } from "./customer-attempt.ts";

const dayMs = 24 * 60 * 60 * 1_000;

/** How far the attempt is then, and what has to be judged before it goes on. */
interface Judged {
  state: AttemptState;
  toJudge?: Extract<CustomerAttemptResult, { kind: "destructive" }>;
}

/** Limits and policies were judged for this customer in this run: its operations stand in the ledger as planned. */
export function isJudged({ released, held }: CustomerAttempt): boolean {
  return released !== undefined || held !== undefined;
}

/**
 * Whether what limits and policies may hold of a plan has been released, is held or was approved; if not, the plan
 * stands in the journal. `whole` is the plan of which only a part was chosen to be carried out.
 */
export async function judge(
  { deps, attempt, knows }: Omit<CarryOut, "observed">,
  state: AttemptState,
  { plan, whole }: { plan: CustomerPlan; whole: CustomerPlan },
): Promise<Judged> {
  const ofUndo = attempt.expected?.undo !== undefined;
  const gated = new Gated(deps.policies, knows.held ?? (await knows.loaded()));
  const operations = gated.of(plan.operations);
  const open = operations.filter((operation) => !isDecided(operation, attempt));
  if (open.length === 0) return { state };
  const { delivered, usedHold, announced, plannedIds } = state;
  // After a part of an approved set was carried out, what is left of it needs no new judgement.
  if (delivered.size > 0 && usedHold !== undefined && open.every(({ hash }) => announced.has(hash))) return { state };
  await knows.settled();
  const { hold, ...said } = await saidOf(deps.ledger, plan.customer, gated.of(whole.operations), ofUndo);
  if (open.every(({ hash }) => said.approved.has(hash)))
    return { state: hold === undefined ? state : advance(state, { type: "hold-used", hold }) };
  const planned = plan.operations.filter(({ hash }) => !announced.has(hash) && !plannedIds.has(hash));
  const { runId, expected } = attempt;
  // What a run does not plan by itself is not held in vain because the next run plans something else.
  const planId = ofUndo ? (expected?.plan ?? null) : null;
  await deps.ledger.journal.plan({ runId, planId, state: "planned", operations: planned });
  for (const operation of planned) deps.tally.planned(operation);
  const takings = operations.map((operation) => gated.taking(operation, said));
  return { state, toJudge: { kind: "destructive", takings, approvedBy: hold, ofUndo } };
}

/** A part of what was released needs no new judgement; anything else does. */
function isDecided({ hash }: Operation, { released, held }: CustomerAttempt): boolean {
  return released?.has(hash) === true || held?.hashes.has(hash) === true;
}

type Ledger = CarryOut["deps"]["ledger"];

/**
 * What a person said of these operations, all of a customer that limits and policies may hold: what is approved, under
 * which hold, and what a limit holds since a run before. What a limit held is a set: it is approved where exactly that
 * is to be taken away, but for what of it was carried out, and nothing beside it that a limit would count too. What is
 * held for what it is itself was approved one by one. What takes a run back (`ofUndo`) is approved apart from what runs
 * do.
 */
export async function saidOf(
  { approvals, journal }: Pick<Ledger, "approvals" | "journal">,
  customer: CustomerPlan["customer"],
  operations: readonly Operation[],
  ofUndo: boolean,
): Promise<Said & { hold: string | undefined }> {
  const found = await approvals.of(customer, ofUndo);
  if (found === undefined) return { approved: new Set(), standing: new Map(), hold: undefined };
  const { hold } = found;
  const approved = found.operations.filter((item) => item.approved);
  if (hold.state !== "approved") {
    const since = journal.surelyNow - Date.parse(hold.createdAt);
    const waiting = found.operations.filter((item) => !item.approved && isHeldOn(item.scope, since));
    const { count, allowed, total } = hold;
    const standing = new Map(
      waiting.map(({ hash, scope, reason }) => [hash, { scope, explanation: reason, count, allowed, total }]),
    );
    return { approved: hashesOf(approved), standing, hold: undefined };
  }
  const set = hashesOf(approved.filter(({ scope }) => isLimit(scope)));
  const each = hashesOf(approved.filter(({ scope }) => !isLimit(scope)));
  const forItself = hashesOf(found.operations.filter(({ scope }) => !isLimit(scope)));
  const counted = operations.filter(
    (operation) => isTaking(operation) && !kindOf(operation).approvedAlone && !forItself.has(operation.hash),
  );
  const same = counted.length === set.size && counted.every(({ hash }) => set.has(hash));
  return { approved: same ? each.union(set) : each, standing: new Map(), hold: hold.id };
}

/** What days held is judged anew once they are over; what one run held stays held. */
function isHeldOn(scope: HoldScope, sinceMs: number): boolean {
  if (scope === "day") return sinceMs < dayMs;
  if (scope === "week") return sinceMs < 7 * dayMs;
  return isLimit(scope);
}

function hashesOf(operations: readonly { hash: string }[]): ReadonlySet<string> {
  return new Set(operations.map(({ hash }) => hash));
}
