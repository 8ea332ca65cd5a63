import { statSync } from "node:fs";
import { setImmediate as othersGoOn } from "node:timers/promises";
import pLimit from "p-limit";
import { toInstant, type Clock } from "../base/clock.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import type { Application } from "./application.ts";
import { nextFireTime } from "./fire-times.ts";
import { createLongReads, type LongReads } from "./long-reads.ts";
import type { ScheduleState } from "./schedule.ts";

/** What the pages are made from, and what they may do. */
export interface Dashboard {
  readonly application: Application;
  readonly clock: Clock;
  /** Puts a question to the ledger. One is asked at a time, and its answer is of one state of the ledger. */
  read<T>(question: (inquiry: Inquiry) => Promise<T>): Promise<T>;
  /** When each job that has a schedule fires next, and how it is. */
  fireTimes(): Promise<FireTimes[]>;
  /** Jobs that should have fired a while ago and did not, each with that time; `slots`: what fired last. */
  notFired(slots: readonly { job: string; lastSlot: string | null }[]): { job: string; since: string }[];
  /** What goes through much of the ledger, in a process of its own. */
  readonly longReads: LongReads;
  /** Asked for as the server ends: streams of events end with it. */
  readonly signal: AbortSignal;
  close(): void;
}

export type FireTimes = Pick<ScheduleState, "job" | "nextFireTime" | "running">;

interface DashboardRequest {
  application: Application;
  fireTimes: () => Promise<FireTimes[]>;
  signal: AbortSignal;
  longReads?: LongReads | undefined;
}

/** Opens what the pages read: a connection of its own that can only read, beside every run. */
export function createDashboard({ application, fireTimes, signal, longReads }: DashboardRequest): Dashboard {
  const oneAtATime = pLimit(1);
  let open: { inquiry: Inquiry; file: string } | undefined;
  const close = (): void => {
    open?.inquiry.close();
    open = undefined;
  };
  const opened = async (): Promise<Inquiry> => {
    application.requireLedger();
    const { openInquiry } = await import("../inquiry/inquiry.ts");
    // Where a backup was restored, the file that is open is not the ledger any more.
    const file = fileAt(application.ledgerPath);
    if (open?.file !== file) close();
    open ??= { inquiry: openInquiry(application.ledgerPath), file };
    return open.inquiry;
  };
  return {
    application,
    clock: application.clock,
    signal,
    fireTimes: async () => (await fireTimes()).filter((state) => state.nextFireTime !== undefined),
    notFired: (slots) => notFired(application, slots),
    longReads: longReads ?? createLongReads(application),
    read: async (question) =>
      await oneAtATime(async () => {
        // Questions that follow each other without a pause would let nothing else answer, whether it is alive either.
        await othersGoOn();
        const inquiry = await opened();
        return await inquiry.ofOneState(async () => await question(inquiry));
      }),
    close,
  };
}

/** Which file lies there. */
function fileAt(path: string): string {
  const { dev, ino } = statSync(path);
  return `${dev}/${ino}`;
}

/** A daemon that is there fires long before. */
const firedWithinMs = 10 * 60_000;

/**
 * Jobs that should have fired a while ago and did not, each with that time. By the schedule: from the last fire time on,
 * which the first look of a daemon gives each job. `slots`: the last fire time of each job.
 */
export function notFired(
  application: Application,
  slots: readonly { job: string; lastSlot: string | null }[],
): { job: string; since: string }[] {
  const now = application.clock.now();
  return application.jobs().flatMap(({ id, schedule }) => {
    const last = Date.parse(slots.find(({ job }) => job === id)?.lastSlot ?? "");
    if (schedule === undefined || Number.isNaN(last)) return [];
    const due = nextFireTime(schedule.cron, schedule.zone, last);
    return due === undefined || due > now - firedWithinMs ? [] : [{ job: id, since: toInstant(due) }];
  });
}
