import { join } from "node:path";
import type Database from "better-sqlite3";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { createIds, systemRandomness } from "../../../src/base/ids.ts";
import type { AssumptionSettings } from "../../../src/contract/assumption-settings.ts";
import type { Customer, Order, Staff, Stream } from "../../../src/crm/model.ts";
import type { EngineDependencies } from "../../../src/engine/customer.ts";
import { deliver } from "../../../src/engine/deliver.ts";
import type { Delivery } from "../../../src/engine/send.ts";
import { SnapshotReader } from "../../../src/platform/snapshot.ts";
import { NumberPool } from "../../../src/resources/order/pool.ts";
import { correlationOf } from "../../../src/engine/plan/input.ts";
import { Settling } from "../../../src/engine/settle.ts";
import type { Settled } from "../../../src/engine/evidence.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import type { JournalRow } from "../../../src/ledger/journal/journal-tables.ts";
import type { Operation } from "../../../src/engine/model/operation.ts";
import type { OperationName } from "../../../src/engine/model/resource.ts";
import { planCustomer } from "../../../src/engine/plan/plan.ts";
import { createPlatform, type Platform } from "../../../src/platform/platform.ts";
import type { WriteCall } from "../../../src/platform/services.ts";
import { memberCenterSettingsSchema, orderServiceSettingsSchema } from "../../../src/platform/service-settings.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { answersWith, customerRecord, key, readRecord } from "./records.ts";
import { putNewLedger } from "../new-ledger.ts";
import { standardPolicies, standardRules } from "./rules.ts";
import { folder, openLedger, openSandbox, sqlite } from "./start.ts";

/** The clock of the machine, moved on over time that nobody waits for, or with a wall clock that somebody set. */
export class JumpClock implements Clock {
  #passed = 0;
  #set = 0;
  now = (): number => systemClock.now() + this.#passed + this.#set;
  monotonic = (): number => systemClock.monotonic() + this.#passed;
  sleep = (ms: number, signal?: AbortSignal): Promise<void> => systemClock.sleep(ms, signal);
  /** Time passes, on both clocks. */
  pass(ms: number): void {
    this.#passed += ms;
  }
  /** Somebody sets the wall clock; no time passes. */
  set(ms: number): void {
    this.#set += ms;
  }
}

export const settleMs = 60_000;

/**
 * What a service made by a test does before anything else, as http does: the call has its permit, so its intent is
 * committed.
 */
export async function permitted<Call extends WriteCall>(call: Call): Promise<Call> {
  await call.beforeSending?.();
  return { ...call, beforeSending: undefined };
}

export interface WorldOptions {
  ordersUnseen?: "ask" | "resend";
  assumptions?: JsonObject;
  /** The clock of the platform, for what it does later than at once. */
  platformClock?: Clock;
}

export const customer = key("C1");

/** Ledger, platform and sandbox over real HTTP, with everything that carries operations out. */
export class ApplyWorld {
  readonly sandbox: Sandbox;
  readonly ledger: Ledger;
  readonly path: string;
  readonly clock: JumpClock;
  readonly settings: AssumptionSettings;
  readonly deps: EngineDependencies;
  readonly reader: SnapshotReader;
  readonly pool: NumberPool;
  readonly settling: Settling;
  readonly log: string[];

  private constructor(parts: {
    sandbox: Sandbox;
    ledger: Ledger;
    clock: JumpClock;
    deps: EngineDependencies;
    log: string[];
  }) {
    this.sandbox = parts.sandbox;
    this.ledger = parts.ledger;
    this.path = parts.ledger.path;
    this.clock = parts.clock;
    this.deps = parts.deps;
    this.settings = parts.deps.settings;
    this.log = parts.log;
    this.reader = new SnapshotReader(this.deps.platform, this.settings);
    this.pool = new NumberPool(this.deps);
    this.settling = new Settling(this.deps, this.reader);
  }

  static async start(options: WorldOptions = {}): Promise<ApplyWorld> {
    const clock = new JumpClock();
    const sandbox = await openSandbox(options.platformClock === undefined ? {} : { clock: options.platformClock });
    const log: string[] = [];
    const logger = pino({ level: "info" }, { write: (line: string) => void log.push(line) });
    const settings = answersWith({
      poolBatch: 5,
      visibleLicenseTypes: ["cloud_account", "normal_recover_usbkey"],
      ...options.assumptions,
    });
    const platform = platformOf(sandbox, settings, logger, 60_000);
    onTestFinished(() => platform.close());
    const ledger = await openAt(join(folder(), "ledger.db"), clock);
    ledger.runs.takeLock();
    const deps: EngineDependencies = {
      ledger,
      platform,
      settings,
      settle: {
        timeMs: settleMs,
        readings: 3,
        maxWaitMs: 30_000,
        asyncDeadlineMs: 10 * settleMs,
        asyncPauseMs: settleMs,
      },
      ordersUnseen: options.ordersUnseen ?? "ask",
      policies: standardPolicies,
      clock,
      random: systemRandomness,
      logger,
    };
    return new ApplyWorld({ sandbox, ledger, clock, deps, log });
  }

  /** The same ledger and services for a program that starts after this one was killed. */
  async restarted(): Promise<ApplyWorld> {
    const ledger = await openAt(this.path, this.clock);
    const { sandbox, clock, log } = this;
    this.ledger.runs.releaseLock();
    ledger.runs.takeLock();
    return new ApplyWorld({ sandbox, clock, log, ledger, deps: { ...this.deps, ledger } });
  }

  /** This world with services that answer otherwise. */
  with(platform: Partial<Platform>): ApplyWorld {
    const { sandbox, clock, log, ledger } = this;
    const deps = { ...this.deps, platform: { ...this.deps.platform, ...platform } };
    return new ApplyWorld({ sandbox, clock, log, ledger, deps });
  }

  /** Takes records up as a reading of their source does. */
  async take(stream: Stream, ...records: (Customer | Order | Staff)[]): Promise<void> {
    const read = await this.ledger.records.startRead("run", "erp", stream);
    const items = records.map((record) => readRecord(stream, record, "erp.csv:1"));
    await read.ingest(items);
    await read.finish({ complete: true, whole: false, rows: records.length, bad: 0 });
  }

  /** Reads what the plan needs and plans the customer. */
  async plan(): Promise<Operation[]> {
    for (;;) {
      const loaded = this.ledger.state.load(customer);
      const { link } = loaded.known;
      const observed =
        link === undefined
          ? { enterprises: await this.reader.of(customer).enterprises("C1"), members: undefined, assets: undefined }
          : {
              enterprises: undefined,
              members: await this.reader.of(customer).members(link.enterpriseGlobalId),
              assets: await this.reader.of(customer).assets(link.enterpriseGlobalId),
            };
      const plan = planCustomer(
        { ...loaded, observed },
        { ...standardRules, settings: this.settings, canSeal: this.ledger.private.canSeal },
      );
      if (plan.changes.length === 0) return plan.operations;
      await this.ledger.state.record(customer, plan.changes);
    }
  }

  async planned<K extends OperationName>(kind: K): Promise<Extract<Operation, { kind: K }>> {
    const operations = await this.plan();
    const found = operations.find((operation): operation is Extract<Operation, { kind: K }> => operation.kind === kind);
    if (found === undefined)
      throw new Error(`no ${kind} in ${operations.map((operation) => operation.kind).join(", ")}`);
    return found;
  }

  /** `answerMs`: how long the program waits for an answer to this one. */
  async deliver(operation: Operation, answerMs?: number): Promise<Delivery> {
    const { link } = await this.ledger.state.known(customer);
    const members = link === undefined ? [] : await this.reader.of(customer).members(link.enterpriseGlobalId);
    const deps = answerMs === undefined ? this.deps : { ...this.deps, platform: this.#impatient(answerMs) };
    return await deliver(deps, this.pool, operation, {
      runId: "run",
      shownBefore: members,
    });
  }

  #impatient(answerMs: number): Platform {
    const platform = platformOf(this.sandbox, this.settings, this.deps.logger, answerMs);
    onTestFinished(() => platform.close());
    return platform;
  }

  async carryOut(kind: OperationName): Promise<Delivery> {
    return await this.deliver(await this.planned(kind));
  }

  /** Gives an order its numbers, so that nothing but E5 is left to send. */
  async fixNumbers(order: Operation<"place-order">): Promise<void> {
    const [record] = order.records;
    if (record === undefined) throw new Error("the operation names no order");
    const problem = await this.pool.fix({ order: record, customer: order.customer }, order.after.assets, undefined);
    if (problem !== undefined) throw new Error(problem.reason);
  }

  /** Carries an operation out whose outcome is then unknown, and answers its id. */
  async carryOutUnknown(kind: OperationName): Promise<string> {
    const delivery = await this.carryOut(kind);
    if (delivery.kind !== "unknown") throw new Error(`${kind} is ${JSON.stringify(delivery)}`);
    return delivery.id;
  }

  /** An enterprise that E2 made and E3 shows, ready for orders and staff. */
  async makeEnterprise(): Promise<string> {
    await this.take("customers", customerRecord("C1"));
    await this.carryOut("create-enterprise");
    return await this.lookUp();
  }

  /** E3, as a run does after E2. */
  async lookUp(): Promise<string> {
    const [found] = await this.reader.of(customer).enterprises("C1");
    if (found === undefined) throw new Error("E3 shows no enterprise");
    await this.ledger.state.record(customer, [{ type: "platform-customers", ...found }]);
    await this.ledger.state.confirmCorrelation(correlationOf(this.settings));
    return found.enterpriseGlobalId;
  }

  async row(id: string): Promise<JournalRow> {
    const row = await this.ledger.journal.byId(id);
    if (row === undefined) throw new Error(`no operation ${id}`);
    return row;
  }

  async settle(id: string): Promise<Settled> {
    return await this.settling.settle(await this.row(id), { runId: "run" });
  }

  /** Settles until it is no longer a matter of time, jumping over every wait. */
  async settleInTime(id: string): Promise<Settled> {
    for (let reading = 0; reading < 12; reading += 1) {
      const settled = await this.settle(id);
      if (settled.kind !== "waiting") return settled;
      this.clock.pass(Math.max(0, Date.parse(settled.until) - this.clock.now()) + 1);
    }
    throw new Error("it waits for ever");
  }

  async states(): Promise<Record<string, string>> {
    const database = this.sqlite();
    const rows = database
      .prepare<[], { endpoint: string; state: string }>("select endpoint, state from operation order by id")
      .all();
    return Object.fromEntries(rows.map((row) => [row.endpoint, row.state]));
  }

  sqlite(): Database.Database {
    return sqlite(this.path);
  }

  /** Waits until something is so. */
  async until(so: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await so())) await this.clock.sleep(5);
  }

  effects(operation: string): number {
    return this.sandbox.counts().effects[operation] ?? 0;
  }

  calls(operation: string): number {
    return this.sandbox.counts().calls[operation] ?? 0;
  }

  get nothingTwice(): boolean {
    return Object.values(this.sandbox.duplicates()).every((list) => list.length === 0);
  }
}

async function openAt(path: string, clock: Clock): Promise<Ledger> {
  putNewLedger(path);
  const ids = createIds(() => clock.now(), systemRandomness);
  return (await openLedger({ path, clock, ids, random: systemRandomness })).ledger;
}

function platformOf(
  sandbox: Sandbox,
  settings: AssumptionSettings,
  logger: EngineDependencies["logger"],
  answerMs: number,
): Platform {
  const { credentials } = sandbox;
  const shared = {
    callsAtOnce: 16,
    callsPerSecond: null,
    backoffBaseMs: 1,
    backoffCapMs: 2,
    readAttempts: 2,
    breakerFailures: 1000,
    headersTimeoutMs: answerMs,
    bodyTimeoutMs: answerMs,
  };
  return createPlatform(
    {
      orderService: orderServiceSettingsSchema.parse({
        ...shared,
        baseUrl: sandbox.url,
        appKey: credentials.appKey,
        tokens: { authorization: { fixed: credentials.authorization } },
      }),
      memberCenter: memberCenterSettingsSchema.parse({
        ...shared,
        baseUrl: sandbox.url,
        tokens: { authorization: { fixed: credentials.clientToken }, userToken: { fixed: credentials.userToken } },
      }),
      assumptions: settings,
    },
    { clock: systemClock, random: systemRandomness, logger, environment: {} },
  );
}
