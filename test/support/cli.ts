import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import type { EndpointId } from "../../src/sandbox/endpoints.ts";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/sandbox.ts";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { stringify } from "yaml";
import { fileSource, filesOf, writeFiles } from "./world/crm-files.ts";
import { company, privateText, sealEnvironment, withoutCompanies, type Crm } from "./world/crm.ts";
import { unexplainedCodes } from "./known-codes.ts";
import { putNewLedger } from "./new-ledger.ts";
import { startCrmSync, type Running } from "./process.ts";
import { crmSync, type Ended, type Instead, type Place } from "./program.ts";
import { changeFile, folder as newFolder, HandTime, openSandbox, rowsOf } from "./world/start.ts";

/** What JSON.parse gives: each test says what it expects of it. */
export type Parsed = ReturnType<typeof JSON.parse>;

/** The configuration of a world, without the services: those of the sandbox come from its profile. */
export const worldConfiguration = `ledger:
  path: ledger.db
  sealKey: env:SEAL_KEY
zone: UTC
log: { level: warn }
${stringify({ sources: { crm: fileSource("data", ["customers", "orders"]), hr: fileSource("data", ["staff"]) } })}`;

/** The job of a world that does everything in one run. */
const worldJobs = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;

const tokens = /sandbox-app-token|sandbox-user-token/u;

/** A call that stands still in the middle. */
export interface Stop {
  /** Resolves when the call has come. */
  reached: Promise<void>;
  goOn(): void;
}

/** A CRM, its configuration, a sandbox and the command line, in a folder that goes with the test. */
export interface World extends Crm {
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** What is added to the end of the configuration. */
  extra: string;
  environment: Record<string, string | undefined>;
  path(name: string): string;
  /** Writes the configuration and the files of the CRM as they are now. */
  write(): void;
  /** Its configuration, its sandbox and its environment, for `run` and `start`. */
  readonly place: Place & Pick<Instead, "clock">;
  /** The time of the program and of the sandbox, which goes on where either of them waits. */
  readonly clock: HandTime;
  /** By how much the clock of the program is ahead of that of the services. Milliseconds. */
  ahead: number;
  /** Carries a command line out against the sandbox, in this process. */
  run(...words: string[]): Promise<Ended>;
  /** As `run`, without `--sandbox`. */
  plain(...words: string[]): Promise<Ended>;
  /** As `run`, by the real launcher, in a process of its own. */
  start(...words: string[]): Running;
  /** As `run`, with the writing calls that the sandbox got meanwhile; `sent` counts M9. */
  does(...words: string[]): Promise<Ended & { calls: Record<string, number>; sent: number }>;
  /** From now on the world works with another ledger, which is not there yet: the one before is lost. */
  losesItsLedger(name?: string): void;
  /** Rows of the ledger. */
  rows<Row>(sql: string, ...parameters: unknown[]): Row[];
  /** Carries out a statement in the ledger as somebody with the file at hand could. */
  tamper(sql: string): void;
  /**
   * The n-th call of an operation from now on (the next one by default) stops: before the service sees it, or after it
   * was applied and before it is answered. It goes on when the test says so, and at the end of the test.
   */
  stopsAt(operation: EndpointId, at?: { nth?: number; when?: "before" | "after" }): Stop;
  /** So much time passes. */
  later(hours: number): void;
  /** The JSON document that a command prints: `status`, `explain order O1`, `settle list`. */
  ask(...words: string[]): Promise<Parsed>;
  /** Writing calls that the sandbox got while `work` was on, by operation. */
  writes<T>(work: () => Promise<T>): Promise<{ result: T; calls: Record<string, number> }>;
}

export const writingOperations = ["E1", "E2", "E4", "E5", "E6", "E7", "E9", "M1", "M2", "M3", "M4", "M9", "M10"];

/** Settings with which a read that failed is tried again soon: as often as always, and waited for less. */
export const promptRetries = {
  CRM_SYNC__orderService__backoffBaseMs: "20",
  CRM_SYNC__memberCenter__backoffBaseMs: "20",
};

/** Time that passes between two command lines. */
const betweenCommands = 60_000;

/**
 * What holds for every command line, whatever it did: nothing private, no stack trace, no terminal codes in a pipe, no
 * noun as one and several at once, every line of stderr that looks like a log line is one, and with `--json` stdout is
 * JSON on every line, with codes that the reference explains.
 */
export function expectDecent(words: readonly string[], ended: Pick<Ended, "stdout" | "stderr">): void {
  const said = `${withoutCompanies(words, ended.stdout)}\n${ended.stderr}`;
  const command = `crm-sync ${words.join(" ")}`;
  for (const pattern of [privateText, tokens])
    expect.soft(pattern.exec(said)?.[0], `${command} shows something private`).toBeUndefined();
  expect.soft(/\w\(s\)/u.exec(said)?.[0], `${command} spells one and several alike`).toBeUndefined();
  expect.soft(/^\s+at .+:\d+:\d+\)?$/mu.exec(said)?.[0], `${command} shows a stack trace`).toBeUndefined();
  // eslint-disable-next-line no-control-regex
  expect.soft(/\u001b|\r(?!\n)/u.exec(said)?.[0], `${command} writes terminal codes into a pipe`).toBeUndefined();
  if (!words.includes("--json")) return;
  expect.soft(() => documentsIn(ended.stdout), `${command} prints what is no JSON: ${ended.stdout}`).not.toThrow();
  const unexplained = documentsIn(ended.stdout).flatMap(unexplainedCodes);
  expect.soft(unexplained, `${command} prints codes that docs/reference/codes.md does not explain`).toEqual([]);
}

/** One document over several lines, or a document on each line. */
function documentsIn(stdout: string): Parsed[] {
  try {
    return [JSON.parse(stdout)];
  } catch {
    return stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }
}

/** The JSON documents on stdout. */
export function documents(ended: Ended): Parsed[] {
  return documentsIn(ended.stdout);
}

/** The one JSON document on stdout. */
export function document(ended: Ended): Parsed {
  const all = documents(ended);
  expect(all, `one document was expected:\n${ended.stdout}\n${ended.stderr}`).toHaveLength(1);
  return all[0];
}

/** Waits for something that another process brings about; rejects when it does not within some minutes. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 8_000; tries += 1) {
    if (holds()) return;
    await sleep(25);
  }
  throw new Error(`it never came to this: ${what}`);
}

/** Calls that a test wants stopped. */
export class Stops {
  readonly #wanted: {
    operation: EndpointId | "*";
    when: string;
    left: number;
    reach: () => void;
    open: Promise<void>;
  }[] = [];
  readonly #ends: (() => void)[] = [];

  /** `*`: whatever the operation is. */
  add(operation: EndpointId | "*", when: "before" | "after", nth: number): Stop {
    const reached = Promise.withResolvers<void>();
    const open = Promise.withResolvers<void>();
    this.#wanted.push({ operation, when, left: nth, reach: reached.resolve, open: open.promise });
    this.#ends.push(open.resolve);
    return { reached: reached.promise, goOn: open.resolve };
  }

  async wait(operation: EndpointId, when: "before" | "after"): Promise<void> {
    for (const one of this.#wanted.filter(
      (wanted) => [operation, "*"].includes(wanted.operation) && wanted.when === when,
    )) {
      one.left -= 1;
      if (one.left !== 0) continue;
      one.reach();
      await one.open;
    }
  }

  end(): void {
    for (const end of this.#ends) end();
  }
}

/**
 * Makes a world: by default two customers with one order of two assets each, and two people each. `isNew`: without a
 * ledger. `isOnMachineTime`: for a world in which processes of their own take part, which own no time.
 */
export async function world(
  options: { records?: Crm; sandbox?: Partial<SandboxOptions>; isNew?: true; isOnMachineTime?: true } = {},
): Promise<World> {
  const folder = newFolder();
  const clock = new HandTime();
  clock.at = Date.UTC(2026, 10, 2, 8);
  if (options.isOnMachineTime === true) Object.assign(clock, systemClock);
  const stops = new Stops();
  const sandbox = await openSandbox({
    clock,
    gate: (operation, when) => stops.wait(operation, when),
    ...options.sandbox,
  });
  onTestFinished(() => stops.end());
  const path = (name: string): string => join(folder, name);
  const { monotonic, sleep: passes } = clock;
  const ofProgram: Clock = { monotonic, sleep: passes, now: () => clock.now() + made.ahead };
  const made: World = {
    folder,
    sandbox,
    ...(options.records ?? company(2, 2)),
    extra: "",
    environment: {
      ...sealEnvironment,
      CRM_SYNC__settle__timeMs: "200",
      CRM_SYNC__settle__readings: "2",
    },
    path,
    write() {
      writeFileSync(
        path("crm-sync.yaml"),
        `${worldConfiguration}${made.extra.includes("jobs:") ? "" : worldJobs}${made.extra}`,
      );
      writeFiles(path("data"), filesOf("ndjson", made));
      if (options.isNew !== true) putNewLedger(path("ledger.db"));
    },
    get place() {
      const { environment } = made;
      return { config: path("crm-sync.yaml"), sandbox: sandbox.url, environment, clock: ofProgram };
    },
    clock,
    ahead: 0,
    async run(...words) {
      clock.at += betweenCommands;
      const ended = await crmSync(made.place, ...words);
      expectDecent(words, ended);
      return ended;
    },
    async plain(...words) {
      const { sandbox: _, ...place } = made.place;
      clock.at += betweenCommands;
      const ended = await crmSync(place, ...words);
      expectDecent(words, ended);
      return ended;
    },
    start(...words) {
      const running = startCrmSync({ ...made.place, folder }, ...words);
      onTestFinished(() => {
        if (running.child.exitCode === null) running.child.kill("SIGKILL");
      });
      return running;
    },
    async does(...words) {
      const { result, calls } = await made.writes(() => made.run(...words));
      return { ...result, calls, sent: calls["M9"] ?? 0 };
    },
    losesItsLedger: (name = "second.db") => {
      made.environment["CRM_SYNC__ledger__path"] = name;
    },
    rows: (sql, ...parameters) => {
      const ledger = made.environment["CRM_SYNC__ledger__path"] ?? "ledger.db";
      return rowsOf(path(ledger), sql, ...parameters);
    },
    tamper: (sql) => changeFile(path("ledger.db"), sql),
    stopsAt: (operation, { nth = 1, when = "before" } = {}) => stops.add(operation, when, nth),
    later(hours) {
      clock.at += hours * 3_600_000;
    },
    async ask(...words) {
      return document(await made.run("--json", ...words));
    },
    async writes(work) {
      const before = sandbox.counts().calls;
      const result = await work();
      const after = sandbox.counts().calls;
      const calls: Record<string, number> = {};
      for (const name of writingOperations) {
        const count = (after[name] ?? 0) - (before[name] ?? 0);
        if (count > 0) calls[name] = count;
      }
      return { result, calls };
    },
  };
  made.write();
  return made;
}
