import type { JsonObject } from "../base/canonical-json.ts";
import type { Logger } from "../base/logger.ts";
import type { TrustedTime } from "../base/trusted-time.ts";
import type { RetentionSettings } from "../ledger/runs/retention.ts";

/** What thinning needs of the ledger. */
export interface ThinnableLedger {
  runs: { thinHistory(time: TrustedTime, kept: RetentionSettings, stop: () => boolean): Promise<JsonObject> };
}

/**
 * Thins the history that is older than the configuration keeps, after a run and under its lock, in batches that other
 * programs can write between. What was thinned is an audit entry and a line in the log. While the clock is not trusted,
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
