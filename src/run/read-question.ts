import type { Clock } from "../base/clock.ts";
import type { Stream } from "../crm/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Checkpoint } from "../ledger/records/checkpoints.ts";
import type { Source } from "../source/source.ts";

/** What a reading asks its source for: everything, or what changed since; and the one that it goes on with. */
export interface Asked {
  since?: string | undefined;
  resume?: Checkpoint | undefined;
}

/** Who asks. */
export interface Asking {
  /** A run: a plan or a rebuild neither goes on with what a run has begun nor says when everything is due. */
  isRun: boolean;
  /** What a person asked for. */
  scope: { source?: string; since?: string } | undefined;
  resumeWithinMs: number;
}

/**
 * What a reading of a stream asks for. Changes only, where the last complete reading asked the same question, and where
 * a run has read everything within the time that the source says; everything otherwise, and where a person asks for a
 * source. What a person asks for by a time reaches back at least to where the last reading ended: what lies between
 * would never be read. Where the two cannot be compared it reaches back to there alone.
 */
export async function askedOf(
  deps: { ledger: Ledger; clock: Clock },
  source: Source,
  stream: Stream,
  question: string,
  { isRun, scope, resumeWithinMs }: Asking,
): Promise<Asked> {
  const { records } = deps.ledger;
  const wantsAll = scope?.source !== undefined && scope.since === undefined;
  const since = wantsAll ? undefined : await sinceOf(deps, source, stream, question, isRun);
  if (since !== undefined) return { since: earlierOf(since, scope?.since) };
  if (!isRun) return {};
  const cut = await records.checkpoints.of(source.name, stream);
  if (cut === undefined) return {};
  const age = deps.clock.now() - Date.parse(cut.beganAt);
  const isOf = cut.question === question && age >= 0 && age < resumeWithinMs;
  const isSame = isOf && !(await records.checkpoints.wasAskedOtherwise(source.name, stream, cut.first, question));
  if (isSame && !wantsAll) return { resume: cut };
  await records.checkpoints.drop(source.name, stream);
  return {};
}

/**
 * The time that a person asks for, where it is earlier than the end of the last reading. A local time, a date or a
 * number cannot be told to be later than an instant: what the last reading ended with is then asked from.
 */
function earlierOf(cursor: string, asked: string | undefined): string {
  if (asked === undefined || !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u.test(cursor)) return cursor;
  return Date.parse(asked) < Date.parse(cursor) ? asked : cursor;
}

/** From when on changes are enough; undefined: they are not. */
async function sinceOf(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  source: Source,
  stream: Stream,
  question: string,
  isRun: boolean,
): Promise<string | undefined> {
  const wholeEvery = source.wholeEveryMs(stream);
  if (wholeEvery === undefined) return undefined;
  const { records } = ledger;
  const whole = await records.lastWholeRead(source.name, stream, isRun);
  if (whole?.question !== question) return undefined;
  // What a reading with other settings took, also one that was cut, stands as it says until it is read again.
  if (await records.checkpoints.wasAskedOtherwise(source.name, stream, whole.number, question)) return undefined;
  if (isRun) {
    const age = clock.now() - Date.parse(whole.started_at);
    if (!(age >= 0 && age < wholeEvery)) return undefined;
  }
  return (await records.lastCompleteRead(source.name, stream))?.cursor ?? undefined;
}
