import type { Problem } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Stream } from "../crm/model.ts";

export interface StreamTally {
  source: string;
  stream: Stream;
  extracted: number;
  unchanged: number;
  changed: number;
  quarantined: number;
  skipped: number;
  absent: number;
  complete: boolean;
  /** No row was used, or no record counts as deleted. */
  doubt: Problem | undefined;
  problem: Problem | undefined;
}

export function emptyTally(source: string, stream: Stream): StreamTally {
  const counts = { extracted: 0, unchanged: 0, changed: 0, quarantined: 0, skipped: 0, absent: 0 };
  return { source, stream, ...counts, complete: false, doubt: undefined, problem: undefined };
}

export function countsOf(tally: StreamTally): Omit<StreamTally, "complete" | "doubt" | "problem"> {
  const { source, stream, extracted, unchanged, changed, quarantined, skipped, absent } = tally;
  return { source, stream, extracted, unchanged, changed, quarantined, skipped, absent };
}

export function logTally(logger: Logger, run: string, tally: StreamTally): void {
  const fields = { run, ...countsOf(tally) };
  const why = tally.problem ?? tally.doubt;
  if (why === undefined) {
    logger.info(fields, "source read");
    return;
  }
  const { code, message, cure } = why;
  logger.error(
    { ...fields, code, reason: message, cure },
    tally.problem === undefined ? "source not believed" : "source not read",
  );
}
