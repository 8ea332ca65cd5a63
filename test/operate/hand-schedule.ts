import { pino } from "pino";
import type { Clock } from "../../src/base/clock.ts";
import { parseCron, type Cron } from "../../src/base/cron.ts";
import type { BoundJob } from "../../src/operate/job.ts";
import { Schedule, type ScheduledOutcome, type ScheduledRun, type FireTimeStore } from "../../src/operate/schedule.ts";

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

export function cron(text: string): Cron {
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

export function job(id: string, schedule: string, more: { zone?: string; kind?: BoundJob["kind"] } = {}): BoundJob {
  return {
    id,
    kind: more.kind ?? "sync",
    schedule: { cron: cron(schedule), zone: more.zone ?? "UTC" },
    streams: ["customers"],
    sources: [],
    reports: [],
  };
}

/** Both clocks, moved by hand. */
export class HandClock implements Clock {
  wall: number;
  steady = 0;
  constructor(at: string) {
    this.wall = Date.parse(at);
  }
  now = (): number => this.wall;
  monotonic = (): number => this.steady;
  sleep = async (): Promise<void> => {};
  pass(ms: number): void {
    this.wall += ms;
    this.steady += ms;
  }
  jump(ms: number): void {
    this.wall += ms;
  }
}

/** Fire times in memory, as the ledger keeps them, with every claim on record. */
export class MemoryFireTimes implements FireTimeStore {
  readonly lastSlots = new Map<string, string>();
  readonly fired = new Set<string>();
  /** For each job the stretches (from, to] that a claim stands for. */
  readonly covered: { job: string; from: number; to: number }[] = [];
  rewinds = 0;

  async claim(job: string, fireTime: string): Promise<boolean> {
    const last = this.lastSlots.get(job);
    if (this.fired.has(`${job} ${fireTime}`) || (last !== undefined && fireTime <= last)) return false;
    this.covered.push({
      job,
      from: last === undefined ? Date.parse(fireTime) : Date.parse(last),
      to: Date.parse(fireTime),
    });
    this.fired.add(`${job} ${fireTime}`);
    this.lastSlots.set(job, fireTime);
    return true;
  }

  async last(job: string): Promise<string | undefined> {
    return this.lastSlots.get(job);
  }

  readonly finished = new Set<string>();

  async finish(job: string, fireTime: string): Promise<void> {
    this.finished.add(`${job} ${fireTime}`);
  }

  async unfinished(job: string): Promise<string[]> {
    const open = [...this.fired].filter((fireTime) => fireTime.startsWith(`${job} `) && !this.finished.has(fireTime));
    return open.map((fireTime) => fireTime.slice(job.length + 1)).sort();
  }

  async rewind(job: string, fireTime: string): Promise<void> {
    this.rewinds += 1;
    this.lastSlots.set(job, fireTime);
  }
}

export interface World {
  clock: HandClock;
  schedule: Schedule;
  runs: ScheduledRun[];
  /** `job fire time` of every run. */
  fireTimes(): string[];
  tick(): void;
}

export function world(
  jobs: BoundJob[],
  at: string,
  more: {
    store?: FireTimeStore;
    clock?: HandClock;
    execute?: (run: ScheduledRun, clock: HandClock) => Promise<ScheduledOutcome> | ScheduledOutcome;
  } = {},
): World {
  const clock = more.clock ?? new HandClock(at);
  const runs: ScheduledRun[] = [];
  const store = more.store ?? new MemoryFireTimes();
  let onTick = (): void => {};
  const schedule = new Schedule({
    jobs,
    clock,
    store,
    logger: pino({ level: "silent" }),
    ticker: {
      start(callback) {
        onTick = callback;
        return () => {
          onTick = () => {};
        };
      },
    },
    async execute(run) {
      runs.push(run);
      const outcome = (await more.execute?.(run, clock)) ?? "done";
      if (outcome === "done") await store.finish(run.job.id, run.fireTime);
      return outcome;
    },
  });
  return {
    clock,
    schedule,
    runs,
    fireTimes: () => runs.map((run) => `${run.job.id} ${run.fireTime.slice(0, 16)}`),
    tick: () => onTick(),
  };
}
