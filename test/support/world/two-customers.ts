import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FaultRule } from "../../../src/sandbox/faults.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { crmSync, runResultOf } from "../program.ts";
import type { Ended } from "../program.ts";
import { putNewLedger } from "../new-ledger.ts";
import { base, configOf, ledgerOf, writeWorld } from "./small.ts";
import { sealEnvironment } from "./crm.ts";
import type { SmallWorld } from "./small.ts";
import { changeFile, folder, openSandbox, rowsOf } from "./start.ts";

type Row = Record<string, unknown>;

/**
 * C1 with the order O1 and two people, and C2 with the order O9 and one person; the first person of each holds an
 * asset.
 */
export function twoCustomers(): SmallWorld {
  const texts = JSON.stringify(base);
  const second = JSON.parse(
    texts
      .replaceAll('"C1"', '"C2"')
      .replaceAll("O1", "O9")
      .replaceAll(/\bA([12])\b/g, "B$1")
      .replaceAll(/\bS([12])\b/g, "T$1"),
  ) as SmallWorld;
  return {
    customers: [...base.customers, ...second.customers],
    orders: [...base.orders, ...second.orders],
    staff: [...base.staff, ...second.staff.slice(0, 1)],
  };
}

const bothJobs = `jobs:
  deals: { kind: sync, streams: [customers, orders] }
  people: { kind: sync, streams: [staff] }
`;

/** Two customers in two jobs over one ledger and a sandbox, each run a command line of its own in this process. */
export class TwoCustomers {
  readonly sandbox: Sandbox;
  readonly path: string;
  world = twoCustomers();
  environment: Record<string, string> = {};

  private constructor(sandbox: Sandbox, path: string) {
    this.sandbox = sandbox;
    this.path = path;
  }

  static async start(): Promise<TwoCustomers> {
    const sandbox = await openSandbox();
    return new TwoCustomers(sandbox, join(folder(), "world"));
  }

  fault(rule: FaultRule): void {
    this.sandbox.faults.add(rule);
  }

  /** Runs a job; answers its exit code, the writing calls it made, and what it printed. */
  async run(job: "deals" | "people"): Promise<{ exit: number; calls: Record<string, number>; text: string }> {
    const { ended, calls } = await this.#does("--json", "run", job);
    return { exit: runResultOf(ended).exit, calls, text: ended.stdout + ended.stderr };
  }

  /** Plans everything, for people, and keeps the plan where it can be applied. */
  async plan(): Promise<{ exit: number | null; calls: Record<string, number>; text: string }> {
    const { ended, calls } = await this.#does("plan", "--out", this.#planFile);
    return { exit: ended.exitCode, calls, text: ended.stdout + ended.stderr };
  }

  /** Applies the plan that was made last. */
  async apply(): Promise<{ exit: number | null; calls: Record<string, number>; text: string }> {
    const { ended, calls } = await this.#does("apply", this.#planFile);
    return { exit: ended.exitCode, calls, text: ended.stdout + ended.stderr };
  }

  /** What `crm-sync status` tells people. */
  async status(): Promise<string> {
    return (await this.#does("status")).ended.stdout;
  }

  /** A person says of operations that nothing came of them. */
  async settleNotApplied(...operations: string[]): Promise<Ended> {
    const why = ["--reason", "the platform has none", "--by", "tester"];
    return (await this.#does("settle", ...operations, "--not-applied", ...why)).ended;
  }

  get #planFile(): string {
    return `${this.path}.plan`;
  }

  async #does(...words: string[]): Promise<{ ended: Ended; calls: Record<string, number> }> {
    writeWorld(this.path, this.world);
    putNewLedger(ledgerOf(this.path));
    const config = configOf(this.path);
    writeFileSync(config, readFileSync(config, "utf8").replace(/^jobs:\n.*\n/m, bothJobs));
    const before = this.sandbox.counts().calls;
    const place = {
      config,
      sandbox: this.sandbox.url,
      ledger: ledgerOf(this.path),
      environment: { ...sealEnvironment, CRM_SYNC__log__level: "silent", ...this.environment },
    };
    const ended = await crmSync(place, ...words);
    const after = this.sandbox.counts().calls;
    const calls: Record<string, number> = {};
    for (const name of ["E1", "E2", "E4", "E5", "M1", "M9"] as const) {
      const count = (after[name] ?? 0) - (before[name] ?? 0);
      if (count > 0) calls[name] = count;
    }
    return { ended, calls };
  }

  /** Both jobs, first the deals. */
  async runBoth(): Promise<{ exits: number[]; calls: Record<string, number> }> {
    const deals = await this.run("deals");
    const people = await this.run("people");
    const calls = { ...deals.calls };
    for (const [name, count] of Object.entries(people.calls)) calls[name] = (calls[name] ?? 0) + count;
    return { exits: [deals.exit, people.exit], calls };
  }

  /** The ledger is lost, and all that it knew: the enterprises are somebody else's now. */
  loseLedger(): void {
    for (const ending of ["", "-wal", "-shm", ".heads", ".lock"])
      rmSync(ledgerOf(this.path) + ending, { force: true, recursive: true });
  }

  rows<Found = Row>(sql: string, ...parameters: unknown[]): Found[] {
    return rowsOf(ledgerOf(this.path), sql, ...parameters);
  }

  /** Carries out a statement in the ledger, as a version of the program that believed too much left it. */
  change(sql: string): void {
    changeFile(ledgerOf(this.path), sql);
  }

  /** Why records wait, by their id, as code and words. */
  waiting(): Record<string, string> {
    const rows = this.rows<{ id: string; deferred_code: string; deferred_reason: string }>(
      "select id, deferred_code, deferred_reason from record where deferred_code is not null order by id",
    );
    return Object.fromEntries(rows.map((row) => [row.id, `${row.deferred_code}: ${row.deferred_reason}`]));
  }

  /** What operations wait for a person, with their endpoint. */
  parked(): { endpoint: string; outcome_message: string }[] {
    return this.rows("select endpoint, outcome_message from operation where state = 'parked' order by id");
  }

  get twice(): unknown[] {
    return Object.values(this.sandbox.duplicates()).flat();
  }
}
