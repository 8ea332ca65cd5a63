import type { Clock } from "../base/clock.ts";
import type { Randomness } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { AskedTime } from "../base/trusted-time.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Policies } from "../engine/policy.ts";
import type { Platform } from "../platform/platform.ts";

/** What carrying operations out needs. */
export interface ApplyDependencies {
  ledger: Ledger;
  platform: Platform;
  settings: AssumptionSettings;
  settle: { timeMs: number; readings: number; maxWaitMs: number; asyncDeadlineMs: number; asyncPauseMs: number };
  ordersUnseen: "ask" | "resend";
  policies: Policies;
  clock: Clock;
  /** Without it, the clock of this computer counts. */
  time?: AskedTime | undefined;
  random: Randomness;
  logger: Logger;
}
