/** @module-tag sized */
import { cpSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { endpoints } from "../../src/contract/endpoints.ts";
import type { FaultRule } from "../../src/sandbox/faults.ts";
import type { Ended } from "../support/program.ts";
import { Cells } from "../support/cells.ts";
import type { Cell } from "../support/cells.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { goodRunOf, runResultOf } from "../support/program.ts";
import { isSample } from "../support/sizes.ts";
import { Beginnings } from "../support/world/beginnings.ts";
import { changes, ledgerOf, writeWorld } from "../support/world/small.ts";
import type { Change } from "../support/world/small.ts";

/**
 * Every reading operation meets every fault of the network in every situation in which something is concluded from it:
 * for good during a whole run, then once in the next one. A reading that failed is never "none": while it fails nothing
 * is sent that rests on it, and afterwards everything ends right and once.
 */
type Fault = Omit<FaultRule, "operation">;
type Read = "E3" | "E8" | "M5" | "M6" | "M7" | "M8";

const reads: readonly Read[] = ["E3", "E8", "M5", "M6", "M7"];

/** The program gives up well before the fault ends, and well after an honest answer. */
const impatient = { CRM_SYNC__orderService__callTimeoutMs: "1500", CRM_SYNC__memberCenter__callTimeoutMs: "1500" };
const soon = (): string => new Date(Date.now() + 1500).toUTCString();
const oddOnes = Array.from({ length: 60 }, (_, index) => index * 2 + 1);

interface Met {
  fault: Fault | (() => Fault);
  environment?: Record<string, string>;
  /** Which calls meet it in place of the first, and in place of all. */
  calls?: { once: Fault["nth"]; forGood: Fault["nth"] };
  /** Whether the client's repetition mends it when it comes once. */
  mended: boolean;
  on?: readonly Read[];
  /** It takes more staff than the two that each enterprise begins with. */
  twoPages?: true;
}

const faults: Record<string, Met> = {
  "the connection is reset before the request is read": { fault: { fault: "refused" }, mended: true },
  "the connection is reset when the request is read": { fault: { fault: "resetBefore" }, mended: true },
  "the reply ends in the middle": { fault: { fault: "resetMidReply" }, mended: true },
  "no reply ever comes": { fault: { fault: "silence" }, environment: impatient, mended: true },
  "the reply comes after we gave up": {
    fault: { fault: "slow", delayMs: 4_000 },
    environment: impatient,
    mended: true,
  },
  "the reply comes at one byte a second": {
    fault: { fault: "oneBytePerSecond" },
    environment: impatient,
    mended: true,
  },
  "the JSON stops in the middle": { fault: { fault: "wrongJson" }, mended: true },
  'HTTP 299 says "500"': { fault: { fault: "code500" }, mended: true },
  'HTTP 200 says "500"': { fault: { fault: "code500", status: 200 }, mended: true },
  "HTTP 502 with a page": { fault: { fault: "http502" }, mended: true },
  "HTTP 503 with Retry-After in seconds": { fault: { fault: "http503", retryAfter: "1" }, mended: true },
  "HTTP 503 with Retry-After as a date": { fault: () => ({ fault: "http503", retryAfter: soon() }), mended: true },
  "HTTP 429 with Retry-After in seconds": { fault: { fault: "http429", retryAfter: "1" }, mended: true },
  "HTTP 429 with Retry-After as a date": { fault: () => ({ fault: "http429", retryAfter: soon() }), mended: true },
  "success with data of another shape": { fault: { fault: "wrongShape" }, mended: true },
  "a code that no contract lists": { fault: { fault: "oddCode" }, mended: false },
  "HTTP 299 says that it cannot be (13004)": { fault: { fault: "status299", code: "13004" }, mended: false },
  // The sandbox's tokens are fixed: the service refuses the only one there is.
  "the token is called expired": { fault: { fault: "expiredToken" }, mended: false },
  "the reply is larger than any answer may be": { fault: { fault: "hugeBody", bytes: 9_000_000 }, mended: false },
  "a page lacks a row": { fault: { fault: "shortPage" }, mended: false, on: ["M5"] },
  "the total changes from page to page": {
    fault: { fault: "shortPage", shrinkTotal: true },
    // The first page of two is the short one: its total fits the rows that come, and only the next page tells.
    calls: { once: 1, forGood: oddOnes },
    environment: { CRM_SYNC__assumptions__staffPage__size: "2" },
    mended: false,
    on: ["M5"],
    twoPages: true,
  },
};

interface Situation {
  from: string;
  job?: "verify";
  reads: readonly Read[];
  environment?: Record<string, string>;
  /** Operations that may not be called while the reading fails. */
  notSent: readonly string[];
  wished: Change["wished"];
  /** What is taken away is judged once a run, so a revoke that settling found unsent is sent by the run after it. */
  late?: true;
  /** The enterprise is new, and has no staff but the two that it began with. */
  fresh?: true;
  /** Nothing is in the ledger of what the platform holds, so the two are not compared. */
  adopting?: true;
}

const writing = Object.entries(endpoints).flatMap(([id, operation]) => (operation.writes ? [id] : []));
const pages = { CRM_SYNC__assumptions__staffPage__size: "1", CRM_SYNC__assumptions__staffPage__base: "1" };
const few = { CRM_SYNC__orderService__readAttempts: "3", CRM_SYNC__memberCenter__readAttempts: "3" };

/** What proves an operation whose outcome is unknown, and what is read of it before it is planned anew. */
const proof: Record<string, { done: readonly Read[]; notDone: readonly Read[]; readsBefore?: number }> = {
  "E1 binds a new customer": { done: ["E3"], notDone: ["E3"] },
  "E2 creates an enterprise": { done: ["E3", "M5"], notDone: ["E3"] },
  // What never arrived shows no asset to look into.
  "E5 places an order": { done: ["M6", "E8", "M7"], notDone: ["M6", "E8"] },
  "E5 amends an order": { done: ["M6", "E8", "M7"], notDone: ["M6", "E8", "M7"] },
  "E5 deletes an asset": { done: ["M7"], notDone: ["M7"], readsBefore: 2 },
  "E5 deletes a product of a package": { done: ["M7"], notDone: ["M7"], readsBefore: 1 },
  "M1 adds a member of staff": { done: ["M5"], notDone: ["M5"] },
  "M4 deletes the account of somebody who left": { done: ["M5"], notDone: ["M5"] },
  "M9 grants an asset": { done: ["M5", "M6"], notDone: ["M5", "M6"] },
  "M9 revokes an asset": { done: ["M5", "M6"], notDone: ["M5", "M6"] },
  "M10 lends a lock": { done: ["M8", "M6"], notDone: ["M8", "M6"] },
};
const lost = { "was done": "appliedNoReply", "never arrived": "resetBefore" } as const;

interface Doubt {
  name: string;
  change: Change;
  fault: "appliedNoReply" | "resetBefore";
  reads: readonly Read[];
  /** Calls of M7 before the operation is sent. */
  readsBefore: number | undefined;
}

function doubts(): Doubt[] {
  return Object.entries(proof).flatMap(([name, shown]) =>
    Object.entries(lost).map(([became, fault]): Doubt => {
      const change = changes[name];
      if (change === undefined) throw new Error(`there is no change "${name}"`);
      const of = fault === "resetBefore" ? shown.notDone : shown.done;
      const { readsBefore } = shown;
      return { name: `settling "${name}", which ${became}`, change, fault, reads: of, readsBefore };
    }),
  );
}

/** What is read before something is taken away: each of these readings can say that it is not to go. */
const takesAway: Record<string, readonly Read[]> = {
  "E5 deletes an asset": ["M5", "M6", "E8", "M7", "M8"],
  "M4 deletes the account of somebody who left": ["M5", "M6"],
  "M9 revokes an asset": ["M5", "M6"],
};

interface Taking extends Situation {
  name: string;
  change: Change;
}

function takings(): Taking[] {
  return Object.entries(takesAway).map(([changed, read]): Taking => {
    const change = changes[changed];
    if (change === undefined) throw new Error(`there is no change "${changed}"`);
    const name = `before "${changed}"`;
    return {
      name,
      change,
      from: name.replaceAll(/\W+/gu, "-"),
      reads: read,
      notSent: writing,
      wished: change.wished,
      ...(change.environment === undefined ? {} : { environment: change.environment }),
    };
  });
}

const situations: Record<string, Situation> = {
  "the first synchronisation": {
    from: "empty",
    reads: ["E3", "M5", "M6"],
    notSent: ["E1", "E9", "E5", "M1", "M9"],
    wished: {},
    fresh: true,
  },
  "the first synchronisation of an enterprise that is there": {
    from: "unknown",
    reads,
    notSent: ["E1", "E2", "E9", "E5", "M1", "M9"],
    wished: {},
    adopting: true,
  },
  verify: { from: "base", job: "verify", reads: [...reads, "M8"], notSent: writing, wished: {} },
  ...Object.fromEntries(takings().map(({ name, ...situation }): [string, Situation] => [name, situation])),
  ...Object.fromEntries(
    doubts().map(({ name, change, fault, reads: shown }): [string, Situation] => [
      name,
      {
        from: name.replaceAll(/\W+/gu, "-"),
        reads: shown,
        notSent: writing,
        wished: change.wished,
        ...(change.environment === undefined ? {} : { environment: change.environment }),
        ...(change.endpoint === "E2" ? { fresh: true } : {}),
        ...(change.judged === true && fault === "resetBefore" ? { late: true } : {}),
      },
    ]),
  ),
};

const cells = new Cells();
const beginnings = new Beginnings(cells.place("changes"));

beforeAll(async () => {
  writeWorld(cells.place("empty"));
  const base = cells.place("base");
  writeWorld(base);
  await cells.open(base, pages, async (cell) => {
    goodRunOf(await cell.run());
    if ((await cell.run({ job: "verify" })).exitCode !== 0) throw new Error("the world is not verified");
  });
  cpSync(base, cells.place("unknown"), { recursive: true });
  for (const end of ["", "-wal", "-shm", ".lock", ".heads"])
    rmSync(`${ledgerOf(cells.place("unknown"))}${end}`, { force: true });
  for (const { from, change } of takings()) {
    cpSync(base, cells.place(from), { recursive: true });
    writeWorld(cells.place(from), change.world);
  }
  await Promise.all(
    doubts().map(async ({ name, change, fault, readsBefore }) => {
      const folder = cells.place(name.replaceAll(/\W+/gu, "-"));
      if (change.after === undefined) cpSync(base, folder, { recursive: true });
      else cpSync(await beginnings.of(change), folder, { recursive: true });
      writeWorld(folder, change.world);
      await cells.open(folder, { ...pages, ...change.environment }, async (cell) => {
        cell.sandbox.faults.add({ operation: change.endpoint, fault, times: 1 });
        // The circuit opens after this one failure, so that nothing is settled; that of the other service after the
        // reading that comes next.
        if (readsBefore !== undefined)
          cell.sandbox.faults.add({ operation: "M7", fault: "http502", nth: readsBefore + 1 });
        const environment = {
          CRM_SYNC__orderService__breakerFailures: "1",
          CRM_SYNC__memberCenter__breakerFailures: "1",
        };
        const { exit } = runResultOf(await cell.run({ environment }));
        if (exit !== 5) throw new Error(`${name}: it is not in doubt, exit ${exit}`);
      });
    }),
  );
});
afterAll(() => cells.remove());

function duplicates(cell: Cell): number {
  return Object.values(cell.sandbox.duplicates()).reduce((sum, found) => sum + found.length, 0);
}

/** What the ledger has seen of the platform. */
function seen(cell: Cell): unknown[] {
  const ledger = new LedgerView(cell.ledger);
  try {
    return ledger.rows(
      z.unknown(),
      "select kind, subject, seen_at, body from observation where to_at is null order by kind, subject",
    );
  } finally {
    ledger.close();
  }
}

function balances(ended: Ended, situation: Situation): number {
  if (situation.job === "verify") return ended.exitCode ?? -1;
  const result = runResultOf(ended);
  expect(result.balance.adds).toBe(true);
  return result.exit;
}

async function meets(cell: Cell, situation: Situation, read: Read, met: Met): Promise<void> {
  const { sandbox } = cell;
  const given = typeof met.fault === "function" ? met.fault() : met.fault;
  const job = situation.job === undefined ? {} : { job: situation.job };
  const run = async (environment = met.environment): Promise<number> =>
    balances(await cell.run({ ...job, ...(environment === undefined ? {} : { environment }) }), situation);
  const before = situation.job === "verify" ? seen(cell) : undefined;

  sandbox.faults.add({ operation: read, ...given, ...(met.calls === undefined ? {} : { nth: met.calls.forGood }) });
  const sent = cell.calls(...situation.notSent);
  const exit = await run();
  expect(sandbox.counts().faulted, "the fault met no call").toBeGreaterThan(0);
  expect([5, 7], "the reading failed, and the run says so").toContain(exit);
  expect(cell.calls(...situation.notSent) - sent, "sent although the reading failed").toBe(0);
  expect(duplicates(cell)).toBe(0);
  if (before !== undefined) expect(seen(cell), "what was seen before stands").toEqual(before);

  sandbox.faults.clear();
  const faulted = sandbox.counts().faulted;
  const once = typeof met.fault === "function" ? met.fault() : met.fault;
  sandbox.faults.add({
    operation: read,
    ...once,
    ...(met.calls === undefined ? { times: 1 } : { nth: met.calls.once }),
  });
  const second = await run();
  expect(sandbox.counts().faulted - faulted, "the fault met no call once").toBe(1);
  sandbox.faults.clear();
  const good = situation.adopting === true ? await adoptedExit() : 0;
  if (situation.late === true) await run();
  if (met.mended && situation.late !== true) expect(second, "the repetition mends it").toBe(good);
  else expect(await run(), "the next run ends right").toBe(good);
  expect(duplicates(cell)).toBe(0);
  if (situation.adopting === true) expect(cell.calls(...situation.notSent)).toBe(0);
  else expect(await cell.wrong(situation.wished)).toEqual([]);

  const writes = sandbox.counts().writingCalls;
  runResultOf(await cell.run());
  expect(sandbox.counts().writingCalls, "nothing is left to send").toBe(writes);
}

let adopted: Promise<number> | undefined;
/**
 * How a first synchronisation of the enterprise that is there ends without faults: what it adopted lacks what the CRM
 * names.
 */
async function adoptedExit(): Promise<number> {
  adopted ??= (async () => {
    let exit = -1;
    const folder = cells.place("unknown-without-faults");
    cpSync(cells.place("unknown"), folder, { recursive: true });
    await cells.open(folder, pages, async (cell) => {
      exit = runResultOf(await cell.run()).exit;
    });
    return exit;
  })();
  return await adopted;
}

/** Every situation, read and fault that fits it. */
function everyCell(): [string, { situation: Situation; read: Read; met: Met }][] {
  return Object.entries(situations).flatMap(([where, situation]) =>
    situation.reads.flatMap((read) =>
      Object.entries(faults)
        .filter(
          ([, met]) =>
            met.on === undefined || (met.on.includes(read) && !(met.twoPages === true && situation.fresh === true)),
        )
        .map(([fault, met]): ReturnType<typeof everyCell>[number] => [
          `${where}: ${read}, ${fault}`,
          { situation, read, met },
        ]),
    ),
  );
}

/** Every cell; where only a sample is run, each fault once, with the situations and their reads in turn. */
function oneOfEach(): ReturnType<typeof everyCell> {
  const all = everyCell();
  if (!isSample) return all;
  const steps = Object.keys(situations).length;
  return Object.values(faults).flatMap((fault, index) => {
    const meeting = all.filter(([, { met }]) => met === fault);
    return meeting.slice(Math.floor((meeting.length * (index % steps)) / steps)).slice(0, 1);
  });
}

describe("a reading that fails is never 'none'", () => {
  const ended = new Map<string, Promise<void>>();
  const cellsHere = oneOfEach();
  // Most of a cell is waiting, so many are on at once: more than vitest would run.
  beforeAll(() => {
    for (const [title, { situation, read, met }] of cellsHere) {
      const cell = cells.within(
        cells.place(situation.from),
        { ...pages, ...few, ...situation.environment },
        async (one) => await meets(one, situation, read, met),
      );
      cell.catch(() => {});
      ended.set(title, cell);
    }
  });
  it.each(cellsHere)("%s", { tags: "long", timeout: 600_000 }, async (title) => {
    await ended.get(title);
  });
});

describe("the matrix of reads", () => {
  it("has every reading operation", () => {
    const reading = Object.entries(endpoints).flatMap(([id, operation]) => (operation.writes ? [] : [id]));
    const used = new Set(Object.values(situations).flatMap((situation) => situation.reads));
    expect([...used].sort()).toEqual(reading.sort());
    expect(new Set(everyCell().map(([, { met }]) => met)).size, "every fault is met").toBe(Object.keys(faults).length);
  });
});
