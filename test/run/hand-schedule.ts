import { pino } from "pino";
import type { Clock } from "../../src/base/clock.ts";
import { parseCron } from "../../src/run/cron.ts";
import type { Cron } from "../../src/run/cron.ts";
import type { BoundJob, MisfirePolicy } from "../../src/run/job.ts";
import { Schedule } from "../../src/run/schedule.ts";
import type { SlotOutcome, SlotRun, SlotStore } from "../../src/run/schedule.ts";

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

export function cron(text: string): Cron {
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

export function job(id: string, schedule: string, more: { zone?: string; misfire?: MisfirePolicy } = {}): BoundJob {
  return {
    id,
    title: id,
    kind: "sync",
    schedule: { cron: cron(schedule), zone: more.zone ?? "UTC" },
    streams: ["customers"],
    sources: [],
    misfire: more.misfire ?? "run-once",
    limits: {
      revokes: { enterprise: { floor: 5, share: 0.05 }, run: { floor: 20, share: 0.01 } },
      sourceShrink: 0.2,
      absenceReads: 3,
      absenceTime: "24h",
    },
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

/** Slots in memory, as the ledger keeps them, with every claim on record. */
export class MemorySlots implements SlotStore {
  readonly lastSlots = new Map<string, string>();
  readonly fired = new Set<string>();
  /** For each job the stretches (from, to] that a claim stands for. */
  readonly covered: { job: string; from: number; to: number }[] = [];
  rewinds = 0;

  async claim(job: string, slot: string): Promise<boolean> {
    const last = this.lastSlots.get(job);
    if (this.fired.has(`${job} ${slot}`) || (last !== undefined && slot <= last)) return false;
    this.covered.push({ job, from: last === undefined ? Date.parse(slot) : Date.parse(last), to: Date.parse(slot) });
    this.fired.add(`${job} ${slot}`);
    this.lastSlots.set(job, slot);
    return true;
  }

  async last(job: string): Promise<string | undefined> {
    return this.lastSlots.get(job);
  }

  readonly finished = new Set<string>();

  async finish(job: string, slot: string): Promise<void> {
    this.finished.add(`${job} ${slot}`);
  }

  async unfinished(job: string): Promise<string[]> {
    const open = [...this.fired].filter((slot) => slot.startsWith(`${job} `) && !this.finished.has(slot));
    return open.map((slot) => slot.slice(job.length + 1)).sort();
  }

  async rewind(job: string, slot: string): Promise<void> {
    this.rewinds += 1;
    this.lastSlots.set(job, slot);
  }
}

/** A store that only moves forward. */
export class ForwardSlots implements SlotStore {
  readonly #inner = new MemorySlots();
  claim = (job: string, slot: string): Promise<boolean> => this.#inner.claim(job, slot);
  last = (job: string): Promise<string | undefined> => this.#inner.last(job);
  finish = (job: string, slot: string): Promise<void> => this.#inner.finish(job, slot);
  unfinished = (job: string): Promise<string[]> => this.#inner.unfinished(job);
}

export interface World {
  clock: HandClock;
  schedule: Schedule;
  runs: SlotRun[];
  /** `job slot` of every run. */
  slots(): string[];
  tick(): void;
}

export function world(
  jobs: BoundJob[],
  at: string,
  more: {
    store?: SlotStore;
    clock?: HandClock;
    execute?: (run: SlotRun, clock: HandClock) => Promise<SlotOutcome> | SlotOutcome;
  } = {},
): World {
  const clock = more.clock ?? new HandClock(at);
  const runs: SlotRun[] = [];
  const store = more.store ?? new MemorySlots();
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
      if (outcome === "done") await store.finish(run.job.id, run.slot);
      return outcome;
    },
  });
  return {
    clock,
    schedule,
    runs,
    slots: () => runs.map((run) => `${run.job.id} ${run.slot.slice(0, 16)}`),
    tick: () => onTick(),
  };
}
