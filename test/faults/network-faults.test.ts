/** @module-tag sized */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pLimit from "p-limit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultRule } from "../../src/sandbox/faults.ts";
import { newSandbox } from "../support/world/start.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { fullCheck } from "../support/full-check.ts";
import { crmSync, goodRunOf, runJob, runResultOf } from "../support/program.ts";
import type { Ended } from "../support/program.ts";
import { startReversingProxy } from "../support/reversing-proxy.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { cellsOf, sampled } from "../support/sizes.ts";
import { begin, Beginnings } from "../support/world/beginnings.ts";
import { baseWished, changes, configOf, ledgerOf, nthCallOf, platformOf } from "../support/world/small.ts";
import { decideAsPerson } from "../support/world/decided.ts";
import { personal, sealEnvironment, secrets } from "../support/world/crm.ts";
import type { Change } from "../support/world/small.ts";

/**
 * Every fault meets the one call of an operation, once. Whatever the program made of it, two more runs without a fault
 * end in the right state, with every effect once, and the run after them has nothing to send.
 */
type Fault = Omit<FaultRule, "operation">;

/**
 * Faults that leave the program waiting: it gives up before the platform is done, and settles after that. It is so
 * impatient only while the fault is on, since an honest answer takes long too where the machine has much else to do.
 */
const impatient = { CRM_SYNC__orderService__callTimeoutMs: "1500", CRM_SYNC__memberCenter__callTimeoutMs: "1500" };
const settling = { CRM_SYNC__settle__timeMs: "4000" };
const silent = { atFirst: impatient, environment: settling };
const soon = (): string => new Date(Date.now() + 1000).toUTCString();

interface Met {
  fault: Fault | (() => Fault);
  environment?: Record<string, string>;
  /** For the run that meets the fault. */
  atFirst?: Record<string, string>;
}
const faults: Record<string, Met> = {
  "the connection is reset before the request is read": { fault: { fault: "refused" } },
  "the connection is reset when the request is read, nothing done": { fault: { fault: "resetBefore" } },
  "the reply is lost": { fault: { fault: "appliedNoReply" } },
  "the reply ends in the middle": { fault: { fault: "resetMidReply" } },
  "the reply ends in the middle, and it was an error": { fault: { fault: "resetMidReply", applied: false } },
  "no reply ever comes, nothing done": { fault: { fault: "silence" }, ...silent },
  "no reply ever comes, although it was done": {
    fault: { fault: "silence", applied: true },
    ...silent,
  },
  "it is done only after we gave up": { fault: { fault: "appliedLate", delayMs: 2_500 }, ...silent },
  "the JSON stops in the middle": { fault: { fault: "wrongJson" } },
  'HTTP 299 says "500", nothing done': { fault: { fault: "code500" } },
  'HTTP 299 says "500", although it was done': { fault: { fault: "code500", applied: true } },
  'HTTP 200 says "500", nothing done': { fault: { fault: "code500", status: 200 } },
  'HTTP 200 says "500", although it was done': { fault: { fault: "code500", status: 200, applied: true } },
  "HTTP 503 with Retry-After in seconds": { fault: { fault: "http503", retryAfter: "1" } },
  "HTTP 503 with Retry-After as a date, although it was done": {
    fault: () => ({ fault: "http503", retryAfter: soon(), applied: true }),
  },
  "HTTP 429": { fault: { fault: "http429", retryAfter: "1" } },
  "HTTP 502 with a page, nothing done": { fault: { fault: "http502" } },
  "HTTP 502 with a page, although it was done": { fault: { fault: "http502", applied: true } },
  "a code that no contract lists, nothing done": { fault: { fault: "oddCode" } },
  "a code that no contract lists, although it was done": { fault: { fault: "oddCode", applied: true } },
  "success with data of another shape": { fault: { fault: "wrongShape" } },
  "the token is called expired": { fault: { fault: "expiredToken" } },
  "the reply comes byte by byte": { fault: { fault: "oneBytePerSecond", delayMs: 1 } },
  "the reply is larger than any answer may be": { fault: { fault: "hugeBody", bytes: 9_000_000 } },
};
/** Faults that only E5 can meet. */
const orderFaults: typeof faults = {
  "the answer lacks a sequence": { fault: { fault: "e5MissingSequence" } },
  "the answer has a sequence twice": { fault: { fault: "e5DuplicateSequence" } },
};

const folder = temporaryFolder();
const beginnings = new Beginnings(folder.path);
const someAtOnce = pLimit(6);

async function openPlatform(path: string): Promise<Sandbox> {
  return await newSandbox({ store: platformOf(path) });
}

async function run(
  path: string,
  sandbox: Pick<Sandbox, "url">,
  environment: Record<string, string> = {},
): Promise<Promise<Ended>> {
  return await runJob({
    config: configOf(path),
    sandbox: sandbox.url,
    ledger: ledgerOf(path),
    environment: { ...sealEnvironment, ...environment },
  });
}

beforeAll(async () => void (await beginnings.base()));
afterAll(() => folder.remove());

let cells = 0;

/** A world in which everything before the change is synchronised and whose export has the change. */
async function inCell(change: Change, work: (path: string, sandbox: Sandbox) => Promise<void>): Promise<void> {
  await someAtOnce(async () => {
    cells += 1;
    const path = join(folder.path, `cell-${cells}`);
    await begin(beginnings, change, path);
    const sandbox = await openPlatform(path);
    try {
      await work(path, sandbox);
    } finally {
      await sandbox.close();
    }
  });
}

async function everythingIsRight(path: string, sandbox: Sandbox, change: Change): Promise<void> {
  // What was to be done late may come after the runs that needed nothing of it.
  while (sandbox.state().deferred > 0) await pause(20);
  expect(
    await fullCheck({
      ledger: ledgerOf(path),
      sandbox: sandbox.url,
      wished: { ...baseWished, ...change.wished },
      personal,
      secrets,
      output: [],
    }),
  ).toEqual([]);
}

/** What an operation meets. */
function metBy(change: Change): [string, (typeof faults)[string]][] {
  return Object.entries(change.endpoint === "E5" ? { ...faults, ...orderFaults } : faults);
}

describe.concurrent.each(cellsOf(changes, metBy))("while %s,", (_, change, met) => {
  it.each(met)(
    "%s: two more runs end in the right state, once",
    { tags: "long" },
    async (_name, { fault, environment, atFirst }) => {
      await inCell(change, async (path, sandbox) => {
        const effectsBefore = sandbox.counts().effects[change.endpoint] ?? 0;
        const given = typeof fault === "function" ? fault() : fault;
        sandbox.faults.add({ operation: change.endpoint, ...given, nth: nthCallOf(change) });
        const settings = { ...change.environment, ...environment };

        const first = runResultOf(await run(path, sandbox, { ...settings, ...atFirst }));
        expect(first.balance.adds).toBe(true);
        expect(sandbox.counts().faulted, "the fault met no call").toBe(1);
        sandbox.faults.clear();
        await run(path, sandbox, settings);
        const done = (): number => (sandbox.counts().effects[change.endpoint] ?? 0) - effectsBefore;
        if (change.asksPerson !== undefined) {
          const of = { ledger: ledgerOf(path), kind: change.kind, wasDone: () => done() > 0 };
          const place = { config: configOf(path), sandbox: sandbox.url, ledger: ledgerOf(path) };
          const environment = { ...sealEnvironment, ...settings };
          await decideAsPerson(of, (...words) => crmSync({ ...place, environment }, ...words));
        }
        goodRunOf(await run(path, sandbox, settings));
        await everythingIsRight(path, sandbox, change);
        const more = change.repeatable === true ? [0, 1] : change.asksPerson === "always" ? [-1, 0] : [0];
        expect(more).toContain(done() - (change.calls ?? 1));

        const before = sandbox.counts().writingCalls;
        expect(goodRunOf(await run(path, sandbox, settings)).writingCalls).toBe(0);
        expect(sandbox.counts().writingCalls).toBe(before);
      });
    },
  );
});

describe.concurrent.each(sampled(Object.entries(changes), 2))("while %s,", (_, change) => {
  it(
    "HTTP 299 says that it cannot be: the run says so, and it is not sent again by itself",
    { tags: "long" },
    async () => {
      await inCell(change, async (path, sandbox) => {
        const code = change.endpoint.startsWith("M") ? "70001" : "13004";
        const onlyItsOwn = nthCallOf(change) > 1 ? { nth: nthCallOf(change) } : {};
        sandbox.faults.add({ operation: change.endpoint, fault: "status299", code, ...onlyItsOwn });
        const first = runResultOf(await run(path, sandbox, change.environment));
        expect(first.balance.adds).toBe(true);
        // A pool that is not filled is the service's trouble, not the record's: the order is tried again with the next
        // run.
        const isPool = change.kind === "take-asset-numbers";
        expect(first.exit).toBe(isPool ? 7 : 3);
        const before = sandbox.counts().writingCalls;
        const second = runResultOf(await run(path, sandbox, change.environment));
        expect(second.balance.adds).toBe(true);
        // A revoke that was rejected is not sent again because somebody waits for its asset.
        const again = isPool ? 1 : 0;
        expect(sandbox.counts().writingCalls - before).toBe(again);
        expect(second.writingCalls).toBe(again);
      });
    },
  );
});

describe("an E5 answer in another order than the order records were sent in", () => {
  it("ties each licence order to the record that its sequence names", async () => {
    const change = changes["E5 places an order"];
    if (change === undefined) throw new Error("the world has no order to place");
    await inCell(change, async (path, sandbox) => {
      const turned = await startReversingProxy(sandbox.url);
      try {
        goodRunOf(await run(path, { url: turned.url }));
        expect(turned.reversed()).toBe(1);
        await everythingIsRight(path, sandbox, change);
      } finally {
        await turned.close();
      }
    });
  });
});

describe("a platform that cannot be reached at all", () => {
  it.each(sampled(Object.entries(changes), 2))(
    "while %s: nothing is sent, and the next run does it",
    { tags: "long" },
    async (_, change) => {
      await inCell(change, async (path, sandbox) => {
        await sandbox.refuseConnections();
        const first = runResultOf(await run(path, sandbox, change.environment));
        expect(first).toMatchObject({ exit: 7, writingCalls: 0, balance: { adds: true } });
        await sandbox.acceptConnections();
        goodRunOf(await run(path, sandbox, change.environment));
        await everythingIsRight(path, sandbox, change);
      });
    },
  );
});
