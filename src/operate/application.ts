import { statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import type { JsonObject } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import type { Randomness } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import { Observers } from "../base/observers.ts";
import { groupNamed, makePrivateFolder, type ReadingGroup } from "../base/private-files.ts";
import { TrustedTime, type ClockDoubt } from "../base/trusted-time.ts";
import type { Config } from "../config/config.ts";
import type { Environment, Loaded } from "../config/load.ts";
import type { RunDependencies } from "../engine/run/request.ts";
import type { SeenCall } from "../http/conclusion.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import { notWritable } from "../ledger/database/ledger-file.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LedgerObserver } from "../ledger/context.ts";
import type { Platform } from "../platform/platform.ts";
import type { Paused } from "../report/status.ts";
import type { SeenRequest } from "../source/http/request.ts";
import type { Source } from "../source/source.ts";
import type { BoundJob } from "./job.ts";
import type { NotifyDependencies } from "./notify/tell.ts";

/** Completes the commands in a text. `written` formats the options. */
export type Suggested = (text: string, written?: (options: string) => string) => string;

export interface Progress {
  phase: string;
  done: number;
  total: number | undefined;
  /** ISO instant. */
  at: string;
}

interface SandboxInside {
  readonly url: string;
  identity(): string;
  counts(): { calls: Record<string, number>; writingCalls: number };
}

/** Parts are created on first use and closed together. */
export interface Application extends Pick<Loaded<Config>, "config" | "secrets" | "header" | "directory"> {
  readonly sandbox: SandboxInside | undefined;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly observed: Observed;
  readonly instance: string;
  readonly commandOptions: string[];
  /** Completes commands in alerts and pages, so that people can copy them. */
  readonly suggested: Suggested;
  readonly progress: Progress | undefined;

  readonly ledgerPath: string;
  readonly group: ReadingGroup | undefined;
  /** `fillsGap`: for a rebuild, which may open a restored ledger that is behind. */
  ledger(how?: { fillsGap?: boolean }): Promise<Ledger>;
  /** A ledger at another path with the same key. The caller closes it. */
  ledgerAt(path: string, how?: { fillsGap?: boolean }): Promise<Ledger>;
  /** Throws a Problem if there is no ledger, and creates none. */
  existingLedger(): Promise<Ledger>;
  requireLedger(): void;
  /** Read-only questions to the ledger, also during a run. Throws a Problem if there is no ledger. */
  inquiry(): Promise<Inquiry>;
  /** The current pause, if the ledger is open. */
  paused(): Paused | undefined;
  /** Why no run may use the ledger, as of its opening for reading. */
  readonly refusal: Problem | undefined;

  platform(): Platform;
  sources(): Source[];
  /** Throws all mistakes of jobs and alert settings together. */
  jobs(): BoundJob[];
  /** Refuses a ledger of other services, and one that is older than a head outside the database. */
  requirePlatform(): Promise<void>;
  runDependencies(at?: Ledger): Promise<RunDependencies>;
  runHeader(): JsonObject;
  readonly sourcesHash: string;
  notifyDependencies(ledger: Ledger): Promise<NotifyDependencies & { ledger: Ledger; jobs?: readonly string[] }>;
  close(): Promise<void>;
}

export const booksFolder = "periods";

export function pathFrom(directory: string, path: string): string {
  return isAbsolute(path) ? path : resolve(directory, path);
}

/** Creates the folder of the ledger, private to the owner and the group that may read. */
export function makeLedgerFolder(path: string, group: string | undefined): void {
  try {
    makePrivateFolder(dirname(path), group === undefined ? undefined : groupNamed(group));
  } catch (error) {
    throw error instanceof Problem ? error : notWritable(path, error);
  }
}

/** True for a path that this user may not look at: opening it then says why it is unreadable. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

type Conclusion = Parameters<LedgerObserver["concluded"]>[0];
type SourceRequest = SeenRequest & { source: string };

/** Events of a running program, each after it happened. Nothing in them is private. */
export interface Observed {
  /** Calls of the two services. Each retry counts. */
  readonly calls: Observers<SeenCall>;
  readonly requests: Observers<SourceRequest>;
  /** Duration of a ledger commit, in milliseconds. */
  readonly commits: Observers<number>;
  readonly conclusions: Observers<Conclusion>;
}

/** `failed` gets errors of listeners. They do not affect the program. */
export function createObserved(failed: (error: unknown) => void): Observed {
  return {
    calls: new Observers(failed),
    requests: new Observers(failed),
    commits: new Observers(failed),
    conclusions: new Observers(failed),
  };
}

export type LockPlace = Pick<Application, "ledger" | "requirePlatform">;

/** Throws (exit code 75) during another run. `done`: another program did it. `refused`: called under the lock. */
export async function underRunLock<T>(
  application: LockPlace,
  work: () => Promise<T>,
  done: () => Promise<T | undefined> = async () => undefined,
  refused: (error: unknown) => Promise<void> = async () => {},
): Promise<T> {
  const ledger = await application.ledger();
  ledger.runs.takeLock();
  try {
    const found = await done();
    if (found !== undefined) return found;
    // Under the lock, so that a process without the lock calls no service.
    try {
      await application.requirePlatform();
    } catch (error) {
      await refused(error);
      throw error;
    }
    return await work();
  } finally {
    ledger.runs.releaseLock();
  }
}

type Place = Pick<Application, "inquiry" | "clock">;

/** Judged by times that services sent earlier. Or why the time is not trusted. */
export async function trustedNow(place: Place): Promise<TrustedTime | ClockDoubt> {
  const known = await (await place.inquiry()).knownTimes();
  return TrustedTime.judge({ now: place.clock.now(), ...known, read: [] });
}

/** Throws a Problem if the time is not trusted. `what` begins the message: `2026-10 cannot be closed now`. */
export async function requireTrusted(place: Place, what: string): Promise<TrustedTime> {
  const time = await trustedNow(place);
  if (time instanceof TrustedTime) return time;
  throw new Problem({
    code: "clock.not-trusted",
    message: `${what}: ${time.message}`,
    cure: time.cure,
    exitCode: exitCodes.recordsRejected,
  });
}
