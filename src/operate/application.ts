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

/** A text with the commands that it suggests completed; `written`: how the options are written into the text. */
export type Suggested = (text: string, written?: (options: string) => string) => string;

/** How far the work came that goes on in this process, or went on last. */
export interface Progress {
  phase: string;
  done: number;
  total: number | undefined;
  /** When it was told. ISO instant. */
  at: string;
}

/** What is used of the sandbox inside this process. */
interface SandboxInside {
  readonly url: string;
  identity(): string;
  counts(): { calls: Record<string, number>; writingCalls: number };
}

/** Everything that a command or the daemon works with, made when it is first asked for and closed together. */
export interface Application extends Pick<Loaded<Config>, "config" | "secrets" | "header" | "directory"> {
  /** The sandbox inside this process; undefined where there is none. */
  readonly sandbox: SandboxInside | undefined;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly environment: Environment;
  readonly logger: Logger;
  /** What goes on in it, for metrics and figures: whoever wants to know subscribes. */
  readonly observed: Observed;
  /** Who speaks where several instances report to one place. */
  readonly instance: string;
  /** The options by which another process of this program finds the same configuration, and the same services. */
  readonly commandOptions: string[];
  /** Commands in alerts and pages, as whoever reads them has to type them. */
  readonly suggested: Suggested;
  /** What a run in this process told last; undefined where none was on. */
  readonly progress: Progress | undefined;

  readonly ledgerPath: string;
  /** Who may read what is written, beside the owner. */
  readonly group: ReadingGroup | undefined;
  /** `fillsGap`: a rebuild opens it also where it was restored and lacks what was done since. */
  ledger(how?: { fillsGap?: boolean }): Promise<Ledger>;
  /** A ledger at another place with the same key; whoever asks for it closes it. */
  ledgerAt(path: string, how?: { fillsGap?: boolean }): Promise<Ledger>;
  /**
   * The ledger for a command that only makes sense where there is one. Throws a Problem, and makes none, where there
   * is not.
   */
  existingLedger(): Promise<Ledger>;
  requireLedger(): void;
  /** Read-only questions to the ledger, beside a run that is on. Throws a Problem where there is no ledger yet. */
  inquiry(): Promise<Inquiry>;
  /** The pause that is on, where the ledger was opened for something. */
  paused(): Paused | undefined;
  /** Why no run may use the ledger, as it was when it was opened for reading. */
  readonly refusal: Problem | undefined;

  platform(): Platform;
  sources(): Source[];
  /** Throws all that is wrong with them at once, or with who is told of what they come to. */
  jobs(): BoundJob[];
  /** Refuses a ledger of other services than those of this configuration, and one that heads outside say is old. */
  requirePlatform(): Promise<void>;
  /** What a run works with; `at`: on another ledger than that of the configuration. */
  runDependencies(at?: Ledger): Promise<RunDependencies>;
  /** What a run says about where its settings came from. */
  runHeader(): JsonObject;
  /** The hash of how records are read and mapped. */
  readonly sourcesHash: string;
  notifyDependencies(ledger: Ledger): Promise<NotifyDependencies & { ledger: Ledger }>;
  close(): Promise<void>;
}

/** The folder beside the ledger that holds the files of closed periods. */
export const booksFolder = "periods";

/** A path of the configuration, which starts at the configuration's folder unless it is absolute. */
export function pathFrom(directory: string, path: string): string {
  return isAbsolute(path) ? path : resolve(directory, path);
}

/** Makes the folder of the ledger where it is missing, private to its owner and to the group that may read. */
export function makeLedgerFolder(path: string, group: string | undefined): void {
  try {
    makePrivateFolder(dirname(path), group === undefined ? undefined : groupNamed(group));
  } catch (error) {
    throw error instanceof Problem ? error : notWritable(path, error);
  }
}

/** A path that this user may not even look at may be there: whoever opens it is told why it cannot be read. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** An operation that came to a state. */
type Conclusion = Parameters<LedgerObserver["concluded"]>[0];
/** A request to the service of a source. */
type SourceRequest = SeenRequest & { source: string };

/** What can be observed of a program that runs. Everything is told once it is so; nothing of it is private. */
export interface Observed {
  /** Calls of the two services, each repetition by itself. */
  readonly calls: Observers<SeenCall>;
  /** Requests to the services of sources. */
  readonly requests: Observers<SourceRequest>;
  /** Milliseconds that a commit of the ledger took. */
  readonly commits: Observers<number>;
  readonly conclusions: Observers<Conclusion>;
}

/** `failed` is told of what a listener threw; whatever is observed goes on. */
export function createObserved(failed: (error: unknown) => void): Observed {
  return {
    calls: new Observers(failed),
    requests: new Observers(failed),
    commits: new Observers(failed),
    conclusions: new Observers(failed),
  };
}

/** What of the application the run lock needs. */
export type LockPlace = Pick<Application, "ledger" | "requirePlatform">;

/**
 * Holds the run lock while `work` runs. Another run that is on ends this at once with exit code 75. `done` answers,
 * under the lock, where another program did the work in the meantime.
 */
export async function underRunLock<T>(
  application: LockPlace,
  work: () => Promise<T>,
  done: () => Promise<T | undefined> = async () => undefined,
): Promise<T> {
  const ledger = await application.ledger();
  ledger.runs.takeLock();
  try {
    const found = await done();
    if (found !== undefined) return found;
    // Under the lock: whoever stands back asks nobody which services these are.
    await application.requirePlatform();
    return await work();
  } finally {
    ledger.runs.releaseLock();
  }
}

type Place = Pick<Application, "inquiry" | "clock">;

/** Now for a command that asks no service: what services said last counts. Or why it is not trusted. */
export async function trustedNow(place: Place): Promise<TrustedTime | ClockDoubt> {
  const known = await (await place.inquiry()).knownTimes();
  return TrustedTime.judge({ now: place.clock.now(), ...known, read: [] });
}

/** The same; throws a Problem that says what cannot be done. */
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
