/** @module-tag sized */
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { basePaths, endpoints } from "../../src/contract/endpoints.ts";
import { seededFraction, type FaultRule } from "../../src/sandbox/faults.ts";
import { Cells } from "../support/cells.ts";
import { goodRunOf, runResultOf } from "../support/program.ts";
import { startReversingProxy } from "../support/reversing-proxy.ts";
import { isFull, isSample, sizes, spread } from "../support/sizes.ts";
import { Certificates, startTlsRoad, type RoadFault } from "../support/tls-road.ts";
import {
  again,
  changeOf,
  changesByEndpoint,
  nthCallOf,
  together,
  writeWorld,
  type Change,
  type SmallWorld,
} from "../support/world/small.ts";

/**
 * Every writing operation meets every fault of the network, once, before or after the platform did it. Whatever the
 * program made of it, everything comes to the right end, with every effect once.
 */
type Fault = Omit<FaultRule, "operation">;

interface Met {
  fault: Fault | ((now: number) => Fault);
  /** For the run that meets the fault. */
  atFirst?: Record<string, string>;
  environment?: Record<string, string>;
}

/** What has no answer is waited for in real time. */
const silent = {
  atFirst: { CRM_SYNC__orderService__callTimeoutMs: "1000", CRM_SYNC__memberCenter__callTimeoutMs: "1000" },
  environment: { CRM_SYNC__settle__timeMs: "4000" },
};
const soon = (now: number): string => new Date(now + 1000).toUTCString();

/** Each fault; where the platform may have done it or not, both take turns. */
const faults: Readonly<Record<string, readonly Met[]>> = {
  "the connection is reset before the request is read": [{ fault: { fault: "refused" } }],
  "the connection is reset when the request is read": [{ fault: { fault: "resetBefore" } }],
  "the reply is lost": [{ fault: { fault: "appliedNoReply" } }],
  "the reply ends in the middle": [
    { fault: { fault: "resetMidReply" } },
    { fault: { fault: "resetMidReply", applied: false } },
  ],
  "no reply ever comes": [
    { fault: { fault: "silence" }, ...silent },
    { fault: { fault: "silence", applied: true }, ...silent },
  ],
  "it is done only after we gave up": [{ fault: { fault: "appliedLate", delayMs: 2_500 }, ...silent }],
  "the JSON stops in the middle": [{ fault: { fault: "wrongJson" } }],
  'HTTP 299 says "500"': [{ fault: { fault: "code500" } }, { fault: { fault: "code500", applied: true } }],
  'HTTP 200 says "500"': [
    { fault: { fault: "code500", status: 200, applied: true } },
    { fault: { fault: "code500", status: 200 } },
  ],
  "HTTP 503 with Retry-After": [
    { fault: { fault: "http503", retryAfter: "1" } },
    { fault: (now) => ({ fault: "http503", retryAfter: soon(now), applied: true }) },
  ],
  "HTTP 429 with Retry-After": [
    { fault: { fault: "http429", retryAfter: "1" } },
    { fault: (now) => ({ fault: "http429", retryAfter: soon(now) }) },
  ],
  "HTTP 502 with a page": [{ fault: { fault: "http502", applied: true } }, { fault: { fault: "http502" } }],
  "a code that no contract lists": [{ fault: { fault: "oddCode" } }, { fault: { fault: "oddCode", applied: true } }],
  "success with data of another shape": [{ fault: { fault: "wrongShape" } }],
  "the token is called expired": [{ fault: { fault: "expiredToken" } }],
  "the reply comes byte by byte": [{ fault: { fault: "oneBytePerSecond", delayMs: 0 } }],
  "the reply is larger than any answer may be": [{ fault: { fault: "hugeBody", bytes: 9_000_000 } }],
};
const orderFaults: typeof faults = {
  "the answer lacks a sequence": [{ fault: { fault: "e5MissingSequence" } }],
  "the answer has a sequence twice": [{ fault: { fault: "e5DuplicateSequence" } }],
};

type MatrixCell = [change: string, fault: string, met: Met];

/**
 * Each endpoint with each fault, with one of the changes that it brings about in turn; all changes for a release, and
 * each fault once in the quick tests.
 */
function matrix(): MatrixCell[] {
  const rows = changesByEndpoint();
  return rows.flatMap(({ endpoint, names }, row) =>
    Object.entries(endpoint === "E5" ? { ...faults, ...orderFaults } : faults).flatMap(([fault, variants], column) => {
      if (isFull) return names.flatMap((name) => variants.map((met): MatrixCell => [name, fault, met]));
      if (isSample && column % rows.length !== row && !(fault in orderFaults)) return [];
      const [name, met] = [names[column % names.length], variants[(row + column) % variants.length]];
      return name === undefined || met === undefined ? [] : [[name, fault, met] satisfies MatrixCell];
    }),
  );
}

const cells = new Cells();
afterAll(() => cells.remove());

async function once(name: string, { fault, atFirst, environment }: Met): Promise<void> {
  const change = changeOf(name);
  const { endpoint, repeatable, asksPerson, calls = 1 } = change;
  await cells.within(await cells.before(change), { ...change.environment, ...environment }, async (cell) => {
    const { sandbox, clock } = cell;
    const had = cell.done(endpoint);
    const given = typeof fault === "function" ? fault(clock.now()) : fault;
    sandbox.faults.add({ operation: endpoint, ...given, nth: nthCallOf(change) });
    const first = runResultOf(await cell.run(atFirst === undefined ? {} : { environment: atFirst }));
    expect(first.balance.adds).toBe(true);
    expect(sandbox.counts().faulted, "the fault met no call").toBe(1);
    sandbox.faults.clear();
    clock.pass(10_000);
    if (asksPerson !== undefined) await cell.decide(() => cell.done(endpoint) > had);
    await cell.comesToRest();
    expect(await cell.wrong(change.wished)).toEqual([]);
    const more = repeatable === true ? [0, 1] : asksPerson === "always" ? [-1, 0] : [0];
    expect(more).toContain(cell.done(endpoint) - had - calls);
  });
}

const all = matrix();
const isSilent = ([, , { atFirst }]: MatrixCell): boolean => atFirst !== undefined;

describe("an operation that a fault of the network meets ends right, and takes effect once", () => {
  it.each(all.filter((cell) => !isSilent(cell)))("%s, and %s", async (name, _, met) => await once(name, met));
  // Most of such a cell is waiting.
  it.concurrent.each(all.filter(isSilent))("%s, and %s", async (name, _, met) => await once(name, met));
});

/** One change of each endpoint; all of them for a release, and so many in the quick tests. */
function oneEach(inQuick: number): string[] {
  const rows = changesByEndpoint();
  if (isFull) return rows.flatMap(({ names }) => names);
  const some = isSample ? spread(rows, inQuick) : rows;
  return some.flatMap(({ names }) => names.slice(0, 1));
}

describe("an operation that the service refuses for good", () => {
  it.each(oneEach(1))("is told of, and is not sent again by itself: %s", async (name) => {
    const change = changeOf(name);
    await cells.within(await cells.before(change), change.environment ?? {}, async (cell) => {
      const { sandbox } = cell;
      const code = change.endpoint.startsWith("M") ? "70001" : "13004";
      const onlyItsOwn = nthCallOf(change) > 1 ? { nth: nthCallOf(change) } : {};
      sandbox.faults.add({ operation: change.endpoint, fault: "status299", code, ...onlyItsOwn });
      // A pool that is not filled is the service's trouble, not the record's: the next run tries the order again.
      const isPool = change.kind === "take-asset-numbers";
      expect(runResultOf(await cell.run())).toMatchObject({ exit: 3, balance: { adds: true } });
      const before = sandbox.counts().writingCalls;
      const second = runResultOf(await cell.run());
      const again = isPool ? 1 : 0;
      expect(second).toMatchObject({ writingCalls: again, balance: { adds: true } });
      expect(sandbox.counts().writingCalls - before).toBe(again);
    });
  });
});

describe("a platform that cannot be reached at all", () => {
  it.each(oneEach(1))("is sent nothing, and the next run does it: %s", async (name) => {
    const change = changeOf(name);
    await cells.within(await cells.before(change), change.environment ?? {}, async (cell) => {
      await cell.sandbox.refuseConnections();
      const first = runResultOf(await cell.run());
      expect(first).toMatchObject({ exit: 7, writingCalls: 0, balance: { adds: true } });
      await cell.sandbox.acceptConnections();
      goodRunOf(await cell.run());
      expect(await cell.wrong(change.wished)).toEqual([]);
    });
  });
});

const roadFaults: readonly RoadFault[] = [
  "the name is not found",
  "the port speaks no TLS",
  "the certificate is of an unknown authority",
];
const roads = oneEach(1).flatMap((name, row) =>
  roadFaults
    .filter((_, turn) => isFull || turn === row % roadFaults.length)
    .map((fault): [string, RoadFault] => [name, fault]),
);
const openssl = spawnSync("openssl", ["version"]).status === 0;

describe.runIf(openssl && !isSample)(
  "a connection that fails right before a write (where openssl is installed)",
  () => {
    let certificates: Certificates;
    beforeAll(() => {
      certificates = new Certificates();
    });
    afterAll(() => certificates.remove());

    const trusting = (): Record<string, string> => ({
      CRM_SYNC__orderService__caFile: certificates.authority,
      CRM_SYNC__memberCenter__caFile: certificates.authority,
    });

    /** Which call of a run without faults is the operation's, counted from 0. */
    async function positionOf(change: Change): Promise<number> {
      let position = -1;
      await cells.within(await cells.before(change), change.environment ?? {}, async (cell) => {
        const road = await startTlsRoad(cell.sandbox.url, certificates);
        goodRunOf(await cell.run({ url: road.url, environment: trusting() }));
        await road.close();
        const { path, service } = endpoints[change.endpoint];
        const pattern = new RegExp(`^${basePaths[service]}${path.replaceAll(/\{\w+\}/gu, "[^/]+")}\\?`, "u");
        // M1 and M9 alone share their way with nothing that reads.
        position = road.paths.flatMap((called, at) => (pattern.test(called) ? [at] : []))[nthCallOf(change) - 1] ?? -1;
      });
      return position;
    }

    it.each(roads)("was not sent, and the next run does it once: %s, and %s", async (name, fault) => {
      const change = changeOf(name);
      const { endpoint, calls = 1 } = change;
      const nth = await positionOf(change);
      expect(nth, "the operation was called").toBeGreaterThan(-1);
      await cells.within(await cells.before(change), change.environment ?? {}, async (cell) => {
        const had = [cell.done(endpoint), cell.calls(endpoint)] as const;
        const road = await startTlsRoad(cell.sandbox.url, certificates, { fault, nth });
        const result = runResultOf(await cell.run({ url: road.url, environment: trusting() }));
        await road.close();
        expect(road.faulted(), "the fault met no call").toBe(1);
        expect(result).toMatchObject({ exit: 7, balance: { adds: true } });
        expect(cell.calls(endpoint) - had[1]).toBe(nthCallOf(change) - 1);
        expect(await cell.ask("settle", "list"), "nothing is in doubt").toEqual([]);
        await cell.comesToRest();
        expect(await cell.wrong(change.wished)).toEqual([]);
        expect(cell.done(endpoint) - had[0]).toBe(calls);
      });
    });
  },
);

describe("an E5 answer in another order than the order records were sent in", () => {
  it("ties each licence order to the record that its sequence names", async () => {
    const change = changeOf("E5 places an order");
    await cells.within(await cells.before(change), {}, async (cell) => {
      const turned = await startReversingProxy(cell.sandbox.url);
      goodRunOf(await cell.run({ url: turned.url }));
      await turned.close();
      expect(turned.reversed()).toBe(1);
      expect(await cell.wrong(change.wished)).toEqual([]);
    });
  });
});

const wholeWorld = (): SmallWorld => {
  const { world } = changeOf("M9 grants an asset");
  return together(again(world, "x1"), again(world, "x2"));
};

describe("a platform that goes away in the middle of a run", () => {
  const wished = { enterprises: 2, orders: 2, products: 4, addedStaff: 4, assignments: 4 };
  let calls = 0;
  beforeAll(async () => {
    const folder = cells.place("counted");
    writeWorld(folder, wholeWorld());
    await cells.open(folder, {}, async (cell) => {
      goodRunOf(await cell.run());
      calls = Object.values(cell.sandbox.counts().calls).reduce((sum, count) => sum + count, 0);
    });
  });

  it.each(Array.from({ length: sizes.outages }, (_, seed) => [seed + 1]))(
    "holds everything once after the runs that come when it is there again (seed %i)",
    async (seed) => {
      const fraction = seededFraction(seed);
      const [k, lands] = [1 + Math.floor(fraction() * calls), fraction() < 0.5];
      const folder = cells.place(`away-${seed}`);
      writeWorld(folder, wholeWorld());
      await cells.open(folder, {}, async (cell) => {
        const { sandbox } = cell;
        if (!lands) sandbox.faults.add({ operation: "*", fault: "silence", nth: k });
        const stop = cell.stopsAt("*", "before", k);
        const running = cell.run();
        await stop.reached;
        await sandbox.refuseConnections();
        stop.goOn();
        const first = runResultOf(await running);
        const where = `call ${k}, ${lands ? "which lands" : "which never lands"}`;
        expect([5, 7], where).toContain(first.exit);
        expect(first.balance.adds, where).toBe(true);
        sandbox.faults.clear();
        await sandbox.acceptConnections();
        await cell.decide(() => sandbox.state().enterprises > 0);
        await cell.comesToRest();
        expect(await cell.wrong(wished), where).toEqual([]);
      });
    },
  );
});
