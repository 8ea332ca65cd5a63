import type { JsonObject } from "../../base/canonical-json.ts";
import type { Clock } from "../../base/clock.ts";
import type { Randomness } from "../../base/ids.ts";
import type { Logger } from "../../base/logger.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { Acceptance } from "../../ingest/belief/guards.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { ConfiguredStream } from "../../ledger/records/source-reads.ts";
import type { Policies } from "../model/policy-settings.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Source } from "../../source/source.ts";
import type { LimitsSettings, SettleSettings } from "./run-settings.ts";
import type { Expected } from "../carry-out.ts";
import type { DifferencesOfCustomer } from "./canary.ts";
import type { TrustedClock } from "./trusted-clock.ts";

export interface RunDependencies {
  ledger: Ledger;
  platform: Platform;
  sources: readonly Source[];
  streams: readonly ConfiguredStream[];
  settings: AssumptionSettings;
  settle: SettleSettings;
  ordersUnseen: "ask" | "resend";
  policies: Policies;
  concurrency: number;
  clock: Clock;
  random: Randomness;
  logger: Logger;
  progress: (phase: string, done: number, total: number | undefined) => void;
}

export interface RunRequest {
  job: string;
  trigger: "schedule" | "hand";
  streams: readonly Stream[];
  limits: LimitsSettings;
  /** Work on this customer or order only, thoroughly, or on one source's records. */
  scope?: { customer?: RecordKey; order?: RecordKey; source?: string; since?: string } | undefined;
  asked?: RecordKey | undefined;
  read: boolean;
  /** Reads that a person accepts although guards doubt them. */
  accepts?: readonly Acceptance[] | undefined;
  /** The first shares, in per cent. The changes of each are read back. */
  canary?:
    | {
        shares: readonly number[];
        differences: (since: string) => AsyncIterable<DifferencesOfCustomer>;
      }
    | undefined;
  expected?: ReadonlyMap<string, { customer: RecordKey } & Omit<Expected, "begun">> | undefined;
  signal?: AbortSignal | undefined;
  header: JsonObject;
  time?: TrustedClock | undefined;
}
