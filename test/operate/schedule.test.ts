/** @module-tag sized */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import { minuteTicker } from "../../src/operate/schedule.ts";
import { latestFireTime } from "../../src/operate/fire-times.ts";
import { sizes } from "../support/sizes.ts";
import { day, HandClock, hour, job, MemoryFireTimes, minute, world } from "./hand-schedule.ts";

const year = 365 * day;

describe("the schedule", () => {
  it("runs a job at each of its fire times and at no other time", async () => {
    const here = world([job("a", "*/15 * * * *")], "2026-01-01T00:07:00Z");
    await here.schedule.tick();
    for (let passed = 0; passed < 40; passed += 1) {
      here.clock.pass(minute);
      await here.schedule.tick();
      await here.schedule.tick();
    }
    expect(here.fireTimes()).toEqual(["a 2026-01-01T00:15", "a 2026-01-01T00:30", "a 2026-01-01T00:45"]);
  });

  it("fires no fire time of the time before it was started for the first time, and goes on from there after a restart", async () => {
    const store = new MemoryFireTimes();
    const first = world([job("a", "0 * * * *")], "2026-01-01T10:59:00Z", { store });
    await first.schedule.tick();
    await first.schedule.stop();
    const second = world([job("a", "0 * * * *")], "2026-01-01T11:01:00Z", { store });
    await second.schedule.tick();
    expect([...first.fireTimes(), ...second.fireTimes()]).toEqual(["a 2026-01-01T11:00"]);
  });

  it("makes up for missed fire times with one run", async () => {
    const here = world([job("a", "0 * * * *")], "2026-01-01T00:30:00Z");
    await here.schedule.tick();
    here.clock.pass(5 * hour);
    await here.schedule.tick();
    here.clock.pass(30 * minute);
    await here.schedule.tick();
    expect(here.fireTimes()).toEqual(["a 2026-01-01T05:00", "a 2026-01-01T06:00"]);
  });

  it("writes the report of each month whose end was missed, at the last fire time of each", async () => {
    const zone = "Europe/Berlin";
    const jobs = [
      job("monthly", "0 5 1 * *", { kind: "report", zone }),
      job("daily", "30 6 * * *", { kind: "report", zone }),
      job("sync", "0 7 * * *", { zone }),
    ];
    const here = world(jobs, "2026-01-15T12:00:00Z");
    await here.schedule.tick();
    here.clock.pass(80 * day);
    await here.schedule.tick();
    await here.schedule.tick();
    expect(here.fireTimes().sort()).toEqual([
      "daily 2026-01-31T05:30",
      "daily 2026-02-28T05:30",
      "daily 2026-03-31T04:30",
      "daily 2026-04-05T04:30",
      "monthly 2026-02-01T04:00",
      "monthly 2026-03-01T04:00",
      "monthly 2026-04-01T03:00",
      "sync 2026-04-05T05:00",
    ]);
  });

  it("runs each interrupted report again, once after a start", async () => {
    const store = new MemoryFireTimes();
    for (const month of ["02", "03", "04"]) await store.claim("monthly", `2026-${month}-01T05:00:00.000Z`);
    await store.finish("monthly", "2026-03-01T05:00:00.000Z");
    const jobs = [job("monthly", "0 5 1 * *", { kind: "report" })];
    const execute = ({ fireTime }: { fireTime: string }) => (fireTime.startsWith("2026-02") ? "unfinished" : "done");
    const here = world(jobs, "2026-04-02T00:00:00Z", { store, execute });
    await here.schedule.tick();
    await here.schedule.tick();
    expect(here.fireTimes()).toEqual(["monthly 2026-02-01T05:00", "monthly 2026-04-01T05:00"]);
    const next = world(jobs, "2026-04-03T00:00:00Z", { store });
    await next.schedule.tick();
    expect(next.fireTimes()).toEqual(["monthly 2026-02-01T05:00"]);
  });

  it("runs one job at a time; a fire time that had to wait for another job follows it", async () => {
    let running = 0;
    let most = 0;
    const here = world([job("long", "0 * * * *"), job("short", "10 * * * *")], "2026-01-01T00:59:00Z", {
      async execute(run, clock) {
        running += 1;
        most = Math.max(most, running);
        if (run.job.id === "long") {
          for (let passed = 0; passed < 30; passed += 1) {
            clock.pass(minute);
            await here.schedule.tick();
          }
        }
        running -= 1;
        return "done" as const;
      },
    });
    await here.schedule.tick();
    here.clock.pass(minute);
    await here.schedule.tick();
    expect(here.fireTimes()).toEqual(["long 2026-01-01T01:00", "short 2026-01-01T01:10"]);
    expect(most).toBe(1);
  });

  it("does not run a job beside itself: what came due meanwhile is one run after it", async () => {
    const here = world([job("a", "*/5 * * * *")], "2026-01-01T00:04:00Z", {
      execute(_run, clock) {
        if (here.runs.length === 1) clock.pass(22 * minute);
        return "done" as const;
      },
    });
    await here.schedule.tick();
    here.clock.pass(minute);
    await here.schedule.tick();
    expect(here.fireTimes()).toEqual(["a 2026-01-01T00:05", "a 2026-01-01T00:25"]);
  });

  it("tries a fire time again with the next tick when another run holds the lock", async () => {
    let busy = 2;
    const here = world([job("a", "0 * * * *"), job("b", "0 * * * *")], "2026-01-01T00:59:00Z", {
      execute: (run) => (run.job.id === "a" && busy-- > 0 ? "busy" : "done"),
    });
    await here.schedule.tick();
    for (let passed = 0; passed < 4; passed += 1) {
      here.clock.pass(minute);
      await here.schedule.tick();
    }
    expect(here.fireTimes()).toEqual([
      "a 2026-01-01T01:00",
      "b 2026-01-01T01:00",
      "a 2026-01-01T01:00",
      "a 2026-01-01T01:00",
    ]);
  });

  it("goes on after a run that failed and after a store that could not be written", async () => {
    const store = new MemoryFireTimes();
    const claim = store.claim.bind(store);
    let failing = false;
    store.claim = async (name, fireTime) => {
      if (failing) throw new Error("disk full");
      return claim(name, fireTime);
    };
    const here = world([job("a", "*/5 * * * *")], "2026-01-01T00:04:00Z", {
      store,
      execute() {
        throw new Problem({ code: "source.down", message: "down", cure: "wait" });
      },
    });
    await here.schedule.tick();
    here.clock.pass(minute);
    await here.schedule.tick();
    failing = true;
    here.clock.pass(5 * minute);
    await here.schedule.tick();
    failing = false;
    here.clock.pass(minute);
    await here.schedule.tick();
    expect(here.fireTimes()).toEqual(["a 2026-01-01T00:05", "a 2026-01-01T00:10"]);
  });

  it("runs the newest fire time again after the start whose process died or whose run failed", async () => {
    const store = new MemoryFireTimes();
    const jobs = [job("once", "0 5 1 * *"), job("daily", "0 5 * * *"), job("well", "0 5 1 * *")];
    const clock = new HandClock("2026-01-31T05:30:00Z");
    const first = world(jobs, "", {
      store,
      clock,
      execute(run) {
        if (run.job.id === "well") return "done";
        if (run.job.id === "daily") throw new Error("the disk is full");
        return "unfinished";
      },
    });
    await first.schedule.tick();
    clock.pass(day - 30 * minute);
    await first.schedule.tick();
    clock.pass(day);
    await first.schedule.tick();
    expect(first.fireTimes().sort()).toEqual([
      "daily 2026-02-01T05:00",
      "daily 2026-02-02T05:00",
      "once 2026-02-01T05:00",
      "well 2026-02-01T05:00",
    ]);
    clock.pass(hour);
    const second = world(jobs, "", {
      store,
      clock,
      execute: ({ job: { id } }) => (id === "daily" ? "unfinished" : "done"),
    });
    await second.schedule.tick();
    clock.pass(minute);
    await second.schedule.tick();
    expect(second.fireTimes().sort(), "each once, also where it fails again").toEqual([
      "daily 2026-02-02T05:00",
      "once 2026-02-01T05:00",
    ]);
    const third = world(jobs, "", { store, clock });
    await third.schedule.tick();
    expect(third.fireTimes()).toEqual(["daily 2026-02-02T05:00"]);
  });

  it("runs an interrupted fire time also if the store could not be written at first", async () => {
    const store = new MemoryFireTimes();
    for (const fireTime of ["2026-01-01T05:00:00.000Z", "2026-02-01T05:00:00.000Z"]) await store.claim("a", fireTime);
    const finish = store.finish.bind(store);
    let isFull = true;
    store.finish = async (name, fireTime) => {
      if (isFull) throw new Error("disk full");
      await finish(name, fireTime);
    };
    const here = world([job("a", "0 5 1 * *")], "2026-02-01T05:30:00Z", { store });
    await here.schedule.tick();
    isFull = false;
    here.clock.pass(minute);
    await here.schedule.tick();
    expect(here.fireTimes()).toEqual(["a 2026-02-01T05:00"]);
  });

  it("fires a fire time once although two programs tick at the same moment", async () => {
    const store = new MemoryFireTimes();
    const clock = new HandClock("2026-01-01T00:04:00Z");
    const both = [0, 1].map(() => world([job("a", "*/5 * * * *")], "", { store, clock }));
    for (let passed = 0; passed < 30; passed += 1) {
      await Promise.all(both.map((one) => one.schedule.tick()));
      clock.pass(minute);
    }
    const fired = both.flatMap((one) => one.fireTimes());
    expect(fired).toHaveLength(6);
    expect(new Set(fired).size).toBe(6);
  });

  it("stops cleanly in the middle of a run: tells it, waits for it, takes no further fire time", async () => {
    let ended = false;
    const begun = Promise.withResolvers<void>();
    const here = world([job("a", "*/5 * * * *"), job("b", "*/5 * * * *")], "2026-01-01T00:04:00Z", {
      async execute(run) {
        begun.resolve();
        await new Promise<void>((resolve) => run.signal.addEventListener("abort", () => setImmediate(resolve)));
        ended = true;
        return "done" as const;
      },
    });
    await here.schedule.tick();
    here.clock.pass(minute);
    const turn = here.schedule.tick();
    await begun.promise;
    expect(here.runs).toHaveLength(1);
    expect((await here.schedule.state())[0]).toMatchObject({
      job: "a",
      running: true,
      nextFireTime: "2026-01-01T00:10:00.000Z",
    });
    await here.schedule.stop();
    expect(ended).toBe(true);
    await turn;
    here.clock.pass(hour);
    await here.schedule.tick();
    expect(here.runs).toHaveLength(1);
  });
});

describe("a clock that jumps", () => {
  it(
    "neither fires a fire time twice nor loses one: ±1 hour, ±1 day, ±10 years, over changes of clocks and 29 February",
    { tags: "long" },
    async () => {
      const jumps = [-hour, hour, -day, day, -10 * year, 10 * year, -90_000, 90_000, -30 * minute];
      let jumped = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(
            "2026-03-28T20:11:00Z",
            "2026-10-24T20:11:00Z",
            "2028-02-28T20:11:00Z",
            "2027-12-31T20:11:00Z",
          ),
          fc.array(fc.tuple(fc.constantFrom(...jumps), fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 4 })), {
            minLength: 25,
            maxLength: 25,
          }),
          async (start, steps) => {
            const store = new MemoryFireTimes();
            const zone = "Europe/Berlin";
            const jobs = [
              job("often", "*/15 * * * *", { zone }),
              job("night", "30 2 * * *", { zone }),
              job("leap", "0 0 29 2 *", { zone }),
            ];
            const here = world(jobs, start, { store });
            const passed: [number, number][] = [];
            const move = async (ms: number, jump: boolean): Promise<void> => {
              const before = here.clock.wall;
              if (jump) here.clock.jump(ms);
              else here.clock.pass(ms);
              if (ms > 0) passed.push([before, here.clock.wall]);
              await here.schedule.tick();
            };
            await here.schedule.tick();
            for (const [jump, minutes] of steps) {
              jumped += 1;
              await move(jump, true);
              for (const some of minutes) await move(some * minute, false);
            }
            const fired = here.runs.map((run) => `${run.job.id} ${run.fireTime}`);
            expect(new Set(fired).size).toBe(fired.length);
            for (const one of jobs) {
              const covered = store.covered.filter((stretch) => stretch.job === one.id);
              for (const [from, to] of uncovered(passed, covered)) {
                const lost = one.schedule === undefined ? undefined : latestFireTime(one.schedule.cron, zone, from, to);
                expect(
                  lost === undefined ? undefined : `${one.id} lost ${new Date(lost).toISOString()}`,
                ).toBeUndefined();
              }
            }
          },
        ),
        { numRuns: sizes.clocks, seed: 20261120 },
      );
      expect(jumped).toBe(25 * sizes.clocks);
    },
  );

  it("leaves jobs running when it went far ahead and came back", async () => {
    const here = world([job("a", "0 * * * *")], "2026-01-01T00:30:00Z");
    await here.schedule.tick();
    here.clock.jump(10 * year);
    await here.schedule.tick();
    here.clock.jump(-10 * year);
    for (let passed = 0; passed < 4; passed += 1) {
      await here.schedule.tick();
      here.clock.pass(hour);
    }
    expect(here.fireTimes().map((fireTime) => fireTime.slice(2, 15))).toEqual([
      "2035-12-30T00",
      "2026-01-01T01",
      "2026-01-01T02",
      "2026-01-01T03",
    ]);
  });
});

/** What of the stretches passed no claim stands for. */
function uncovered(passed: [number, number][], covered: { from: number; to: number }[]): [number, number][] {
  const sorted = [...covered].sort((a, b) => a.from - b.from);
  return passed.flatMap(([from, to]) => {
    const open: [number, number][] = [];
    let start = from;
    for (const stretch of sorted) {
      if (stretch.to <= start) continue;
      if (stretch.from >= to) break;
      if (stretch.from > start) open.push([start, stretch.from]);
      start = Math.max(start, stretch.to);
    }
    if (start < to) open.push([start, to]);
    return open;
  });
}

describe("the ticker", () => {
  beforeEach(() =>
    vi.useFakeTimers({
      now: Date.parse("2026-01-01T00:00:30Z"),
      toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
    }),
  );
  afterEach(() => vi.useRealTimers());

  it("ticks at full minutes until it is stopped", async () => {
    let ticks = 0;
    const stop = minuteTicker(systemClock).start(() => (ticks += 1));
    await vi.advanceTimersByTimeAsync(5 * minute);
    expect(ticks).toBe(5);
    stop();
    await vi.advanceTimersByTimeAsync(5 * minute);
    expect(ticks).toBe(5);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([-10 * year, -hour, hour, 10 * year])(
    "keeps ticking every minute after the clock jumps by %d ms",
    async (jump) => {
      let ticks = 0;
      const stop = minuteTicker(systemClock).start(() => (ticks += 1));
      await vi.advanceTimersByTimeAsync(minute);
      vi.setSystemTime(Date.now() + jump);
      await vi.advanceTimersByTimeAsync(2_000);
      ticks = 0;
      await vi.advanceTimersByTimeAsync(5 * minute);
      expect(ticks).toBe(5);
      stop();
    },
  );
});
