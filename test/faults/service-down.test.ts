/** @module-tag sized */
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { basePaths, endpoints } from "../../src/contract/endpoints.ts";
import { seededFraction } from "../../src/sandbox/faults.ts";
import { Cells } from "../support/cells.ts";
import type { Cell } from "../support/cells.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { goodRunOf, runResultOf } from "../support/program.ts";
import { isFull, sampled, sizes } from "../support/sizes.ts";
import { Beginnings } from "../support/world/beginnings.ts";
import { again, base, changes, together, writeWorld } from "../support/world/small.ts";
import type { Change, SmallWorld } from "../support/world/small.ts";
import { Certificates, startTlsRoad } from "../support/tls-road.ts";
import type { RoadFault } from "../support/tls-road.ts";

const cells = new Cells();
const beginnings = new Beginnings(cells.place("changes"));

beforeAll(async () => {
  const base = cells.place("base");
  writeWorld(base);
  await cells.open(base, {}, async (cell) => void goodRunOf(await cell.run()));
});
afterAll(() => cells.remove());

function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function nothingIsLeft(cell: Cell): Promise<void> {
  const before = cell.sandbox.counts().writingCalls;
  expect(goodRunOf(await cell.run()).writingCalls).toBe(0);
  expect(cell.sandbox.counts().writingCalls).toBe(before);
}

const roadFaults: readonly RoadFault[] = [
  "the name is not found",
  "the port speaks no TLS",
  "the certificate is of an unknown authority",
];

/** In a move the grant comes after the revoke, and an old form is deleted after the new one was bought. */
function earlierCalls({ calls, kind }: Change): number {
  return calls === 2 && (kind === "grant-assets" || kind === "delete-products") ? 1 : 0;
}

/** Each writing operation meets each of them; where there is little time, one of them in turn. */
function roads(): [string, { change: Change; fault: RoadFault }][] {
  return Object.entries(changes).flatMap(([name, change], index) =>
    roadFaults
      .filter((_, turn) => isFull || turn === index % roadFaults.length)
      .map((fault): [string, { change: Change; fault: RoadFault }] => [`${name}: ${fault}`, { change, fault }]),
  );
}

describe.runIf(hasOpenssl())("a connection that fails right before a write (where openssl is installed)", () => {
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
    await within(change, async (cell) => {
      const road = await startTlsRoad(cell.sandbox.url, certificates);
      goodRunOf(await cell.run({ url: road.url, environment: trusting() }));
      await road.close();
      const { path, service } = endpoints[change.endpoint];
      const pattern = new RegExp(`^${basePaths[service]}${path.replaceAll(/\{\w+\}/gu, "[^/]+")}\\?`, "u");
      const found = road.paths.flatMap((called, index) => (pattern.test(called) ? [index] : []));
      // M1 and M9 alone share their way with nothing that reads.
      position = found[earlierCalls(change)] ?? -1;
    });
    return position;
  }

  async function within(change: Change, work: (cell: Cell) => Promise<void>): Promise<void> {
    const begun = await beginnings.of(change);
    await cells.within(begun, change.environment ?? {}, work, (folder) => writeWorld(folder, change.world));
  }

  it.each(sampled(roads(), 3))(
    "%s: it was not sent, the journal says so, and the next run does it once",
    { tags: "long" },
    async (_title, { change, fault }) => {
      const nth = await positionOf(change);
      expect(nth, "the operation was called").toBeGreaterThan(-1);
      await within(change, async (cell) => {
        const effects = (cell.effects()[change.endpoint] ?? 0) + (change.calls ?? 1);
        const before = cell.calls(change.endpoint);
        const road = await startTlsRoad(cell.sandbox.url, certificates, { fault, nth });
        const result = runResultOf(await cell.run({ url: road.url, environment: trusting() }));
        expect(road.faulted(), "the fault met no call").toBe(1);
        await road.close();
        expect(result).toMatchObject({ exit: 7, balance: { adds: true } });
        const earlier = earlierCalls(change);
        expect(cell.calls(change.endpoint) - before).toBe(earlier);
        expect(outcomes(cell, change.kind).at(-1)).toBe("not-sent");
        goodRunOf(await cell.run());
        expect(await cell.wrong(change.wished)).toEqual([]);
        expect(cell.effects()[change.endpoint]).toBe(effects);
        await nothingIsLeft(cell);
      });
    },
  );
});

/** How the attempts of a kind of operation ended, in order. */
function outcomes(cell: Cell, kind: string): string[] {
  const ledger = new LedgerView(cell.ledger);
  try {
    return ledger
      .rows(
        z.object({ outcome: z.string() }),
        `select a.outcome from attempt a join operation o on o.id = a.operation_id where o.kind = ?
         order by a.started_at, a.operation_id, a.number`,
        kind,
      )
      .map((row) => row.outcome);
  } finally {
    ledger.close();
  }
}

/** As many customers as asked for; each like the small world's, or with nothing but itself. */
function companies(count: number, whole: boolean): SmallWorld {
  const small = changes["M9 grants an asset"]?.world ?? base;
  const each = Array.from({ length: count }, (_, index) => again(small, `x${index + 1}`));
  const { customers, ...work } = together(...each);
  return { customers, ...(whole ? work : { orders: [], staff: [] }) };
}

/** Takes the platform away while its k-th call is on; what that call does is done later or never. */
async function takeAwayAt(cell: Cell, k: number, lands: boolean): Promise<void> {
  const { sandbox } = cell;
  sandbox.faults.add({ operation: "*", fault: lands ? "slow" : "silence", delayMs: 150, nth: k });
  while (sandbox.counts().faulted === 0) await sleep(5);
  await sandbox.refuseConnections();
}

const settling = { CRM_SYNC__settle__timeMs: "1200" };

describe("a platform that goes away in the middle of a run", () => {
  const wished = { enterprises: 2, orders: 2, products: 4, addedStaff: 4, assignments: 4 };
  let calls = 0;
  beforeAll(async () => {
    const folder = cells.place("counted");
    writeWorld(folder, companies(2, true));
    await cells.open(folder, {}, async (cell) => {
      goodRunOf(await cell.run());
      calls = Object.values(cell.sandbox.counts().calls).reduce((sum, count) => sum + count, 0);
      expectNoneWrong(await cell.wrong(wished));
    });
  });

  it.each(Array.from({ length: sizes.outages }, (_, seed) => [seed]))(
    "and is there again for the next one only (seed %i): everything is there once",
    { tags: "long" },
    async (seed) => {
      const fraction = seededFraction(seed);
      for (let warm = 0; warm < 5; warm += 1) fraction();
      const k = 1 + Math.floor(fraction() * calls);
      const lands = fraction() < 0.5;
      const folder = cells.place(`away-${seed}`);
      writeWorld(folder, companies(2, true));
      await cells.open(folder, settling, async (cell) => {
        const away = takeAwayAt(cell, k, lands);
        const first = runResultOf(await cell.run());
        await away;
        const where = `call ${k} of ${calls}, ${lands ? "which lands" : "which never lands"}`;
        expect([5, 7], where).toContain(first.exit);
        expect(first.balance.adds, where).toBe(true);
        cell.sandbox.faults.clear();
        await cell.sandbox.acceptConnections();
        await cell.run();
        goodRunOf(await cell.run());
        expect(await cell.wrong(wished), where).toEqual([]);
        await nothingIsLeft(cell);
      });
    },
  );

  it.each(sampled([[6], [17]]))(
    "and comes back (at call %i): it is tried again, and the run goes on",
    { tags: "long" },
    async (k) => {
      // So many that the run is still on when the time to try again comes.
      const count = 500;
      const folder = cells.place(`back-${k}`);
      writeWorld(folder, companies(count, false));
      const circuit = { breakerFailures: "2", breakerOpenMs: "20" };
      const environment = Object.fromEntries(
        Object.entries(circuit).flatMap(([key, value]) => [
          [`CRM_SYNC__orderService__${key}`, value],
          [`CRM_SYNC__memberCenter__${key}`, value],
        ]),
      );
      await cells.open(folder, { ...settling, ...environment, CRM_SYNC__concurrency__customers: "1" }, async (cell) => {
        const back = (async () => {
          await takeAwayAt(cell, k, false);
          const made = cell.sandbox.state().enterprises;
          const ledger = new LedgerView(cell.ledger);
          while (ledger.rows(z.unknown(), "select * from open_circuit").length === 0) await sleep(2);
          ledger.close();
          await cell.sandbox.acceptConnections();
          return made;
        })();
        const first = runResultOf(await cell.run());
        const made = await back;
        expect([5, 7]).toContain(first.exit);
        expect(first.balance.adds).toBe(true);
        expect(cell.sandbox.state().enterprises, "the run went on").toBeGreaterThan(made + 1);
        const ledger = new LedgerView(cell.ledger);
        expect(ledger.rows(z.unknown(), "select * from open_circuit"), "the circuit is closed").toEqual([]);
        ledger.close();
        await cell.run();
        goodRunOf(await cell.run());
        expect(await cell.wrong({ enterprises: count, orders: 0, products: 0, addedStaff: 0, assignments: 0 })).toEqual(
          [],
        );
        await nothingIsLeft(cell);
      });
    },
  );
});

function expectNoneWrong(wrong: readonly string[]): void {
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
}
