import pLimit from "p-limit";
import type { Clock } from "../base/clock.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import type { Schedule } from "../run/schedule.ts";
import type { Application } from "./application.ts";
import { createLongReads } from "./long-reads.ts";
import type { LongReads } from "./long-reads.ts";

/** What the pages are made from, and what they may do. */
export interface Dashboard {
  /** As it is configured now: another one once a configuration was taken over. */
  readonly application: Application;
  readonly clock: Clock;
  /**
   * What goes on in this process. Undefined beside a daemon, where pages are read from the ledger alone: nothing is
   * decided there, and no private value is shown, because asking for one could not be written down.
   */
  readonly live: Live | undefined;
  /** Puts a question to the ledger. One is asked at a time, and its answer is of one state of the ledger. */
  read<T>(question: (inquiry: Inquiry) => Promise<T>): Promise<T>;
  /** What goes through much of the ledger, in a process of its own. */
  readonly longReads: LongReads;
  /** Asked for as the server ends: streams of events end with it. */
  readonly signal: AbortSignal;
  close(): void;
}

/** The daemon that the pages belong to. */
export interface Live {
  /** When each job fires next; undefined where nothing is scheduled. */
  readonly schedule?: Schedule | undefined;
}

export interface DashboardRequest {
  application: () => Application;
  live?: Live | undefined;
  signal: AbortSignal;
  longReads?: LongReads | undefined;
}

/** Opens what the pages read: a connection of its own that can only read, beside every run. */
export function createDashboard({ application, live, signal, longReads }: DashboardRequest): Dashboard {
  const oneAtATime = pLimit(1);
  let inquiry: Inquiry | undefined;
  const opened = async (): Promise<Inquiry> => {
    const now = application();
    now.requireLedger();
    const { openInquiry } = await import("../inquiry/inquiry.ts");
    inquiry ??= openInquiry(now.ledgerPath);
    return inquiry;
  };
  return {
    get application() {
      return application();
    },
    clock: application().clock,
    live,
    signal,
    longReads: longReads ?? createLongReads(application),
    read: async (question) => await oneAtATime(async () => await question(await opened())),
    close: () => {
      inquiry?.close();
      inquiry = undefined;
    },
  };
}
