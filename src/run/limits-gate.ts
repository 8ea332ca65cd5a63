import { hashOf } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { sumOf } from "../operation/taking.ts";
import { holdOf } from "../plan/limits.ts";
import type { HeldFor, Taking, Windows } from "../plan/limits.ts";
import type { CustomerAttemptResult, CustomerAttempt } from "./customer-attempt.ts";
import { heldOf, takenBefore } from "./judgement.ts";
import type { RunDependencies, RunRequest } from "./request.ts";

interface GateDependencies extends Pick<RunDependencies, "ledger" | "logger" | "clock" | "policies"> {
  run: string;
  limits: RunRequest["limits"]["taking"];
  /** One more attempt at a customer, with what was judged. */
  attempt(customer: RecordKey, verdict: Partial<CustomerAttempt>): Promise<CustomerAttemptResult>;
  count(customer: RecordKey, result: CustomerAttemptResult): void;
  stopped(): boolean;
}

type Destructive = Extract<CustomerAttemptResult, { kind: "destructive" }> & { customer: RecordKey };

/** So often something more of a customer comes up after it was judged, until it is left to the next run. */
const mostMore = 3;
const changedMeanwhile = "the platform changed while the limits were judged";

/** Holds back what limits and policies may hold until it is judged over the sum of the whole run. */
export class LimitsGate {
  readonly #deps: GateDependencies;
  readonly #destructive = new Map<string, Destructive>();
  /** What was judged in this run already, by customer. */
  readonly #judged = new Map<string, readonly Taking[]>();
  /** What was said of a customer's operations, for each later attempt of this run. */
  readonly #verdicts = new Map<string, Partial<CustomerAttempt>>();
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
    if (this.#judged.has(key)) this.#again.add(key);
  }

  /**
   * A customer is attempted anew: what was to be taken away of it is found anew. Gives what the limits said of it
   * before.
   */
  attemptedAnew(customer: RecordKey): Partial<CustomerAttempt> {
    const key = formatKey(customer);
    this.#destructive.delete(key);
    return this.#verdicts.get(key) ?? {};
  }

  /**
   * Judges everything that was not judged yet, over the sum of the whole run, what was judged before in it included;
   * then each customer is attempted once more, without what is held of it.
   */
  async judge(): Promise<void> {
    if (this.#destructive.size === 0 || this.#deps.stopped()) return;
    const items = [...this.#destructive].flatMap(([key, item]) =>
      this.#judged.has(key) ? [] : [[key, item] as const],
    );
    for (const [key, { takings }] of items) this.#judged.set(key, takings);
    const held = await this.#heldOf();
    for (const [key, item] of items) {
      if (!this.#destructive.has(key) || this.#deps.stopped()) continue;
      const verdict = await this.#verdictOf(item, held);
      this.#deps.count(item.customer, await this.#second(item.customer, verdict));
    }
  }

  /** What limits and policies hold of everything that was judged in this run, by hash. */
  async #heldOf(): Promise<ReadonlyMap<string, HeldFor>> {
    this.#windows ??= takenBefore(this.#deps);
    return await heldOf(this.#deps, [...this.#judged.values()].flat(), await this.#windows);
  }

  /** What of a customer goes on, and under which hold the rest waits; what this run released before goes on. */
  async #verdictOf(
    { customer, takings, approvedBy, ofUndo }: Destructive,
    judged: ReadonlyMap<string, HeldFor>,
    before: ReadonlySet<string> = new Set(),
  ): Promise<Partial<CustomerAttempt>> {
    const { ledger, logger } = this.#deps;
    const held = takings.flatMap((taking) => {
      const why = before.has(taking.hash) ? undefined : judged.get(taking.hash);
      return why === undefined ? [] : [{ taking, why }];
    });
    const isHeld = new Set(held.map(({ taking }) => taking.hash));
    const released = before.union(new Set(takings.map(({ hash }) => hash).filter((hash) => !isHeld.has(hash))));
    if (held.length === 0) return { released, approvedBy };
    const hold = await ledger.approvals.open({
      ...holdOf(
        held.map(({ why }) => why),
        sumOf(held.map(({ taking }) => taking.weight)),
      ),
      customer,
      ofUndo,
      setHash: hashOf([...isHeld].sort()),
      released,
      operations: held.map(({ taking: { hash, kind, records }, why: { scope, explanation: reason } }) => ({
        hash,
        kind,
        scope,
        reason,
        records,
      })),
    });
    // A person has decided on exactly this set, as while the run was on.
    if (hold.state === "approved") return { released: released.union(isHeld), approvedBy: hold.id };
    if (hold.state !== "open") return {};
    logger.warn(
      { hold: hold.id, customer: formatKey(customer), scope: hold.scope, count: hold.count, allowed: hold.allowed },
      "held",
    );
    return { released, held: { hold: hold.id, hashes: isHeld } };
  }

  /**
   * Attempts a customer again with what was judged of it. What comes up only then, as the old form of what it has just
   * bought anew, is judged too, over the same sum; what goes on comes up so often and no oftener.
   */
  async #second(customer: RecordKey, verdict: Partial<CustomerAttempt>): Promise<CustomerAttemptResult> {
    const key = formatKey(customer);
    let fields = verdict;
    for (let more = 0; ; more += 1) {
      this.#verdicts.set(key, fields);
      const result = await this.#deps.attempt(customer, fields);
      if (result.kind !== "destructive") return result;
      const before = this.#judged.get(key) ?? [];
      const known = new Set(before.map(({ hash }) => hash));
      if (more === mostMore || result.takings.every(({ hash }) => known.has(hash))) break;
      this.#judged.set(key, [...before, ...result.takings.filter(({ hash }) => !known.has(hash))]);
      fields = await this.#verdictOf({ ...result, customer }, await this.#heldOf(), fields.released);
    }
    await this.#deps.ledger.journal.drop(customer, changedMeanwhile, { held: false });
    await this.#deferStale(customer);
    return { kind: "stopped", reason: "stale" };
  }

  async #deferStale(customer: RecordKey): Promise<void> {
    this.#deps.logger.info({ customer: formatKey(customer) }, `${changedMeanwhile}; left to the next run`);
    await this.#deps.ledger.records.deferPending(
      this.#deps.run,
      customer,
      "customer.stale",
      `${changedMeanwhile}; the next run plans anew`,
    );
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
      await this.#deps.ledger.journal.drop(customer, "left to the next run", { held: false });
      await this.#deferStale(customer);
    }
  }
}
