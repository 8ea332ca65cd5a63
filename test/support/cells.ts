import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { parse, stringify } from "yaml";
import type { StartWeb } from "../../src/operate/health.ts";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/sandbox.ts";
import { Stops, type Parsed, type Stop } from "./cli.ts";
import { numberOf } from "./asking.ts";
import { fullCheck, type Wished } from "./full-check.ts";
import { crmSync, goodRunOf, runJob, type Ended, type Place } from "./program.ts";
import { temporaryFolder } from "./northwind.ts";
import {
  base,
  baseWished,
  configOf,
  ledgerOf,
  platformOf,
  writeWorld,
  type Change,
  type SmallWorld,
} from "./world/small.ts";
import { personal, sealEnvironment, secrets, withoutCompanies } from "./world/crm.ts";
import { HandTime, newSandbox } from "./world/start.ts";

const minute = 60_000;
const hour = 60 * minute;

const longAgo = Date.UTC(2026, 0, 1);

/** Each cell begins an hour after the one before, so that a copy of a world is later than its original. */
let now = Date.UTC(2026, 9, 2, 8);

/** Time that a test and the program move; the platform waits until it has passed. */
class CellTime extends HandTime {
  #waiting: { due: number; goOn: () => void }[] = [];

  pass(ms: number): void {
    this.at += ms;
    const due = this.#waiting.filter((one) => one.due <= this.at);
    this.#waiting = this.#waiting.filter((one) => one.due > this.at);
    for (const { goOn } of due) goOn();
  }

  override sleep = async (ms: number): Promise<void> => this.pass(ms);

  readonly platform: Clock = {
    now: () => this.at,
    monotonic: () => this.at,
    sleep: async (ms) => {
      if (ms > 0) await new Promise<void>((goOn) => this.#waiting.push({ due: this.at + ms, goOn }));
    },
  };
}

/** A small world of its own in a folder, with its platform, its time and the program in this process. */
export class Cell {
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: CellTime;
  readonly output: string[] = [];
  readonly #stops: Stops;

  constructor(
    folder: string,
    sandbox: Sandbox,
    given: { environment: Cell["environment"]; clock: CellTime; stops: Stops },
  ) {
    this.folder = folder;
    this.sandbox = sandbox;
    this.environment = given.environment;
    this.clock = given.clock;
    this.#stops = given.stops;
  }

  get ledger(): string {
    return ledgerOf(this.folder);
  }

  get place(): Place {
    const environment = { ...sealEnvironment, ...this.environment };
    return { config: configOf(this.folder), sandbox: this.sandbox.url, ledger: this.ledger, environment };
  }

  /**
   * For a process of its own: the settings stand in the configuration, since a process that finds some in its
   * environment takes a third longer to start. It has the time of the machine, and so have the services that it asks.
   */
  get ownPlace(): Place {
    for (const service of ["order", "member"] as const)
      this.sandbox.dates.set(service, systemClock.now() - this.clock.at);
    const settings = parse(readFileSync(configOf(this.folder), "utf8"));
    for (const [name, value] of Object.entries(this.environment)) {
      const path = name.replace("CRM_SYNC__", "").split("__");
      let place = settings;
      for (const key of path.slice(0, -1)) place = place[key] ??= {};
      place[path.at(-1) ?? ""] = parse(value);
    }
    const config = join(this.folder, "own.yaml");
    writeFileSync(config, stringify(settings));
    return { config, sandbox: this.sandbox.url, environment: sealEnvironment };
  }

  /** A daemon learned of the schedule long ago: every job that has one is due. */
  async missesItsJobs(): Promise<void> {
    const stop = new AbortController();
    const started = Promise.withResolvers<void>();
    const startWeb: StartWeb = () => {
      started.resolve();
      return Promise.resolve({ url: "http://127.0.0.1:1", close: () => Promise.resolve() });
    };
    const clock: Clock = { now: () => longAgo, monotonic: () => 0, sleep: (_, signal) => systemClock.sleep(1, signal) };
    const ended = crmSync({ ...this.place, clock, signal: stop.signal, startWeb }, "serve");
    await started.promise;
    stop.abort();
    expect((await ended).exitCode).toBe(0);
  }

  #later(): CellTime {
    this.clock.pass(minute);
    return this.clock;
  }

  /** Runs a job; `url` is the platform's unless something stands between. */
  async run(options: { job?: string; environment?: Record<string, string>; url?: string } = {}): Promise<Ended> {
    const { place } = this;
    const environment = { ...place.environment, ...options.environment };
    const sandbox = options.url ?? this.sandbox.url;
    return await runJob({ ...place, sandbox, environment }, options.job, this.#later());
  }

  /**
   * The machine's time and an hour, since processes of their own, which own no time, have been at work here; or another
   * time, before such a process begins.
   */
  followsTheMachine(ahead = hour): void {
    this.sandbox.dates.clear();
    this.clock.pass(systemClock.now() + ahead - this.clock.at);
  }

  /** Carries a command line out. */
  async carryOut(...words: string[]): Promise<Ended> {
    const ended = await crmSync({ ...this.place, clock: this.#later() }, ...words);
    this.output.push(withoutCompanies(words, ended.stdout), ended.stderr);
    return ended;
  }

  /** The JSON document that a command prints. */
  async ask(...words: string[]): Promise<Parsed> {
    const { stdout, stderr } = await this.carryOut("--json", ...words);
    expect(stdout, stderr).not.toBe("");
    return JSON.parse(stdout);
  }

  /** As `stopsAt` of a world. */
  stopsAt(operation: Parameters<Stops["add"]>[0], when: "before" | "after" = "before", nth = 1): Stop {
    return this.#stops.add(operation, when, nth);
  }

  /** A person looks on the platform, and says of each operation that waits for a person whether it was done. */
  async decide(wasDone: () => boolean): Promise<void> {
    const waiting: Parsed[] = await this.ask("settle", "list");
    for (const { id } of waiting.filter(({ state }) => state === "parked")) {
      const verdict = wasDone() ? "--applied" : "--not-applied";
      const ended = await this.carryOut("settle", id, verdict, "--reason", "looked on the platform", "--by", "tester");
      expect(ended.exitCode, ended.stdout + ended.stderr).toBe(0);
    }
  }

  /** Runs until one ends well and sends nothing: the third at the latest. */
  async comesToRest(environment: Record<string, string> = {}): Promise<void> {
    for (let run = 1; run <= 3; run += 1) {
      const { writingCalls } = this.sandbox.counts();
      const ended = await this.run({ environment });
      const isQuiet = this.sandbox.counts().writingCalls === writingCalls;
      if (run === 3) expect(goodRunOf(ended).writingCalls, "the third run sends nothing").toBe(0);
      if (isQuiet && ended.exitCode === 0) return void goodRunOf(ended);
    }
  }

  /** Calls of operations, whatever became of them. */
  calls(...operations: string[]): number {
    const { calls } = this.sandbox.counts();
    return operations.reduce((sum, operation) => sum + (calls[operation] ?? 0), 0);
  }

  effects(): Record<string, number> {
    return this.sandbox.counts().effects;
  }

  /** How often an operation took effect. */
  done(operation: string): number {
    return this.effects()[operation] ?? 0;
  }

  /** What is wrong once nothing is under way; see `fullCheck`. */
  async wrong(wished: Partial<Wished>): Promise<string[]> {
    return await fullCheck({
      ledger: this.ledger,
      sandbox: this.sandbox.url,
      wished: { ...baseWished, ...wished },
      personal,
      secrets,
      output: this.output,
    });
  }
}

/** A folder of small worlds. `remove` drops it. */
export class Cells {
  readonly #folder = temporaryFolder();
  readonly #begun = new Map<unknown, Promise<string>>();
  #made = 0;

  /** A folder for a world that others begin from. */
  place(name: string): string {
    return join(this.#folder.path, name);
  }

  #next(): string {
    this.#made += 1;
    return this.place(`cell-${this.#made}`);
  }

  /** The folder of a world that was synchronised; made when it is asked for first. */
  async synchronised(world: SmallWorld, environment: Record<string, string> = {}): Promise<string> {
    return await this.#once(world, async (folder) => {
      writeWorld(folder, world);
      await this.open(folder, environment, async (cell) => void goodRunOf(await cell.run()));
    });
  }

  /** The folder of a world in which everything before a change is synchronised, and whose export has the change. */
  async before(change: Change): Promise<string> {
    const { after, asks, approved, world } = change;
    return await this.#once(change, async (folder) => {
      cpSync(await this.synchronised(base), folder, { recursive: true });
      const open = async (work: (cell: Cell) => Promise<void>): Promise<void> =>
        await this.open(folder, change.environment ?? {}, work);
      if (after !== undefined) {
        writeWorld(folder, after.world);
        await open(async (cell) => void goodRunOf(await cell.run()));
        after.change?.(folder);
      }
      writeWorld(folder, world);
      if (approved === true) await open(async (cell) => await approve(cell, change));
      if (asks !== undefined) await open(async (cell) => await ask(cell, asks));
    });
  }

  async #once(key: unknown, make: (folder: string) => Promise<void>): Promise<string> {
    const made =
      this.#begun.get(key) ??
      (async () => {
        const folder = this.#next();
        await make(folder);
        return folder;
      })();
    this.#begun.set(key, made);
    return await made;
  }

  /** Works on a copy of a folder, which is gone afterwards. */
  async within(
    from: string,
    environment: Record<string, string>,
    work: (cell: Cell) => Promise<void>,
    change?: (folder: string) => void,
  ): Promise<void> {
    const folder = this.#next();
    cpSync(from, folder, { recursive: true });
    change?.(folder);
    await this.open(folder, environment, work);
    rmSync(folder, { recursive: true });
  }

  /** Works in the folder itself. */
  async open(
    folder: string,
    environment: Record<string, string>,
    work: (cell: Cell) => Promise<void>,
    options: Partial<SandboxOptions> = {},
  ): Promise<void> {
    const clock = new CellTime();
    now += hour;
    clock.at = now;
    const stops = new Stops();
    const gate = stops.wait.bind(stops);
    const sandbox = await newSandbox({ store: platformOf(folder), clock: clock.platform, gate, ...options });
    try {
      await work(new Cell(folder, sandbox, { environment, clock, stops }));
    } finally {
      stops.end();
      await sandbox.close();
    }
  }

  remove(): void {
    this.#folder.remove();
  }
}

/** A run holds the very operation, and a person approves it. */
async function approve(cell: Cell, { kind }: Change): Promise<void> {
  await cell.run();
  const { operations } = await cell.ask("explain", "order", "O1");
  const held: Parsed = operations.newest.find((one: Parsed) => one.kind === kind && one.state === "held");
  const approved = await cell.carryOut("approve", held.id, "--reason", "asked the customer", "--by", "tester");
  expect(approved.exitCode, approved.stderr).toBe(0);
}

/** Somebody asks for something while another run goes on, so that the next run does it. */
async function ask(cell: Cell, words: NonNullable<Change["asks"]>): Promise<void> {
  const reading = cell.stopsAt("M5");
  const verifying = cell.run({ job: "verify" });
  await reading.reached;
  const named = words((instance) => numberOf(cell, instance));
  const asked = await cell.carryOut(...named, "--reason", "a test", "--by", "tester");
  reading.goOn();
  await verifying;
  expect(asked.exitCode, asked.stdout + asked.stderr).toBe(75);
}
