import type { Problem } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Stream } from "../crm/model.ts";

/** How reading one stream of one source ended, in records. */
export interface StreamTally {
  source: string;
  stream: Stream;
  /** What was taken in, or into quarantine, or was left as it was. */
  extracted: number;
  unchanged: number;
  changed: number;
  quarantined: number;
  /** Left out by the `skip` of the stream. */
  skipped: number;
  absent: number;
  complete: boolean;
  /** Why what was read is not believed: nothing of it was taken in, and nothing counts as gone. */
  doubt: Problem | undefined;
  problem: Problem | undefined;
}

export function emptyTally(source: string, stream: Stream): StreamTally {
  const counts = { extracted: 0, unchanged: 0, changed: 0, quarantined: 0, skipped: 0, absent: 0 };
  return { source, stream, ...counts, complete: false, doubt: undefined, problem: undefined };
}

/** What a tally counts, and of which stream. */
export function countsOf(tally: StreamTally): Omit<StreamTally, "complete" | "doubt" | "problem"> {
  const { source, stream, extracted, unchanged, changed, quarantined, skipped, absent } = tally;
  return { source, stream, extracted, unchanged, changed, quarantined, skipped, absent };
}

/** Says in the log how reading one stream ended: what was found, or why it was not read or not believed. */
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
