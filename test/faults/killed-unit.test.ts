/** @module-tag sized */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { until } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import type { Running } from "../support/process.ts";
import { notifySocket, untold } from "../support/notify-socket.ts";
import type { NotifySocket } from "../support/notify-socket.ts";
import { isSample } from "../support/sizes.ts";
import { told, telling } from "../support/telling.ts";
import { company } from "../support/world/crm.ts";

const customers = 30;
const people = 2;
const kills = isSample ? 2 : 12;

/**
 * A service manager with `Restart=always`: whenever the program is gone, whatever ended it, it is started again, until
 * the manager is told to stop.
 */
class Unit {
  starts = 0;
  readonly output: string[] = [];
  readonly #w: World;
  #running: Running;
  #stopping = false;
  readonly #over: Promise<void>;

  constructor(w: World) {
    this.#w = w;
    this.#running = this.#start();
    this.#over = this.#keepUp();
  }

  #start(): Running {
    this.starts += 1;
    return this.#w.start("serve");
  }

  async #keepUp(): Promise<void> {
    for (;;) {
      const ended = await this.#running.ended;
      this.output.push(ended.stdout, ended.stderr);
      if (this.#stopping) return;
      this.#running = this.#start();
    }
  }

  kill(): void {
    this.#running.child.kill("SIGKILL");
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#running.child.kill("SIGTERM");
    await this.#over;
  }
}

async function unitWorld(manager: NotifySocket | undefined): Promise<World> {
  const w = await telling({ records: company(customers, people), sandbox: { latencyMs: 20 } });
  w.extra += `serve: { port: 0 }
jobs:
  everything: { kind: sync, streams: [customers, orders, staff], schedule: "* * * * *" }
  verify: { enabled: false }
  monthly-report: { enabled: false }
`;
  w.write();
  w.environment["CRM_SYNC__concurrency__customers"] = "3";
  if (manager !== undefined) w.environment["NOTIFY_SOCKET"] = manager.path;
  expect((await w.run("migrate")).exitCode).toBe(0);
  w.tamper(
    "insert into last_fire_time (job, fire_time, fired_at) values ('everything', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')",
  );
  return w;
}

const written = (w: World): number => w.sandbox.counts().writingCalls;
const runsDone = (w: World): number => w.rows("select id from run where state = 'done'").length;

describe("a unit that is killed with SIGKILL in the middle of a run and is started again by its service manager", () => {
  it(
    `does nothing twice, loses nothing and tells people once at most, in ${kills} kills`,
    { tags: "long" },
    async ({ annotate }) => {
      const manager = untold === undefined ? await notifySocket() : undefined;
      if (untold !== undefined) await annotate(`the datagrams are NOT tried: ${untold} cannot be had`);
      const w = await unitWorld(manager);
      const unit = new Unit(w);
      for (let kill = 1; kill <= kills; kill += 1) {
        const before = written(w);
        await until("the run writes", () => written(w) > before + 2);
        await sleep(kill * 3);
        unit.kill();
        await until("the program is started again", () => unit.starts === kill + 1);
      }
      expect(runsDone(w), "every kill met a run").toBe(0);
      w.answerAtOnce();
      await until("a run comes to its end", () => runsDone(w) > 0);
      await until(
        "nothing is open",
        () => w.rows("select 1 from operation where state not in ('done', 'dropped')").length === 0,
      );
      await unit.stop();
      await manager?.told("READY=1", kills + 1);

      expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
      const state = w.sandbox.state();
      expect(Object.keys(state.orders)).toHaveLength(customers);
      expect([state.enterprises, state.addedStaff, state.assignments]).toEqual([
        customers,
        customers * people,
        customers * people,
      ]);
      const after = await w.does("run", "everything");
      expect([after.exitCode, after.calls], after.stdout).toEqual([0, {}]);
      expect((await w.run("audit", "verify")).exitCode).toBe(0);
      const messages = told(w);
      const begun = messages.filter(({ event }) => event === "alert.started");
      expect(begun.length, JSON.stringify(messages)).toBeLessThanOrEqual(1);
      await annotate(`${unit.starts} starts, ${messages.map(({ event, kind }) => `${event} ${kind}`).join(", ")}`);
    },
  );
});
