import type { Clock } from "../base/clock.ts";
import { usage } from "../base/errors.ts";
import type { Stream } from "../crm/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Checkpoint } from "../ledger/records/checkpoints.ts";
import type { Source } from "../source/source.ts";

/** What a reading asks its source for: everything, or what changed since; and the one that it goes on with. */
export interface Asked {
  since?: string | undefined;
  resume?: Checkpoint | undefined;
}

/** A stream, and the fingerprint of what its source is asked. */
interface AskedStream {
  source: Source;
  stream: Stream;
  question: string;
}

/** Who asks. */
interface Asking {
  /** A run: a plan or a rebuild neither goes on with what a run has begun nor says when everything is due. */
  isRun: boolean;
  /** What a person asked for. */
  scope: { source?: string; since?: string } | undefined;
  resumeWithinMs: number;
}

/**
 * What a reading of a stream asks for. Changes only, where the last complete reading asked the same question, and where
 * a run has read everything within the time that the source says; everything otherwise, where something in quarantine
 * is to be mapped anew, and where a person asks for a source. What a person asks for by a time reaches back at least to where the last reading ended: what lies between
 * would never be read. Throws a Problem (usage) where the two cannot be compared.
 */
export async function askedOf(
  deps: { ledger: Ledger; clock: Clock },
  of: AskedStream,
  { isRun, scope, resumeWithinMs }: Asking,
): Promise<Asked> {
  const { records } = deps.ledger;
  const { source, stream, question } = of;
  const wantsAll = scope?.source !== undefined && scope.since === undefined;
  const since = wantsAll ? undefined : await sinceOf(deps, of, isRun);
  if (since !== undefined) return { since: earlierOf(since, scope?.since, of) };
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

/** No clock on earth is further behind UTC. */
const furthestBehindMs = 43_200_000;

/**
 * The time that a person asks for, written as the last reading ended, where it is earlier than that. Without the zone
 * of a local time or a date it is taken for the earliest that it is anywhere, so that nothing is passed over.
 */
function earlierOf(cursor: string, asked: string | undefined, { source, stream }: AskedStream): string {
  if (asked === undefined) return cursor;
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u.test(cursor)) return Date.parse(asked) < Date.parse(cursor) ? asked : cursor;
  const isDate = /^\d{4}-\d\d-\d\d$/u.test(cursor);
  if (!isDate && !/^\d{4}-\d\d-\d\dT[\d:.]+$/u.test(cursor))
    throw usage(
      `--since ${asked}: ${source.name} (${stream}) tells what changed by a number, which is ${cursor} by now, ` +
        "and by no time",
      `leave --since out: \`crm-sync resync --source ${source.name}\` reads all of it, and a run reads what changed`,
    );
  const { zone } = source;
  const instant = Temporal.Instant.from(asked).subtract({ milliseconds: zone === undefined ? furthestBehindMs : 0 });
  const local = instant.toZonedDateTimeISO(zone ?? "UTC").toPlainDateTime();
  const text = isDate ? local.toPlainDate().toString() : local.toString();
  return text < cursor ? text : cursor;
}

/** From when on changes are enough; undefined: they are not. */
async function sinceOf(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  { source, stream, question }: AskedStream,
  isRun: boolean,
): Promise<string | undefined> {
  const fullReadEvery = source.fullReadEveryMs(stream);
  if (fullReadEvery === undefined) return undefined;
  const { records } = ledger;
  const whole = await records.lastWholeRead(source.name, stream, isRun);
  if (whole?.question !== question || (await records.awaitsWholeRead(source.name, stream))) return undefined;
  // What a reading with other settings took, also one that was cut, stands as it says until it is read again.
  if (await records.checkpoints.wasAskedOtherwise(source.name, stream, whole.number, question)) return undefined;
  if (isRun) {
    const age = clock.now() - Date.parse(whole.started_at);
    if (!(age >= 0 && age < fullReadEvery)) return undefined;
  }
  return (await records.lastCompleteRead(source.name, stream))?.cursor ?? undefined;
}
