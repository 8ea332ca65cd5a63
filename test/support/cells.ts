import { cpSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { newSandbox } from "./world/start.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { fullCheck } from "./full-check.ts";
import type { Wished } from "./full-check.ts";
import { crmSync, runJob } from "./program.ts";
import type { Ended } from "./program.ts";
import { temporaryFolder } from "./northwind.ts";
import { baseWished, configOf, ledgerOf, platformOf } from "./world/small.ts";
import { personal, sealEnvironment, secrets } from "./world/crm.ts";

/** Reads are repeated at once, so that a cell takes no longer than its fault. */
const quick = {
  CRM_SYNC__orderService__backoffBaseMs: "1",
  CRM_SYNC__orderService__backoffCapMs: "2",
  CRM_SYNC__memberCenter__backoffBaseMs: "1",
  CRM_SYNC__memberCenter__backoffCapMs: "2",
};

/** A small world of its own in a folder, with its platform and the program in this process. */
export class Cell {
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly environment: Record<string, string>;

  constructor(folder: string, sandbox: Sandbox, environment: Record<string, string>) {
    this.folder = folder;
    this.sandbox = sandbox;
    this.environment = environment;
  }

  get ledger(): string {
    return ledgerOf(this.folder);
  }

  /** Runs a job; `url` is the platform's unless something stands between. */
  async run(options: { job?: string; environment?: Record<string, string>; url?: string } = {}): Promise<Ended> {
    const environment = { ...sealEnvironment, ...quick, ...this.environment, ...options.environment };
    const place = { config: configOf(this.folder), sandbox: options.url ?? this.sandbox.url, ledger: this.ledger };
    return await runJob({ ...place, environment }, options.job);
  }

  /** Carries a command line out. */
  async carryOut(...words: string[]): Promise<Ended> {
    const environment = { ...sealEnvironment, ...quick, ...this.environment };
    const place = { config: configOf(this.folder), sandbox: this.sandbox.url, ledger: this.ledger };
    return await crmSync({ ...place, environment }, ...words);
  }

  /** Calls of operations, whatever became of them. */
  calls(...operations: string[]): number {
    const { calls } = this.sandbox.counts();
    return operations.reduce((sum, operation) => sum + (calls[operation] ?? 0), 0);
  }

  effects(): Record<string, number> {
    return this.sandbox.counts().effects;
  }

  /** What is wrong once nothing is under way; see `fullCheck`. */
  async wrong(wished: Partial<Wished>): Promise<string[]> {
    return await fullCheck({
      ledger: this.ledger,
      sandbox: this.sandbox.url,
      wished: { ...baseWished, ...wished },
      personal,
      secrets,
      output: [],
    });
  }
}

/** A folder of small worlds, some of which are worked on at once. `remove` drops it. */
export class Cells {
  readonly #folder = temporaryFolder();
  readonly #someAtOnce = pLimit(12);
  #made = 0;

  /** A folder for a world that others begin from. */
  place(name: string): string {
    return join(this.#folder.path, name);
  }

  /** Works on a copy of a folder. */
  async within(
    from: string,
    environment: Record<string, string>,
    work: (cell: Cell) => Promise<void>,
    change?: (folder: string) => void,
  ): Promise<void> {
    await this.#someAtOnce(async () => {
      this.#made += 1;
      const folder = this.place(`cell-${this.#made}`);
      cpSync(from, folder, { recursive: true });
      change?.(folder);
      await this.open(folder, environment, work);
    });
  }

  /** Works in the folder itself. */
  async open(folder: string, environment: Record<string, string>, work: (cell: Cell) => Promise<void>): Promise<void> {
    const sandbox = await newSandbox({ store: platformOf(folder) });
    try {
      await work(new Cell(folder, sandbox, environment));
    } finally {
      await sandbox.close();
    }
  }

  remove(): void {
    this.#folder.remove();
  }
}
