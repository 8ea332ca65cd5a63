import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { judgeLimits } from "../plan/limits.ts";
import type { Destruction } from "../plan/limits.ts";
import type { CustomerAttemptResult, CustomerAttempt } from "./customer-attempt.ts";
import type { RunDependencies, RunRequest } from "./request.ts";

interface GateDependencies extends Pick<RunDependencies, "ledger" | "logger"> {
  run: string;
  limits: RunRequest["limits"]["revokes"];
  /** One more attempt at a customer, with what the limits said. */
  attempt(customer: RecordKey, verdict: Partial<CustomerAttempt>): Promise<CustomerAttemptResult>;
  count(customer: RecordKey, result: CustomerAttemptResult): void;
  stopped(): boolean;
}

/** Holds back what would be taken away until the limits are judged over the sum of the whole run. */
export class LimitsGate {
  readonly #deps: GateDependencies;
  readonly #destructive = new Map<
    string,
    Extract<CustomerAttemptResult, { kind: "destructive" }> & { customer: RecordKey }
  >();
  /** What was judged in this run already, by customer. */
  readonly #judged = new Map<string, Destruction>();
  /** What the limits said to a customer's revokes, for each later attempt of this run. */
  readonly #verdicts = new Map<string, Partial<CustomerAttempt>>();
  /** Customers of whom something more would be taken away after they were judged. */
  readonly #again = new Set<string>();

  constructor(deps: GateDependencies) {
    this.#deps = deps;
  }

  /** Customers of whom something would be taken away that was not carried out yet. */
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
   * Judges everything that would be taken away and was not judged yet, over the sum of the whole run, what was judged
   * before in it included; then releases or holds each customer.
   */
  async judge(): Promise<void> {
    if (this.#destructive.size === 0 || this.#deps.stopped()) return;
    const { ledger, logger } = this.#deps;
    const before = [...this.#judged.values()];
    const items: Destruction[] = [];
    for (const [key, item] of this.#destructive) {
      if (this.#judged.has(key)) continue;
      items.push({
        customer: item.customer,
        count: item.count,
        live: await ledger.state.liveAssignments(item.customer),
        approved: false,
      });
    }
    for (const item of items) this.#judged.set(formatKey(item.customer), item);
    const verdicts = judgeLimits([...before, ...items], this.#deps.limits, await ledger.state.liveAssignments());
    for (const verdict of verdicts.slice(before.length)) {
      const key = formatKey(verdict.customer);
      const item = this.#destructive.get(key);
      if (item === undefined || this.#deps.stopped()) continue;
      if (verdict.released) {
        this.#deps.count(verdict.customer, await this.#second(verdict.customer, { released: item.revokes }));
        continue;
      }
      const hold = await ledger.approvals.open({
        scope: verdict.scope ?? "run",
        customer: verdict.customer,
        count: verdict.count,
        allowed: verdict.allowed,
        total: verdict.total,
        setHash: item.setHash,
        explanation: verdict.explanation ?? "",
      });
      if (hold.state !== "open") {
        // A person has decided on exactly this set while the run was on: the customer is planned anew with that.
        this.#deps.count(verdict.customer, await this.#second(verdict.customer, {}));
        continue;
      }
      logger.warn(
        { hold: hold.id, customer: key, scope: hold.scope, count: hold.count, allowed: hold.allowed },
        "held by a limit",
      );
      this.#deps.count(verdict.customer, await this.#second(verdict.customer, { hold: hold.id }));
    }
  }

  async #second(customer: RecordKey, fields: Partial<CustomerAttempt>): Promise<CustomerAttemptResult> {
    this.#verdicts.set(formatKey(customer), fields);
    const result = await this.#deps.attempt(customer, fields);
    if (result.kind !== "destructive") return result;
    await this.#deps.ledger.journal.drop(customer, "the platform changed while the limits were judged", {
      held: false,
    });
    await this.#deferStale(customer);
    return { kind: "stopped", reason: "stale" };
  }

  async #deferStale(customer: RecordKey): Promise<void> {
    this.#deps.logger.info(
      { customer: formatKey(customer) },
      "the platform changed while the limits were judged; left to the next run",
    );
    await this.#deps.ledger.records.deferPending(
      this.#deps.run,
      customer,
      "customer.stale",
      "the platform changed while the limits were judged; the next run plans anew",
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
