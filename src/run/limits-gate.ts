import type { AskedTime } from "../base/trusted-time.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { questionsOf } from "../engine/plan/limits.ts";
import type { HeldTogether, Taking, Windows } from "../engine/plan/limits.ts";
import type { CustomerAttemptResult, CustomerAttempt } from "./customer-attempt.ts";
import { heldOf, takenBefore } from "./judgement.ts";
import { each, workInLanes } from "./lanes.ts";
import type { RunDependencies, RunRequest } from "./request.ts";

interface GateDependencies extends Pick<RunDependencies, "ledger" | "logger" | "policies" | "concurrency"> {
  time: AskedTime;
  run: string;
  limits: RunRequest["limits"]["removals"];
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
