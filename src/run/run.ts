import pLimit from "p-limit";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import type { ExitCode } from "../base/errors.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import type { Randomness } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { ContractSettings } from "../contract/settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { streams as allStreams } from "../crm/model.ts";
import { Observer } from "../apply/observe.ts";
import { NumberPool } from "../apply/pool.ts";
import { Settling } from "../apply/settle.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RunState } from "../ledger/runs.ts";
import type { Block } from "../plan/enterprise.ts";
import { judgeLimits } from "../plan/limits.ts";
import type { Destruction } from "../plan/limits.ts";
import type { Platform } from "../platform/platform.ts";
import type { Source } from "../source/source.ts";
import { balanceJson, balanceOf } from "./balance.ts";
import type { Balance } from "./balance.ts";
import { reconcile } from "./reconcile.ts";
import type { Pass, PassResult, ReconcileDependencies } from "./reconcile.ts";
import type { LimitsSettings, SettleSettings } from "./settings.ts";
import { takeUpStream } from "./take-up.ts";
import type { StreamTally } from "./take-up.ts";
import { verifyCustomer } from "./verify.ts";

export interface RunDependencies {
  ledger: Ledger;
  platform: Platform;
  sources: readonly Source[];
  settings: ContractSettings;
  settle: SettleSettings;
  ordersUnseen: "ask" | "resend";
  concurrency: number;
  clock: Clock;
  random: Randomness;
  logger: Logger;
  /** Told how far a phase is; for a terminal. */
  progress: (phase: string, done: number, total: number | undefined) => void;
}

export interface RunRequest {
  job: string;
  trigger: "schedule" | "hand";
  streams: readonly Stream[];
  limits: LimitsSettings;
  /** Work on this customer only, thoroughly; or on one source's records. */
  scope?: { customer?: RecordKey; order?: RecordKey; source?: string; since?: string } | undefined;
  /** Read the sources first (the usual case). */
  read: boolean;
  /** Sources that a person says have really lost their records; believed for this run only. */
  acceptShrink?: readonly string[] | undefined;
  /** Apply only these saved plans, by customer. */
  expected?: ReadonlyMap<string, { customer: RecordKey; fingerprint: string; hashes: readonly string[] }> | undefined;
  signal?: AbortSignal | undefined;
  header: JsonObject;
}

export interface RunSummary {
  run: string;
  job: string;
  state: RunState;
  exitCode: ExitCode;
  balance: Balance;
  sources: StreamTally[];
  customers: {
    worked: number;
    finished: number;
    waiting: number;
    parked: number;
    rejected: number;
    unreadable: number;
    stale: number;
  };
  held: { hold: string; customer: string; explanation: string }[];
  openOperations: number;
  cutOff: string[];
}

const page = 200;

/** One execution of a sync job: the whole road, from reading the sources to the balance. The caller holds the run lock. */
export async function runSync(deps: RunDependencies, request: RunRequest): Promise<RunSummary> {
  const { ledger, logger } = deps;
  const cutOff = await endCutOffRuns(deps);
  const run = await ledger.startRun({
    job: request.job,
    kind: "sync",
    trigger: request.trigger,
    scope: request.scope === undefined ? null : JSON.stringify(request.scope),
    header: request.header,
  });
  const carriedIn = (await ledger.openOperations())
    .filter((row) => row.operation.customer.id !== "")
    .map((row) => row.id);
  if (carriedIn.length > 0) logger.info({ run, operations: carriedIn.length }, "operations in doubt are taken up");
  let planned = 0;
  const work = new SyncRun(deps, request, run, () => {
    planned += 1;
  });
  let state: RunState = "done";
  let failure: unknown;
  try {
    await work.readSources();
    await work.settlePool();
    await work.applyAll();
    await work.judge();
    await work.waitForSettling();
    if (request.signal?.aborted === true) state = "stopped";
  } catch (error) {
    if (ledger.broken !== undefined) throw error;
    if (request.signal?.aborted === true) state = "stopped";
    else {
      state = "failed";
      failure = error;
      logger.error({ run, reason: messageOf(error) }, "run failed");
    }
  }
  await work.deferUntouched(state);
  const balance = balanceOf(work.tallies, await ledger.countsOf(run), {
    planned,
    carriedIn: carriedIn.length,
    states: await ledger.operationStates(run, carriedIn),
  });
  const open = await ledger.openOperations();
  const summary: RunSummary = {
    run,
    job: request.job,
    state,
    exitCode: exitCodes.ok,
    balance,
    sources: work.tallies,
    customers: work.customers,
    held: work.held,
    openOperations: open.length,
    cutOff,
  };
  summary.exitCode = exitCodeOf(summary, failure);
  await ledger.finishRun(run, {
    state,
    exitCode: summary.exitCode,
    balance: balanceJson(balance),
    summary: summaryJson(summary),
  });
  logger.info({ run, job: request.job, state, exit: summary.exitCode, adds: balance.adds }, "run ended");
  return summary;
}

/** Runs whose process died are ended with the state `cut-off`; what they left open is settled by the run that found them. */
async function endCutOffRuns(deps: RunDependencies): Promise<string[]> {
  const runs = await deps.ledger.cutOffRuns();
  for (const run of runs) {
    const open = (await deps.ledger.openOperations()).filter((row) => row.runId === run.id);
    deps.logger.warn(
      { run: run.id, job: run.job, startedAt: run.startedAt, inDoubt: open.length },
      "a run was cut off; what it left is taken up now",
    );
    await deps.ledger.finishRun(run.id, {
      state: "cut-off",
      exitCode: exitCodes.other,
      balance: { operations: await deps.ledger.operationStates(run.id, []) },
      summary: { inDoubt: open.map((row) => row.id) },
    });
  }
  return runs.map((run) => run.id);
}

/** The worst thing that is true of a run decides its exit code. */
function exitCodeOf(summary: RunSummary, failure: unknown): ExitCode {
  if (!summary.balance.adds) return exitCodes.doesNotBalance;
  if (summary.openOperations > 0) return exitCodes.unknown;
  if (summary.held.length > 0) return exitCodes.held;
  if (failure instanceof Problem && failure.exitCode !== exitCodes.other) return failure.exitCode;
  if (failure !== undefined || summary.state === "stopped") return exitCodes.other;
  const sourceDown = summary.sources.some(
    (tally) => tally.problem !== undefined || tally.shrunk !== undefined || !tally.complete,
  );
  if (sourceDown || summary.customers.unreadable > 0) return exitCodes.sourceDown;
  const quarantined = summary.balance.streams.some((stream) => stream.quarantined > 0);
  if (quarantined || summary.customers.rejected > 0 || summary.customers.stale > 0) return exitCodes.recordsRejected;
  return exitCodes.ok;
}

export function summaryJson(summary: RunSummary): Json {
  return {
    sources: summary.sources.map((tally) => ({
      source: tally.source,
      stream: tally.stream,
      extracted: tally.extracted,
      unchanged: tally.unchanged,
      changed: tally.changed,
      quarantined: tally.quarantined,
      absent: tally.absent,
      complete: tally.complete,
      shrunk: tally.shrunk ?? null,
      problem: tally.problem?.message ?? null,
    })),
    customers: { ...summary.customers },
    held: summary.held.map((hold) => ({ ...hold })),
    openOperations: summary.openOperations,
  };
}

/** The phases of one sync run, in the order in which `runSync` calls them. */
export class SyncRun {
  readonly tallies: StreamTally[] = [];
  readonly customers: RunSummary["customers"] = {
    worked: 0,
    finished: 0,
    waiting: 0,
    parked: 0,
    rejected: 0,
    unreadable: 0,
    stale: 0,
  };
  readonly held: RunSummary["held"] = [];
  readonly #deps: RunDependencies;
  readonly #request: RunRequest;
  readonly #run: string;
  readonly #reconcile: ReconcileDependencies;
  readonly #settling: Settling;
  readonly #destructive = new Map<string, { customer: RecordKey; count: number; setHash: string }>();
  readonly #waiting = new Map<string, { customer: RecordKey; until: string }>();
  /** Why nothing may be taken away in this run. */
  revokesBlocked: Block | undefined;

  constructor(deps: RunDependencies, request: RunRequest, run: string, countPlanned: () => void) {
    this.#deps = deps;
    this.#request = request;
    this.#run = run;
    const apply = { ...deps, settle: deps.settle };
    const observer = new Observer(deps.platform, deps.settings);
    const pool = new NumberPool(apply);
    this.#settling = new Settling(apply, observer, pool);
    this.#reconcile = { ...apply, observer, pool, settling: this.#settling, tally: { planned: countPlanned } };
  }

  get #stopped(): boolean {
    return this.#request.signal?.aborted === true;
  }

  /** Reads the job's streams of every source: customers first, then what depends on them. A source that fails stops no other. */
  async readSources(): Promise<void> {
    if (!this.#request.read) return;
    const { ledger, settings, logger, progress } = this.#deps;
    for (const stream of allStreams.filter((name) => this.#request.streams.includes(name))) {
      for (const source of this.#deps.sources.filter((item) => item.streams.includes(stream))) {
        if (this.#request.scope?.source !== undefined && source.name !== this.#request.scope.source) continue;
        const last = await ledger.lastCompleteRead(source.name, stream, false);
        const tally = await takeUpStream(
          {
            ledger,
            settings,
            logger,
            limits: this.#request.limits,
            acceptShrink: this.#request.acceptShrink?.includes(source.name) === true,
            progress: (done) => progress(`reading ${source.name}/${stream}`, done, undefined),
          },
          source,
          stream,
          this.#run,
          { since: this.#request.scope?.since ?? last?.cursor ?? undefined, signal: this.#request.signal },
        );
        this.tallies.push(tally);
        this.#report(tally);
      }
    }
    this.revokesBlocked = revokesBlockedBy(this.tallies);
  }

  #report(tally: StreamTally): void {
    const { logger } = this.#deps;
    const fields = {
      run: this.#run,
      source: tally.source,
      stream: tally.stream,
      extracted: tally.extracted,
      unchanged: tally.unchanged,
      changed: tally.changed,
      quarantined: tally.quarantined,
      absent: tally.absent,
    };
    if (tally.problem !== undefined) {
      logger.error(
        { ...fields, code: tally.problem.code, reason: tally.problem.message, cure: tally.problem.cure },
        "source not read",
      );
    } else if (tally.shrunk !== undefined) logger.error({ ...fields, reason: tally.shrunk }, "source shrank");
    else logger.info(fields, "source read");
  }

  /** Numbers whose E9 answer was lost are spent: the gap is recorded, nothing waits for it. */
  async settlePool(): Promise<void> {
    for (const row of await this.#deps.ledger.openOperations()) {
      if (row.operation.customer.id === "") await this.#settling.settle(row, null, this.#request.signal);
    }
  }

  #pass(fields: Partial<Pass>, key?: string): Pass {
    const { scope, expected } = this.#request;
    return {
      runId: this.#run,
      signal: this.#request.signal,
      thorough: scope?.customer !== undefined || scope?.order !== undefined,
      revokesBlocked: this.revokesBlocked,
      released: undefined,
      hold: undefined,
      expected: key === undefined ? undefined : expected?.get(key),
      ...fields,
    };
  }

  /** Customers with something to do, in pages so that memory does not grow with their number. */
  async *dirtyCustomers(): AsyncGenerator<RecordKey[]> {
    const { scope, expected } = this.#request;
    const { ledger } = this.#deps;
    if (expected !== undefined) {
      yield [...expected.values()].map((entry) => entry.customer);
      return;
    }
    if (scope?.customer !== undefined) {
      await ledger.markPending({ customer: scope.customer });
      yield [scope.customer];
      return;
    }
    if (scope?.order !== undefined) {
      await ledger.markPending({ order: scope.order });
      const customer = await ledger.customerOfOrder(scope.order);
      if (customer !== undefined) yield [customer];
      return;
    }
    if (scope?.source !== undefined)
      await ledger.markPending({ source: scope.source, ...(scope.since === undefined ? {} : { since: scope.since }) });
    let after: RecordKey | undefined;
    for (;;) {
      const keys = await ledger.dirtyCustomers(after, page);
      if (keys.length === 0) return;
      after = keys.at(-1);
      yield keys;
    }
  }

  async applyAll(): Promise<void> {
    const limit = pLimit(this.#deps.concurrency);
    const total =
      this.#request.scope === undefined && this.#request.expected === undefined
        ? await this.#deps.ledger.dirtyCount()
        : undefined;
    for await (const customers of this.dirtyCustomers()) {
      await Promise.all(
        customers.map((customer) =>
          limit(async () => {
            if (this.#stopped) return;
            const key = formatKey(customer);
            this.#count(customer, await reconcile(this.#reconcile, customer, this.#pass({}, key)));
            this.customers.worked += 1;
            this.#deps.progress("customers", this.customers.worked, total);
          }),
        ),
      );
      if (this.#stopped) return;
    }
  }

  #count(customer: RecordKey, result: PassResult): void {
    const key = formatKey(customer);
    switch (result.kind) {
      case "finished":
        this.customers.finished += 1;
        return;
      case "destructive":
        this.#destructive.set(key, { customer, count: result.count, setHash: result.setHash });
        return;
      case "waiting":
        this.#waiting.set(key, { customer, until: result.until });
        return;
      case "stopped":
        if (result.reason === "unknown")
          this.#waiting.set(key, { customer, until: new Date(this.#deps.clock.now()).toISOString() });
        if (result.reason === "parked") this.customers.parked += 1;
        if (result.reason === "rejected") this.customers.rejected += 1;
        if (result.reason === "stale") this.customers.stale += 1;
        if (result.reason === "unreadable" || result.reason === "not-sent") this.customers.unreadable += 1;
        return;
    }
  }

  /** Judges everything that would be taken away, once, over the sum; then releases or holds each customer. */
  async judge(): Promise<void> {
    if (this.#destructive.size === 0 || this.#stopped) return;
    const { ledger, logger } = this.#deps;
    const items: Destruction[] = [];
    for (const item of this.#destructive.values()) {
      items.push({
        customer: item.customer,
        count: item.count,
        live: await ledger.liveAssignments(item.customer),
        approved: false,
      });
    }
    const verdicts = judgeLimits(items, this.#request.limits.revokes, await ledger.liveAssignments());
    for (const verdict of verdicts) {
      const key = formatKey(verdict.customer);
      const item = this.#destructive.get(key);
      if (item === undefined || this.#stopped) continue;
      if (verdict.released) {
        this.#count(verdict.customer, await this.#second(verdict.customer, { released: item.setHash }));
        continue;
      }
      const hold = await ledger.openHold({
        scope: verdict.scope ?? "run",
        customer: verdict.customer,
        count: verdict.count,
        allowed: verdict.allowed,
        total: verdict.total,
        setHash: item.setHash,
        explanation: verdict.explanation ?? "",
      });
      logger.warn(
        { hold: hold.id, customer: key, scope: hold.scope, count: hold.count, allowed: hold.allowed },
        "held by a limit",
      );
      this.held.push({ hold: hold.id, customer: key, explanation: hold.explanation });
      this.#count(verdict.customer, await this.#second(verdict.customer, { hold: hold.id }));
    }
  }

  async #second(customer: RecordKey, fields: Partial<Pass>): Promise<PassResult> {
    const result = await reconcile(this.#reconcile, customer, this.#pass(fields));
    if (result.kind !== "destructive") return result;
    await this.#deps.ledger.dropPlanned(customer, "the platform changed while the limits were judged", { held: false });
    await this.#deferStale(customer);
    return { kind: "stopped", reason: "stale" };
  }

  async #deferStale(customer: RecordKey): Promise<void> {
    this.#deps.logger.info(
      { customer: formatKey(customer) },
      "the platform changed while the limits were judged; left to the next run",
    );
    await this.#deps.ledger.deferPending(
      this.#run,
      customer,
      "customer.stale",
      "the platform changed while the limits were judged; the next run plans anew",
    );
  }

  /** Waits for settle times that are due soon, and settles what they were for; the rest stays for the next run or for a person. */
  async waitForSettling(): Promise<void> {
    const { clock, settle } = this.#deps;
    const deadline = clock.monotonic() + settle.maxWaitMs;
    while (this.#waiting.size > 0 && !this.#stopped) {
      const next = Math.min(...[...this.#waiting.values()].map((item) => Date.parse(item.until)));
      const pause = Math.max(50, next - clock.now());
      if (clock.monotonic() + pause > deadline) break;
      await clock.sleep(pause, this.#request.signal);
      const due = [...this.#waiting.values()].filter((item) => Date.parse(item.until) <= clock.now());
      for (const item of due) {
        this.#waiting.delete(formatKey(item.customer));
        this.#count(item.customer, await reconcile(this.#reconcile, item.customer, this.#pass({})));
      }
      if (this.#destructive.size > 0 && due.some((item) => this.#destructive.has(formatKey(item.customer))))
        await this.#judgeLate(due);
    }
    this.customers.waiting = this.#waiting.size;
  }

  async #judgeLate(due: readonly { customer: RecordKey }[]): Promise<void> {
    for (const { customer } of due) {
      if (!this.#destructive.delete(formatKey(customer))) continue;
      await this.#deps.ledger.dropPlanned(customer, "left to the next run", { held: false });
      await this.#deferStale(customer);
    }
  }

  /** Records that this run changed and did not come to are deferred, so that none is without an outcome. */
  async deferUntouched(state: RunState): Promise<void> {
    if (this.#deps.ledger.broken !== undefined) return;
    const reason =
      state === "done"
        ? "left to the next run"
        : state === "stopped"
          ? "the run was stopped before it came to this record"
          : "the run failed before it came to this record";
    await this.#deps.ledger.deferPending(this.#run, undefined, state === "done" ? "run.scope" : `run.${state}`, reason);
  }
}

/** Why nothing may be taken away in a run: a staff read that failed, is incomplete or shrank. */
function revokesBlockedBy(tallies: readonly StreamTally[]): Block | undefined {
  const doubtful = tallies.find(
    (tally) =>
      tally.stream === "staff" && (!tally.complete || tally.problem !== undefined || tally.shrunk !== undefined),
  );
  if (doubtful === undefined) return undefined;
  const why = doubtful.shrunk ?? `the source ${doubtful.source} was not read completely`;
  return { code: "revokes.blocked", reason: `nothing is taken away: ${why}`, again: true };
}

export interface VerifySummary {
  run: string;
  state: RunState;
  exitCode: ExitCode;
  customers: number;
  failed: number;
  assets: number;
  products: number;
  members: number;
}

/** The verify job: reads back what the platform shows of every linked customer and keeps it. No writing call is made. */
export async function runVerify(
  deps: RunDependencies,
  request: { job: string; trigger: "schedule" | "hand"; signal?: AbortSignal | undefined; header: JsonObject },
): Promise<VerifySummary> {
  const { ledger, logger } = deps;
  await endCutOffRuns(deps);
  const run = await ledger.startRun({
    job: request.job,
    kind: "verify",
    trigger: request.trigger,
    scope: null,
    header: request.header,
  });
  const observer = new Observer(deps.platform, deps.settings);
  const limit = pLimit(deps.concurrency);
  const stopped = (): boolean => request.signal?.aborted === true;
  const summary: VerifySummary = {
    run,
    state: "done",
    exitCode: exitCodes.ok,
    customers: 0,
    failed: 0,
    assets: 0,
    products: 0,
    members: 0,
  };
  let after: RecordKey | undefined;
  for (;;) {
    const customers = await ledger.linkedCustomers(after, page);
    if (customers.length === 0 || stopped()) break;
    after = customers.at(-1);
    await Promise.all(
      customers.map((customer) =>
        limit(async () => {
          if (stopped()) return;
          try {
            const verified = await verifyCustomer(ledger, observer, customer, request.signal);
            summary.assets += verified.assets;
            summary.products += verified.products;
            summary.members += verified.members;
          } catch (error) {
            if (ledger.broken !== undefined) throw error;
            summary.failed += 1;
            await ledger.learn(customer, [{ type: "observation-read", customer, complete: false }]);
            logger.warn({ customer: formatKey(customer), reason: messageOf(error) }, "customer not verified");
          }
          summary.customers += 1;
          deps.progress("verifying", summary.customers, undefined);
        }),
      ),
    );
  }
  if (stopped()) summary.state = "stopped";
  summary.exitCode =
    summary.failed > 0 ? exitCodes.sourceDown : summary.state === "stopped" ? exitCodes.other : exitCodes.ok;
  await ledger.finishRun(run, {
    state: summary.state,
    exitCode: summary.exitCode,
    balance: null,
    summary: {
      customers: summary.customers,
      failed: summary.failed,
      assets: summary.assets,
      products: summary.products,
      members: summary.members,
    },
  });
  return summary;
}
