import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import { sha256 } from "../../../src/base/canonical-json.ts";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { Problem } from "../../../src/base/errors.ts";
import { systemHost } from "../../../src/base/host.ts";
import { createIds, systemRandomness, type Randomness } from "../../../src/base/ids.ts";
import { Ledger, type LedgerOptions } from "../../../src/ledger/ledger.ts";
import { startSandbox, type Sandbox, type SandboxOptions } from "../../../src/sandbox/sandbox.ts";
import { putNewLedger } from "../new-ledger.ts";

export const sealSecret = "a sealing key of some length";

/** A folder that is gone after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "crm-sync-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const ports = { from: 20_000, count: 12_000, tries: 200 };
let portsTried = 0;

/**
 * A port below those that a system gives out by itself: while a sandbox refuses connections, no other one gets its
 * port, so that a caller finds nobody there.
 */
function nextPort(): number {
  portsTried += 1;
  return ports.from + ((process.pid * 1009 + portsTried) % ports.count);
}

/** Both services on this machine, in memory unless it is said, until they are closed. */
export async function newSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const given = { store: ":memory:", clock: systemClock, random: systemRandomness, ...options };
  for (let tries = 0; given.port === undefined && tries < ports.tries; tries += 1)
    try {
      return await startSandbox({ ...given, port: nextPort() });
    } catch (error) {
      if (!(error instanceof Problem && error.code === "sandbox.port")) throw error;
    }
  return await startSandbox(given);
}

/** The same until the test is over. */
export async function openSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await newSandbox(options);
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** The clock of the machine, on which nobody's sleep ends before `release`. */
export class HeldClock implements Clock {
  readonly #released = Promise.withResolvers<void>();
  now = (): number => systemClock.now();
  monotonic = (): number => systemClock.monotonic();
  sleep = async (_ms: number, signal?: AbortSignal): Promise<void> => {
    const given = Promise.withResolvers<never>();
    const giveUp = (): void => given.reject(signal?.reason);
    if (signal?.aborted === true) giveUp();
    signal?.addEventListener("abort", giveUp, { once: true });
    await Promise.race([this.#released.promise, given.promise]);
  };
  release(): void {
    this.#released.resolve();
  }
}

let drawn = 0;

/** Time that a test moves, and randomness that repeats from one execution of a test file to the next. */
export class HandTime implements Clock {
  at = Date.UTC(2026, 9, 1, 8);
  now = (): number => this.at;
  monotonic = (): number => this.at;
  sleep = async (ms: number): Promise<void> => {
    this.at += ms;
  };
  random: Randomness = {
    hex: (length) => {
      drawn += 1;
      return sha256(`random ${drawn}`)
        .repeat(4)
        .slice(0, length * 2);
    },
    fraction: () => 0.5,
  };
}

/** A ledger, in a folder of its own unless it is said. `isNew`: one that this process makes, with a salt of its own. */
export async function openLedger(
  options: Partial<LedgerOptions> & { time?: HandTime; isNew?: true } = {},
): Promise<{ ledger: Ledger; path: string; time: HandTime }> {
  const { time = new HandTime(), isNew, ...others } = options;
  const path = options.path ?? join(folder(), "ledger.db");
  if (options.path === undefined && isNew !== true) putNewLedger(path);
  const ledger = await Ledger.open({
    clock: time,
    ids: createIds(() => time.now(), time.random),
    random: time.random,
    host: systemHost,
    sealSecret,
    ...others,
    path,
  });
  onTestFinished(() => ledger.close());
  return { ledger, path, time };
}

/** Another connection to the file, past the ledger. */
export function sqlite(path: string, options: Database.Options = {}): Database.Database {
  const database = new Database(path, options);
  onTestFinished(() => {
    database.close();
  });
  return database;
}

/** Rows of a file that nobody holds open for this. */
export function rowsOf<Row>(path: string, sql: string, ...parameters: unknown[]): Row[] {
  const database = new Database(path, { readonly: true });
  try {
    return database.prepare<unknown[], Row>(sql).all(...parameters);
  } finally {
    database.close();
  }
}

/** Carries out statements in a file as somebody with the file at hand could. */
export function changeFile(path: string, sql: string): void {
  const database = new Database(path);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}
