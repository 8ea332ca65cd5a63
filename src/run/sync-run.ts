import pLimit from "p-limit";
import { durationMs } from "../base/duration.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { streams as allStreams } from "../crm/model.ts";
import { SnapshotReader } from "../platform/snapshot.ts";
import { NumberPool } from "../apply/pool.ts";
import { Settling } from "../apply/settle.ts";
import type { RunState } from "../ledger/runs.ts";
import type { Block } from "../plan/enterprise.ts";
import { judgeLimits } from "../plan/limits.ts";
import type { Destruction } from "../plan/limits.ts";
import { settingsFingerprint } from "../plan/rejections.ts";
import { reconcile } from "./reconcile.ts";
import { revokeHashes } from "./pass.ts";
import type { Pass, PassResult, ReconcileDependencies } from "./pass.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import type { RunSummary } from "./summary.ts";
import { revokesBlockedBy } from "./read-doubts.ts";
import { logTally, takeUpStream } from "./take-up.ts";
import type { StreamTally } from "./take-up.ts";
import type { Source } from "../source/source.ts";

/** Customers that are taken from the ledger at once. */
const page = 200;

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
  readonly #deps: RunDependencies;
  readonly #request: RunRequest;
  readonly #run: string;
  readonly #reconcile: ReconcileDependencies;
  readonly #settling: Settling;
  readonly #destructive = new Map<string, Extract<PassResult, { kind: "destructive" }> & { customer: RecordKey }>();
  /** What was judged in this run already, by customer. */
  readonly #judged = new Map<string, Destruction>();
  /** What the limits said to a customer's revokes, for each later pass of this run. */
  readonly #verdicts = new Map<string, Partial<Pass>>();
  /** Customers of whom something more would be taken away after they were judged. */
  readonly #again = new Set<string>();
  readonly #waiting = new Map<string, { customer: RecordKey; until: string }>();
  /** Customers of whose plan something was carried out or judged in this run. */
  readonly #begun = new Set<string>();
  readonly #countsAbsence: boolean;
  /** Why nothing may be taken away in this run. */
  revokesBlocked: Block | undefined;

  /** A plan passes `countsAbsence: false`: what its reads lack is not missed. */
  constructor(
    deps: RunDependencies,
    request: RunRequest,
    run: string,
    countPlanned: () => void,
    options: { countsAbsence: boolean } = { countsAbsence: true },
  ) {
    this.#countsAbsence = options.countsAbsence;
    this.#deps = deps;
    this.#request = request;
    this.#run = run;
    const apply = { ...deps, settle: deps.settle };
    const observer = new SnapshotReader(deps.platform, deps.settings);
    const pool = new NumberPool(apply);
    this.#settling = new Settling(apply, observer, pool);
    this.#reconcile = {
      ...apply,
      observer,
      pool,
      settling: this.#settling,
      tally: { planned: countPlanned },
      refusing: new Map(),
    };
  }

  get #stopped(): boolean {
    return this.#request.signal?.aborted === true;
  }

  /** Reads the job's streams of every source: customers first, then what depends on them. A source that fails stops no other. */
  async readSources(): Promise<void> {
    const { ledger, logger } = this.#deps;
    await ledger.configureStreams(this.#deps.streams);
    if (this.#request.read) await this.#readStreams();
    this.revokesBlocked = await revokesBlockedBy(ledger, this.#deps.streams);
    if (this.revokesBlocked !== undefined)
      logger.warn({ run: this.#run, reason: this.revokesBlocked.reason }, "revokes blocked");
  }

  async #readStreams(): Promise<void> {
    const { ledger, settings, logger, progress } = this.#deps;
    for (const stream of allStreams.filter((name) => this.#request.streams.includes(name))) {
      for (const source of this.#deps.sources.filter((item) => item.streams.includes(stream))) {
        if (this.#request.scope?.source !== undefined && source.name !== this.#request.scope.source) continue;
        const tally = await takeUpStream(
          {
            ledger,
            settings,
            logger,
            limits: this.#request.limits,
            absence: this.#countsAbsence
              ? { reads: this.#request.limits.absenceReads, ms: durationMs(this.#request.limits.absenceTime) }
              : undefined,
            job: this.#jobReading(source.name, stream),
            acceptShrink: this.#request.acceptShrink?.includes(source.name) === true,
            progress: (done) => progress(`reading ${source.name}/${stream}`, done, undefined),
          },
          source,
          stream,
          this.#run,
          { since: await this.#sinceOf(source, stream), signal: this.#request.signal },
        );
        this.tallies.push(tally);
        logTally(logger, this.#run, tally);
      }
    }
  }

  /**
   * From when on changes are asked for; undefined: for everything. A run asks for everything when no run did for the time that the source says. What a
   * person asks for reaches back at least to where the last reading ended: what lies between would never be read.
   */
  async #sinceOf(source: Source, stream: Stream): Promise<string | undefined> {
    const { ledger, clock } = this.#deps;
    const cursor = (await ledger.lastCompleteRead(source.name, stream))?.cursor ?? undefined;
    const wholeEvery = source.wholeEveryMs(stream);
    if (cursor === undefined || wholeEvery === undefined) return undefined;
    if (this.#countsAbsence) {
      const whole = await ledger.lastWholeRead(source.name, stream);
      const age = whole === undefined ? Number.NaN : clock.now() - Date.parse(whole.started_at);
      if (!(age >= 0 && age < wholeEvery)) return undefined;
    }
    const asked = this.#request.scope?.since;
    return asked !== undefined && asked < cursor ? asked : cursor;
  }

  #jobReading(source: string, stream: Stream): string | undefined {
    return this.#deps.streams.find((item) => item.source === source && item.stream === stream)?.job;
  }

  /**
   * What an earlier program was sending when it ended is in doubt from now on, whatever becomes of this run. Numbers whose E9 answer was lost are
   * spent: the gap is recorded, nothing waits for it.
   */
  async takeUpCutOff(): Promise<void> {
    for (const row of await this.#deps.ledger.openOperations()) {
      if (row.operation.customer.id === "") await this.#settling.settle(row, null, this.#request.signal);
      else if (row.state === "sending") await this.#settling.foundSending(row);
    }
  }

  #pass(customer: RecordKey, fields: Partial<Pass>): Pass {
    const { scope } = this.#request;
    const key = formatKey(customer);
    const expected = this.#request.expected?.get(key);
    return {
      runId: this.#run,
      signal: this.#request.signal,
      thorough: scope?.customer !== undefined || scope?.order !== undefined,
      revokesBlocked: this.revokesBlocked,
      released: undefined,
      hold: undefined,
      expected: expected === undefined ? undefined : { ...expected, begun: this.#begun.has(key) },
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
      await ledger.retryRejected({ customer: scope.customer });
      await ledger.markPending({ customer: scope.customer });
      yield [scope.customer];
      return;
    }
    if (scope?.order !== undefined) {
      await ledger.retryRejected({ order: scope.order });
      await ledger.markPending({ order: scope.order });
      const customer = await ledger.customerOfOrder(scope.order);
      if (customer !== undefined) yield [customer];
      return;
    }
    await ledger.wakeRejected(settingsFingerprint(this.#deps.settings));
    if (scope?.source !== undefined) {
      await ledger.retryRejected({ source: scope.source });
      await ledger.markPending({ source: scope.source, ...(scope.since === undefined ? {} : { since: scope.since }) });
    }
    await ledger.tryRejectedAgain();
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
            this.#count(customer, await reconcile(this.#reconcile, customer, this.#pass(customer, {})));
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
        if (result.lacking) this.customers.unreadable += 1;
        else if (result.refused) this.customers.rejected += 1;
        else this.customers.finished += 1;
        return;
      case "destructive":
        this.#begun.add(key);
        this.#destructive.set(key, { ...result, customer });
        if (this.#judged.has(key)) this.#again.add(key);
        return;
      case "waiting":
        this.#waiting.set(key, { customer, until: result.until });
        return;
      case "stopped":
        if (result.reason === "unknown") {
          this.#begun.add(key);
          this.#waiting.set(key, { customer, until: new Date(this.#deps.clock.now()).toISOString() });
        }
        if (result.reason === "parked") this.customers.parked += 1;
        if (result.reason === "rejected") this.customers.rejected += 1;
        if (result.reason === "stale") this.customers.stale += 1;
        if (result.reason === "unreadable" || result.reason === "not-sent") this.customers.unreadable += 1;
        return;
    }
  }

  /**
   * Judges everything that would be taken away and was not judged yet, over the sum of the whole run, what was judged before in it included; then
   * releases or holds each customer.
   */
  async judge(): Promise<void> {
    if (this.#destructive.size === 0 || this.#stopped) return;
    const { ledger, logger } = this.#deps;
    const before = [...this.#judged.values()];
    const items: Destruction[] = [];
    for (const [key, item] of this.#destructive) {
      if (this.#judged.has(key)) continue;
      items.push({
        customer: item.customer,
        count: item.count,
        live: await ledger.liveAssignments(item.customer),
        approved: false,
      });
    }
    for (const item of items) this.#judged.set(formatKey(item.customer), item);
    const verdicts = judgeLimits([...before, ...items], this.#request.limits.revokes, await ledger.liveAssignments());
    for (const verdict of verdicts.slice(before.length)) {
      const key = formatKey(verdict.customer);
      const item = this.#destructive.get(key);
      if (item === undefined || this.#stopped) continue;
      if (verdict.released) {
        this.#count(
          verdict.customer,
          await this.#second(verdict.customer, { released: revokeHashes(item.operations) }),
        );
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
      if (hold.state !== "open") {
        // A person has decided on exactly this set while the run was on: the customer is planned anew with that.
        this.#count(verdict.customer, await this.#second(verdict.customer, {}));
        continue;
      }
      logger.warn(
        { hold: hold.id, customer: key, scope: hold.scope, count: hold.count, allowed: hold.allowed },
        "held by a limit",
      );
      this.#count(verdict.customer, await this.#second(verdict.customer, { hold: hold.id }));
    }
  }

  async #second(customer: RecordKey, fields: Partial<Pass>): Promise<PassResult> {
    this.#verdicts.set(formatKey(customer), fields);
    const result = await reconcile(this.#reconcile, customer, this.#pass(customer, fields));
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
    const limit = pLimit(this.#deps.concurrency);
    const deadline = clock.monotonic() + settle.maxWaitMs;
    while (this.#waiting.size > 0 && !this.#stopped) {
      const next = Math.min(...[...this.#waiting.values()].map((item) => Date.parse(item.until)));
      const pause = Math.max(50, next - clock.now());
      if (clock.monotonic() + pause > deadline) break;
      await clock.sleep(pause, this.#request.signal);
      const due = [...this.#waiting.values()].filter((item) => Date.parse(item.until) <= clock.now());
      await Promise.all(
        due.map(({ customer }) =>
          limit(async () => {
            if (this.#stopped) return;
            const key = formatKey(customer);
            this.#waiting.delete(key);
            this.#destructive.delete(key);
            const pass = this.#pass(customer, this.#verdicts.get(key) ?? {});
            this.#count(customer, await reconcile(this.#reconcile, customer, pass));
          }),
        ),
      );
      if (this.#destructive.size > 0 && due.some((item) => this.#destructive.has(formatKey(item.customer))))
        await this.#judgeLate(due);
    }
    this.customers.waiting = this.#waiting.size;
  }

  /** Judges what came up while the run waited. Who was judged in it already is left to the next run: nobody is judged twice in one. */
  async #judgeLate(due: readonly { customer: RecordKey }[]): Promise<void> {
    await this.judge();
    for (const { customer } of due) {
      const key = formatKey(customer);
      if (!this.#again.delete(key)) continue;
      this.#destructive.delete(key);
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
    if (state !== "done") {
      for (const { customer } of this.#destructive.values())
        await this.#deps.ledger.dropPlanned(
          customer,
          `not attempted: the run ${state === "stopped" ? "was stopped" : "failed"}`,
          {
            held: false,
          },
        );
    }
    await this.#deps.ledger.deferPending(this.#run, undefined, state === "done" ? "run.scope" : `run.${state}`, reason);
  }
}
