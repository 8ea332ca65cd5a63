import { toInstant, type Clock } from "../base/clock.ts";
import { messageOf, Problem } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { latestFireTime, latestOfFirstMonth, nextFireTime } from "./fire-times.ts";
import type { BoundJob } from "./job.ts";

/** A last fire time this far in the future is logged: the clock was or is wrong. */
const farAheadMs = 60 * 60_000;
const mostTried = 1_000;

/** The last fire time of each job. Fire times are ISO 8601 instants with `Z`, which sort as text. */
export interface FireTimeStore {
  /** Records that a job fires. False if it already fired at this time. Committed before it returns. */
  claim(job: string, fireTime: string): Promise<boolean>;
  last(job: string): Promise<string | undefined>;
  finish(job: string, fireTime: string): Promise<void>;
  /** Claimed but not finished; the oldest first. */
  unfinished(job: string): Promise<string[]>;
  /** Sets the last fire time back after the clock was set back. `claim` still refuses fire times that fired. */
  rewind(job: string, fireTime: string): Promise<void>;
}

export interface ScheduledRun {
  job: BoundJob;
  /** ISO instant. */
  fireTime: string;
  signal: AbortSignal;
}

/** `busy`: another run holds the run lock; each tick tries again. `unfinished`: runs again after the next start. */
export type ScheduledOutcome = "done" | "busy" | "unfinished";

export interface ScheduleState {
  job: string;
  lastFireTime: string | undefined;
  nextFireTime: string | undefined;
  running: boolean;
}

export interface Ticker {
  start(onTick: () => void): () => void;
}

interface ScheduleDependencies {
  jobs: readonly BoundJob[];
  store: FireTimeStore;
  clock: Clock;
  logger: Logger;
  ticker: Ticker;
  /** Finishes the fire time while it holds the run lock. A rejection is logged, and the schedule continues. */
  execute(run: ScheduledRun): Promise<ScheduledOutcome>;
}

interface Due {
  job: BoundJob;
  fireTime: number;
  claimed: boolean;
}

/**
 * Runs jobs at their fire times, one at a time. A fire time is claimed before its run starts, so it fires once,
 * whatever the clock does and however many run. One run makes up for all missed ones, but each month gets its report.
 */
export class Schedule {
  readonly #deps: ScheduleDependencies;
  readonly #abort = new AbortController();
  /** Claimed fire times that wait for their run: of an earlier process, or because of the run lock. */
  readonly #owed = new Map<string, Due>();
  readonly #refused = new Map<string, number>();
  /** For each job, the interrupted fire times of earlier processes that still have to run again. */
  readonly #interrupted = new Map<string, string[]>();
  readonly #jobs: readonly BoundJob[];
  #running: string | undefined;
  #turn: Promise<void> | undefined;
  #stopTicker: (() => void) | undefined;

  constructor(deps: ScheduleDependencies) {
    this.#deps = deps;
    this.#jobs = deps.jobs;
  }

  /** Fire times that were missed while no program ran are due at once. */
  start(): void {
    this.#stopTicker ??= this.#deps.ticker.start(() => void this.tick());
    void this.tick();
  }

  get waits(): boolean {
    return this.#owed.size > 0 && this.#turn === undefined;
  }

  async stop(): Promise<void> {
    this.#stopTicker?.();
    this.#stopTicker = undefined;
    this.#abort.abort(
      new Problem({
        code: "run.stopped",
        message: "The program was asked to stop.",
        cure: "Start it again; it goes on from there.",
      }),
    );
    await this.#turn;
  }

  /** Runs due fire times, except during a run. Never rejects. */
  async tick(): Promise<void> {
    if (this.#abort.signal.aborted || this.#turn !== undefined) return;
    this.#turn = this.#guard(() => this.#work());
    await this.#turn;
    this.#turn = undefined;
  }

  async state(): Promise<ScheduleState[]> {
    const now = this.#deps.clock.now();
    return Promise.all(
      this.#jobs.map(async (job) => {
        const next = job.schedule === undefined ? undefined : nextFireTime(job.schedule.cron, job.schedule.zone, now);
        return {
          job: job.id,
          lastFireTime: await this.#deps.store.last(job.id),
          nextFireTime: next === undefined ? undefined : toInstant(next),
          running: this.#running === job.id,
        };
      }),
    );
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      this.#deps.logger.error(
        { event: "schedule.failed", reason: messageOf(thrown) },
        "the schedule could not look for due fire times",
      );
    }
  }

  async #work(): Promise<void> {
    const busy = new Set<string>();
    while (!this.#abort.signal.aborted) {
      const due: Due[] = [];
      for (const job of this.#jobs) {
        const found = busy.has(job.id) ? undefined : await this.#due(job);
        if (found !== undefined) due.push(found);
      }
      const next = due.sort((a, b) => a.fireTime - b.fireTime)[0];
      if (next === undefined || this.#abort.signal.aborted) return;
      if ((await this.#fire(next)) === "busy") busy.add(next.job.id);
    }
  }

  async #fire(due: Due): Promise<ScheduledOutcome> {
    const { job } = due;
    const { logger } = this.#deps;
    const claimed = due.claimed ? due.fireTime : await this.#claim(due);
    if (claimed === undefined) {
      const fields = { event: "schedule.taken", job: job.id, fireTime: toInstant(due.fireTime) };
      logger.info(fields, "the job fired at this time already, in another program or before the clock was set back");
      return "done";
    }
    const fireTime = toInstant(claimed);
    this.#owed.delete(job.id);
    this.#running = job.id;
    let outcome: ScheduledOutcome = "done";
    try {
      if (!due.claimed) logger.info({ event: "schedule.fires", job: job.id, fireTime }, "job fires");
      outcome = await this.#deps.execute({ job, fireTime, signal: this.#abort.signal });
    } catch (thrown) {
      const code = thrown instanceof Problem ? thrown.code : "run.failed";
      logger.error(
        { event: "schedule.run-failed", job: job.id, fireTime, code, reason: messageOf(thrown) },
        "the run of a fire time failed",
      );
    } finally {
      this.#running = undefined;
    }
    if (outcome === "busy") {
      if (!due.claimed)
        logger.warn(
          { event: "schedule.busy", job: job.id, fireTime },
          "another run is in progress; the fire time waits",
        );
      this.#owed.set(job.id, { ...due, fireTime: claimed, claimed: true });
    }
    return outcome;
  }

  /** After the clock was set back, claims the last earlier fire time that did not fire. Undefined if none is left. */
  async #claim(due: Due): Promise<number | undefined> {
    const { store } = this.#deps;
    const { job } = due;
    for (let fireTime = due.fireTime, tries = 0; tries < mostTried; tries += 1) {
      if (await store.claim(job.id, toInstant(fireTime))) return fireTime;
      const last = Date.parse((await store.last(job.id)) ?? "");
      const earlier =
        job.schedule === undefined || !(last < fireTime)
          ? undefined
          : latestFireTime(job.schedule.cron, job.schedule.zone, last, fireTime - 1);
      if (earlier === undefined) break;
      fireTime = earlier;
    }
    this.#refused.set(job.id, due.fireTime);
    return undefined;
  }

  async #due(job: BoundJob): Promise<Due | undefined> {
    if (job.schedule === undefined) return undefined;
    const owed = this.#owed.get(job.id) ?? (await this.#nextInterrupted(job));
    if (owed !== undefined) return owed;
    const now = this.#deps.clock.now();
    const from = await this.#from(job, now);
    if (from === undefined) return undefined;
    const latest = job.kind === "report" ? latestOfFirstMonth : latestFireTime;
    const fireTime = latest(job.schedule.cron, job.schedule.zone, from, now);
    return fireTime === undefined ? undefined : { job, fireTime, claimed: false };
  }

  /** A fire time of an earlier process whose run did not finish. It runs again, once after the start. */
  async #nextInterrupted(job: BoundJob): Promise<Due | undefined> {
    const found = this.#interrupted.get(job.id) ?? (await this.#findInterrupted(job));
    this.#interrupted.set(job.id, found);
    const fireTime = found.shift();
    if (fireTime === undefined) return undefined;
    this.#deps.logger.warn(
      { event: "schedule.interrupted", job: job.id, fireTime },
      "the run of this fire time was interrupted or failed; it is run again",
    );
    const owed: Due = { job, fireTime: Date.parse(fireTime), claimed: true };
    this.#owed.set(job.id, owed);
    return owed;
  }

  /** The newest run does the work of earlier ones, except of a report: each covers a month of its own. */
  async #findInterrupted(job: BoundJob): Promise<string[]> {
    const { store } = this.#deps;
    const found = await store.unfinished(job.id);
    if (job.kind === "report") return found;
    for (const earlier of found.slice(0, -1)) await store.finish(job.id, earlier);
    return found.slice(-1);
  }

  /** Later fire times are due. A new job starts now. */
  async #from(job: BoundJob, now: number): Promise<number | undefined> {
    const { store, logger } = this.#deps;
    const last = await store.last(job.id);
    if (last === undefined) {
      await store.claim(job.id, toInstant(now));
      await store.finish(job.id, toInstant(now));
      return undefined;
    }
    const lastMs = Date.parse(last);
    if (lastMs > now) {
      if (lastMs > now + farAheadMs)
        logger.warn(
          { event: "schedule.clock-set-back", job: job.id, last, now: toInstant(now) },
          "the clock was set back; the schedule starts anew from now",
        );
      await store.rewind(job.id, toInstant(now));
      this.#refused.delete(job.id);
      return undefined;
    }
    const refused = this.#refused.get(job.id);
    return refused !== undefined && refused <= now ? Math.max(lastMs, refused) : lastMs;
  }
}

const minute = 60_000;
const lookEveryMs = 1_000;

/** Ticks at full minutes. Looks at the clock once a second, so that a jumping clock neither stops nor floods it. */
export function minuteTicker(clock: Pick<Clock, "now">): Ticker {
  return {
    start(onTick) {
      const minuteNow = (): number => Math.floor(clock.now() / minute);
      let last = minuteNow();
      const look = setInterval(() => {
        const now = minuteNow();
        if (now === last) return;
        last = now;
        onTick();
      }, lookEveryMs);
      return () => clearInterval(look);
    },
  };
}
