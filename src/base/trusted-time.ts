import { toInstant } from "./clock.ts";

/** From a Date header, in epoch milliseconds. */
export interface ServiceTime {
  service: string;
  time: number;
}

export interface ClockEvidence {
  now: number;
  /** The newest stamp of the ledger. 0: none. */
  newest: number;
  read: readonly ServiceTime[];
  /** The last times in the ledger. They count if this command asked no service. */
  kept: readonly ServiceTime[];
}

export interface ClockDoubt {
  message: string;
  cure: string;
  isServiceDown?: true;
}

/** Allowed difference from a service, or behind the newest stamp: small steps correct a clock. */
export const toleranceMs = 5 * 60_000;
/** Maximum age of a recorded service time. */
export const keptForMs = 24 * 60 * 60_000;

/** A time that services and the ledger confirm. Required to destroy or end anything by time. Only `judge` makes one. */
export class TrustedTime {
  readonly #epochMs: number;

  private constructor(epochMs: number) {
    this.#epochMs = epochMs;
  }

  get epochMs(): number {
    return this.#epochMs;
  }

  static judge(evidence: ClockEvidence): TrustedTime | ClockDoubt {
    return doubtOf(evidence) ?? new TrustedTime(evidence.now);
  }
}

export interface AskedTime {
  /** Undefined if the clock is not trusted. `isFresh`: recorded times of services do not count. */
  now(asked: { isFresh: boolean }): Promise<TrustedTime | undefined>;
}

function doubtOf(evidence: ClockEvidence): ClockDoubt | undefined {
  const { now, newest, read, kept } = evidence;
  const heard = read.length > 0 ? read : kept;
  const doubt = (why: string, cure: string): ClockDoubt => ({ message: `${why}: ${timesText(evidence)}`, cure });
  if (heard.length === 0)
    return doubt(
      "no service has said what time it is",
      "run a job; where its services send no Date header, ask their operators for it",
    );
  const others = heard.filter(({ time }) => isOther(now, time, read.length > 0));
  if (others.length > 0 && heard.some(({ time }) => Math.abs(time - (heard[0]?.time ?? 0)) > toleranceMs))
    return doubt(
      "the services do not agree about the time",
      "find out whose clock is wrong: correct that of this computer, or tell the provider of the service",
    );
  if (others.length > 0) return doubt("the clock of this computer is not that of the services", "correct the clock");
  if (read.length === 0 && now - Math.max(...kept.map(({ time }) => time)) > keptForMs)
    return doubt("no service has said for more than a day what time it is", "run a job, then try again");
  if (newest - now > toleranceMs)
    return doubt(
      "the ledger holds entries of the future, which a wrong clock wrote",
      "check that the clock is right now, then `crm-sync clock correct --reason TEXT`",
    );
  return undefined;
}

function isOther(now: number, time: number, isRead: boolean): boolean {
  return time - now > toleranceMs || (isRead && now - time > toleranceMs);
}

function timesText({ now, newest, read, kept }: ClockEvidence): string {
  const said =
    (verb: string) =>
    ({ service, time }: ServiceTime) =>
      `${service} ${verb} ${toInstant(time)}`;
  const heard = read.length > 0 ? read.map(said("says")) : kept.map(said("last said"));
  const entry = newest === 0 ? [] : [`the newest entry of the ledger is of ${toInstant(newest)}`];
  return [`this computer says ${toInstant(now)}`, ...heard, ...entry].join(", ");
}
