import { statSync } from "node:fs";
import { setImmediate as othersGoOn } from "node:timers/promises";
import pLimit from "p-limit";
import { toInstant, type Clock } from "../base/clock.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import type { Application } from "./application.ts";
import { nextFireTime } from "./fire-times.ts";
import { createLongReads, type LongReads } from "./long-reads.ts";
import type { ScheduleState } from "./schedule.ts";

export interface Dashboard {
  readonly application: Application;
  readonly clock: Clock;
  /** Asks the ledger one question at a time. Each answer shows one state of the ledger. */
  read<T>(question: (inquiry: Inquiry) => Promise<T>): Promise<T>;
  fireTimes(): Promise<FireTimes[]>;
  notFired(slots: readonly { job: string; lastSlot: string | null }[]): { job: string; since: string }[];
  readonly longReads: LongReads;
  /** Aborts when the server stops, which ends event streams. */
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

/** Opens a read-only connection of its own, which works beside every run. */
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
    // After a restore of a backup, the open file is no longer the ledger.
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
        // Consecutive questions would block everything else, including the health check.
        await othersGoOn();
        const inquiry = await opened();
        return await inquiry.ofOneState(async () => await question(inquiry));
      }),
    close,
  };
}

function fileAt(path: string): string {
  const { dev, ino } = statSync(path);
  return `${dev}/${ino}`;
}

/** A running daemon fires much sooner. */
const firedWithinMs = 10 * 60_000;

/** The first tick of a daemon gives each job a last fire time (`slots`). */
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
