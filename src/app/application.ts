import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { DestinationStream } from "pino";
import { customersAndOrders } from "../../jobs/customers-and-orders.ts";
import { monthlyReport } from "../../jobs/monthly-report.ts";
import { staff } from "../../jobs/staff.ts";
import { verify } from "../../jobs/verify.ts";
import { hashOf, toJson, type JsonObject } from "../base/canonical-json.ts";
import { systemClock, toInstant, type Clock } from "../base/clock.ts";
import { exitCodes, messageOf, Problem, Problems } from "../base/errors.ts";
import { systemHost, type Host } from "../base/host.ts";
import { createIds, systemRandomness, type Randomness } from "../base/ids.ts";
import { createLogger, type Logger } from "../base/logger.ts";
import { groupNamed, type ReadingGroup } from "../base/private-files.ts";
import type { Config } from "../config/config.ts";
import type { Environment, ConfigHeader } from "../config/load.ts";
import type { Secrets } from "../config/secrets.ts";
import type { RunDependencies } from "../engine/run/request.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import { removeAbandoned } from "../ledger/database/lock.ts";
import { Ledger } from "../ledger/ledger.ts";
import { createStaging } from "../ledger/records/staging.ts";
import {
  booksFolder,
  createObserved,
  isThere,
  makeLedgerFolder,
  pathFrom,
  type Application,
  type Observed,
  type Progress,
  type Suggested,
} from "../operate/application.ts";
import { bindJobs, streamsOf, type BoundJob } from "../operate/job.ts";
import { requireAlertSettings, tellingSettings } from "../operate/notify/configured.ts";
import type { NotifyDependencies } from "../operate/notify/tell.ts";
import { keepOpenCircuits } from "../operate/open-circuits.ts";
import { createPlatform, type Platform } from "../platform/platform.ts";
import { removeUnfinished } from "../recovery/backup-manifest.ts";
import type { Paused } from "../report/status.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createSource, type Source } from "../source/source.ts";
import { openConfig, type ConfigChoice, type Needs, type OpenConfig } from "./open-config.ts";
import { platformName } from "./platform-name.ts";
import { handInResources } from "./resources.ts";

export interface Face {
  /** Gets log lines that need attention, as text in the zone. Undefined: the whole log is written. */
  readonly log: ((zone: string) => DestinationStream) | undefined;
  /** Default: stderr. */
  readonly wholeLog?: DestinationStream | undefined;
  progress(phase: string, done: number, total: number | undefined): void;
  readonly suggested?: Suggested | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Randomness | undefined;
  readonly host?: Host | undefined;
}

/** Also removes files of killed processes. Throws all configuration problems at once. */
export async function openApplication(
  choice: ConfigChoice,
  environment: Environment,
  face: Face,
  needs: Needs = { services: true },
): Promise<Application> {
  handInResources();
  const application = new OpenApplication(await openConfig(choice, environment, needs), choice, environment, face);
  application.removeUnfinished();
  return application;
}

class OpenApplication implements Application {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly header: ConfigHeader;
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly #host: Host;
  readonly environment: Environment;
  readonly sandbox: Sandbox | undefined;
  readonly observed: Observed;
  readonly #placeOf: (key: string) => string;
  readonly #face: Face;
  readonly #choice: ConfigChoice;
  #logger: Logger | undefined;
  #ledger: Ledger | undefined;
  #fillsGap = false;
  #inquiry: Inquiry | undefined;
  #refusal: Problem | undefined;
  #platform: Platform | undefined;
  #sources: Source[] | undefined;
  #progress: Progress | undefined;

  constructor(open: OpenConfig, choice: ConfigChoice, environment: Environment, face: Face) {
    this.config = open.config;
    this.secrets = open.secrets;
    this.header = open.header;
    this.directory = open.directory;
    this.#placeOf = open.placeOf;
    this.environment = environment;
    this.sandbox = open.sandbox;
    this.#choice = choice;
    this.#face = face;
    this.clock = face.clock ?? systemClock;
    this.random = face.random ?? systemRandomness;
    this.#host = face.host ?? systemHost;
    this.observed = createObserved((error) => this.#observerFailed(error));
  }

  #observerFailed(error: unknown): void {
    this.logger.error({ event: "observer.failed", reason: messageOf(error) }, "a figure for the metrics was not kept");
  }

  get logger(): Logger {
    if (this.#logger !== undefined) return this.#logger;
    const { log, zone } = this.config;
    const show = this.#face.log;
    const { known } = this.secrets;
    this.#logger =
      show === undefined
        ? createLogger({ level: log.level, destination: this.#face.wholeLog, known })
        : createLogger({ level: log.level === "info" ? "warn" : log.level, destination: show(zone), known });
    return this.#logger;
  }

  get commandOptions(): string[] {
    const sandbox = this.sandbox?.url ?? this.#choice.sandbox;
    const option = sandbox === undefined ? [] : [`--sandbox=${sandbox === true ? "" : sandbox}`];
    return [`--config=${this.header.file}`, ...option];
  }

  get suggested(): Suggested {
    return this.#face.suggested ?? ((text) => text);
  }

  get ledgerPath(): string {
    return pathFrom(this.directory, this.config.ledger.path);
  }

  async ledger({ fillsGap = false } = {}): Promise<Ledger> {
    if (this.#ledger !== undefined) return this.#ledger;
    makeLedgerFolder(this.ledgerPath, this.config.ledger.group);
    this.#ledger = await this.ledgerAt(this.ledgerPath, { fillsGap });
    this.#fillsGap = fillsGap;
    if (isThere(join(dirname(this.ledgerPath), booksFolder))) {
      const { FrozenFiles } = await import("../books/frozen-files.ts");
      this.#letReadBooks(new FrozenFiles(this.ledgerPath, this.group));
    }
    return this.#ledger;
  }

  /** Removes files of killed processes: beside the ledger, in the temporary folder and in backup folders. */
  removeUnfinished(): void {
    for (const folder of [dirname(this.ledgerPath), tmpdir()]) removeAbandoned(folder);
    for (const { kind, to } of Object.values(this.config.jobs))
      if (kind === "backup" && to !== undefined) removeUnfinished(pathFrom(this.directory, to));
  }

  /** Wrong rights on closed periods must not stop a run, because only people read and close them. */
  #letReadBooks(frozen: { keepReadable: () => void }): void {
    try {
      frozen.keepReadable();
    } catch (error) {
      this.logger.warn(
        { why: messageOf(error) },
        "the folder of closed periods cannot be given to those who may read the ledger; make its owner the user of " +
          "this program, or give it the right mode yourself",
      );
    }
  }

  async ledgerAt(path: string, { fillsGap = false } = {}): Promise<Ledger> {
    const { sealKey, formerSealKey } = this.config.ledger;
    return await Ledger.open({
      path,
      clock: this.clock,
      ids: createIds(() => this.clock.now(), this.random),
      random: this.random,
      host: this.#host,
      group: this.group,
      fillsGap,
      sealSecret: sealKey === undefined ? undefined : this.secrets.reveal(sealKey),
      formerSealSecret: formerSealKey === undefined ? undefined : this.secrets.reveal(formerSealKey),
      observer: {
        committed: (ms) => this.observed.commits.tell(ms),
        concluded: (conclusion) => this.observed.conclusions.tell(conclusion),
      },
    });
  }

  async existingLedger(): Promise<Ledger> {
    this.requireLedger();
    return await this.ledger();
  }

  get group(): ReadingGroup | undefined {
    const { group } = this.config.ledger;
    return group === undefined ? undefined : groupNamed(group);
  }

  requireLedger(): void {
    if (isThere(this.ledgerPath)) return;
    throw new Problem({
      code: "ledger.missing",
      message: `there is no ledger at ${this.ledgerPath} yet`,
      cure: "correct ledger.path in the configuration. If no job ever ran here, run one: `crm-sync run customers-and-orders`",
      exitCode: exitCodes.ledgerRefused,
    });
  }

  async inquiry(): Promise<Inquiry> {
    if (this.#inquiry !== undefined) return this.#inquiry;
    this.requireLedger();
    const { openInquiry } = await import("../inquiry/inquiry.ts");
    this.#inquiry = openInquiry(this.ledgerPath);
    if (this.#ledger === undefined) this.#refusal = this.#inquiry.refusal();
    return this.#inquiry;
  }

  paused(): Paused | undefined {
    return this.#ledger === undefined ? this.#inquiry?.paused() : this.#ledger.pause.now();
  }

  get refusal(): Problem | undefined {
    return this.#refusal;
  }

  platform(): Platform {
    this.#platform ??= createPlatform(
      {
        orderService: this.config.orderService,
        memberCenter: this.config.memberCenter,
        assumptions: this.config.assumptions,
      },
      {
        clock: this.clock,
        random: this.random,
        logger: this.logger,
        environment: this.environment,
        known: this.secrets.known,
        onCircuit: keepOpenCircuits({ ledger: () => this.#ledger, clock: this.clock, logger: this.logger }),
        onCall: (call) => this.observed.calls.tell(call),
      },
    );
    return this.#platform;
  }

  sources(): Source[] {
    if (this.#sources !== undefined) return this.#sources;
    this.#sources = Object.entries(this.config.sources).map(([name, settings]) => {
      return createSource(name, settings, {
        clock: this.clock,
        random: this.random,
        secrets: (reference) => this.secrets.reveal(reference),
        known: this.secrets.known,
        staging: createStaging(),
        baseDirectory: this.directory,
        placeOf: this.#placeOf,
        onRequest: (source, seen) => this.observed.requests.tell({ source, ...seen }),
      });
    });
    return this.#sources;
  }

  jobs(): BoundJob[] {
    const bound = bindJobs([customersAndOrders, staff, verify, monthlyReport], this.config);
    if (!bound.ok) throw new Problems(bound.error);
    requireAlertSettings(this.config, bound.value);
    return bound.value;
  }

  async requirePlatform(): Promise<void> {
    const ledger = await this.ledger();
    // A rebuild fills a ledger that lacks its newest entries.
    if (this.config.audit.heads.length > 0 && !this.#fillsGap)
      await (await import("../books/head-places.ts")).requireNewestOutside(this, ledger);
    await ledger.identity.requirePlatform(await platformName(this));
  }

  async runDependencies(at?: Ledger): Promise<RunDependencies> {
    const ledger = at ?? (await this.ledger());
    await ledger.identity.name();
    return {
      ledger,
      platform: this.platform(),
      sources: this.sources(),
      streams: streamsOf(this.sources(), this.jobs()),
      settings: this.config.assumptions,
      settle: this.config.settle,
      ordersUnseen: this.config.orders.unseen,
      policies: this.config.policies,
      concurrency: this.config.concurrency.customers,
      clock: this.clock,
      random: this.random,
      logger: this.logger,
      progress: (phase, done, total) => {
        this.#progress = { phase, done, total, at: toInstant(this.clock.now()) };
        this.#face.progress(phase, done, total);
      },
    };
  }

  get progress(): Progress | undefined {
    return this.#progress;
  }

  get instance(): string {
    return this.config.instance ?? hostname();
  }

  async notifyDependencies(ledger: Ledger): Promise<NotifyDependencies & { ledger: Ledger; jobs?: readonly string[] }> {
    return {
      ...tellingSettings(this.config),
      instance: `${this.instance} (${await ledger.identity.name()})`,
      store: ledger.schedule,
      clock: this.clock,
      logger: this.logger,
      secret: (reference) => this.secrets.reveal(reference),
      known: this.secrets.known,
      suggested: this.suggested,
      ledger,
      jobs: this.jobs().map(({ id }) => id),
    };
  }

  runHeader(): JsonObject {
    const { file, profiles, environment, options, hash } = this.header;
    return {
      file,
      profiles: [...profiles],
      environment: [...environment],
      options: [...options],
      hash,
      sources: this.sourcesHash,
    };
  }

  get sourcesHash(): string {
    return hashOf(toJson(this.config.sources));
  }

  async close(): Promise<void> {
    for (const source of this.#sources ?? []) await source.close();
    await this.#platform?.close();
    this.#inquiry?.close();
    this.#ledger?.close();
    await this.sandbox?.close();
  }
}
