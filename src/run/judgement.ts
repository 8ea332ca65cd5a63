import { toInstant } from "../base/clock.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { policyOf } from "../operation/policy.ts";
import { takenThings } from "../operation/taking.ts";
import { judgeTakings } from "../plan/limits.ts";
import type { Counts, HeldFor, Taking, TakingRule, Windows } from "../plan/limits.ts";
import type { RunDependencies, RunRequest } from "./request.ts";

type Dependencies = Pick<RunDependencies, "ledger" | "clock" | "policies"> & {
  limits: RunRequest["limits"]["taking"];
};

/** `ofUndo`: `apply` with the file of an undo carries it out once it is approved, and no other run. */
export interface WaitingHold {
  hold: string;
  customer: string;
  explanation: string;
  ofUndo?: true;
}

const dayMs = 24 * 60 * 60 * 1_000;

/** What limits and policies hold of everything that a run would take away or has to ask for, by hash. */
export async function heldOf(
  deps: Dependencies,
  takings: readonly Taking[],
  windows: Windows,
): Promise<ReadonlyMap<string, HeldFor>> {
  const { ledger, limits } = deps;
  const things = takenThings.filter((own) => takings.some(({ thing, weight }) => thing === own || weight[own] > 0));
  const ofCustomers = new Map<string, Counts>();
  for (const { customer } of takings) {
    const key = formatKey(customer);
    if (!ofCustomers.has(key)) ofCustomers.set(key, await ledger.state.live(customer, things));
  }
  const all = await ledger.state.live(undefined, things);
  const live = { all, of: (customer: RecordKey) => ofCustomers.get(formatKey(customer)) ?? all };
  return judgeTakings(takings, limits, live, windows, await ruleOf(deps));
}

/** What waits for a person's approval now, whichever run held it. */
export async function waitingHolds({ ledger }: Pick<Dependencies, "ledger">): Promise<WaitingHold[]> {
  const holds = (await ledger.approvals.standing()).filter(({ state }) => state === "open");
  return holds.map(({ id, customer, explanation, ofUndo }) => ({
    hold: id,
    customer: formatKey(customer),
    explanation,
    ...(ofUndo && { ofUndo: true as const }),
  }));
}

/** What was taken away before now, within the windows of the limits. */
export async function takenBefore({ clock, ledger }: Pick<Dependencies, "clock" | "ledger">): Promise<Windows> {
  // A clock that was set forward empties no window.
  const now = Math.min(clock.now(), ledger.journal.surelyNow);
  const day = await ledger.journal.takenSince(toInstant(now - dayMs));
  const week = await ledger.journal.takenSince(toInstant(now - 7 * dayMs));
  return { day, week };
}

async function ruleOf({ ledger, policies }: Pick<Dependencies, "ledger" | "policies">): Promise<TakingRule> {
  const earned = await ledger.approvals.earned();
  return {
    word: (policy) => policyOf(policies, policy),
    earned: (kind) => earned.get(kind) ?? 0,
    toEarn: policies.approvalsToEarn,
  };
}
