import { schedule as everyMinute } from "node-cron";
import type { ScheduledTask } from "node-cron";
import type { Clock } from "../base/clock.ts";
import type { Ticker } from "./schedule.ts";

const watchMs = 1_000;
const jumpMs = 5_000;
const silent = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

/**
 * A ticker at full minutes with node-cron, which sleeps until a wall-clock time. A clock that is set back would stop
 * it, and one that is set forward would make it count every minute in between. So both clocks are compared once a
 * second, and a jump restarts node-cron.
 */
export function cronTicker(clock: Clock): Ticker {
  return {
    start(onTick) {
      const begin = (): ScheduledTask => {
        const task = everyMinute("* * * * *", onTick, {
          timezone: "Etc/UTC",
          logger: silent,
          suppressMissedWarning: true,
        });
        task.on("execution:missed", onTick);
        return task;
      };
      let task = begin();
      let wall = clock.now();
      let monotonic = clock.monotonic();
      const watch = setInterval(() => {
        const wallPassed = clock.now() - wall;
        const passed = clock.monotonic() - monotonic;
        wall += wallPassed;
        monotonic += passed;
        if (Math.abs(wallPassed - passed) < jumpMs) return;
        void task.destroy();
        task = begin();
        onTick();
      }, watchMs);
      return () => {
        clearInterval(watch);
        void task.destroy();
      };
    },
  };
}
