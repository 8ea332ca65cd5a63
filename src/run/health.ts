import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { OpenRecords } from "../report/open.ts";

/** Records that are not done for the same reason: counts and codes only. */
export type OpenCount = Pick<OpenRecords, "standing" | "stream" | "code" | "cause" | "owner" | "count" | "since">;

/** What `/healthz` shows. Ids, counts and times only: the page is open to whoever reaches it. */
export interface Health {
  ledger: { reachable: boolean };
  jobs: {
    job: string;
    nextSlot: string | undefined;
    lastSlot: string | undefined;
    running: boolean;
    /** The clock was set back behind the last slot, and the job waits. */
    clockBehind?: boolean;
    lastRun:
      | { id: string; state: string; exitCode: number | null; startedAt: string; finishedAt: string | null }
      | undefined;
  }[];
  /** What is not done. `records` as in `status`: every record once, by how it stands and why; `runs` by what the last run of each job says. */
  open: {
    unknown: number;
    holds: number;
    quarantined: number;
    records: OpenCount[];
    streams: string[];
    runs: string[];
  };
  breakers: Record<string, "closed" | "open" | "half-open">;
}

export interface HealthDependencies {
  settings: { host: string; port: number };
  clock: Clock;
  logger: Logger;
  /** Reads the state of things. A rejection means that the ledger cannot be reached. */
  read(): Promise<Health>;
  /** Longest time that `read` may take before the program counts as ill. Default 5 s. */
  readTimeoutMs?: number;
}

export interface HealthServer {
  url: string;
  close(): Promise<void>;
}

/** Starts the web server that shows the health of the program. */
export type StartHealth = (deps: HealthDependencies) => Promise<HealthServer>;
