import {
  type RemovalLimits,
  type Holdable,
  type HeldTogether,
  type Windows,
  type HeldFor,
  type Sums,
  type HoldRule,
  questionsOf,
  judgeHoldables,
} from "../plan/limits.ts";
import type { EngineDependencies } from "../customer.ts";
import { countRemoved, removedThings } from "../model/operation.ts";
import type { CustomerAttempt, CustomerAttemptResult } from "../attempt.ts";
import type { AskedTime } from "../../base/trusted-time.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { workInLanes } from "../../base/lanes.ts";
import { toInstant } from "../../base/clock.ts";
import { policyOf } from "../model/policy-settings.ts";

interface GateDependencies extends Pick<EngineDependencies, "ledger" | "logger" | "policies"> {
  concurrency: number;
  time: AskedTime;
  run: string;
  limits: RemovalLimits;
  attempt(customer: RecordKey, verdict: Partial<CustomerAttempt>): Promise<CustomerAttemptResult>;
  count(customer: RecordKey, result: CustomerAttemptResult): void;
  stopped(): boolean;
}

type ToJudge = Extract<CustomerAttemptResult, { kind: "to-judge" }> & { customer: RecordKey };

/** How often the run judges further operations of a customer in one go. The next run does the rest. */
const mostMore = 3;
const changedMeanwhile = "the platform changed while crm-sync checked the limits";

/** Collects operations that limits and policies may hold, until the run judges them over its total. */
export class LimitsGate {
  readonly #deps: GateDependencies;
  readonly #toJudge = new Map<string, ToJudge>();
  readonly #released = new Map<string, ReadonlyMap<string, Holdable>>();
  readonly #again = new Set<string>();
  /** Removals before this run. Read once, because the removals of this run count as judged. */
  #windows: Promise<Windows> | undefined;

  constructor(deps: GateDependencies) {
    this.#deps = deps;
  }

  get customers(): RecordKey[] {
    return [...this.#toJudge.values()].map((item) => item.customer);
  }

  add(customer: RecordKey, result: Extract<CustomerAttemptResult, { kind: "to-judge" }>): void {
    const key = formatKey(customer);
    this.#toJudge.set(key, { ...result, customer });
    if (this.#released.has(key)) this.#again.add(key);
  }

  attemptedAnew(customer: RecordKey): Pick<CustomerAttempt, "released"> {
    this.#toJudge.delete(formatKey(customer));
    return this.#releasedOf(customer);
  }

  #releasedOf(customer: RecordKey): Pick<CustomerAttempt, "released"> {
    return { released: this.#released.get(formatKey(customer)) };
  }

  /**
   * Judges new removals of all customers over the total of the run, then makes one more pass over these customers.
   * Removals that appear only then, such as the old form of a renewed product, count too, at most `mostMore` times.
   * `again`: judged customers that may be judged once more.
   */
  async judge(again: readonly RecordKey[] = []): Promise<void> {
    const anew = new Set(again.map(formatKey));
    let items = [...this.#toJudge]
      .filter(([key]) => !this.#released.has(key) || (anew.has(key) && this.#again.delete(key)))
      .map(([, item]) => item);
    for (let more = 0; more <= mostMore && items.length > 0 && !this.#deps.stopped(); more += 1) {
      await this.#judge(items);
      items = await this.#attemptAll(items);
    }
    if (this.#deps.stopped()) return;
    for (const { customer } of items) {
      await this.#leave(customer, changedMeanwhile);
      this.#deps.count(customer, { kind: "stopped", reason: "stale" });
    }
  }

  async #attemptAll(items: readonly ToJudge[]): Promise<ToJudge[]> {
    const lanes = { lanes: this.#deps.concurrency, stopped: () => this.#deps.stopped() };
    const more: ToJudge[] = [];
    await workInLanes([items], lanes, async ({ customer }) => {
      const result = await this.#deps.attempt(customer, this.#releasedOf(customer));
      if (result.kind === "to-judge") more.push({ ...result, customer });
      else this.#deps.count(customer, result);
    });
    return more;
  }

  async #judge(items: readonly ToJudge[]): Promise<void> {
    this.#windows ??= takenBefore(this.#deps);
    const all = items.flatMap(({ holdables }) => holdables);
    const isNew = new Set(all.map(({ hash }) => hash));
    const before = [...this.#released.values()].flatMap((own) => [...own.values()]);
    const kept = before.filter(({ hash }) => !isNew.has(hash));
    const held = await heldOf(this.#deps, all, await this.#windows, kept);
    for (const { customer, holdables, ofUndo } of items) {
      const key = formatKey(customer);
      const goOn = holdables.filter(({ hash }) => !held.has(hash));
      const released = new Map([...(this.#released.get(key) ?? []), ...goOn.map((one) => [one.hash, one] as const)]);
      this.#released.set(key, released);
      await this.#ask({ customer, ofUndo }, questionsOf(holdables, held));
    }
  }

  async #ask(whose: Pick<ToJudge, "customer" | "ofUndo">, groups: readonly HeldTogether[]): Promise<void> {
    if (groups.length === 0) return;
    const { ledger, logger } = this.#deps;
    const asked = await ledger.decisions.ask(
      whose,
      groups.map(({ holdables, ...question }) => ({
        ...question,
        holds: holdables.map(({ holdable, reason }) => ({ ...holdable, scope: question.scope, reason })),
      })),
    );
    for (const { id: hold, scope } of asked) logger.warn({ hold, customer: formatKey(whose.customer), scope }, "held");
  }

  async #leave(customer: RecordKey, why: string): Promise<void> {
    const { ledger, logger, run } = this.#deps;
    await ledger.journal.drop(customer, why);
    logger.info({ customer: formatKey(customer) }, `${changedMeanwhile}; left to the next run`);
    const reason = `${changedMeanwhile}; the next run plans again`;
    await ledger.records.deferPending(run, customer, "customer.stale", reason);
  }

  /** Judges operations that appeared while the run waited. Customers that were judged before wait for the next run. */
  async judgeLate(due: readonly RecordKey[]): Promise<void> {
    if (!due.some((customer) => this.#toJudge.has(formatKey(customer)))) return;
    await this.judge();
    for (const customer of due) {
      const key = formatKey(customer);
      if (!this.#again.delete(key)) continue;
      this.#toJudge.delete(key);
      await this.#leave(customer, "left to the next run");
      this.#deps.count(customer, { kind: "stopped", reason: "stale" });
    }
  }
}

type Dependencies = Pick<EngineDependencies, "ledger" | "policies"> & {
  time: AskedTime;
  limits: RemovalLimits;
};

export interface WaitingHold {
  hold: string;
  customer: string;
  explanation: string;
  ofUndo?: true;
}

const dayMs = 24 * 60 * 60 * 1_000;

/** By hash. `released`: what this run released before. */
export async function heldOf(
  deps: Dependencies,
  holdables: readonly Holdable[],
  windows: Windows,
  released: readonly Holdable[] = [],
): Promise<ReadonlyMap<string, HeldFor>> {
  if (holdables.length === 0) return new Map();
  return judgeHoldables(
    holdables,
    deps.limits,
    await sumsOf(deps, holdables, { windows, released }),
    await ruleOf(deps),
  );
}

export interface WaitsInPlan {
  holdables: readonly Holdable[];
  asked: ReadonlyMap<string, Pick<HeldFor, "scope" | "explanation">>;
}

export async function heldOfPlans(deps: Dependencies, plans: readonly WaitsInPlan[]): Promise<WaitsInPlan["asked"]> {
  const holdables = plans.flatMap((plan) => plan.holdables);
  const held = holdables.length === 0 ? [] : await heldOf(deps, holdables, await takenBefore(deps));
  return new Map([...held, ...plans.flatMap(({ asked }) => [...asked])]);
}

async function sumsOf(
  { ledger }: Dependencies,
  holdables: readonly Holdable[],
  before: Pick<Sums, "windows" | "released">,
): Promise<Sums> {
  const counts = countRemoved([...before.released, ...holdables].map(({ removes }) => removes));
  const things = removedThings.filter((thing) => counts[thing] > 0);
  const all = await ledger.state.live(undefined, things);
  const asked = await ledger.decisions.askedByLimits();
  const askedOf = Map.groupBy(asked, ({ customer }) => formatKey(customer));
  const live = new Map<string, typeof all>();
  for (const [key, { customer }] of new Map(holdables.map((holdable) => [formatKey(holdable.customer), holdable])))
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

export async function waitingHolds({ ledger }: Pick<Dependencies, "ledger">): Promise<WaitingHold[]> {
  const open = (await ledger.decisions.questions()).filter(({ state }) => state === "open");
  return open.map(({ id, customer, explanation, ofUndo }) => ({
    hold: id,
    customer: formatKey(customer),
    explanation,
    ...(ofUndo && { ofUndo: true as const }),
  }));
}

/** Without a trusted clock the windows end at the last trusted time. */
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

async function ruleOf({ ledger, policies }: Pick<Dependencies, "ledger" | "policies">): Promise<HoldRule> {
  const earned = await ledger.decisions.earned();
  return {
    word: (policy) => policyOf(policies, policy),
    earned: (policy) => earned.get(policy) ?? 0,
    toEarn: policies.approvalsNeeded,
  };
}
