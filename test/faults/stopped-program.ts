import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { z } from "zod";
import type { FaultRule } from "../../src/sandbox/faults.ts";
import type { Ended } from "../support/program.ts";
import type { Running } from "../support/process.ts";
import { newSandbox } from "../support/world/start.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { Draws } from "../simulation/timeline.ts";
import { fullCheck } from "../support/full-check.ts";
import { startCrmSync } from "../support/process.ts";
import { goodRunOf, runJob } from "../support/program.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { configOf, ledgerOf, platformOf, writeWorld } from "../support/world/small.ts";
import { personal, sealEnvironment, secrets } from "../support/world/crm.ts";
import { GrowingCrm } from "./growing-crm.ts";

/**
 * The two ways in which the program works for long: one job by hand, or the schedule with a fire time that was missed.
 */
const ways = { run: ["run", "everything"], serve: ["serve"] } as const;
export type Way = keyof typeof ways;

/** What the program says at once when it gets the first signal. */
export const stopNote = "calls in progress are finished, then it stops";

const edits = 8;
/** Few customers at once, so that they are at different stages when the signal comes. */
export const customersAtOnce = 4;
const scheduled = `jobs:
  customers-and-orders: { enabled: false }
  staff: { enabled: false }
  verify: { enabled: false }
  monthly-report: { enabled: false }
  everything: { kind: sync, streams: [customers, orders, staff], schedule: "* * * * *" }
`;
const runRow = z.object({ state: z.string(), exit: z.int().nullable(), balance: z.string().nullable() });
const attemptRow = z.object({
  endpoint: z.string(),
  customer: z.string(),
  started: z.string(),
  finished: z.string().nullable(),
  outcome: z.string().nullable(),
});
type Attempt = z.infer<typeof attemptRow>;

/** What is in the ledger of a process that has ended. */
interface Left {
  /** Its run; undefined where it came to none. */
  run: { state: string; exit: number | null; adds: boolean } | undefined;
  attempts: Attempt[];
  open: { endpoint: string; state: string }[];
}

/** A program that is asked to stop while its CRM has work for it, and the platform it works with. */
export class StoppedWorld {
  readonly draws: Draws;
  readonly #folder: string;
  readonly #crm: GrowingCrm;
  readonly #output: string[] = [];
  #started = "";

  constructor(folder: string, seed: number) {
    this.#folder = folder;
    this.draws = new Draws(seed);
    this.#crm = new GrowingCrm(this.draws, 10);
    this.#write();
  }

  #write(): void {
    writeWorld(this.#folder, this.#crm.world());
    const config = configOf(this.#folder);
    writeFileSync(config, readFileSync(config, "utf8").replace(/^jobs:\n.*\n/mu, scheduled));
  }

  /** People go on editing the CRM. */
  edit(): void {
    for (let index = 0; index < edits; index += 1) this.#crm.edit();
    this.#write();
  }

  /** The platform, in this process, so that what arrives there can be watched. */
  async platform(latencyMs: number, ...seedFaults: FaultRule[]): Promise<Sandbox> {
    const store = platformOf(this.#folder);
    return await newSandbox({ store, latencyMs, seedFaults });
  }

  #program(sandbox: Sandbox, environment: Readonly<Record<string, string>>) {
    return {
      config: configOf(this.#folder),
      sandbox: sandbox.url,
      ledger: ledgerOf(this.#folder),
      environment: {
        ...sealEnvironment,
        CRM_SYNC__serve__port: "0",
        CRM_SYNC__settle__timeMs: "1000",
        CRM_SYNC__concurrency__customers: String(customersAtOnce),
        // What stops hold up adds up, and no limit is meant here.
        CRM_SYNC__limits__revokes__enterprise__floor: "1000000",
        CRM_SYNC__limits__revokes__run__floor: "1000000",
        ...environment,
      },
    };
  }

  start(way: Way, sandbox: Sandbox, environment: Readonly<Record<string, string>> = {}): Running {
    if (way === "serve") this.#makeDue();
    this.#started = new Date().toISOString();
    const program = startCrmSync(this.#program(sandbox, environment), "--json", ...ways[way]);
    void program.ended.then(({ stdout, stderr }) => this.#output.push(stdout, stderr));
    return program;
  }

  /** As if the last fire time had fired long ago. */
  #makeDue(): void {
    const long = "2026-01-01T00:00:00.000Z";
    const database = new Database(ledgerOf(this.#folder));
    try {
      database
        .prepare("insert or replace into last_fire_time (job, fire_time, fired_at) values ('everything', ?, ?)")
        .run(long, long);
    } finally {
      database.close();
    }
  }

  /** What the process that was started last has left. */
  left(): Left {
    if (!existsSync(ledgerOf(this.#folder))) return { run: undefined, attempts: [], open: [] };
    const ledger = new LedgerView(ledgerOf(this.#folder));
    try {
      const tables = ledger.rows(z.object({ name: z.string() }), "select name from sqlite_schema where name = 'audit'");
      if (tables.length === 0) return { run: undefined, attempts: [], open: [] };
      const [run] = ledger.rows(
        runRow,
        "select state, exit_code as exit, balance from run where started_at >= ? order by started_at limit 1",
        this.#started,
      );
      const { adds } = z.object({ adds: z.boolean() }).parse(JSON.parse(run?.balance ?? '{"adds":false}'));
      return {
        run: run === undefined ? undefined : { state: run.state, exit: run.exit, adds },
        attempts: ledger.rows(
          attemptRow,
          `select endpoint, customer_id as customer, started_at as started, finished_at as finished, outcome from attempt
           join operation on id = operation_id where started_at >= ? order by started_at`,
          this.#started,
        ),
        open: ledger.rows(
          z.object({ endpoint: z.string(), state: z.string() }),
          "select endpoint, state from operation where state not in ('done', 'rejected', 'dropped')",
        ),
      };
    } finally {
      ledger.close();
    }
  }

  /**
   * A further run that nobody stops, and the check of everything. A revoke that settling finds unsent is judged, and
   * sent, by the run after that: where something was left in doubt, it takes two.
   */
  async finish(runs: 1 | 2 = 1): Promise<string[]> {
    const sandbox = await this.platform(0);
    try {
      for (let run = 0; run < runs; run += 1) goodRunOf(await runJob(this.#program(sandbox, {})));
      const wrong = await fullCheck({
        ledger: ledgerOf(this.#folder),
        sandbox: sandbox.url,
        wished: this.#crm.wished(),
        personal,
        secrets,
        output: this.#output,
      });
      const { effects } = sandbox.counts();
      const { enterprises, orders } = this.#crm.wished();
      if (effects["E2"] !== enterprises || effects["E5"] !== orders)
        wrong.push(`there were ${effects["E2"]} E2 and ${effects["E5"]} E5, wished are ${enterprises} and ${orders}`);
      return wrong;
    } finally {
      await sandbox.close();
    }
  }

  /** What the platform holds otherwise than the CRM; asked when no platform is on. */
  differences(): string[] {
    return this.#crm.differences(platformOf(this.#folder));
  }
}

/** Waits until something is so on the platform; false when the program ended before. */
export async function untilThere(program: Running, holds: () => boolean): Promise<boolean> {
  const ended = program.ended.then(() => true);
  while (!holds()) if (await Promise.race([ended, pause(5, false)])) return false;
  return true;
}

/** How a process ended after a signal, and how long that took. */
export async function signalled(
  program: Running,
  signal: NodeJS.Signals,
): Promise<{ ended: Ended; tookMs: number; toldAt: number; heardAt: number; heard: boolean }> {
  const toldAt = Date.now();
  const told = performance.now();
  program.child.kill(signal);
  const heard = await program.says(stopNote);
  const heardAt = Date.now();
  const ended = await program.ended;
  return { ended, tookMs: performance.now() - told, toldAt, heardAt, heard };
}
