import type { JsonObject } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { RetentionSettings } from "../ledger/runs/retention.ts";

/** What thinning needs of the ledger. */
export interface ThinnableLedger {
  runs: {
    thinHistory(
      until: Readonly<Partial<Record<keyof RetentionSettings, string>>>,
      stop: () => boolean,
    ): Promise<JsonObject>;
  };
}

const day = 86_400_000;

/**
 * Thins the history that is older than the configuration keeps, after a run and under its lock, in batches that other
 * programs can write between. What was thinned is an audit entry and a line in the log.
 */
export async function thinHistory(
  deps: { ledger: ThinnableLedger; settings: RetentionSettings; clock: Clock; logger: Logger },
  stop: () => boolean,
): Promise<void> {
  const before = (days: number | null): string | undefined =>
    days === null ? undefined : new Date(deps.clock.now() - days * day).toISOString();
  const { rawRecordDays, observationDays, runDays } = deps.settings;
  const until = Object.fromEntries(
    Object.entries({
      rawRecordDays: before(rawRecordDays),
      observationDays: before(observationDays),
      runDays: before(runDays),
    }).flatMap(([key, at]) => (at === undefined ? [] : [[key, at]])),
  );
  const thinned = await deps.ledger.runs.thinHistory(until, stop);
  if (Object.keys(thinned).length > 0) deps.logger.info({ thinned }, "history thinned");
}
