import { Settling } from "../settle.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { RunState } from "../../ledger/runs/run-tables.ts";
import { SnapshotReader, SnapshotsAhead } from "../../platform/snapshot.ts";
import {
  countedAs,
  shortfalls,
  stopReasons,
  type CustomerAttemptResult,
  type CustomerAttempt,
  type ReconcileDependencies,
  type Shortfall,
} from "../attempt.ts";
import { applyByShares, type CanaryTranche } from "./canary.ts";
import { workInLanes } from "../../base/lanes.ts";
import { lookFirst } from "./preflight.ts";
import { LimitsGate } from "./limits-gate.ts";
import { handedIn } from "../model/registry.ts";
import { reconcile } from "../reconcile.ts";
import { attemptRequested } from "../requested.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { SettleWait, pendingCustomers } from "./queue.ts";
import { SourceReading } from "../../ingest/source-reading.ts";
import type { RunSummary } from "./run.ts";
import { TrustedClock } from "./trusted-clock.ts";

type Moving = Extract<CustomerAttemptResult, { kind: "finished" }> & { customer: RecordKey };

const tooLittle = "the platform gave too little to do all of it";

export class SyncRun {
  readonly time: TrustedClock;
  readonly reading: SourceReading;
  readonly gate: LimitsGate;
  readonly stale: RunSummary["stale"] = [];
  /** `unreadable`: a reading failed. `defects`: this program failed. */
  readonly customers = {
    worked: 0,
    finished: 0,
    waiting: 0,
    parked: 0,
    rejected: 0,
    unreadable: 0,
    defects: 0,
    stale: 0,
  };
  tranches: readonly CanaryTranche[] = [];
  readonly #touched = new Map<string, RecordKey>();
  readonly #troubled = new Map<string, string>();
  readonly #unread = new Map<string, string>();
  planned = 0;
  readonly #deps: RunDependencies;
  readonly #request: RunRequest;
  readonly #run: string;
  readonly #reconcile: ReconcileDependencies;
  readonly #settling: Settling;
  readonly #looking: Parameters<typeof lookFirst>[1];
  readonly #settleWait: SettleWait;
  readonly #begun = new Set<string>();
  /** Customers that wait for the other customer of a transferred order. */
  readonly #moving = new Map<string, Moving>();
  /** Orders that are now removed at their previous customer, and customers for which something was done. */
  readonly #left = new Set<string>();
  readonly #changed = new Set<string>();
  /** Customers that got another pass for that reason. Orders that stay give only one: it must come to an end. */
  readonly #kept = new Set<string>();

  constructor(deps: RunDependencies, request: RunRequest, run: string) {
    this.#deps = deps;
    this.#request = request;
    this.#run = run;
    this.time = request.time ?? new TrustedClock(deps);
    const apply = { ...deps, time: this.time };
    const reader = new SnapshotReader(deps.platform, deps.settings);
    const ahead = new SnapshotsAhead(reader);
    const pool = handedIn().numbers(apply);
    this.#settling = new Settling(apply, reader);
    this.#reconcile = {
      ...apply,
      reader: ahead,
      pool,
      settling: this.#settling,
      tally: {
        planned: () => (this.planned += 1),
        effected: ({ customer }) => {
          this.#changed.add(formatKey(customer));
          if (request.canary !== undefined) this.#touched.set(formatKey(customer), customer);
        },
        recorded: (customer, changes) => {
          const adopted = changes.map(({ type }) => type);
          this.#changed.add(formatKey(customer));
          deps.logger.info({ customer: formatKey(customer), adopted }, "recorded from the platform");
          for (const change of changes) if (change.type === "order-left") this.#left.add(formatKey(change.order));
        },
      },
      unclear: new Map(),
      refusing: new Map(),
    };
    // With shares, data read ahead would be outdated when the passes begin.
    this.#looking = {
      snapshots: reader,
      ahead: request.canary === undefined ? ahead : undefined,
      signal: request.signal,
    };
    this.reading = new SourceReading(deps, request, run, this.time);
    this.gate = new LimitsGate({
      ...apply,
      run,
      limits: request.limits.removals,
      attempt: (customer, verdict) => this.#attempt(customer, verdict),
      count: (customer, result) => this.#count(customer, result),
      stopped: () => this.#stopped,
    });
    this.#settleWait = new SettleWait({
      ...deps,
      signal: request.signal,
      attempt: (customer) => this.#attemptAnew(customer),
      attempted: (customers) => this.gate.judgeLate(customers),
    });
  }

  get #stopped(): boolean {
    return this.#request.signal?.aborted === true;
  }

  /** What an earlier process was sending is now in doubt. If an E9 answer was lost, its numbers are lost. */
  async markInterrupted(): Promise<void> {
    for (const row of await this.#deps.ledger.journal.open()) {
      if (row.operation.customer.id === "") {
        await this.#settling.settle(row, { runId: null, signal: this.#request.signal });
        continue;
      }
      if (row.state === "sending") await this.#settling.foundSending(row);
    }
  }

  #attemptOf(customer: RecordKey, fields: Partial<CustomerAttempt>): CustomerAttempt {
    const { scope } = this.#request;
    const key = formatKey(customer);
    const expected = this.#request.expected?.get(key);
    return {
      runId: this.#run,
      signal: this.#request.signal,
      thorough: scope?.customer !== undefined || scope?.order !== undefined,
      removalsBlocked: this.reading.removalsBlocked,
      released: undefined,
      expected: expected === undefined ? undefined : { ...expected, begun: this.#begun.has(key) },
      ...fields,
    };
  }

  #attempt(customer: RecordKey, fields: Partial<CustomerAttempt>): Promise<CustomerAttemptResult> {
    const work = this.#request.asked === undefined ? reconcile : attemptRequested;
    return work(this.#reconcile, customer, this.#attemptOf(customer, fields));
  }

  async #attemptAnew(customer: RecordKey): Promise<void> {
    this.#count(customer, await this.#attempt(customer, this.gate.attemptedAnew(customer)));
  }

  /** Looks for existing enterprises, then works on all customers with something to do, in shares if asked. */
  async applyAll(): Promise<void> {
    const { canary, signal, asked } = this.#request;
    if (asked === undefined) await lookFirst(this.#deps, this.#looking);
    const customers = pendingCustomers(this.#deps, this.#request);
    if (canary === undefined) await this.#applyWhole(customers);
    else
      this.tranches = await applyByShares(
        this.#deps,
        { run: this.#run, job: this.#request.job, canary, signal },
        {
          customers,
          apply: (own) => this.#applyWhole([own]),
          touched: () => {
            const touched = [...this.#touched.values()];
            this.#touched.clear();
            return touched;
          },
          trouble: (customer) => this.#troubled.get(formatKey(customer)),
          unread: (customer) => this.#unread.get(formatKey(customer)),
        },
      );
    for (const { short } of this.#moving.values()) this.customers[countedAs(short)] += 1;
  }

  /** Passes, limits, settle times. Returns who got more passes, because a moved order's other customer made way. */
  async #applyWhole(customers: AsyncIterable<RecordKey[]> | Iterable<readonly RecordKey[]>): Promise<RecordKey[]> {
    await this.#applyTo(customers);
    await this.gate.judge();
    await this.#waitForSettling();
    const all = new Map<string, RecordKey>();
    const lanes = { lanes: this.#deps.concurrency, stopped: () => this.#stopped };
    for (let again = this.#takeMoved(); again.length > 0 && !this.#stopped; again = this.#takeMoved()) {
      for (const customer of again) all.set(formatKey(customer), customer);
      await workInLanes([again], lanes, (customer) => this.#attemptAnew(customer));
      await this.gate.judge(again);
      await this.#waitForSettling();
    }
    return [...all.values()];
  }

  async #waitForSettling(): Promise<void> {
    await this.#settleWait.wait();
    this.customers.waiting = this.#settleWait.size;
  }

  #takeMoved(): RecordKey[] {
    const again: RecordKey[] = [];
    const buyers = [...this.#moving].flatMap(([key, { moving = [] }]) =>
      moving.length > 0 && this.#changed.has(key) ? [key] : [],
    );
    for (const [key, { customer, moving = [], keeps }] of this.#moving) {
      const isFreed = moving.some((order) => this.#left.has(formatKey(order)));
      const canLeave = keeps === true && !this.#kept.has(key) && buyers.some((buyer) => buyer !== key);
      if (!isFreed && !canLeave) continue;
      this.#kept.add(key);
      again.push(customer);
    }
    this.#left.clear();
    this.#changed.clear();
    return again;
  }

  async #applyTo(customers: AsyncIterable<RecordKey[]> | Iterable<readonly RecordKey[]>): Promise<void> {
    const { concurrency, ledger, progress } = this.#deps;
    const total =
      this.#request.scope === undefined && this.#request.expected === undefined
        ? await ledger.records.pendingCount()
        : undefined;
    const lanes = { lanes: concurrency, stopped: () => this.#stopped };
    await workInLanes(customers, lanes, (customer, free) =>
      this.#attempt(customer, { onlyCommits: free }).then((result) => {
        this.#count(customer, result);
        this.customers.worked += 1;
        progress("customers", this.customers.worked, total);
      }),
    );
  }

  #count(customer: RecordKey, result: CustomerAttemptResult): void {
    const key = formatKey(customer);
    this.#note(customer, result);
    this.#moving.delete(key);
    switch (result.kind) {
      case "finished":
        // A saved plan lacks the purchase that follows the removal: the next run plans it.
        if (((result.moving ?? []).length > 0 || result.keeps === true) && this.#request.expected === undefined)
          this.#moving.set(key, { ...result, customer });
        else this.customers[countedAs(result.short)] += 1;
        return;
      case "to-judge":
        this.#begun.add(key);
        this.gate.add(customer, result);
        return;
      case "waiting":
        this.#settleWait.add(customer, result.until);
        return;
      case "stopped":
        if (result.reason === "unknown") {
          this.#begun.add(key);
          this.#settleWait.add(customer);
        }
        if (result.reason === "parked") this.customers.parked += 1;
        if (result.reason === "stale") {
          this.customers.stale += 1;
          if (result.moved !== undefined) this.stale.push({ customer: key, moved: result.moved });
        }
        return;
    }
  }

  #note(customer: RecordKey, result: CustomerAttemptResult): void {
    const key = formatKey(customer);
    this.#troubled.delete(key);
    this.#unread.delete(key);
    if (result.kind === "to-judge") return;
    const short = result.kind === "stopped" ? new Set<Shortfall>() : (result.short ?? new Set());
    if (short.has("unread") || short.has("no-numbers")) this.#unread.set(key, tooLittle);
    const isStopped = result.kind === "stopped" && result.reason !== "paused";
    const why = isStopped ? stopReasons[result.reason] : undefined;
    const [trouble = why] = [...short].flatMap((one) => shortfalls[one] ?? []);
    if (trouble !== undefined) this.#troubled.set(key, trouble);
  }

  /** Every record needs an outcome, so changed records that this run did not reach wait. */
  async deferUntouched(state: RunState): Promise<void> {
    if (this.#deps.ledger.broken !== undefined) return;
    const { ledger } = this.#deps;
    if (state === "done") {
      const reason = "this run did not reach the record; the next run of the job does";
      await ledger.records.deferPending(this.#run, undefined, "run.scope", reason);
      return;
    }
    const ended = state === "stopped" ? "was stopped" : "failed";
    for (const customer of this.gate.customers) await ledger.journal.drop(customer, `not attempted: the run ${ended}`);
    const reason = `the run ${ended} before it reached this record`;
    await ledger.records.deferPending(this.#run, undefined, `run.${state}`, reason);
  }
}
