import { statSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { JsonObject } from "../base/canonical-json.ts";
import { systemClock } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import { createIds, systemRandomness } from "../base/ids.ts";
import type { Randomness } from "../base/ids.ts";
import { createLogger } from "../base/logger.ts";
import type { Logger } from "../base/logger.ts";
import { groupNamed, makePrivateFolder } from "../base/private-files.ts";
import type { ReadingGroup } from "../base/private-files.ts";
import { loadConfig } from "../config/config.ts";
import type { Config } from "../config/config.ts";
import type { ConfigHeader } from "../config/load.ts";
import type { Secrets } from "../config/secrets.ts";
import { Ledger } from "../ledger/ledger.ts";
import { notWritable } from "../ledger/ledger-file.ts";
import type { Queries } from "../ledger/queries.ts";
import type { ConfiguredStream } from "../ledger/runs.ts";
import { createStaging } from "../ledger/staging.ts";
import { createPlatform } from "../platform/platform.ts";
import type { Platform } from "../platform/platform.ts";
import { bindJobs } from "../run/job.ts";
import type { BoundJob } from "../run/job.ts";
import type { NotifyDependencies } from "../run/notify.ts";
import type { RunDependencies } from "../run/request.ts";
import { keepServicesLeft } from "../run/services-left.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createSource } from "../source/source.ts";
import type { Source } from "../source/source.ts";
import { customersAndOrders } from "../../jobs/customers-and-orders.ts";
import { monthlyReport } from "../../jobs/monthly-report.ts";
import { staff } from "../../jobs/staff.ts";
import { verify } from "../../jobs/verify.ts";
import { platformName } from "./platform-name.ts";
import { terminalLog } from "./terminal-log.ts";
import type { Output } from "./output.ts";
import { Problems } from "./output.ts";

/** Options that every command has. */
export interface GlobalOptions {
  config: string | undefined;
  json: boolean;
  /** `true`: a sandbox inside the program; a text: the URL of one that runs. */
  sandbox: string | true | undefined;
}

/** What a command needs of the workplace. */
export interface Needs {
  /** Whether it talks to the services, so that a sandbox has to run. */
  services: boolean;
  /** false: it only reads, so no secret has to be there. */
  secrets?: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const defaultFile = "crm-sync.yaml";

/** Everything a command works with, made when it is first asked for and closed together. */
export class Workplace {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly header: ConfigHeader;
  /** Where relative paths of the configuration start. */
  readonly directory: string;
  readonly output: Output;
  readonly json: boolean;
  readonly logger: Logger;
  readonly clock: Clock = systemClock;
  readonly random: Randomness = systemRandomness;
  readonly environment: Environment;
  readonly sandbox: Sandbox | undefined;
  #ledger: Ledger | undefined;
  #queries: Queries | undefined;
  #platform: Platform | undefined;
  #sources: Source[] | undefined;

  private constructor(fields: {
    config: Config;
    secrets: Secrets;
    header: ConfigHeader;
    directory: string;
    output: Output;
    json: boolean;
    environment: Environment;
    sandbox: Sandbox | undefined;
  }) {
    this.config = fields.config;
    this.secrets = fields.secrets;
    this.header = fields.header;
    this.directory = fields.directory;
    this.output = fields.output;
    this.json = fields.json;
    this.environment = fields.environment;
    this.sandbox = fields.sandbox;
    const { log, zone } = fields.config;
    this.logger = createLogger({
      level: logLevel(log.level, fields.output),
      ...(fields.output.interactive ? { destination: terminalLog((text) => fields.output.note(text), zone) } : {}),
    });
  }

  /** Loads the configuration; throws all its problems at once. `--sandbox` without a URL starts a sandbox whose state lies beside the ledger. */
  static async open(
    options: GlobalOptions,
    environment: Environment,
    output: Output,
    needs: Needs = { services: true },
  ): Promise<Workplace> {
    const path = options.config ?? environment["CRM_SYNC_CONFIG"] ?? defaultFile;
    const load = async (settings: { name: string; settings: JsonObject }[]) => {
      const loaded = await loadConfig({
        path,
        environment,
        profiles: options.sandbox === undefined ? [] : ["sandbox"],
        options: settings,
        secretsRequired: needs.secrets !== false,
      });
      if (!loaded.ok) throw new Problems(loaded.error);
      return loaded.value;
    };
    if (options.sandbox === undefined) {
      const { config, secrets, header, directory } = await load([]);
      return new Workplace({
        config,
        secrets,
        header,
        directory,
        output,
        json: options.json,
        environment,
        sandbox: undefined,
      });
    }
    if (typeof options.sandbox === "string") {
      const { config, secrets, header, directory } = await load([
        { name: "--sandbox", settings: sandboxSettings(options.sandbox) },
      ]);
      return new Workplace({
        config,
        secrets,
        header,
        directory,
        output,
        json: options.json,
        environment,
        sandbox: undefined,
      });
    }
    const first = await load([{ name: "--sandbox", settings: sandboxSettings("http://127.0.0.1:1") }]);
    if (!needs.services)
      return new Workplace({ ...first, output, json: options.json, environment, sandbox: undefined });
    const { startSandbox } = await import("../sandbox/sandbox.ts");
    const ledgerPath = pathFrom(first.directory, first.config.ledger.path);
    makeLedgerFolder(ledgerPath, first.config.ledger.group);
    const sandbox = await startSandbox({
      store: join(dirname(ledgerPath), "sandbox.db"),
      clock: systemClock,
      random: systemRandomness,
    });
    try {
      const { config, secrets, header, directory } = await load([
        { name: "--sandbox", settings: sandboxSettings(sandbox.url) },
      ]);
      return new Workplace({ config, secrets, header, directory, output, json: options.json, environment, sandbox });
    } catch (error) {
      await sandbox.close();
      throw error;
    }
  }

  get ledgerPath(): string {
    return pathFrom(this.directory, this.config.ledger.path);
  }

  async ledger(): Promise<Ledger> {
    if (this.#ledger !== undefined) return this.#ledger;
    makeLedgerFolder(this.ledgerPath, this.config.ledger.group);
    const { sealKey } = this.config.ledger;
    this.#ledger = await Ledger.open({
      path: this.ledgerPath,
      clock: this.clock,
      ids: createIds(() => this.clock.now(), this.random),
      random: this.random,
      group: this.group,
      sealSecret: sealKey === undefined ? undefined : this.secrets.reveal(sealKey),
    });
    return this.#ledger;
  }

  /** The ledger for a command that only makes sense where there is one. Throws a Problem, and makes none, where there is not. */
  async existingLedger(): Promise<Ledger> {
    this.requireLedger();
    return await this.ledger();
  }

  /** Who may read what is written, beside the owner. */
  get group(): ReadingGroup | undefined {
    const { group } = this.config.ledger;
    return group === undefined ? undefined : groupNamed(group);
  }

  requireLedger(): void {
    if (isThere(this.ledgerPath)) return;
    throw new Problem({
      code: "ledger.missing",
      message: `there is no ledger at ${this.ledgerPath} yet`,
      cure: "run a job first, such as `crm-sync run customers-and-orders`, or name the right file in ledger.path",
      exitCode: exitCodes.ledgerRefused,
    });
  }

  /** Read-only questions to the ledger, beside a run that is on. Throws a Problem where there is no ledger yet. */
  async queries(): Promise<Queries> {
    if (this.#queries !== undefined) return this.#queries;
    this.requireLedger();
    const { openQueries } = await import("../ledger/queries.ts");
    this.#queries = await openQueries(this.ledgerPath);
    return this.#queries;
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
        onBreaker: keepServicesLeft({ ledger: () => this.#ledger, clock: this.clock, logger: this.logger }),
      },
    );
    return this.#platform;
  }

  sources(): Source[] {
    if (this.#sources !== undefined) return this.#sources;
    this.#sources = Object.entries(this.config.sources).map(([name, settings]) =>
      createSource(name, settings, {
        clock: this.clock,
        random: this.random,
        secrets: (reference) => this.secrets.reveal(reference),
        staging: createStaging(),
        baseDirectory: this.directory,
      }),
    );
    return this.#sources;
  }

  jobs(): BoundJob[] {
    const bound = bindJobs([customersAndOrders, staff, verify, monthlyReport], this.config);
    if (!bound.ok) throw new Problems(bound.error);
    return bound.value;
  }

  job(id: string): BoundJob {
    const jobs = this.jobs();
    const job = jobs.find((item) => item.id === id);
    if (job !== undefined) return job;
    throw new Problem({
      code: "job.unknown",
      message: `there is no job ${id}`,
      cure: `use one of: ${jobs.map((item) => item.id).join(", ")}`,
      exitCode: exitCodes.usage,
    });
  }

  /** Refuses a ledger that belongs to other services than those of this configuration. */
  async requirePlatform(): Promise<void> {
    const ledger = await this.ledger();
    await ledger.requirePlatform(await platformName(this));
  }

  async runDependencies(): Promise<RunDependencies> {
    const ledger = await this.ledger();
    await ledger.identity();
    return {
      ledger,
      platform: this.platform(),
      sources: this.sources(),
      streams: this.#configuredStreams(),
      settings: this.config.assumptions,
      settle: this.config.settle,
      ordersUnseen: this.config.orders.unseen,
      concurrency: this.config.concurrency.customers,
      clock: this.clock,
      random: this.random,
      logger: this.logger,
      progress: (phase, done, total) => this.output.progress(phase, done, total),
    };
  }

  /** Every stream of every source, each with the first job that reads it. */
  #configuredStreams(): ConfiguredStream[] {
    const jobs = this.jobs().filter((job) => job.kind === "sync");
    return this.sources().flatMap((source) =>
      source.streams.map((stream) => ({
        source: source.name,
        stream,
        job: jobs.find((job) => job.sources.includes(source.name) && job.streams.includes(stream))?.id,
      })),
    );
  }

  async notifyDependencies(ledger: Ledger): Promise<NotifyDependencies & { ledger: Ledger }> {
    return {
      settings: this.config.notify,
      instance: `${this.config.instance ?? hostname()} (${await ledger.identity()})`,
      store: ledger,
      clock: this.clock,
      logger: this.logger,
      secret: (reference) => this.secrets.reveal(reference),
      ledger,
    };
  }

  /** What a run says about where its settings came from. */
  runHeader(): JsonObject {
    const { file, profiles, environment, options, hash } = this.header;
    return { file, profiles: [...profiles], environment: [...environment], options: [...options], hash };
  }

  async close(): Promise<void> {
    this.output.settle();
    this.#queries?.close();
    this.#ledger?.close();
    for (const source of this.#sources ?? []) await source.close();
    await this.#platform?.close();
    await this.sandbox?.close();
  }
}

function makeLedgerFolder(path: string, group: string | undefined): void {
  try {
    makePrivateFolder(dirname(path), group === undefined ? undefined : groupNamed(group));
  } catch (error) {
    throw error instanceof Problem ? error : notWritable(path, error);
  }
}

/** A path that this user may not even look at may be there: whoever opens it is told why it cannot be read. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** Somebody at a terminal gets what needs attention; progress and results say the rest. In a pipe or a service the log is whole. */
function logLevel(configured: string, output: Output): string {
  return output.interactive && configured === "info" ? "warn" : configured;
}

function pathFrom(directory: string, path: string): string {
  return isAbsolute(path) ? path : resolve(directory, path);
}

/** The addresses and the fixed tokens of a sandbox. They lie over the file, so that a real token never goes to a sandbox. */
function sandboxSettings(url: string): JsonObject {
  const base = url.replace(/\/+$/u, "");
  const authorization = { fixed: "sandbox-app-token" };
  return {
    orderService: { baseUrl: base, appKey: "sandbox-app", tokens: { authorization } },
    memberCenter: { baseUrl: base, tokens: { authorization, userToken: { fixed: "sandbox-user-token" } } },
  };
}
