/** @module-tag sized */
import { cpSync, rmSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { meaningOf } from "../../src/contract/codes.ts";
import { endpoints } from "../../src/contract/endpoints.ts";
import type { FaultRule } from "../../src/sandbox/faults.ts";
import { Cells, type Cell } from "../support/cells.ts";
import { goodRunOf, runResultOf } from "../support/program.ts";
import { isFull, isSample, sizes, spread } from "../support/sizes.ts";
import { base, changeOf, ledgerOf, writeWorld, type Change } from "../support/world/small.ts";

/**
 * Every reading operation meets every fault of the network, in the situations in which something is concluded from it:
 * for good during a whole run, then once in the next one. A reading that failed is never "none": while it fails nothing
 * is sent that rests on it, and afterwards everything ends right and once.
 */
type Fault = Omit<FaultRule, "operation">;
const reads = ["E3", "E8", "M5", "M6", "M7", "M8"] as const;
type Read = (typeof reads)[number];

interface Met {
  fault: Fault | ((now: number) => Fault);
  environment?: Record<string, string>;
  /** Which calls meet it, in place of the first one and in place of all. */
  calls?: { once: number; forGood: number[] };
  /** Whether the client's repetition mends it when it comes once. */
  mended: boolean;
  only?: Read;
  /** It takes more staff than the two that each enterprise begins with. */
  twoPages?: true;
}

/** What has no answer is waited for in real time. */
const silent = { CRM_SYNC__orderService__callTimeoutMs: "1000", CRM_SYNC__memberCenter__callTimeoutMs: "1000" };
const soon = (now: number): string => new Date(now + 1500).toUTCString();

const faults: Readonly<Record<string, Met>> = {
  "the connection is reset before the request is read": { fault: { fault: "refused" }, mended: true },
  "the connection is reset when the request is read": { fault: { fault: "resetBefore" }, mended: true },
  "the reply ends in the middle": { fault: { fault: "resetMidReply" }, mended: true },
  "no reply ever comes": { fault: { fault: "silence" }, environment: silent, mended: true },
  "the reply comes at one byte a second": { fault: { fault: "oneBytePerSecond" }, environment: silent, mended: true },
  "the JSON stops in the middle": { fault: { fault: "wrongJson" }, mended: true },
  'HTTP 299 says "500"': { fault: { fault: "code500" }, mended: true },
  'HTTP 200 says "500"': { fault: { fault: "code500", status: 200 }, mended: true },
  "HTTP 502 with a page": { fault: { fault: "http502" }, mended: true },
  "HTTP 503 with Retry-After": { fault: { fault: "http503", retryAfter: "1" }, mended: true },
  "HTTP 429 with Retry-After as a date": {
    fault: (now) => ({ fault: "http429", retryAfter: soon(now) }),
    mended: true,
  },
  "success with data of another shape": { fault: { fault: "wrongShape" }, mended: true },
  "a code that no contract lists": { fault: { fault: "oddCode" }, mended: false },
  // The sandbox's tokens are fixed: the service refuses the only one there is.
  "the token is called expired": { fault: { fault: "expiredToken" }, mended: false },
  "the reply is larger than any answer may be": { fault: { fault: "hugeBody", bytes: 9_000_000 }, mended: false },
  "a page lacks a row": { fault: { fault: "shortPage" }, mended: false, only: "M5" },
  "the total changes from page to page": {
    fault: { fault: "shortPage", shrinkTotal: true },
    // The first page of two is the short one: its total fits the rows that come, and only the next page tells.
    calls: { once: 1, forGood: Array.from({ length: 60 }, (_, index) => index * 2 + 1) },
    environment: { CRM_SYNC__assumptions__staffPage__size: "2" },
    mended: false,
    only: "M5",
    twoPages: true,
  },
};

/** The world of a situation, and what is known of it. */
interface Situation {
  from: () => Promise<string>;
  job?: "verify";
  environment?: Record<string, string>;
  /** Operations that may not be called while the reading fails. */
  notSent: readonly string[];
  /** Of these, what goes on without a reading of people and their seats. */
  goesOn?: readonly string[];
  wished: Change["wished"];
  /** A revoke that settling found unsent is judged, and sent, by the run after that. */
  late?: true;
  /** The enterprise is new, and has no staff but the two that it began with. */
  fresh?: true;
  /** The ledger knows nothing of what the platform holds, so the two are not compared. */
  adopting?: true;
}

const writing = Object.entries(endpoints).flatMap(([id, operation]) => (operation.writes ? [id] : []));
const settings = {
  CRM_SYNC__assumptions__staffPage__size: "1",
  CRM_SYNC__assumptions__staffPage__base: "1",
  CRM_SYNC__orderService__readAttempts: "3",
  CRM_SYNC__memberCenter__readAttempts: "3",
};

const cells = new Cells();
afterAll(() => cells.remove());

async function emptyWorld(): Promise<string> {
  const folder = cells.place("empty");
  writeWorld(folder);
  return await Promise.resolve(folder);
}

/** Everything is on the platform, and the ledger is lost. */
async function unknownWorld(): Promise<string> {
  const folder = cells.place("unknown");
  cpSync(await cells.synchronised(base), folder, { recursive: true });
  for (const end of ["", "-wal", "-shm", ".lock", ".heads"]) rmSync(`${ledgerOf(folder)}${end}`, { force: true });
  return folder;
}

/** What proves an operation whose outcome is not known, and what is read of it before it is planned anew. */
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

/** What is read before something is taken away: each of these readings can say that it is not to go. */
const takesAway: Record<string, readonly Read[]> = {
  "E5 deletes an asset": ["M5", "M6", "E8", "M7", "M8"],
  "M4 deletes the account of somebody who left": ["M5", "M6"],
  "M9 revokes an asset": ["M5", "M6"],
};

/** An operation that is left in doubt by one lost call; the circuit opens after it, so that nothing is settled. */
async function inDoubt(change: Change, became: keyof typeof lost, readsBefore: number | undefined): Promise<string> {
  const folder = cells.place(`doubt ${change.kind} ${became}`);
  cpSync(await cells.before(change), folder, { recursive: true });
  const environment = {
    ...settings,
    ...change.environment,
    CRM_SYNC__orderService__breakerFailures: "1",
    CRM_SYNC__memberCenter__breakerFailures: "1",
  };
  await cells.open(folder, environment, async (cell) => {
    const { sandbox } = cell;
    sandbox.faults.add({ operation: change.endpoint, fault: lost[became], times: 1 });
    // The circuit of the other service opens by the reading that comes next.
    if (readsBefore !== undefined) sandbox.faults.add({ operation: "M7", fault: "http502", nth: readsBefore + 1 });
    expect(runResultOf(await cell.run()).exit, "it is in doubt").toBe(5);
  });
  return folder;
}

type Where = [name: string, situation: Situation, reads: readonly Read[]];

function situations(): Where[] {
  const of = (change: Change): Pick<Situation, "environment" | "wished" | "notSent"> => ({
    notSent: writing,
    wished: change.wished,
    ...(change.environment === undefined ? {} : { environment: change.environment }),
  });
  const first = { wished: {}, notSent: ["E1", "E9", "E5", "M1", "M9"], goesOn: ["E9", "E5"] };
  return [
    ["the first run", { ...first, from: emptyWorld, fresh: true }, ["E3", "M5", "M6"]],
    [
      "the first run of an enterprise that is there",
      { ...first, from: unknownWorld, notSent: [...first.notSent, "E2"], adopting: true, goesOn: [] },
      ["E3", "E8", "M5", "M6", "M7"],
    ],
    ["verify", { from: () => cells.synchronised(base), job: "verify", notSent: writing, wished: {} }, reads],
    ...Object.entries(takesAway).map(([name, shown]): Where => {
      const change = changeOf(name);
      return [`before "${name}"`, { ...of(change), from: () => cells.before(change) }, shown];
    }),
    ...Object.entries(proof).flatMap(([name, shown]) =>
      (["was done", "never arrived"] as const).map((became): Where => {
        const change = changeOf(name);
        const situation: Situation = { ...of(change), from: () => inDoubt(change, became, shown.readsBefore) };
        if (change.endpoint === "E2") situation.fresh = true;
        if (change.judged === true && became === "never arrived") situation.late = true;
        return [`settling "${name}", which ${became}`, situation, became === "was done" ? shown.done : shown.notDone];
      }),
    ),
  ];
}

function duplicates(cell: Cell): number {
  return Object.values(cell.sandbox.duplicates()).reduce((sum, found) => sum + found.length, 0);
}

const made = new Map<Situation, Promise<string>>();
async function folderOf(situation: Situation): Promise<string> {
  const folder = made.get(situation) ?? situation.from();
  made.set(situation, folder);
  return await folder;
}

/** How a first run of the enterprise that is there ends without faults: what it adopts lacks what the CRM names. */
async function adoptedExit(situation: Situation): Promise<number> {
  let exit = -1;
  await cells.within(await folderOf(situation), settings, async (cell) => {
    exit = runResultOf(await cell.run()).exit;
  });
  return exit;
}

async function meets(situation: Situation, read: Read, met: Met): Promise<void> {
  const { wished, adopting, late, environment, goesOn = [] } = situation;
  const isOfPeople = ["M5", "M6", "M8"].includes(read);
  const notSent = situation.notSent.filter((id) => !isOfPeople || !goesOn.includes(id));
  const good = adopting === true ? await adoptedExit(situation) : 0;
  await cells.within(await folderOf(situation), { ...settings, ...environment }, async (cell) => {
    const { sandbox } = cell;
    const fault = (): Fault => (typeof met.fault === "function" ? met.fault(cell.clock.now()) : met.fault);
    const run = async (): Promise<number> => {
      const options = situation.job === undefined ? {} : { job: situation.job };
      const ended = await cell.run({ ...options, environment: met.environment ?? {} });
      if (situation.job !== "verify") expect(runResultOf(ended).balance.adds).toBe(true);
      return ended.exitCode ?? -1;
    };

    const nth = met.calls === undefined ? {} : { nth: met.calls.forGood };
    sandbox.faults.add({ operation: read, ...fault(), ...nth });
    const sent = cell.calls(...notSent);
    const exit = await run();
    expect(sandbox.counts().faulted, "the fault met no call").toBeGreaterThan(0);
    expect([5, 7], "the reading failed, and the run says so").toContain(exit);
    expect(cell.calls(...notSent) - sent, "sent although the reading failed").toBe(0);
    expect(duplicates(cell)).toBe(0);

    sandbox.faults.clear();
    const { faulted } = sandbox.counts();
    sandbox.faults.add({ operation: read, ...fault(), ...(met.calls === undefined ? { times: 1 } : { nth: 1 }) });
    const second = await run();
    expect(sandbox.counts().faulted - faulted, "the fault met no call once").toBe(1);
    sandbox.faults.clear();
    if (late === true) await run();
    if (met.mended && late !== true) expect(second, "the repetition mends it").toBe(good);
    else expect(await run(), "the next run ends right").toBe(good);
    expect(duplicates(cell)).toBe(0);
    if (adopting === true) expect(cell.calls(...notSent)).toBe(0);
    else expect(await cell.wrong(wished)).toEqual([]);

    const writes = sandbox.counts().writingCalls;
    runResultOf(await cell.run());
    expect(sandbox.counts().writingCalls, "nothing is left to send").toBe(writes);
  });
}

type MatrixCell = [where: string, read: Read, fault: string, situation: Situation, met: Met];

/** Each read with each fault, in one of its situations in turn; in all of them for a release. */
function matrix(): MatrixCell[] {
  const everywhere = situations();
  return reads.flatMap((read) => {
    const own = Object.entries(faults).filter(([, { only }]) => only === undefined || only === read);
    return own.flatMap(([name, met], column) => {
      const there = everywhere.filter(
        ([, { fresh }, shown]) => shown.includes(read) && !(met.twoPages === true && fresh === true),
      );
      const chosen = isFull ? there : there.slice(column % there.length).slice(0, 1);
      return chosen.map(([where, situation]): MatrixCell => [where, read, name, situation, met]);
    });
  });
}

const isSilent = ([, , , , { environment }]: MatrixCell): boolean => environment === silent;
const all = isSample ? spread(matrix(), 4).filter((cell) => !isSilent(cell)) : spread(matrix(), sizes.cells);

describe("a reading that fails is never 'none'", () => {
  it.each(all.filter((cell) => !isSilent(cell)))("%s: %s, when %s", async (_where, read, _fault, situation, met) => {
    await meets(situation, read, met);
  });
  // Most of such a cell is waiting.
  it.concurrent.each(all.filter(isSilent))("%s: %s, when %s", async (_where, read, _fault, situation, met) => {
    await meets(situation, read, met);
  });
});

const settling: Record<Read, string> = {
  E3: "E2 creates an enterprise",
  E8: "E5 places an order",
  M5: "M1 adds a member of staff",
  M6: "E5 places an order",
  M7: "E5 places an order",
  M8: "M10 lends a lock",
};
const answered = reads.flatMap((read) => endpoints[read].codes.map((code) => [read, code] as const));

describe("a reading that is answered with a code of its contract", () => {
  const doubts = new Map<string, Promise<string>>();

  it.each(isSample ? spread(answered, 1) : answered)("proves nothing: %s with %s", async (read, code) => {
    const name = settling[read];
    const change = changeOf(name);
    const from = doubts.get(name) ?? inDoubt({ ...change, kind: `${change.kind} code` }, "was done", undefined);
    doubts.set(name, from);
    await cells.within(await from, change.environment ?? {}, async (cell) => {
      const { sandbox } = cell;
      sandbox.faults.add({ operation: read, fault: "status299", code });
      expect(runResultOf(await cell.run())).toMatchObject({ exit: 5, writingCalls: 0, balance: { adds: true } });
      // What is about the service's own trouble is asked again; a refusal is not, and a fixed token has no other.
      if (meaningOf(code, read).effect === "unknown") expect(cell.calls(read)).toBeGreaterThan(1);
      // Where an earlier process left something, an E3 asks for the time too.
      else expect(cell.calls(read)).toBe(read === "E3" ? 2 : 1);
      sandbox.faults.clear();
      goodRunOf(await cell.run());
      expect(await cell.wrong(change.wished)).toEqual([]);
    });
  });
});
