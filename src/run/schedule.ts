import type { Clock } from "../base/clock.ts";
import { toInstant } from "../base/clock.ts";
import { messageOf, Problem } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { BoundJob } from "./job.ts";
import { countSlots, dueSlots, latestSlot, nextSlot } from "./slots.ts";

const minute = 60_000;
/** A slot this late is still on time: ticks come once a minute. */
const graceMs = 2 * minute;
/** With the policy `all`, at most this many missed slots are made up for. */
const mostMadeUp = 24;
const mostCounted = 1_000;
/** A last slot this far in the future is worth a word: the clock was wrong when it fired, or is wrong now. */
const farAheadMs = 60 * minute;

/** Which slot of a job fired last. Slots are instants in ISO 8601 with `Z` and sort as text. */
export interface SlotStore {
  /** Records that a slot fires; false when it fired before. Committed before it answers. */
  claim(job: string, slot: string): Promise<boolean>;
  last(job: string): Promise<string | undefined>;
  /** Records that a claimed slot needs no run any more. */
  finish(job: string, slot: string): Promise<void>;
  /** Claimed slots that are not finished, the oldest first. */
  unfinished(job: string): Promise<string[]>;
  /**
   * Sets the last slot back after the clock was set back a long way. Slots that fired stay refused by `claim`. Without
   * it a job waits until the clock is past its last slot again.
   */
  rewind?(job: string, slot: string): Promise<void>;
}

export interface SlotRun {
  job: BoundJob;
  /** ISO instant. */
  slot: string;
  /** Earlier slots that this run stands for as well (counted up to 1,000). */
  missed: number;
  signal: AbortSignal;
}

/**
 * `busy`: somebody else holds the run lock; the slot is tried again with each tick. `unfinished`: the run failed or was
 * stopped; it runs again after the next start.
 */
export type SlotOutcome = "done" | "busy" | "unfinished";

export interface ScheduleState {
  job: string;
  lastSlot: string | undefined;
  nextSlot: string | undefined;
  running: boolean;
  /** The last slot lies in the future: the clock was set back, and the job waits for it. */
  clockBehind: boolean;
}

/** Calls back about once a minute, at full minutes, until stopped. */
export interface Ticker {
  start(onTick: () => void): () => void;
}

export interface ScheduleDependencies {
  jobs: readonly BoundJob[];
  store: SlotStore;
  clock: Clock;
  logger: Logger;
  ticker: Ticker;
  /**
   * Runs a job, and finishes its slot in the store while it holds the run lock; may reject, which is logged and leaves
   * the schedule going.
   */
  execute(run: SlotRun): Promise<SlotOutcome>;
}

interface Due {
  job: BoundJob;
  slot: number;
  missed: number;
  /** The slot was claimed before and could not run. */
  claimed: boolean;
}

/**
 * Runs jobs at their slots, one at a time. A slot is claimed in the store before its run begins, so that it fires once
 * whatever the clock does and however many programs run; what passed unused is treated by the job's misfire policy.
 */
export class Schedule {
  readonly #deps: ScheduleDependencies;
  readonly #abort = new AbortController();
  /** Slots of waiting jobs that came while another job ran: they are on time, however long that takes. */
  readonly #queued = new Map<string, number>();
  /** Claimed slots that wait for their run: of an earlier process, or because the lock was taken. */
  readonly #owed = new Map<string, Due>();
  /** Slots that another program fired. */
  readonly #refused = new Map<string, number>();
  readonly #behind = new Set<string>();
  /** Slots of earlier processes that are still to be run again, by job, from when it was first looked at. */
  readonly #interruptedSlots = new Map<string, string[]>();
  #running: string | undefined;
  #turn: Promise<void> | undefined;
  #stopTicker: (() => void) | undefined;

  constructor(deps: ScheduleDependencies) {
    this.#deps = deps;
  }

  /** Starts ticking. Slots that passed while no program was running are due at once, by the job's misfire policy. */
  start(): void {
    this.#stopTicker ??= this.#deps.ticker.start(() => void this.tick());
    void this.tick();
  }

  /** Whether a slot waits for somebody else's run to end. */
  get waits(): boolean {
    return this.#owed.size > 0 && this.#turn === undefined;
  }

  /** Takes no further slot, tells the current run to stop and waits for it. */
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

  /** Looks for due slots and runs them. While a run is on, only remembers what came due. Never rejects. */
  async tick(): Promise<void> {
    if (this.#abort.signal.aborted) return;
    if (this.#turn !== undefined) {
      await this.#guard(() => this.#noteQueued());
      return;
    }
    this.#turn = this.#guard(() => this.#work());
    await this.#turn;
    this.#turn = undefined;
  }

  async state(): Promise<ScheduleState[]> {
    const now = this.#deps.clock.now();
    return Promise.all(
      this.#deps.jobs.map(async (job) => {
        const next = job.schedule === undefined ? undefined : nextSlot(job.schedule.cron, job.schedule.zone, now);
        return {
          job: job.id,
          lastSlot: await this.#deps.store.last(job.id),
          nextSlot: next === undefined ? undefined : toInstant(next),
          running: this.#running === job.id,
          clockBehind: this.#behind.has(job.id),
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
        "the schedule could not look for due slots",
      );
    }
  }

  /** Runs due slots, the oldest first, until none is left. */
  async #work(): Promise<void> {
    const busy = new Set<string>();
    while (!this.#abort.signal.aborted) {
      const due: Due[] = [];
      for (const job of this.#deps.jobs) {
        const found = busy.has(job.id) ? undefined : await this.#due(job);
        if (found !== undefined) due.push(found);
      }
      const next = due.sort((a, b) => a.slot - b.slot)[0];
      if (next === undefined || this.#abort.signal.aborted) return;
      if ((await this.#fire(next)) === "busy") busy.add(next.job.id);
    }
  }

  async #fire(due: Due): Promise<SlotOutcome> {
    const { job, missed } = due;
    const { logger } = this.#deps;
    const claimed = due.claimed ? due.slot : await this.#claim(due);
    if (claimed === undefined) {
      const fields = { event: "schedule.taken", job: job.id, slot: toInstant(due.slot) };
      logger.info(fields, "the slot was fired already, by another program or before the clock was set back");
      return "done";
    }
    const slot = toInstant(claimed);
    this.#queued.delete(job.id);
    this.#owed.delete(job.id);
    this.#running = job.id;
    let outcome: SlotOutcome = "done";
    try {
      if (!due.claimed) logger.info({ event: "schedule.slot", job: job.id, slot, missed }, "slot fires");
      outcome = await this.#deps.execute({ job, slot, missed, signal: this.#abort.signal });
    } catch (thrown) {
      const code = thrown instanceof Problem ? thrown.code : "run.failed";
      logger.error(
        { event: "schedule.run-failed", job: job.id, slot, code, reason: messageOf(thrown) },
        "run of a slot failed",
      );
    } finally {
      this.#running = undefined;
    }
    if (outcome === "busy") {
      if (!due.claimed) logger.warn({ event: "schedule.busy", job: job.id, slot }, "another run is on; the slot waits");
      this.#owed.set(job.id, { ...due, slot: claimed, claimed: true });
    }
    return outcome;
  }

  /**
   * Claims the slot, or, where it fired before the clock was set back, the last one before it that did not. Undefined
   * when another program was faster or nothing is left.
   */
  async #claim(due: Due): Promise<number | undefined> {
    const { store } = this.#deps;
    const { job } = due;
    for (let slot = due.slot, tries = 0; tries < mostCounted; tries += 1) {
      if (await store.claim(job.id, toInstant(slot))) return slot;
      const last = Date.parse((await store.last(job.id)) ?? "");
      const earlier =
        job.schedule === undefined || !(last < slot)
          ? undefined
          : latestSlot(job.schedule.cron, job.schedule.zone, last, slot - 1);
      if (earlier === undefined) break;
      slot = earlier;
    }
    this.#refused.set(job.id, due.slot);
    return undefined;
  }

  async #due(job: BoundJob): Promise<Due | undefined> {
    if (job.schedule === undefined) return undefined;
    const owed = this.#owed.get(job.id) ?? (await this.#interrupted(job));
    if (owed !== undefined) return owed;
    const now = this.#deps.clock.now();
    const from = await this.#from(job, now);
    if (from === undefined) return undefined;
    const { cron, zone } = job.schedule;
    const latest = latestSlot(cron, zone, from, now);
    if (latest === undefined) return undefined;
    if (job.misfire === "all") return this.#oldestMadeUp(job, cron, zone, from, latest);
    const onTime = now - latest <= graceMs || this.#queued.get(job.id) === latest;
    const missed = countSlots(cron, zone, from, latest - 1, mostCounted);
    if (job.misfire === "skip" && !onTime) {
      await this.#deps.store.claim(job.id, toInstant(latest));
      await this.#deps.store.finish(job.id, toInstant(latest));
      this.#refused.set(job.id, latest);
      this.#deps.logger.warn(
        { event: "schedule.skipped", job: job.id, slot: toInstant(latest), missed: missed + 1 },
        "missed slots skipped",
      );
      return undefined;
    }
    return { job, slot: latest, missed, claimed: false };
  }

  /**
   * A slot of an earlier process whose run did not come to its end, by the job's misfire policy: the newest one for all
   * of them, each one, or none. The slot itself is run again, once after the start, so that a report is about its own
   * month.
   */
  async #interrupted(job: BoundJob): Promise<Due | undefined> {
    const { store, logger } = this.#deps;
    let slots = this.#interruptedSlots.get(job.id);
    if (slots === undefined) {
      const found = await store.unfinished(job.id);
      slots = job.misfire === "all" ? found.slice(-mostMadeUp) : job.misfire === "skip" ? [] : found.slice(-1);
      this.#interruptedSlots.set(job.id, slots);
      for (const slot of found) if (!slots.includes(slot)) await store.finish(job.id, slot);
      if (found.length > 0) {
        logger.warn(
          { event: "schedule.interrupted", job: job.id, slot: found.at(-1), slots: found.length, again: slots.length },
          "the runs of these slots were interrupted or failed; they are run again by the job's misfire policy",
        );
      }
    }
    const next = slots.shift();
    if (next === undefined) return undefined;
    const owed: Due = { job, slot: Date.parse(next), missed: 0, claimed: true };
    this.#owed.set(job.id, owed);
    return owed;
  }

  #oldestMadeUp(
    job: BoundJob,
    cron: NonNullable<BoundJob["schedule"]>["cron"],
    zone: string,
    from: number,
    latest: number,
  ): Due {
    let oldest = latest;
    for (let count = 1; count < mostMadeUp; count += 1) {
      const earlier = latestSlot(cron, zone, from, oldest - 1);
      if (earlier === undefined) break;
      oldest = earlier;
    }
    return { job, slot: oldest, missed: countSlots(cron, zone, from, oldest - 1, mostCounted), claimed: false };
  }

  /** From when on slots are due, exclusive. A job seen for the first time starts now. */
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
      const far = lastMs > now + farAheadMs;
      const fields = { event: "schedule.clock-set-back", job: job.id, last, now: toInstant(now) };
      if (store.rewind !== undefined) {
        if (far) logger.warn(fields, "the clock was set back; the schedule starts anew from now");
        await store.rewind(job.id, toInstant(now));
        this.#refused.delete(job.id);
      } else if (far && !this.#behind.has(job.id)) {
        this.#behind.add(job.id);
        logger.warn(fields, "the clock was set back; the job waits until its last slot has passed again");
      }
      return undefined;
    }
    this.#behind.delete(job.id);
    const refused = this.#refused.get(job.id);
    return refused !== undefined && refused <= now ? Math.max(lastMs, refused) : lastMs;
  }

  async #noteQueued(): Promise<void> {
    const now = this.#deps.clock.now();
    for (const job of this.#deps.jobs) {
      if (job.schedule === undefined || job.id === this.#running) continue;
      for (const slot of dueSlots(job.schedule.cron, job.schedule.zone, now - graceMs, now))
        this.#queued.set(job.id, slot);
    }
  }
}
