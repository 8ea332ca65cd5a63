import { toJson } from "../base/canonical-json.ts";
import { messageOf, Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { deliver } from "../apply/deliver.ts";
import type { Delivery } from "../apply/deliver.ts";
import { OrderAdoption } from "../apply/adopt-orders.ts";
import { refusedPersonReason } from "../apply/refusal.ts";
import { lookForRefusedOrder, lookForUnwanted, refusedJustNow, unwantedOrders } from "../apply/refused-orders.ts";
import { withoutHeld } from "../plan/limits.ts";
import type { Operation } from "../operation/operation.ts";
import { firstStage } from "../operation/operation.ts";
import { kindOf } from "../operation/registry.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import { planCustomer } from "../plan/plan.ts";
import { CustomerSnapshot } from "./customer-snapshot.ts";
import type { CustomersAwaited } from "./customer-snapshot.ts";
import {
  destructionOf,
  earlierMayStillLand,
  isReleased,
  isStale,
  revokeHashes,
  revokesBlockedOf,
  lapseNeedlessHold,
  requireFreeEnterprise,
  serviceOf,
  stopReasons,
} from "./customer-attempt.ts";
import { deferredOf, Outcomes } from "./record-outcomes.ts";
import type { CustomerAttempt, CustomerAttemptResult, ReconcileDependencies } from "./customer-attempt.ts";

/** How often a customer is planned anew within one attempt before it is left to the next run. */
const mostRounds = 24;

/**
 * The unit of work: makes one customer's enterprise, orders, staff and privileges agree with the CRM, stage by stage,
 * in order. What is open is settled first. After each stage that did something, what the next one depends on is read
 * again and the rest is planned anew, so that no operation rests on what no longer holds. A failure stops this customer
 * and no other.
 */
export async function reconcile(
  deps: ReconcileDependencies,
  customer: RecordKey,
  attempt: CustomerAttempt,
): Promise<CustomerAttemptResult> {
  const work = new CustomerAttemptRun(deps, customer, attempt);
  try {
    return await work.run();
  } catch (error) {
    if (deps.ledger.broken !== undefined) throw error;
    if (attempt.signal?.aborted === true) {
      await work.deferAll("run.stopped", "the run was stopped before it came to this record", true);
      return { kind: "stopped", reason: "aborted" };
    }
    await work.deferAll("service.unreadable", messageOf(error), true);
    deps.logger.warn(
      {
        customer: formatKey(customer),
        code: error instanceof Problem ? error.code : "defect",
        reason: messageOf(error),
      },
      "customer not finished",
    );
    if (!(error instanceof Problem))
      deps.logger.error(
        { customer: formatKey(customer), stack: error instanceof Error ? error.stack : undefined },
        "defect",
      );
    return { kind: "stopped", reason: "unreadable" };
  }
}

class CustomerAttemptRun {
  readonly #deps: ReconcileDependencies;
  readonly #customer: RecordKey;
  readonly #attempt: CustomerAttempt;
  readonly #outcomes = new Outcomes();
  readonly #announced = new Map<string, Operation>();
  readonly #delivered = new Set<string>();
  readonly #look: CustomerSnapshot;
  readonly #search: OrderAdoption;
  /** Refused for one of several people: the next plan of this attempt sends them in parts. */
  #inParts: Operation[] = [];
  #plannedIds = new Map<string, string>();
  /** Orders that the CRM does not want any more and that are not known to be placed. */
  #unwanted: Operation["records"] = [];
  #done = 0;
  #lacking = false;
  /** Something was refused in this attempt, for a record's sake. */
  #refused = false;
  #usedHold: string | undefined;

  constructor(deps: ReconcileDependencies, customer: RecordKey, attempt: CustomerAttempt) {
    this.#deps = deps;
    this.#customer = customer;
    this.#attempt = attempt;
    this.#look = new CustomerSnapshot(deps, customer, attempt);
    this.#search = new OrderAdoption(deps, deps.reader);
  }

  /** The limits were judged for this customer in this run: its operations stand in the ledger as planned. */
  get #judged(): boolean {
    return this.#attempt.released !== undefined || this.#attempt.hold !== undefined;
  }

  async run(): Promise<CustomerAttemptResult> {
    const open = await this.#settleOpen();
    if (open !== undefined) return open;
    const { ledger } = this.#deps;
    const stored = await ledger.journal.plannedOf(this.#customer);
    for (const row of stored) {
      if (row.state === "planned" && this.#judged) this.#plannedIds.set(row.operation.hash, row.id);
    }
    if (!this.#judged && stored.length > 0) await ledger.journal.drop(this.#customer, "planned anew", { held: true });
    if (this.#attempt.hold !== undefined)
      await ledger.journal.hold(this.#customer, this.#attempt.hold, { revokesOnly: true });

    for (let round = 0; round < mostRounds; round += 1) {
      if (this.#attempt.signal?.aborted === true) return await this.#stop("aborted");
      const plan = await this.#plan();
      if (plan === "again") continue;
      if ("until" in plan) {
        await this.deferAll("enterprise.customers-not-shown", plan.reason, true);
        return { kind: "waiting", until: plan.until };
      }
      if (this.#delivered.size === 0 && isStale(plan, this.#attempt.expected)) {
        if (this.#judged) await this.#dropStored(`not attempted: ${stopReasons.stale}`);
        return { kind: "stopped", reason: "stale" };
      }
      const verdict = await this.#judge(plan);
      if (verdict !== undefined) {
        for (const left of this.#left) await this.#dropUnsent(left, "planned anew: what is taken away is judged first");
        return verdict;
      }
      const operations = this.#allowed(plan.operations).filter((operation) => !this.#delivered.has(operation.hash));
      this.#announce(operations);
      this.#inParts = [];
      for (const record of plan.records) this.#outcomes.note({ ...record });
      const next = firstStage(operations);
      if (next.length === 0)
        return (await this.#lookForUnwanted()) ? await this.#stop("parked") : await this.#finish(plan);
      for (const operation of next) {
        const stopped = await this.#carryOut(operation);
        if (stopped !== undefined) return await this.#stop(stopped);
      }
      if (this.#done > 0) this.#look.forget(next);
    }
    await this.deferAll(
      "customer.restless",
      "what the platform shows kept changing while the customer was worked on",
      true,
    );
    return { kind: "stopped", reason: "unreadable" };
  }

  async #settleOpen(): Promise<CustomerAttemptResult | undefined> {
    const { ledger, settling } = this.#deps;
    for (const row of await ledger.journal.openOf(this.#customer)) {
      const settled = await settling.settle(row, this.#attempt.runId, this.#attempt.signal);
      if (["done", "dropped", "rejected"].includes(settled.kind)) continue;
      const reason = `waits for the outcome of ${row.operation.endpoint} on ${row.operation.subject} (${row.id}) to be settled`;
      await this.deferAll("operation.open", reason, true);
      if (settled.kind === "waiting") return { kind: "waiting", until: settled.until };
      return { kind: "stopped", reason: settled.kind === "parked" ? "parked" : "unreadable" };
    }
    return undefined;
  }

  async #plan(): Promise<CustomerPlan | "again" | CustomersAwaited> {
    const { ledger } = this.#deps;
    const loaded = await ledger.state.load(this.#customer);
    await this.#look.read(loaded);
    if (this.#look.awaited !== undefined) return this.#look.awaited;
    this.#unwanted = unwantedOrders(loaded);
    const sought = await this.#search.seek(loaded, this.#attempt.signal);
    if (sought.adopted.length > 0) return "again";
    this.#look.unclear(sought.unclear);
    const plan = planCustomer(
      { ...loaded, observed: this.#look.observed },
      {
        settings: this.#deps.settings,
        canSeal: ledger.private.canSeal,
        revokesBlocked: await revokesBlockedOf(this.#deps, loaded, this.#look.observed, this.#attempt),
      },
    );
    if (plan.learned.length === 0) return plan;
    const adopted = plan.learned.map((change) => change.type);
    await requireFreeEnterprise(ledger, plan);
    await ledger.state.record(this.#customer, plan.learned, {
      kind: "learned",
      subject: `customer:${formatKey(this.#customer)}`,
      body: { changes: plan.learned.map(toJson) },
    });
    this.#deps.logger.info({ customer: formatKey(this.#customer), adopted }, "learned from the platform");
    return "again";
  }

  async #judge(plan: CustomerPlan): Promise<CustomerAttemptResult | undefined> {
    const { count, setHash } = destructionOf(plan.operations);
    if (count === 0 || this.#attempt.hold !== undefined || isReleased(plan.operations, this.#attempt.released))
      return undefined;
    if (this.#delivered.size > 0 && this.#usedHold !== undefined && this.#onlyKnownRevokes(plan)) return undefined;
    const hold = await this.#deps.ledger.approvals.of(this.#customer);
    if (hold?.state === "approved" && hold.setHash === setHash) {
      this.#usedHold = hold.id;
      return undefined;
    }
    if (!this.#judged) {
      const operations = plan.operations.filter((operation) => !this.#announced.has(operation.hash));
      await this.#deps.ledger.journal.plan({ runId: this.#attempt.runId, state: "planned", operations });
      for (const operation of operations) this.#deps.tally.planned(operation);
    }
    return { kind: "destructive", count, setHash, revokes: revokeHashes(plan.operations) };
  }

  get #left(): Operation[] {
    return [...this.#announced.values()].filter((operation) => !this.#delivered.has(operation.hash));
  }

  /** After a part of an approved set was carried out, what is left of it needs no new judgement; anything else does. */
  #onlyKnownRevokes(plan: CustomerPlan): boolean {
    return plan.operations.every((operation) => operation.takesAway === 0 || this.#announced.has(operation.hash));
  }

  /** Without the revokes that are held, and without the grants that need them. */
  #allowed(operations: readonly Operation[]): Operation[] {
    return this.#attempt.hold === undefined ? [...operations] : withoutHeld(operations);
  }

  #announce(operations: readonly Operation[]): void {
    for (const operation of operations) {
      if (this.#announced.has(operation.hash)) continue;
      this.#announced.set(operation.hash, operation);
      if (!this.#plannedIds.has(operation.hash)) this.#deps.tally.planned(operation);
    }
  }

  async #carryOut(
    operation: Operation,
  ): Promise<Extract<CustomerAttemptResult, { kind: "stopped" }>["reason"] | undefined> {
    const { pool } = this.#deps;
    if (await earlierMayStillLand(this.#deps, operation)) {
      const reason = "an earlier change with an unknown outcome may still land; this one waits for the settle time";
      this.#outcomes.defer(this.#outcomes.mattersOf(operation), "settle-time", reason, true);
      this.#delivered.add(operation.hash);
      await this.#dropUnsent(operation, "waits for the settle time of an earlier change");
      return undefined;
    }
    const withheld = await this.#withhold(operation);
    if (withheld === "parked") return "parked";
    if (withheld !== undefined) {
      this.#outcomes.defer(this.#outcomes.mattersOf(operation), withheld.code, withheld.reason, true);
      this.#delivered.add(operation.hash);
      await this.#dropUnsent(operation, withheld.reason);
      return undefined;
    }
    const delivery: Delivery = await deliver(this.#deps, pool, operation, {
      runId: this.#attempt.runId,
      plannedId: this.#plannedIds.get(operation.hash),
      shownBefore: this.#look.observed.members?.map((member) => member.globalId),
      signal: this.#attempt.signal,
    });
    this.#delivered.add(operation.hash);
    switch (delivery.kind) {
      case "done":
        this.#done += 1;
        for (const { key, message } of delivery.refused)
          this.#outcomes.reject([{ stream: "staff", ...key }], "staff.refused", refusedPersonReason(message));
        if (delivery.refused.length > 0) this.#refused = true;
        return undefined;
      case "blocked":
        if (delivery.code === "pool.empty") this.#lacking = true;
        this.#outcomes.defer(this.#outcomes.mattersOf(operation), delivery.code, delivery.reason, true);
        await this.#dropUnsent(operation, delivery.reason);
        return undefined;
      case "rejected":
        return this.#noteRefusal(operation, delivery);
      case "unknown":
        return (await this.#settleAtOnce(operation, delivery.id)) ? undefined : "unknown";
      case "parked":
        return "parked";
      case "not-sent":
        if (delivery.id === undefined) await this.#dropUnsent(operation, `not sent: ${delivery.reason}`);
        this.#outcomes.deferUnsent([operation], "service.not-sent", `not sent: ${delivery.reason}`);
        return "not-sent";
      case "stopped":
        this.#delivered.delete(operation.hash);
        return "aborted";
    }
  }

  /** Why an operation is not sent now: its service refuses this application, or what a refused E5 did is not known. */
  async #withhold(operation: Operation): Promise<"parked" | { code: string; reason: string } | undefined> {
    const refusing = this.#deps.refusing.get(serviceOf(operation));
    if (refusing !== undefined) return { code: "service.refused", reason: refusing };
    const { reader } = this.#deps;
    const after = await lookForRefusedOrder(this.#deps, reader, operation, this.#attempt.signal);
    if (after.kind === "clear") return undefined;
    if (after.kind === "parked") return "parked";
    return { code: "settle-time", reason: refusedJustNow };
  }

  /**
   * A refusal stops only what needs what was refused: the next plan of this attempt leaves it out. People who were
   * refused together are not at fault yet: they are sent in parts. Where the service refuses this application, no
   * record is at fault, and this run sends it nothing more.
   */
  #noteRefusal(operation: Operation, refused: Extract<Delivery, { kind: "rejected" }>): "rejected" | undefined {
    if (refused.scope === "service") {
      this.#deps.refusing.set(serviceOf(operation), refused.reason);
      this.#outcomes.defer(this.#outcomes.mattersOf(operation), refused.code, refused.reason, false);
      return "rejected";
    }
    if (refused.shared) this.#inParts.push(operation);
    else this.#outcomes.reject(this.#outcomes.mattersOf(operation), refused.code, refused.reason);
    this.#refused ||= !refused.shared;
    return undefined;
  }

  /** Whether something shows of an order that was refused and is not wanted any more: a person has to look at it. */
  async #lookForUnwanted(): Promise<boolean> {
    const found = await lookForUnwanted(this.#deps, this.#deps.reader, this.#unwanted, this.#attempt.signal);
    this.#outcomes.defer(found.tooEarly, "settle-time", refusedJustNow, true);
    return found.parked;
  }

  async #dropUnsent(operation: Operation, why: string): Promise<void> {
    const { ledger } = this.#deps;
    if (!this.#plannedIds.has(operation.hash)) {
      await ledger.journal.plan({ runId: this.#attempt.runId, state: "planned", operations: [operation] });
    }
    await ledger.journal.drop(this.#customer, why, { hash: operation.hash, held: false });
  }

  /** A lost answer is looked into at once: in most cases the platform shows the effect already. */
  async #settleAtOnce(operation: Operation, id: string): Promise<boolean> {
    const row = await this.#deps.ledger.journal.byId(id);
    if (row === undefined || kindOf(row.operation).whenUnknown === "send-again") return false;
    const settled = await this.#deps.settling.settle(row, this.#attempt.runId, this.#attempt.signal);
    if (settled.kind === "rejected") {
      this.#refused = true;
      this.#outcomes.reject(this.#outcomes.mattersOf(operation), settled.code, settled.reason);
      return true;
    }
    if (settled.kind !== "done") return false;
    this.#done += 1;
    return true;
  }

  async #finish(plan: CustomerPlan): Promise<CustomerAttemptResult> {
    const { ledger } = this.#deps;
    const { runId, hold } = this.#attempt;
    await this.#dropLeft("no longer needed: what the platform shows made it so");
    if (hold !== undefined) await ledger.journal.hold(this.#customer, hold, { revokesOnly: false });
    else if (this.#judged) await ledger.journal.drop(this.#customer, "no longer needed", { held: false });
    if (this.#usedHold !== undefined) await ledger.approvals.decide(this.#usedHold, "used", "carried out");
    else if (hold === undefined) await lapseNeedlessHold(ledger, plan, this.#look.observed);
    await ledger.records.setOutcomes(runId, this.#outcomes.all, [], hold);
    return { kind: "finished", operations: this.#done, lacking: this.#lacking, refused: this.#refused };
  }

  async #stop(reason: Extract<CustomerAttemptResult, { kind: "stopped" }>["reason"]): Promise<CustomerAttemptResult> {
    const why = `not attempted: ${stopReasons[reason]}`;
    const code = reason === "not-sent" ? "service.not-sent" : reason === "rejected" ? "service.refused" : undefined;
    if (code !== undefined) this.#outcomes.deferUnsent([...this.#left, ...this.#inParts], code, why);
    await this.#dropStored(why);
    const { all, planned } = this.#outcomes;
    await this.#deps.ledger.records.setOutcomes(this.#attempt.runId, all, planned, this.#attempt.hold);
    return { kind: "stopped", reason };
  }

  /** Operations that were announced and not carried out stand in the journal as dropped, with the reason. */
  async #dropLeft(why: string): Promise<void> {
    const { ledger } = this.#deps;
    const left = this.#left;
    if (left.length === 0) return;
    const notStored = left.filter((operation) => !this.#plannedIds.has(operation.hash));
    await ledger.journal.plan({ runId: this.#attempt.runId, state: "planned", operations: notStored });
    await ledger.journal.drop(this.#customer, why, { held: false });
    for (const operation of left) this.#delivered.add(operation.hash);
  }

  /**
   * A judged attempt that ends early leaves none of the operations that were stored for it as planned: the next run
   * plans anew.
   */
  async #dropStored(why: string): Promise<void> {
    await this.#dropLeft(why);
    if (this.#judged) await this.#deps.ledger.journal.drop(this.#customer, why, { held: false });
  }

  /** Defers every pending record of the customer for one reason. */
  async deferAll(code: string, reason: string, again: boolean): Promise<void> {
    const loaded = await this.#deps.ledger.state.load(this.#customer);
    const pending = deferredOf(loaded, { code, reason, again });
    await this.#dropStored(`not attempted: ${reason}`);
    await this.#deps.ledger.records.setOutcomes(this.#attempt.runId, pending);
  }
}
