import { pino } from "pino";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../src/base/clock.ts";
import { systemClock } from "../../src/base/clock.ts";
import { supervisorOf } from "../../src/operate/supervisor.ts";
import { world } from "../support/cli.ts";
import { notifySocket, untold } from "../support/notify-socket.ts";
import { hasMissedAll, serves } from "../support/serving.ts";
import { company } from "../support/world/crm.ts";

/** What a program that is up for a moment tells a service manager, and the lines of its log. */
async function moment(environment: Record<string, string>, clock: Clock = systemClock): Promise<string[]> {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  const supervisor = supervisorOf({ PATH: process.env["PATH"], ...environment }, { pid: 7 }, { clock, logger });
  supervisor.ready("up");
  supervisor.stopping();
  await supervisor.end();
  return lines;
}

describe.runIf(untold !== undefined)("a service manager", () => {
  it(`is NOT tried here: ${untold} cannot be had`, () => expect(untold).toBeDefined());
});

describe.runIf(untold === undefined)("a service manager", () => {
  it("is told when the program is ready, what it does, and that it stops", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1) });
    w.extra = `jobs:
  everything: { kind: sync, streams: [customers, orders, staff], schedule: "0 5 1 1 *" }
  verify: { enabled: false }
  monthly-report: { enabled: false }
  customers-and-orders: { enabled: false }
  staff: { enabled: false }
`;
    w.write();
    await hasMissedAll(w);
    const manager = await notifySocket();
    w.environment["NOTIFY_SOCKET"] = manager.path;
    const serving = await serves(w);
    await manager.told("READY=1");
    const status = manager.all[0]?.[1] ?? "";
    await manager.told(status, 2);
    await serving.ends();
    const [, runs, waits, stopping] = manager.all.map(([first, second]) => [first, second]);
    expect(status).toMatch(/^STATUS=.* http:\S+\/healthz$/u);
    expect(runs?.[0]).toMatch(/^STATUS=.*everything/u);
    expect(waits?.[0]).toBe(status);
    expect(stopping?.[0]).toBe("STOPPING=1");
    expect(manager.all).toHaveLength(4);
  });

  it("gets signs of life as often as it asks for, from the process that it asks", { tags: "long" }, async () => {
    const manager = await notifySocket();
    const asked: number[] = [];
    const clock: Clock = {
      ...systemClock,
      async sleep(ms, signal) {
        asked.push(ms);
        if (asked.length > 3) await systemClock.sleep(60_000, signal);
      },
    };
    const watchdog = { NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: "400000" };
    await moment({ ...watchdog, WATCHDOG_PID: "8" }, clock);
    expect(asked).toEqual([]);
    await moment({ ...watchdog, WATCHDOG_PID: "7" }, clock);
    await manager.told("WATCHDOG=1", asked.length);
    expect(new Set(asked)).toEqual(new Set([200]));
  });

  it("that cannot be told stops nothing, and the log says so once", { tags: "long" }, async () => {
    const lines = await moment({ NOTIFY_SOCKET: "/nowhere/that/listens" });
    expect(lines).toEqual([expect.stringContaining('"event":"supervisor.untold"')]);
  });
});
