import { toInstant } from "../base/clock.ts";
import type { AskedTime } from "../base/trusted-time.ts";
import { formatKey } from "../crm/keys.ts";
import { policyOf } from "../engine/policy.ts";
import { countRemoved, takenThings } from "../engine/taking.ts";
import { judgeTakings } from "../engine/plan/limits.ts";
import type { HeldFor, Sums, Taking, TakingRule, Windows } from "../engine/plan/limits.ts";
import type { RunDependencies, RunRequest } from "./request.ts";

type Dependencies = Pick<RunDependencies, "ledger" | "policies"> & {
  time: AskedTime;
  limits: RunRequest["limits"]["removals"];
};

/** `ofUndo`: `apply` with the file of an undo carries it out once it is approved, and no other run. */
export interface WaitingHold {
  hold: string;
  customer: string;
  explanation: string;
  ofUndo?: true;
}

const dayMs = 24 * 60 * 60 * 1_000;

/** What limits and policies hold of what is new of a run, by hash. `released`: of this run before. */
export async function heldOf(
  deps: Dependencies,
  takings: readonly Taking[],
  windows: Windows,
  released: readonly Taking[] = [],
): Promise<ReadonlyMap<string, HeldFor>> {
  if (takings.length === 0) return new Map();
  return judgeTakings(takings, deps.limits, await sumsOf(deps, takings, { windows, released }), await ruleOf(deps));
}

/** What limits and policies may hold of a plan, and what a person is asked about of it already, by hash. */
export interface WaitsInPlan {
  takings: readonly Taking[];
  asked: ReadonlyMap<string, Pick<HeldFor, "scope" | "explanation">>;
}

/** What would be held of plans that are saved, by hash: what a person is asked about already, and what is new. */
export async function heldOfPlans(deps: Dependencies, plans: readonly WaitsInPlan[]): Promise<WaitsInPlan["asked"]> {
  const takings = plans.flatMap((plan) => plan.takings);
  const held = takings.length === 0 ? [] : await heldOf(deps, takings, await takenBefore(deps));
  return new Map([...held, ...plans.flatMap(({ asked }) => [...asked])]);
}

/** The sums of a run, with those of the customers of whom something is new. */
async function sumsOf(
  { ledger }: Dependencies,
  takings: readonly Taking[],
  before: Pick<Sums, "windows" | "released">,
): Promise<Sums> {
  const counts = countRemoved([...before.released, ...takings].map(({ removes }) => removes));
  const things = takenThings.filter((thing) => counts[thing] > 0);
  const all = await ledger.state.live(undefined, things);
  const asked = await ledger.decisions.askedByLimits();
  const askedOf = Map.groupBy(asked, ({ customer }) => formatKey(customer));
  const live = new Map<string, typeof all>();
  for (const [key, { customer }] of new Map(takings.map((taking) => [formatKey(taking.customer), taking])))
    live.set(key, await ledger.state.live(customer, things));
  return {
    ...before,
    live: { all, of: (customer) => live.get(formatKey(customer)) ?? all },
    asked: {
      all: asked.map(({ removes }) => removes),
      of: (customer) => (askedOf.get(formatKey(customer)) ?? []).map(({ removes }) => removes),
    },
  };
}

/** What waits for a person's answer now, whichever run asked. */
export async function waitingHolds({ ledger }: Pick<Dependencies, "ledger">): Promise<WaitingHold[]> {
  const open = (await ledger.decisions.questions()).filter(({ state }) => state === "open");
  return open.map(({ id, customer, explanation, ofUndo }) => ({
    hold: id,
    customer: formatKey(customer),
    explanation,
    ...(ofUndo && { ofUndo: true as const }),
  }));
}

/**
 * What was taken away before now, within the windows of the limits. While the clock is not trusted, no window ends after
 * the last time that was trusted.
 */
export async function takenBefore({ time, ledger }: Pick<Dependencies, "time" | "ledger">): Promise<Windows> {
  const trusted = await time.now({ isFresh: false });
  const now = trusted?.epochMs ?? ledger.time.lastTrusted;
  const within = async (ms: number): Promise<Windows["day"]> =>
    await ledger.journal.takenSince(
      now === undefined ? "" : toInstant(now - ms),
      now === undefined ? "" : toInstant(now),
    );
  return { day: await within(dayMs), week: await within(7 * dayMs) };
}

async function ruleOf({ ledger, policies }: Pick<Dependencies, "ledger" | "policies">): Promise<TakingRule> {
  const earned = await ledger.decisions.earned();
  return {
    word: (policy) => policyOf(policies, policy),
    earned: (policy) => earned.get(policy) ?? 0,
    toEarn: policies.approvalsNeeded,
  };
}
