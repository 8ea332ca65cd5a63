import type { JsonObject } from "../base/canonical-json.ts";
import type { Logger } from "../base/logger.ts";
import type { TrustedTime } from "../base/trusted-time.ts";
import type { RetentionSettings } from "../ledger/runs/retention.ts";

/** The part of the ledger that thinning needs. */
interface ThinnableLedger {
  runs: { thinHistory(time: TrustedTime, kept: RetentionSettings, stop: () => boolean): Promise<JsonObject> };
}

/**
 * Thins history that is older than the configured retention, after a run and under its lock. It works in batches, so
 * that other programs can write in between. An audit entry and a log line record the result. Without a trusted clock
 * nothing is thinned.
 */
export async function thinHistory(
  deps: { ledger: ThinnableLedger; settings: RetentionSettings; logger: Logger },
  time: TrustedTime | undefined,
  stop: () => boolean,
): Promise<void> {
  if (time === undefined) return;
  const thinned = await deps.ledger.runs.thinHistory(time, deps.settings, stop);
  if (Object.keys(thinned).length > 0) deps.logger.info({ thinned }, "history thinned");
}
