import type { Problem } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Stream } from "../crm/model.ts";

/** The result of reading one stream of one source, in records. */
export interface StreamTally {
  source: string;
  stream: Stream;
  /** Rows that were used, quarantined or unchanged. */
  extracted: number;
  unchanged: number;
  changed: number;
  quarantined: number;
  /** Rows that the stream's `skip` leaves out. */
  skipped: number;
  absent: number;
  complete: boolean;
  /** Why the read is doubted: no row was used, and no record counts as deleted. */
  doubt: Problem | undefined;
  problem: Problem | undefined;
}

export function emptyTally(source: string, stream: Stream): StreamTally {
  const counts = { extracted: 0, unchanged: 0, changed: 0, quarantined: 0, skipped: 0, absent: 0 };
  return { source, stream, ...counts, complete: false, doubt: undefined, problem: undefined };
}

/** The counts of a tally, with its stream. */
export function countsOf(tally: StreamTally): Omit<StreamTally, "complete" | "doubt" | "problem"> {
  const { source, stream, extracted, unchanged, changed, quarantined, skipped, absent } = tally;
  return { source, stream, extracted, unchanged, changed, quarantined, skipped, absent };
}

/** Logs the result of reading one stream: its counts, or why it was not read or is doubted. */
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
