import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import type { TrustedTime } from "../../base/trusted-time.ts";
import type { AuditHead } from "../audit/audit-log.ts";
import type { LedgerContext } from "../context.ts";
import { AppliedPlans, type AppliedBy } from "../journal/run-operations.ts";
import {
  countsOf,
  daysOf,
  historyKinds,
  RetentionTables,
  type Batch,
  type Place,
  type RetentionSettings,
} from "./retention.ts";
import { endedIfGone, type RunState, RunTables, type RunCounts } from "./run-tables.ts";
import type { RunFacts } from "../../report/facts.ts";

/** Rows in one transaction when history is removed, and the most such transactions after one run. */
const batchRows = 500;
const mostBatches = 200;
const dayMs = 86_400_000;

export class Runs {
  readonly #context: LedgerContext;
  readonly #runs: RunTables;
  readonly #retention: RetentionTables;
  readonly #plans: AppliedPlans;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#runs = new RunTables(context.database);
    this.#retention = new RetentionTables(context.database);
    this.#plans = new AppliedPlans(context.database);
  }

  /** Throws a Problem: exit code 75 if another run has the lock, 65 if the ledger is an older copy. */
  takeLock(): void {
    this.#context.takeRunLock();
  }

  releaseLock(): void {
    this.#context.releaseRunLock();
  }

  async appliedOf(plan: string): Promise<ReadonlyMap<string, AppliedBy>> {
    return this.#context.read(() => this.#plans.of(plan));
  }

  /** Counts how often the lock was taken. Undefined if this program does not hold it. */
  get epoch(): number | undefined {
    return this.#context.runEpoch;
  }

  async start(run: {
    job: string;
    kind: string;
    trigger: string;
    scope: string | null;
    header: JsonObject;
  }): Promise<string> {
    const made = this.#context.ids.next("run");
    const id = await this.#context.write(() => this.#runs.start({ ...run, id: made, at: this.#context.now }));
    this.#context.flushHeads();
    return id;
  }

  async finish(
    id: string,
    fields: { state: RunState; exitCode: number; balance: Json; summary: Json },
  ): Promise<AuditHead | undefined> {
    const head = await this.#context.write(() => {
      const at = this.#context.now;
      this.#runs.finish(id, { ...fields, at });
      return this.#context.audit.append({
        at,
        kind: "run",
        subject: `run:${id}`,
        body: { state: fields.state, exit: fields.exitCode, balance: fields.balance },
      });
    });
    this.#context.flushHeads();
    return head;
  }

  async interrupted(): Promise<RunFacts[]> {
    return this.#context.read(() => this.#runs.interrupted());
  }

  async byId(id: string): Promise<RunFacts | undefined> {
    return this.#context.read(() => this.#runs.byId(id));
  }

  async lastOf(job: string, limit: number): Promise<RunFacts[]> {
    return this.#context.read(() => this.#runs.lastOf(job, limit));
  }

  /** Whether only plans ran before: nothing was sent or adopted yet. */
  async onlyPlansBefore(run: string): Promise<boolean> {
    return this.#context.read(() => this.#runs.onlyPlansBefore(run));
  }

  async lastByJob(): Promise<Map<string, RunFacts>> {
    const last = this.#context.read(() => [...this.#runs.lastByJob().values()]);
    return new Map(endedIfGone(last, () => this.#context.isRunOn).map((run) => [run.job, run]));
  }

  async countsOf(run: string): Promise<RunCounts> {
    return this.#context.read(() => this.#runs.counts(run));
  }

  /** Works in short transactions, and limits them, so that no run waits. Returns the counts of the audit entry. */
  async thinHistory(time: TrustedTime, kept: RetentionSettings, stop: () => boolean): Promise<JsonObject> {
    const until: Record<string, string> = {};
    const { rawRecordDays, observationDays, runDays } = kept;
    for (const [name, days] of Object.entries({ rawRecordDays, observationDays, runDays }))
      if (days !== null) until[name] = toInstant(time.epochMs - days * dayMs);
    const thinned = {
      rawForms: 0,
      quarantineForms: 0,
      observations: 0,
      differences: 0,
      requests: 0,
      readings: 0,
      reads: 0,
      runs: 0,
    };
    let batches = 0;
    for (const kind of historyKinds) {
      const limit = until[daysOf[kind]];
      if (limit === undefined) continue;
      let place: Place | undefined = this.#context.read(() => this.#retention.begin(kind));
      while (place !== undefined && batches < mostBatches && !stop()) {
        const after: Place = place;
        const batch: Batch = await this.#context.write(() => this.#retention.batch(kind, after, limit, batchRows));
        thinned[kind] += batch.thinned;
        batches += 1;
        place = batch.next;
      }
    }
    const counts = countsOf(thinned);
    if (Object.keys(counts).length === 0) return counts;
    const body = { until: { ...until }, thinned: counts };
    await this.#context.write(() =>
      this.#context.audit.append({ at: this.#context.now, kind: "retention", subject: "ledger", body }),
    );
    return counts;
  }
}
