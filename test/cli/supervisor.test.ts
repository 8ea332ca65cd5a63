import { describe, expect, it } from "vitest";
import { until, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { notifySocket, untold } from "../support/notify-socket.ts";
import { company } from "../support/world/crm.ts";

/** A world whose one job runs every minute and has missed a fire time, so that it is due at once. */
async function due(): Promise<World> {
  const w = await world({ isOnMachineTime: true, records: company(2, 1) });
  w.extra = `serve: { port: 0 }
jobs:
  everything: { kind: sync, streams: [customers, orders, staff], schedule: "* * * * *" }
`;
  w.write();
  await w.run("migrate");
  w.tamper(
    "insert into last_fire_time (job, fire_time, fired_at) values ('everything', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')",
  );
  return w;
}

describe("a service manager", () => {
  if (untold !== undefined) {
    it(`is NOT tried here, nothing is shown about it: ${untold} cannot be had`, () => expect(untold).toBeDefined());
    return;
  }

  it(
    "is told by a datagram when the program is ready, what it is at, that it lives, and that it stops",
    { tags: "long" },
    async () => {
      const w = await due();
      const manager = await notifySocket();
      Object.assign(w.environment, { NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: "400000" });
      const serving = w.start("serve");
      await manager.told("READY=1");
      const state = manager.all.find((told) => told.includes("READY=1"))?.[1];
      expect(state).toMatch(/^STATUS=waits for the fire times of \d job\(s\); health at http:\S+\/healthz$/u);
      await until("the run is done", () => w.rows("select id from run where state = 'done'").length > 0);
      await manager.told("WATCHDOG=1", 3);
      await manager.told(state ?? "", 2);
      serving.child.kill("SIGTERM");
      expect((await serving.ended).exitCode).toBe(0);
      await manager.told("STOPPING=1");
      const told = manager.all.filter((item) => item[0] !== "WATCHDOG=1");
      expect(told[0]?.[0]).toBe("READY=1");
      expect(told[1]?.[0]).toMatch(/^STATUS=run of everything, on since 20\S+Z$/u);
      expect(told[2]).toEqual([state]);
      expect(told.at(-1)?.[0]).toBe("STOPPING=1");
      expect(told.flat().filter((item) => item === "READY=1")).toHaveLength(1);
    },
  );

  it("is told nothing by a start that fails", { tags: "long" }, async () => {
    const w = await due();
    const manager = await notifySocket();
    w.environment["NOTIFY_SOCKET"] = manager.path;
    w.extra += "nonsense: true\n";
    w.write();
    const ended = await w.start("serve").ended;
    expect(ended.exitCode).toBe(78);
    expect(manager.all).toEqual([]);
  });

  it("gets no sign of life that is asked of another process", { tags: "long" }, async () => {
    const w = await due();
    const manager = await notifySocket();
    Object.assign(w.environment, { NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: "100000", WATCHDOG_PID: "1" });
    const serving = w.start("serve");
    await manager.told("READY=1");
    await until("the run is done", () => w.rows("select id from run where state = 'done'").length > 0);
    serving.child.kill("SIGTERM");
    await serving.ended;
    expect(manager.all.flat()).not.toContain("WATCHDOG=1");
  });

  it("that cannot be told stops nothing: the log says so once, and what to do", { tags: "long" }, async () => {
    const w = await due();
    w.environment["NOTIFY_SOCKET"] = w.path("nobody-listens");
    const serving = w.start("serve");
    await until("the run is done", () => w.rows("select id from run where state = 'done'").length > 0);
    serving.child.kill("SIGTERM");
    const ended = await serving.ended;
    expect(ended.exitCode).toBe(0);
    expect(ended.stderr.match(/"event":"supervisor.untold"/gu)).toHaveLength(1);
    expect(ended.stderr).toContain("Type=exec");
  });
});
