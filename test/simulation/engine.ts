import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { KnownSecrets } from "../../src/base/known-secrets.ts";
import type { Clock } from "../../src/base/clock.ts";
import { systemHost } from "../../src/base/host.ts";
import { createIds, type Randomness } from "../../src/base/ids.ts";
import { createLogger, type Logger } from "../../src/base/logger.ts";
import { assumptionSettingsSchema, type AssumptionSettings } from "../../src/contract/assumption-settings.ts";
import { streams, type Stream } from "../../src/crm/model.ts";
import { Ledger, type LedgerOptions } from "../../src/ledger/ledger.ts";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import type { Policies } from "../../src/engine/model/policy-settings.ts";
import type { RequestDesk } from "../../src/requests/requests.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import { memberCenterSettingsSchema, orderServiceSettingsSchema } from "../../src/platform/service-settings.ts";
import type { RunDependencies, RunRequest } from "../../src/engine/run/request.ts";
import { planRun, type PlanSummary } from "../../src/engine/run/plan-run.ts";
import { runRebuild, type RebuildSummary } from "../../src/recovery/rebuild.ts";
import { runSync, type RunSummary } from "../../src/engine/run/run.ts";
import { planUndoRun, type UndoSummary } from "../../src/engine/run/undo-run.ts";
import type { LimitsSettings, SettleSettings } from "../../src/engine/run/run-settings.ts";
import { runVerify, type VerifySummary } from "../../src/engine/run/verify-run.ts";
import { tellPeople } from "../../src/operate/alerts.ts";
import type { Source } from "../../src/source/source.ts";
import type { Transport } from "../../src/http/transport.ts";
import { callTimeoutMs, transportTo, type SimulatedServices } from "./services.ts";
import { standardPolicies } from "../support/world/rules.ts";
import { Draws, type Timeline } from "./timeline.ts";

/** What the operator has configured; drawn once for each seed. */
export interface Configuration {
  ordersUnseen: "ask" | "resend";
  settle: SettleSettings;
  /** How E5 is sent; absent: as the sandbox's profile says. */
  syncMode?: AssumptionSettings["syncMode"];
  concurrency: number;
  /** Calls of one service that may be out at once. */
  callsAtOnce: number;
  /** The CRM is read by one job, or its customers and orders by one and its staff by another. */
  jobs: 1 | 2;
  limits: LimitsSettings;
  /** Absent: as a configuration has it that says nothing. */
  policies?: Policies;
}

/** The streams of each job. */
export const jobs = {
  everything: streams,
  "customers-and-orders": ["customers", "orders"],
  staff: ["staff"],
} as const satisfies Record<string, readonly Stream[]>;

const profile: unknown = parse(readFileSync(join(import.meta.dirname, "../../config/profiles/sandbox.yaml"), "utf8"));

function assumptionsOf(document: unknown): unknown {
  return typeof document === "object" && document !== null && "assumptions" in document ? document.assumptions : {};
}

const baseAssumptions = assumptionSettingsSchema.parse(assumptionsOf(profile));
const base = {
  baseUrl: "http://127.0.0.1:1",
  tokens: { authorization: { fixed: "sandbox-app-token" }, userToken: { fixed: "sandbox-user-token" } },
  callsPerSecond: null,
  callTimeoutMs,
  turnTimeoutMs: 2_000,
  readAttempts: 3,
  backoffBaseMs: 50,
  backoffCapMs: 400,
  retryBudget: 20,
  breakerFailures: 8,
  breakerOpenMs: 1_000,
};

function settingsOf({ callsAtOnce }: Configuration) {
  return {
    orderService: orderServiceSettingsSchema.parse({ ...base, callsAtOnce, appKey: "sandbox-app" }),
    memberCenter: memberCenterSettingsSchema.parse({ ...base, callsAtOnce }),
  };
}

/** Settings about the services, with a small pool and small pages so that several calls are needed. */
export const assumptions: AssumptionSettings = {
  ...baseAssumptions,
  poolBatch: 3,
  staffPage: { base: 1, size: 3 },
};

function jobOf(configuration: Configuration, stream: Stream): string {
  if (configuration.jobs === 1) return "everything";
  return stream === "staff" ? "staff" : "customers-and-orders";
}

/** Thrown to whoever waits for a program that has died. */
export class ProgramDied extends Error {
  override readonly name = "ProgramDied";
}

/** A promise of its own for each that waits: one for all would keep whatever ever waited for it. */
const never = (): Promise<never> => new Promise<never>(() => {});

/**
 * Whether the program lives. It dies at one drawn step: what it has not committed is lost, and nothing of it ever goes
 * on.
 */
export class Life {
  /** Steps that were taken: commits, calls and sleeps, each before and after. */
  steps = 0;
  dead = false;
  readonly timeline: Timeline;
  readonly #diesAt: number;
  readonly #onDeath: (() => void)[] = [];
  readonly #onStep: (step: number) => void;

  constructor(timeline: Timeline, diesAt: number, onStep: (step: number) => void = () => {}) {
    this.timeline = timeline;
    this.#diesAt = diesAt;
    this.#onStep = onStep;
  }

  /** It will die, or was made to meet something, at a step that may still come. */
  get doomed(): boolean {
    return this.#diesAt < Number.POSITIVE_INFINITY;
  }

  onDeath(act: () => void): void {
    this.#onDeath.push(act);
  }

  /** One step. True: the program is dead, and the caller must go on no more. */
  step(): boolean {
    if (this.dead) return true;
    this.timeline.touch();
    this.steps += 1;
    this.#onStep(this.steps);
    if (this.steps === this.#diesAt) this.die();
    return this.dead;
  }

  die(): void {
    if (this.dead) return;
    this.dead = true;
    for (const act of this.#onDeath) act();
  }

  /** Work that begins and ends with a step. A dead program never hears how it ended. */
  async through<T>(work: () => Promise<T>): Promise<T> {
    if (this.step()) return await never();
    try {
      const result = await work();
      return this.step() ? await never() : result;
    } catch (error) {
      if (this.step()) return await never();
      throw error;
    }
  }
}

/** What a test puts in the place of a part that the program is given: each gets the real one. */
export interface Seams {
  transport?: (real: Transport) => Transport;
  clock?: (real: Clock) => Clock;
  random?: (real: Randomness) => Randomness;
  platform?: (real: Platform) => Platform;
  source?: (real: Source) => Source;
  /** How the ledger is opened. */
  opened?: (real: LedgerOptions) => LedgerOptions;
  /** Replaces methods of the parts of this very ledger. */
  ledger?: (ledger: Ledger) => void;
}

function same<Part>(part: Part): Part {
  return part;
}

/** The real ledger, whose program can die: what waits for its commit then is gone, and its lock is free. */
async function openMortal(options: LedgerOptions, life: Life, { opened = same, ledger: put }: Seams): Promise<Ledger> {
  const ledger = await Ledger.open(
    opened({ ...options, awaited: (commit) => life.through(() => life.timeline.still(commit())) }),
  );
  put?.(ledger);
  life.onDeath(() => ledger.abandon());
  return ledger;
}

/** One process of the program: a ledger, clients, and a clock of its own. */
export class Engine {
  readonly life: Life;
  readonly ledger: Ledger;
  readonly platform: Platform;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly #deps: RunDependencies;
  readonly #timeline: Timeline;

  private constructor(fields: {
    life: Life;
    ledger: Ledger;
    platform: Platform;
    deps: RunDependencies;
    timeline: Timeline;
  }) {
    this.life = fields.life;
    this.ledger = fields.ledger;
    this.platform = fields.platform;
    this.clock = fields.deps.clock;
    this.logger = fields.deps.logger;
    this.#deps = fields.deps;
    this.#timeline = fields.timeline;
  }

  static async start(options: {
    path: string;
    timeline: Timeline;
    draws: Draws;
    services: SimulatedServices;
    sources: readonly Source[];
    configuration: Configuration;
    /** How far the wall clock of the machine is off. */
    offset: () => number;
    diesAt: number;
    /** It opens a ledger that was restored, to rebuild what that lacks. */
    fillsGap?: boolean;
    onStep?: (step: number) => void;
    log: (line: string) => void;
    seams?: Seams | undefined;
  }): Promise<Engine> {
    const { timeline, services, configuration, seams = {} } = options;
    const draws = (seams.random ?? same<Randomness>)(options.draws);
    const life = new Life(timeline, options.diesAt, options.onStep);
    const machine = timeline.clock(options.offset);
    const clock = (seams.clock ?? same<Clock>)({
      ...machine,
      sleep: (ms, signal) => life.through(() => machine.sleep(ms, signal)),
    });
    const logger = createLogger({
      level: "info",
      destination: { write: (line: string) => (life.dead ? undefined : options.log(line)) },
      now: () => clock.now(),
    });
    const ledger = await openMortal(
      {
        path: options.path,
        fillsGap: options.fillsGap,
        clock,
        host: systemHost,
        ids: createIds(() => clock.now(), draws),
        random: draws,
        // Apart from what decides how a story goes: so a seed tells the same one whatever stands in the record.
        salts: new Draws(1),
        sealSecret: "zqcanary-sealing-key-0123456789",
      },
      life,
      seams,
    );
    const transport = (seams.transport ?? same<Transport>)(
      transportTo(
        services,
        (work) => life.through(work),
        () => !life.dead,
      ),
    );
    const made = createPlatform(
      { ...settingsOf(configuration), assumptions },
      {
        clock,
        random: draws,
        logger,
        environment: {},
        transports: { orderService: transport, memberCenter: transport },
      },
    );
    const platform = (seams.platform ?? same<Platform>)(made);
    const sources = options.sources.map(seams.source ?? same<Source>);
    const deps: RunDependencies = {
      ledger,
      platform,
      sources,
      streams: sources.flatMap((source) =>
        source.streams.map((stream) => ({ source: source.name, stream, job: jobOf(configuration, stream) })),
      ),
      settings: { ...assumptions, syncMode: configuration.syncMode ?? assumptions.syncMode },
      settle: configuration.settle,
      ordersUnseen: configuration.ordersUnseen,
      policies: configuration.policies ?? standardPolicies,
      concurrency: configuration.concurrency,
      clock,
      random: draws,
      logger,
      progress: () => {},
    };
    return new Engine({ life, ledger, platform, deps, timeline });
  }

  get deps(): RunDependencies {
    return this.#deps;
  }

  /** One run with the lock held. Undefined where the program died in it. */
  async run(request: RunRequest): Promise<RunSummary | undefined> {
    return await this.#locked(() => runSync(this.#depsOf(request), request));
  }

  /** What was done since the ledger was backed up is read back. Undefined where the program died in it. */
  async rebuild(limits: LimitsSettings): Promise<RebuildSummary | undefined> {
    return await this.#locked(() => runRebuild(this.#deps, { limits, signal: undefined, header: {}, by: "tester" }));
  }

  /** Plans what takes a run back, with the lock held. Undefined where the program died in it. */
  async undo(id: string): Promise<UndoSummary | undefined> {
    const undone = await this.wait(this.ledger.runs.byId(id));
    if (undone === undefined) throw new Error(`there is no run ${id}`);
    const request = { header: {}, signal: undefined, undone };
    return await this.#locked(() => planUndoRun(this.#deps, request, () => Promise.resolve()));
  }

  /** A plan of what would be done, with the lock held. Undefined where the program died in it. */
  async plan(request: RunRequest): Promise<PlanSummary | undefined> {
    return await this.#locked(() => planRun(this.#depsOf(request), request, () => {}));
  }

  /** Reads everything back, with the lock held. Undefined where the program died in it. */
  async verify(): Promise<VerifySummary | undefined> {
    const inquiry = openInquiry(this.ledger.path);
    const differences = (since: string) => inquiry.differences(since);
    const request = {
      job: "verify",
      trigger: "schedule",
      streams,
      signal: undefined,
      header: {},
      differences,
    } as const;
    try {
      return await this.#locked(() => runVerify(this.#deps, request));
    } finally {
      inquiry.close();
    }
  }

  /** Tells people, into the log, what a run that has ended changed. */
  async tell(summary: RunSummary): Promise<void> {
    await this.wait(tellPeople(this.#notify, summary));
  }

  /** What people need who ask for locks. */
  requestDesk(limits: RunRequest["limits"]): RequestDesk {
    const { ledger, clock } = this;
    return {
      clock,
      config: { limits, assumptions },
      ledger: () => Promise.resolve(ledger),
      requirePlatform: () => Promise.resolve(),
      runDependencies: () => Promise.resolve(this.#deps),
      notifyDependencies: () => Promise.resolve(this.#notify),
      runHeader: () => ({}),
    };
  }

  get #notify(): Parameters<typeof tellPeople>[0] {
    const { ledger, clock, logger } = this;
    const channels = [{ name: "log", settings: { kind: "log", severity: "notice" } }] as const;
    const off = { switches: [], mail: undefined, remindAfterMs: undefined, publicUrl: undefined };
    const suggested = (text: string): string => text;
    const named = { instance: "simulation", suggested, secret: () => "", known: new KnownSecrets() };
    return { ...off, ...named, ledger, clock, logger, store: ledger.schedule, channels };
  }

  /** A job has the sources of its streams. */
  #depsOf({ streams: asked }: RunRequest): RunDependencies {
    const sources = this.#deps.sources.filter((source) => source.streams.some((stream) => asked.includes(stream)));
    return { ...this.#deps, sources };
  }

  async #locked<T>(work: () => Promise<T>): Promise<T | undefined> {
    let over = false;
    let result: T | undefined;
    let problem: unknown;
    this.ledger.runs.takeLock();
    work().then(
      (value) => {
        over = true;
        result = value;
      },
      (error: unknown) => {
        over = true;
        problem = error;
      },
    );
    await this.#timeline.until(() => over || this.life.dead);
    if (this.life.dead) return undefined;
    this.ledger.runs.releaseLock();
    if (problem !== undefined)
      throw problem instanceof Error ? problem : new Error("a run failed with no error", { cause: problem });
    return result;
  }

  /** Waits for something the engine does in virtual time. Throws ProgramDied where it dies on the way. */
  async wait<T>(work: Promise<T>): Promise<T> {
    let over = false;
    const end = (): void => {
      over = true;
    };
    work.then(end, end);
    await this.#timeline.until(() => over || this.life.dead);
    if (this.life.dead) throw new ProgramDied();
    return await work;
  }

  close(): void {
    if (!this.life.dead) this.ledger.close();
  }
}
