import type { TakingLimits, Taking, HeldTogether, Windows, HeldFor, Sums, TakingRule } from "./plan/limits.ts";
import type { EngineDependencies } from "./customer.ts";
import type { StandingHold } from "../ledger/decisions/hold-rows.ts";
import { decidedOn } from "./plan/decided.ts";
import type { Decided } from "./plan/decided.ts";
import { removesNoMore, countRemoved, takenThings } from "./model/taking.ts";
import { Gated } from "./plan/gated.ts";
import type { CustomerPlan } from "./plan/plan.ts";
import type { AttemptState, CustomerAttempt, CustomerAttemptResult } from "./attempt.ts";
import type { CarryOut } from "./carry-out.ts";
import type { AskedTime } from "../base/trusted-time.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { questionsOf, judgeTakings } from "./plan/limits.ts";
import { each, workInLanes } from "./lanes.ts";
import { toInstant } from "../base/clock.ts";
import { policyOf } from "./model/policy.ts";

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
  const gated = new Gated(deps.policies, knows.held);
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

interface GateDependencies extends Pick<EngineDependencies, "ledger" | "logger" | "policies"> {
  concurrency: number;
  time: AskedTime;
  run: string;
  limits: TakingLimits;
  /** One more attempt at a customer, with what was judged. */
  attempt(customer: RecordKey, verdict: Partial<CustomerAttempt>): Promise<CustomerAttemptResult>;
  count(customer: RecordKey, result: CustomerAttemptResult): void;
  stopped(): boolean;
}

type Destructive = Extract<CustomerAttemptResult, { kind: "destructive" }> & { customer: RecordKey };

/** So often something more of a customer comes up after it was judged, until it is left to the next run. */
const mostMore = 3;
const changedMeanwhile = "the platform changed while crm-sync checked the limits";

/** Holds back what limits and policies may hold until it is judged over the sum of the whole run. */
export class LimitsGate {
  readonly #deps: GateDependencies;
  readonly #destructive = new Map<string, Destructive>();
  /** Of whom something was judged in this run already, and what of it was released. */
  readonly #released = new Map<string, ReadonlyMap<string, Taking>>();
  /** Customers of whom something more would be taken away after they were judged. */
  readonly #again = new Set<string>();
  /** What was taken away before this run: read once, since what it takes away itself is counted as judged. */
  #windows: Promise<Windows> | undefined;

  constructor(deps: GateDependencies) {
    this.#deps = deps;
  }

  /** Customers of whom something waits for the judgement. */
  get customers(): RecordKey[] {
    return [...this.#destructive.values()].map((item) => item.customer);
  }

  add(customer: RecordKey, result: Extract<CustomerAttemptResult, { kind: "destructive" }>): void {
    const key = formatKey(customer);
    this.#destructive.set(key, { ...result, customer });
    if (this.#released.has(key)) this.#again.add(key);
  }

  /** A customer is attempted anew: what is new of it is found anew. Gives what of it was released before. */
  attemptedAnew(customer: RecordKey): Pick<CustomerAttempt, "released"> {
    this.#destructive.delete(formatKey(customer));
    return this.#releasedOf(customer);
  }

  #releasedOf(customer: RecordKey): Pick<CustomerAttempt, "released"> {
    return { released: this.#released.get(formatKey(customer)) };
  }

  /**
   * Judges the removals of all customers that were not judged yet, over the sum of the whole run. Then it attempts these
   * customers once more, without their held operations. Removals that come up only then, such as the old form of a
   * product that was just bought again, are judged over the same sum, at most `mostMore` times.
   * `again`: customers whose new removals are judged although they were judged before in this run.
   */
  async judge(again: readonly RecordKey[] = []): Promise<void> {
    const anew = new Set(again.map(formatKey));
    let items = [...this.#destructive]
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

  /** Attempts these customers with what was released of them. Gives those of whom more has to be judged. */
  async #attemptAll(items: readonly Destructive[]): Promise<Destructive[]> {
    const lanes = { lanes: this.#deps.concurrency, stopped: () => this.#deps.stopped() };
    const more: Destructive[] = [];
    await workInLanes(each(items), lanes, async ({ customer }) => {
      const result = await this.#deps.attempt(customer, this.#releasedOf(customer));
      if (result.kind === "destructive") more.push({ ...result, customer });
      else this.#deps.count(customer, result);
    });
    return more;
  }

  /** Judges what is new of these customers, and asks a person about what is held of each. */
  async #judge(items: readonly Destructive[]): Promise<void> {
    this.#windows ??= takenBefore(this.#deps);
    const all = items.flatMap(({ takings }) => takings);
    const isNew = new Set(all.map(({ hash }) => hash));
    const before = [...this.#released.values()].flatMap((own) => [...own.values()]);
    const kept = before.filter(({ hash }) => !isNew.has(hash));
    const held = await heldOf(this.#deps, all, await this.#windows, kept);
    for (const { customer, takings, ofUndo } of items) {
      const key = formatKey(customer);
      const goOn = takings.filter(({ hash }) => !held.has(hash));
      const released = new Map([...(this.#released.get(key) ?? []), ...goOn.map((one) => [one.hash, one] as const)]);
      this.#released.set(key, released);
      await this.#ask({ customer, ofUndo }, questionsOf(takings, held));
    }
  }

  async #ask(whose: Pick<Destructive, "customer" | "ofUndo">, groups: readonly HeldTogether[]): Promise<void> {
    if (groups.length === 0) return;
    const { ledger, logger } = this.#deps;
    const asked = await ledger.decisions.ask(
      whose,
      groups.map(({ takings, ...question }) => ({
        ...question,
        holds: takings.map(({ taking, reason }) => ({ ...taking, scope: question.scope, reason })),
      })),
    );
    for (const { id: hold, scope } of asked) logger.warn({ hold, customer: formatKey(whose.customer), scope }, "held");
  }

  /** What is left of a customer to be taken away waits for the next run. */
  async #leave(customer: RecordKey, why: string): Promise<void> {
    const { ledger, logger, run } = this.#deps;
    await ledger.journal.drop(customer, why);
    logger.info({ customer: formatKey(customer) }, `${changedMeanwhile}; left to the next run`);
    const reason = `${changedMeanwhile}; the next run plans again`;
    await ledger.records.deferPending(run, customer, "customer.stale", reason);
  }

  /**
   * Judges what came up while the run waited. Who was judged in it already is left to the next run: nobody is judged
   * twice in one.
   */
  async judgeLate(due: readonly RecordKey[]): Promise<void> {
    if (!due.some((customer) => this.#destructive.has(formatKey(customer)))) return;
    await this.judge();
    for (const customer of due) {
      const key = formatKey(customer);
      if (!this.#again.delete(key)) continue;
      this.#destructive.delete(key);
      await this.#leave(customer, "left to the next run");
    }
  }
}

type Dependencies = Pick<EngineDependencies, "ledger" | "policies"> & {
  time: AskedTime;
  limits: TakingLimits;
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
