import type { RecordReference } from "./model/resource.ts";
import { failureOf, stackOf } from "../base/errors.ts";
import { formatKey, subjectOf } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { StandingHold, Whose } from "../ledger/decisions/hold-rows.ts";
import { isContradiction } from "./send.ts";
import { CustomerPlanning, UndoPlanning, type Planner } from "./planning.ts";
import { CustomerState } from "./customer.ts";
import {
  lookForUnsent,
  refusedJustNow,
  unsentOrders,
  carryOut,
  dropUnsent,
  notAttempted,
  chosenOf,
  movedSince,
  notChosen,
  takenBack,
  type CarryOut,
} from "./carry-out.ts";
import { pausedCode } from "../ledger/pause.ts";
import { typeOf } from "./model/registry.ts";
import { withoutHeld } from "./plan/limits.ts";
import { goingWithout, waitsForNeeds, quarantineBlock } from "./plan/blocks.ts";
import { type Operation, firstStage } from "./model/operation.ts";
import { isUnread } from "./plan/input.ts";
import type { CustomerPlan } from "./plan/plan.ts";
import {
  customersNotShown,
  maxRounds,
  restless,
  settleOpen,
  stopReasons,
  deferredOf,
  Progress,
  type CustomerAttempt,
  type CustomerAttemptResult,
  type ReconcileDependencies,
  type Shortfall,
  type StopReason,
  type Why,
} from "./attempt.ts";
import { gate, isOfUndo, mayBeHeld, nothingToJudge } from "./gate.ts";
import type { CustomersAwaited } from "./observe.ts";
import { endUnwanted, lacksSeats } from "./ended-holds.ts";
import { endRequested } from "./requested.ts";

/**
 * Makes one customer's enterprise, orders, staff and assignments agree with the CRM, stage by stage. First settles open
 * operations. After each stage that did something, reads again and plans the rest anew, so no operation relies on
 * outdated data. Operations wait if a reading failed or a service is unreachable. The rest goes on. An error stops this
 * customer and no other.
 */
export function reconcile(
  deps: ReconcileDependencies,
  customer: RecordKey,
  attempt: CustomerAttempt,
): Promise<CustomerAttemptResult> {
  return new CustomerAttemptRun(deps, customer, attempt).run();
}

const shortOf = { service: "unread", data: "stuck", program: "defect" } as const;

class CustomerAttemptRun {
  readonly #deps: ReconcileDependencies;
  readonly #customer: RecordKey;
  readonly #attempt: CustomerAttempt;
  readonly #knows: CustomerState;
  readonly #planning: Planner;
  readonly #progress = new Progress();
  #asked: ReadonlyMap<string, StandingHold> = new Map();
  #isHeld = false;

  constructor(deps: ReconcileDependencies, customer: RecordKey, attempt: CustomerAttempt) {
    this.#deps = deps;
    this.#customer = customer;
    this.#attempt = attempt;
    this.#knows = new CustomerState(deps, customer);
    const undo = attempt.expected?.undo;
    this.#planning =
      undo === undefined
        ? new CustomerPlanning(deps, this.#knows, { ...attempt, whole: attempt.expected !== undefined })
        : new UndoPlanning(deps, this.#knows, { ...attempt, run: undo });
  }

  get #judged(): boolean {
    return this.#attempt.released !== undefined;
  }

  get #whose(): Whose {
    return { customer: this.#customer, ofUndo: isOfUndo(this.#attempt) };
  }

  /** Every source was complete enough for removals, and nothing of the customer is in quarantine. */
  get #isBelieved(): boolean {
    const isWhole = this.#attempt.removalsBlocked === undefined && !isOfUndo(this.#attempt);
    return isWhole && quarantineBlock(this.#knows.held) === undefined;
  }

  get #of(): CarryOut {
    const { observed } = this.#planning.snapshot;
    const [deps, attempt, knows, progress] = [this.#deps, this.#attempt, this.#knows, this.#progress];
    return { deps, attempt, knows, progress, observed, approved: new Map(), ahead: true };
  }

  async run(): Promise<CustomerAttemptResult> {
    const progress = this.#progress;
    try {
      const begun = await this.#deps.ledger.state.begin(this.#customer);
      this.#knows.begin(begun);
      let result = begun.open ? await this.#settleOpen() : undefined;
      if (result === undefined && (begun.open || begun.waits)) await this.#takeStored();
      this.#isHeld = begun.held;
      for (let [round, last] = [0, 0]; result === undefined; round += 1) {
        const { done } = progress;
        if (round >= maxRounds.total || round - last >= maxRounds.idle) result = await this.#giveUp();
        else if (this.#attempt.signal?.aborted === true) result = await this.#stop("aborted");
        else {
          const planning = await this.#planning.plan(progress.tried);
          if (planning.kind === "planned") result = await this.#carryOutStage(planning.plan);
          else if (planning.kind === "awaits") result = await this.#await(planning);
          else this.#deps.tally.recorded(this.#customer, planning.changes);
        }
        if (progress.done > done) last = round;
      }
      this.#attempt.onlyCommits?.();
      await this.#knows.settled();
      return result;
    } catch (error) {
      return await this.#failed(error);
    }
  }

  async #failed(thrown: unknown): Promise<CustomerAttemptResult> {
    const { ledger, logger } = this.#deps;
    if (ledger.broken !== undefined) throw thrown;
    // The ledger cannot hold the result of an operation, so the operation needs a person.
    if (await this.#knows.settled().then(() => false, isContradiction)) return await this.#end("parked");
    if (this.#attempt.signal?.aborted === true) {
      await this.#deferAll({ code: "run.stopped", reason: "the run was stopped before it reached this record" });
      return { kind: "stopped", reason: "aborted" };
    }
    const failure = failureOf(thrown);
    // The program may have failed at reading these very records.
    await this.#deferAll(failure).catch(async (again: unknown) => {
      if (failure.of !== "program" || ledger.broken !== undefined) throw again;
      await ledger.records.deferPending(this.#attempt.runId, this.#customer, failure.code, failure.reason);
    });
    const named = { customer: formatKey(this.#customer), code: failure.code };
    logger.warn({ ...named, reason: failure.reason }, "customer not finished");
    if (failure.of === "program") logger.error({ ...named, stack: stackOf(thrown) }, "defect");
    return { kind: "finished", short: new Set([shortOf[failure.of]]) };
  }

  async #settleOpen(): Promise<CustomerAttemptResult | undefined> {
    const open = await settleOpen(this.#deps, this.#knows, this.#attempt);
    if (open !== undefined) await this.#deferAll(open);
    return open?.end;
  }

  async #await({ until, reason }: CustomersAwaited): Promise<CustomerAttemptResult> {
    await this.#knows.settled();
    await this.#deferAll({ code: customersNotShown, reason });
    return { kind: "waiting", until };
  }

  async #giveUp(): Promise<CustomerAttemptResult> {
    await this.#knows.settled();
    await this.#deferAll(restless);
    return { kind: "finished", short: new Set([...this.#progress.short, "stuck"]) };
  }

  /** A judged pass continues with the planned operations in the journal. Other passes plan them anew. */
  async #takeStored(): Promise<void> {
    const { journal } = this.#deps.ledger;
    if (!this.#judged) await journal.drop(this.#customer, "planned anew");
    const stored = await journal.plannedOf(this.#whose);
    this.#progress.stored = new Map(stored.map((row) => [row.operation.hash, row.id]));
  }

  /** Carries out the first stage with something to do. Returns how the pass ends, if it does. */
  async #carryOutStage(whole: CustomerPlan): Promise<CustomerAttemptResult | undefined> {
    const deps = this.#deps;
    const { expected, runId } = this.#attempt;
    const progress = this.#progress;
    const moved = progress.delivered.size > 0 || expected === undefined ? [] : movedSince(whole, expected);
    if (moved.length > 0) {
      if (this.#judged) await this.#dropStored(`not attempted: ${stopReasons.stale}`);
      return { kind: "stopped", reason: "stale", moved };
    }
    const { plan, left } = chosenOf(whole, expected);
    const of = this.#of;
    const { observed } = of;
    const { decided, toJudge } = mayBeHeld(of, plan) ? await gate(of, plan) : nothingToJudge;
    this.#asked = decided.asked;
    of.approved = decided.approved;
    if (toJudge !== undefined) {
      const why = "planned again: removals are judged first";
      const isJudged = new Set(toJudge.holdables.map(({ hash }) => hash));
      for (const operation of progress.left) if (!isJudged.has(operation.hash)) await dropUnsent(of, operation, why);
      return toJudge;
    }
    const isDelivered = ({ hash }: Operation): boolean => progress.delivered.has(hash);
    const open = this.#allowed(plan.operations).filter((operation) => !isDelivered(operation));
    const operations = goingWithout(open, plan.operations.filter(isDelivered));
    this.#announce(operations, plan);
    const goesOn = new Set(operations);
    const waiting = open.filter((operation) => !goesOn.has(operation));
    if (waiting.length > 0) await this.#leave(of, waiting);
    this.#noteLeft(left, plan);
    const next = firstStage(operations);
    if (next.length === 0) {
      const mayEnd = this.#isHeld && this.#isBelieved && whole.waits !== true;
      const isUnseen = mayEnd && (await lacksSeats(deps.ledger, { plan: whole, observed }));
      if (isUnseen && expected === undefined && this.#planning.snapshot.readsPeople()) return undefined;
      const unsent = this.#unsent(whole);
      const found = unsent.length > 0 ? await this.#lookForUnsent(unsent) : undefined;
      if (found === "recorded") return undefined;
      if (found !== undefined) return await this.#stop(found);
      return this.#isOnlyOutcomes ? this.#finishAhead() : await this.#finish(whole);
    }
    // An undo keeps its outcomes before it sends. If it dies, its records are pending, and the next run follows the CRM.
    if (isOfUndo(this.#attempt)) await deps.ledger.records.setOutcomes(runId, progress.outcomes.all);
    const amended = new Set<string>();
    for (const operation of next) {
      const order = typeOf(operation).can.expects?.(operation)?.order;
      // Further operations on this order depend on the first one's result, so they are planned anew.
      if (order !== undefined && amended.has(formatKey(order))) continue;
      if (order !== undefined) amended.add(formatKey(order));
      const stopped = await carryOut(of, operation);
      if (stopped !== undefined) return await this.#stop(stopped);
    }
    if (progress.done > 0) this.#planning.snapshot.forget(next);
    return undefined;
  }

  #noteLeft(left: readonly Operation[], { operations }: CustomerPlan): void {
    const { expected } = this.#attempt;
    for (const operation of left) this.#progress.putOff(operation, notChosen);
    if (expected?.undo === undefined) return;
    const records = operations.flatMap((operation) => operation.records);
    this.#progress.outcomes.wait(records, takenBack(expected.undo));
  }

  #allowed(operations: readonly Operation[]): Operation[] {
    return this.#asked.size === 0 ? [...operations] : withoutHeld(operations, new Set(this.#asked.keys()));
  }

  async #leave(of: CarryOut, operations: readonly Operation[]): Promise<void> {
    const { unreached, outcomes, announced, delivered } = this.#progress;
    for (const operation of operations) {
      const why = unreached.size > 0 ? notAttempted : waitsForNeeds(operation);
      outcomes.unsent([operation], why);
      if (!announced.has(operation.hash)) continue;
      await dropUnsent(of, operation, why.reason);
      delivered.add(operation.hash);
    }
  }

  #announce(operations: readonly Operation[], { records }: CustomerPlan): void {
    const { announced, stored } = this.#progress;
    for (const operation of operations)
      if (!announced.has(operation.hash) && !stored.has(operation.hash)) this.#deps.tally.planned(operation);
    this.#progress.plan(operations, records);
  }

  #unsent({ operations }: CustomerPlan): RecordReference[] {
    const isPlanned = new Set(operations.map(({ subject }) => subject));
    return unsentOrders(this.#knows.held).filter(
      (order) => !isPlanned.has(subjectOf(order.stream, order)) && !this.#progress.outcomes.isRejected(order),
    );
  }

  async #lookForUnsent(unsent: readonly RecordReference[]): Promise<"parked" | "recorded" | undefined> {
    const { found, tooEarly } = await lookForUnsent(
      { ...this.#deps, knows: this.#knows },
      unsent,
      this.#attempt.signal,
    );
    const why = { code: "settle-time", reason: refusedJustNow, again: true };
    this.#progress.outcomes.wait(tooEarly, why);
    return found;
  }

  #finishAhead(): CustomerAttemptResult {
    const { records } = this.#deps.ledger;
    const { all } = this.#progress.outcomes;
    this.#knows.handedOver(records.setOutcomesAhead(this.#attempt.runId, all, this.#knows.after));
    return this.#finished();
  }

  async #finish(plan: CustomerPlan): Promise<CustomerAttemptResult> {
    const { ledger } = this.#deps;
    await this.#knows.settled();
    await this.#dropLeft("no longer planned: crm-sync planned again after an earlier step");
    if (this.#judged) await ledger.journal.drop(this.#customer, "no longer needed");
    await this.#endUnwanted(plan);
    const waiting = await this.#keepWaiting(plan);
    const held = this.#isHeld || this.#asked.size > 0 ? this.#customer : undefined;
    await ledger.records.setOutcomes(this.#attempt.runId, this.#progress.outcomes.all, waiting, held);
    await endRequested(ledger, this.#customer, this.#knows.held.known);
    return this.#finished();
  }

  async #endUnwanted(plan: CustomerPlan): Promise<void> {
    if (!this.#isHeld) return;
    const isBelieved = this.#isBelieved;
    const of = { plan, observed: this.#planning.snapshot.observed, delivered: this.#progress.delivered, isBelieved };
    await endUnwanted(this.#deps.ledger, of);
  }

  async #keepWaiting({ operations }: CustomerPlan): Promise<{ stream: Stream; key: RecordKey }[]> {
    const { delivered, stored } = this.#progress;
    if (this.#asked.size === 0 && stored.size === 0) return [];
    const goesOn = new Set(this.#allowed(operations));
    const waiting = operations.filter((operation) => !goesOn.has(operation) && !delivered.has(operation.hash));
    const [first] = this.#asked.values();
    const entries = waiting.map((operation) => ({
      operation,
      question: (this.#asked.get(operation.hash) ?? first)?.question ?? "",
    }));
    const { expected, runId } = this.#attempt;
    const planId = isOfUndo(this.#attempt) ? (expected?.plan ?? null) : null;
    const added = await this.#deps.ledger.journal.waitWith(this.#whose, { runId, planId }, entries);
    for (const operation of added) this.#deps.tally.planned(operation);
    return waiting.flatMap(({ records }) =>
      records.flatMap(({ stream, namespace, id }) =>
        stream === "customers" ? [] : [this.#lookedAt({ stream, key: { namespace, id } })],
      ),
    );
  }

  /** If the order now belongs to another customer, the customer record counts instead. */
  #lookedAt(record: { stream: Stream; key: RecordKey }): { stream: Stream; key: RecordKey } {
    const isOwn = record.stream !== "orders" || this.#progress.outcomes.has(record.stream, record.key);
    return isOwn ? record : { stream: "customers", key: this.#customer };
  }

  #finished(): CustomerAttemptResult {
    const unread: readonly Shortfall[] = isUnread(this.#planning.snapshot.observed) ? ["unread"] : [];
    const short = new Set([...this.#progress.short, ...unread]);
    const until = this.#planning.snapshot.absenceAgain;
    const waits = until !== undefined && !unread.length && !short.has("refused") && !short.has("no-numbers");
    if (waits) return { kind: "waiting", until, short };
    const { moving, keepsMoved: keeps } = this.#progress.outcomes;
    return { kind: "finished", short, moving, keeps };
  }

  get #isOnlyOutcomes(): boolean {
    if (this.#isHeld || this.#asked.size > 0 || this.#judged || this.#progress.stored.size > 0) return false;
    const { requests } = this.#knows.held.known;
    return (
      this.#planning.snapshot.observed.assets === undefined && requests.length === 0 && this.#progress.left.length === 0
    );
  }

  async #stop(reason: StopReason): Promise<CustomerAttemptResult> {
    await this.#knows.settled();
    return await this.#end(reason);
  }

  async #end(reason: StopReason): Promise<CustomerAttemptResult> {
    const { left, inParts, outcomes } = this.#progress;
    const why = `not attempted: ${stopReasons[reason]}`;
    const unsent = [...left, ...inParts];
    if (reason === "paused") outcomes.unsent(unsent, { code: pausedCode, reason: why });
    await this.#dropStored(why);
    const held = this.#isHeld || this.#asked.size > 0 ? this.#customer : undefined;
    const { ledger } = this.#deps;
    await ledger.records.setOutcomes(this.#attempt.runId, outcomes.all, outcomes.unfinished(unsent), held);
    await endRequested(ledger, this.#customer, this.#knows.held.known);
    return { kind: "stopped", reason };
  }

  async #dropLeft(why: string): Promise<void> {
    const { journal } = this.#deps.ledger;
    const { left, stored, delivered } = this.#progress;
    if (left.length === 0) return;
    const notStored = left.filter(({ hash }) => !stored.has(hash));
    await journal.plan({ runId: this.#attempt.runId, operations: notStored });
    await journal.drop(this.#customer, why);
    for (const { hash } of left) delivered.add(hash);
  }

  /** A judged pass that ends early leaves no stored operation planned: the next run plans anew. */
  async #dropStored(why: string): Promise<void> {
    await this.#dropLeft(why);
    if (this.#judged) await this.#deps.ledger.journal.drop(this.#customer, why);
  }

  async #deferAll({ code, reason }: Omit<Why, "again">): Promise<void> {
    const pending = deferredOf(this.#knows.held, { code, reason, again: true });
    // Only an operation brought this pass here: the next run makes another one.
    if (pending.length === 0) await this.#deps.ledger.records.markPending({ customer: this.#customer });
    await this.#dropStored(`not attempted: ${reason}`);
    await this.#deps.ledger.records.setOutcomes(this.#attempt.runId, pending);
  }
}
